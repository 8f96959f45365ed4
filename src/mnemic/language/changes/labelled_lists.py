"""Notes with a label and a list: "Mr. Patel: Tuesdays, cash only, no shoes inside"; and their rest after a change."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.language.compare.exclusive_values import another_of_a_sort
from mnemic.language.compare.same_category import has_slots
from mnemic.language.frames.statement_frame import Frame
from mnemic.language.text.pattern import Pattern

_LABELLED = Pattern(r"\A(?P<label>(?:(?:Dr|Mr|Mrs|Ms|Prof|St)\. )?[^,:.!?;\n]{2,40}): (?P<items>[^.!?;\n:]+)[.!]?\Z")
LONGEST_ITEM, LONG_ROW = 6, 4
"""Maximum words of an item, and minimum items between commas in a row."""
_STATES = Pattern(r"(?i)\b(?:is|are|was|were|ist|sind|war|est|sont|es|son|è|sono|é|são|zijn)\b")
"""A verb, which makes an item a whole statement: "Deal: stage is proposal, 18k"."""


def labelled(text: str) -> tuple[str, list[str]] | None:
    """Return the label and the items of such a note; None for any other statement."""
    found = _LABELLED.match(text.strip())
    items = [item.strip() for item in found["items"].split(",")] if found is not None else []
    if found is None or len(items) < 2 or not all(0 < len(item.split()) <= LONGEST_ITEM for item in items):
        return None
    if any(map(_STATES.search, items)):
        return None
    return found["label"], items


def rest_of_list(label: str, items: Sequence[str], new: Frame) -> str:
    """Return the note without the items that `new` concerns; empty if it concerns all or none of them."""
    common = Frame(label).stems
    kept = [item for item in items if not _concerns(new, Frame(item), common)]
    return f"{label}: {', '.join(kept)}." if 0 < len(kept) < len(items) else ""


def _concerns(new: Frame, item: Frame, common: frozenset[str]) -> bool:
    if has_slots(item, new) or another_of_a_sort(item, new) or item.attributes & new.attributes:
        return True
    return bool((item.stems - common) & (new.stems | new.denied))


def in_row(text: str, start: int, end: int) -> bool:
    """Return True if the sentence around a span of `text` is a row of short parts between commas."""
    first = max(text.rfind(mark, 0, start) for mark in ".!?;:\n") + 1
    last = min((at for mark in ".!?;\n" if (at := text.find(mark, end)) >= 0), default=len(text))
    row = text[first:last].split(",")
    return len(row) >= LONG_ROW and all(len(one.split()) <= LONGEST_ITEM for one in row)
