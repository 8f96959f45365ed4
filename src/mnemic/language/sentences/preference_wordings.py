"""Wordings that introduce a preference, or limit it to an occasion."""

from __future__ import annotations

from mnemic.language.text.pattern import Pattern

PREFERS = Pattern(
    r"(?i)\A\W{0,3}(?:(?:and|but|so|since|as|und|aber|et|mais|y|pero|e|ma|mas|en|maar) )?"
    r"(?:i (?:\w+ly |do |much )?prefer|ich bevorzuge|je préfère|prefiero|(?:io )?preferisco|(?:eu )?prefiro"
    r"|ik (?:heb|eet|drink|neem) liever|(?:i'm |i am )?(?:not )?(?:really |so )?an? [\w-]+ person"
    r"|(?:the |my )?(?:best|preferred|easiest) (?:way|time|day|place|number) to (?:reach|contact|call|meet|text) me)\b"
)
"""Matches a beginning with the words of a preference."""
LASTS = Pattern(
    r"(?i)\A\W{0,3}(?:please |bitte )?"
    r"(?:always|never|immer|nie|toujours|ne jamais|siempre|nunca|sempre|mai|altijd|nooit)\b"
    r".{3,200}\b(?:when|whenever|if|wenn|quand|lorsque|cuando|quando|als|wanneer)\b"
)
"""Matches an instruction for a kind of occasion."""
WHEN_ASKED = Pattern(
    r"(?i)\b(?:(?:when|whenever|if|every time) (?:i|we) (?:ask|request|mention|inquire|bring up|talk|speak|write|want)"
    r"|wenn (?:ich|wir) .{0,80}(?:frage|bitte)|(?:quand|lorsque|si) (?:je|nous) (?:(?:te|vous) )?(?:demand|parl)"
    r"|cuando (?:(?:te|le) )?(?:pregunt|pid|habl)|quando (?:(?:ti|te|lhe) )?(?:chied|domand|pergunt|peç)"
    r"|(?:als|wanneer) ik .{0,80}vraag)"
)
"""Matches a request as that occasion."""
