"""Parts of a statement with a value of the same sort as a later statement: a place, a number, a weekday, a side."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mnemic.language.frames.statement_frame import Frame
from mnemic.language.frames.vocabulary import MEMBERS, plain

_PLACE = re.compile(
    r"\b(?i:in|into|to|from|near|at|aus|bei|nach|à|au|en|chez|a|em|no|na|uit|naar|te)\s+"
    r"(?:(?i:the|der|den|die|la|le|el|il|lo|o|het|de)\s+)?[A-ZÀ-ÖØ-Þ]\w"
)


def may_be_about(frame: Frame, new: Frame) -> bool:
    """Return True if both name a member of a class, a number or a name: uncertain, but the best evidence available."""
    return has_slots(frame, new) or bool(frame.names and new.names)


def touched_by_sort(parts: Sequence[tuple[str, Frame]], touched: Sequence[bool], new: Frame, lead: str) -> list[bool]:
    """Return `touched` with the parts (opening and frame) that have a value of the same sort as `new`; if there are
    none at all, those with the subject and verb of `new`, its `lead`.
    """
    found = [hit or is_of_a_sort(frame, new) for hit, (_, frame) in zip(touched, parts, strict=True)]
    if any(found) or not lead:
        return found
    return [plain(opening) == plain(lead) for opening, _ in parts]


def has_slots(frame: Frame, new: Frame) -> bool:
    """Return True if both name a member of one class (weekdays, sides), or a number."""
    return any(frame.slots(name) and new.slots(name) for name in MEMBERS) or bool(frame.numbers and new.numbers)


def is_of_a_sort(frame: Frame, new: Frame) -> bool:
    """Return True if both name a member of one class, a number, or a place."""
    return has_slots(frame, new) or (_names_place(frame) and _names_place(new))


def _names_place(frame: Frame) -> bool:
    return _PLACE.search(frame.text) is not None
