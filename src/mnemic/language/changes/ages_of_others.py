"""Ages and counts of two bearers: "My dog is 3 years old" and "I'm 41" are both true."""

from __future__ import annotations

from mnemic.language.frames.statement_frame import Frame
from mnemic.language.frames.vocabulary import speaks_as_i

_OF_AGES = frozenset({"alt", "jahr", "jaar", "old", "oud", "turn", "year"})
"""Stems of the words of an age, independent of its bearer."""


def ages_of_two(old: Frame, new: Frame) -> bool:
    """Return True if the two state ages of different bearers, or one the age of an animal or a thing: "My dog is 3
    years old", "I'm 41".
    """
    if "age" not in old.attributes & new.attributes or old.unnumbered & new.unnumbered - old.counted - _OF_AGES:
        return False
    if old.subject != new.subject:
        return not {old.subject.partition(":")[2], new.subject.partition(":")[2]} & (old.stems & new.stems)
    of_self = [speaks_as_i(one.tokens) for one in (old, new)]
    return old.subject == "self" and (of_self[0] != of_self[1] or not of_self[0])


def own_count(old: Frame, new: Frame) -> bool:
    """Return True if `old` counts somebody else's things, and `new` the speaker's. A shared name does not make them the
    same: in German every noun is capitalised like one.
    """
    if new.subject != "self" or not old.subject.startswith(("other:", "name:")):
        return False
    return old.subject.partition(":")[2] not in new.stems
