"""Wordings that introduce a preference, limit it to an occasion, or continue it."""

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
OCCASION = Pattern(
    r"(?i)\A\W{0,3}(?:(?:i|we)(?:'m|'re| am| are|'ve been| have been|'d like| would like| want| need)\b"
    r"|(?:ich|wir) (?:suche|versuche|plane|arbeite|möchte|brauche)|je (?:cherche|prépare|travaille|voudrais)|j'essaie"
    r"|(?:estoy|sto|estou) \w+ndo|busco|intento|quiero|cerco|vorrei|procuro|quero|ik (?:zoek|probeer|wil|ben)\b)"
)
"""Matches the beginning of a report of a current activity."""
CONTINUES = Pattern(
    r"(?i)\A\W{0,3}(?:(?:but|and) )?"
    r"(?:[a-z]{2,}ing|not|rather|instead|over|than|especially|because|since|as|for|with|without)\b"
)
"""Matches a continuation of the previous statement without a subject."""
DOES = Pattern(r"(?i)\b(?:love|like|enjoy|adore|hate|prefer|dislike)s? (?:\w+ )?\w{2,}ing\b")
DOES_TOO = Pattern(r"(?i)\A\W{0,3}(?:(?:and|or|but) )?(?:just |then |also |even )?\w{2,}ing\b")
"""Matches a further activity in a list of likes: "I love putting on music, pouring a glass of wine"."""
