"""Evidence that a statement in a talk between two people changes an earlier one of the same speaker.

People report news to each other, about many persons and things, in few words; so a resemblance means less than in notes
to an assistant. Both statements have to be about the same person and agree in their matter, and the later one has to
state a change plainly, or give an attribute another value.
"""

from __future__ import annotations

import re

from mnemic.language.changes.agreement import agree, is_faint
from mnemic.language.changes.change_features import new_value
from mnemic.language.ended_facts.ended_objects import SAYS_LITTLE
from mnemic.language.ended_facts.implicit_endings import THE
from mnemic.language.ended_facts.left_jobs import left
from mnemic.language.frames.statement_frame import Frame, stem

_NAMED = "name:"
_ENDS = frozenset({"end", "weak_end"})
_SINCE = re.compile(r"\b(?:since|seit|depuis|desde|da quando|sinds)\b.*")
"""Matches the beginning of a state, which names no thing that changes: "a bond I haven't felt since the army"."""


def is_plain_change(old: Frame, new: Frame) -> bool:
    """Return True if `new`, said to another person, plainly changes `old`: one subject, one matter, a clear change. A
    denial of one state does not end another: "We're not vegans", "I've been a vegetarian for two years now".
    """
    if not _of_one_subject(old, new) or _tells_again(old, new):
        return False
    if left(old, new) or _ends_thing(old, new):
        return True
    if not agree(old, new):
        return False
    return not is_faint(new) or (new_value(old, new) and not old.negated)


def names_what_it_changes(old: Frame, new: Frame) -> bool:
    """Return True if a plain change names the thing that it changes: the two are about the same person and share an
    attribute, or a thing besides the words for changing and continuing. A shared name is only the person of both.
    """
    if not _of_one_subject(old, new) or _tells_again(old, new):
        return False
    said = Frame(_SINCE.sub("", new.plain)).stems
    things = (old.stems & said) - SAYS_LITTLE - {new.subject.removeprefix(_NAMED)}
    return bool(old.attributes & new.attributes or things) or left(old, new)


def _tells_again(old: Frame, new: Frame) -> bool:
    """Return True if both report an end: people repeat past ends to each other ("'cause I lost my job")."""
    return bool(old.cues & _ENDS and new.cues & _ENDS) and new.cues.isdisjoint({"change", "correct", "takes_back"})


def _ends_thing(old: Frame, new: Frame) -> bool:
    """Return True if `new` ends a thing that `old` names: "I bought a second hand Skoda", "I sold the Skoda"."""
    if "end" not in new.cues or new.cues & {"past", "passing"}:
        return False
    return any(stem(noun) in old.stems - SAYS_LITTLE for noun in THE.findall(new.plain))


def _of_one_subject(old: Frame, new: Frame) -> bool:
    """Return True if both have the same subject, a person or a thing, as far as it is named."""
    if new.subject.startswith(_NAMED):
        return new.subject == old.subject or new.subject.removeprefix(_NAMED) in old.stems
    return bool(new.subject) and new.subject == old.subject
