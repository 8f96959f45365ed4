"""Object of an end: "I don't swim any more" is about swimming, and no reason to doubt "I'm a lifeguard"."""

from __future__ import annotations

from mnemic.language.ended_facts.implicit_endings import akin
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import word_classes
from mnemic.language.text.pattern import WordPattern

_NO_MORE = WordPattern(
    r"\b(?:any ?more|any longer|no longer|no more|nicht (?:\w+ ){0,3}mehr|kein\w* (?:\w+ ){1,3}mehr|ne (?:\w+"
    r" ){1,2}plus"
    r"|n'\w+ plus|ya no|non (?:\w+ ){1,2}piu|nao (?:\w+ ){1,3}mais|ja nao|niet (?:\w+ ){0,3}meer|geen (?:\w+"
    r" ){1,3}meer)\b"
)
"""Matches the end of something that continued until now."""
_POINTS = frozenset(
    "it that this them there those these her him one either both es ihn ihm da dort darauf damit davon ca cela eso ello"
    " alli ahi cio isso ele ela daar hem er".split()
)
"""Words that refer to something named before."""
SAYS_LITTLE = frozenset(
    map(
        stem,
        "eat drink use take go do play have want need like esse trinke nutze nehme gehe mache spiele habe mag mange"
        " bois"
        " utilise prends vais fais ai como bebo uso tomo voy hago tengo mangio prendo vado faccio ho tenho vou faco eet"
        " drink gebruik neem ga doe heb longer more mehr plus piu mais meer no".split(),
    )
)


def ends_something_else(old: Frame, new: Frame) -> bool:
    """Return True if the speaker ends a named thing that `old` does not mention: they share no word, attribute or sort
    of value, and no word refers back.
    """
    if "end" not in new.cues or new.cues & {"change", "correct", "takes_back"} or new.subject != "self":
        return False
    if _NO_MORE.search(new.plain) is None or not _POINTS.isdisjoint(new.tokens):
        return False
    objects = new.stems - SAYS_LITTLE
    if not objects or old.stems & new.stems or old.attributes & new.attributes or old.sorts.keys() & new.sorts.keys():
        return False
    empty = word_classes()["empty"]
    mine = [word for word in old.tokens if word not in empty and len(word) > 1]
    return not any(akin(word, other) for word in new.tokens if stem(word) in objects for other in mine)
