"""A part of a message as a sentence of its own, without an opening that only denies an earlier statement; the text
after it states the correct value.
"""

from __future__ import annotations

from mnemic.language.text.normalise import plain
from mnemic.language.text.pattern import Pattern

LONGEST = 80
"""Maximum number of characters of an opening."""
_DISPUTES = Pattern(
    r"\A\W*(?:(?:no|nope|nein|non|nee|nao)\b[,.]? )?"
    r"(?:(?:that|this|it)(?:'s| is| was) (?:all )?(?:not (?:true|right|correct)|wrong|false|incorrect|untrue)"
    r"|(?:das )?stimmt(?: so)? nicht|das ist falsch|c'est faux|ce n'est pas (?:vrai|juste)"
    r"|(?:eso )?no es (?:verdad|cierto|correcto)|eso esta mal|non e (?:vero|giusto)|(?:e )?sbagliato"
    r"|(?:isso )?nao e verdade|(?:isso )?esta errado|dat klopt niet|dat is (?:fout|niet waar))\b(?P<then>[,.;: ]*)"
)
"""Matches an opening that denies the preceding statement, in plain letters, and the separator after it."""
FROM_NOW_ON = Pattern(
    r"(?i)\W{0,3}(?:from (?:now|here|today) on|going forward|in future|ab (?:jetzt|sofort|heute)|von nun an|künftig"
    r"|in zukunft|désormais|dorénavant|à partir de maintenant|à l'avenir|de ahora en adelante|a partir de ahora"
    r"|en adelante"
    r"|d'ora in (?:poi|avanti)|da (?:adesso|ora) in poi|de agora em diante|a partir de agora|voortaan|vanaf nu)\b"
)
"""Matches an opening after which the rest is true from now on, and was not before."""
_TWO = Pattern("[ßœæŒÆẞ]")
_GOES_ON = Pattern(r"\s{0,3}[,;:–—-]{1,3}\s{0,3}(?=\w)")


def without_dispute(text: str) -> str:
    """Return `text` without an opening that disputes an earlier statement: "That's wrong, I live in Trondheim"."""
    end = _end(text)
    stated = None if end is None else _GOES_ON.match(text, end)
    return text if stated is None else text[stated.end() :]


def only_disputes(text: str) -> bool:
    """Return True if a part of a sentence only disputes an earlier statement: "No, that's wrong"."""
    end = _end(text)
    return end is not None and not text[end:].strip(" .,!;:–—-")


def _end(text: str) -> int | None:
    """Return the end index of an opening that only disputes something, or None."""
    # A letter that becomes two would shift the indexes; no such opening has one.
    opening = _TWO.sub("_", text[:LONGEST])
    said = plain(opening)
    found = _DISPUTES.match(said) if len(said) == len(opening) else None
    return None if found is None else found.start("then")


_OPENING = Pattern(
    r"(?i)^(?:(?:please|also|and|so|well|oh|hey|hi|hello|by the way|btw|ok|okay|just|fyi|por favor|y|además)\b[,:]?"
    r"\s+)+"
)
_LEFT_OPEN = Pattern(r"(?i)(?<=[\w'’\")])[\s,]+(?:and|or|but|und|oder|aber|et|ou|mais|pero)[\s,;:.–—-]*\Z")
"""A conjunction at the end: the clause that it joined is not stored."""


def as_sentence(text: str) -> str:
    """Return the words as a sentence: without opening words, capitalised, with a full stop."""
    content = without_dispute(_OPENING.sub("", text.strip())).strip(" ,;:-–—")
    content = _LEFT_OPEN.sub("", content)
    if not content:
        return ""
    content = content[0].upper() + content[1:]
    return content if content[-1] in '.!?。！？…"”' else content + "."
