"""Evidence that a later statement is about the same matter as an earlier one.

"Again", "only", "rather" and "left" occur in most talk. Such a faint word changes a statement only if both name the
same attribute, thing or person, or give one thing two values. In a long chat every remark resembles another.
"""

from __future__ import annotations

from mnemic.language.changes.change_features import denied, takes_back
from mnemic.language.compare.exclusive_values import another_of_a_sort, compound_of_a_sort
from mnemic.language.frames.statement_frame import Frame
from mnemic.language.frames.vocabulary import SLOTS

PLAIN = frozenset({"end", "change", "correct"})
"""Cues that alone indicate a change."""
TWO = 2
"""Minimum number of shared content words for one matter."""


def is_faint(new: Frame) -> bool:
    """Return True if only a faint word indicates a change."""
    return new.cues.isdisjoint(PLAIN) and "takes_back" not in new.cues


def agree(old: Frame, new: Frame) -> bool:
    """Return True if the two are about one matter: an attribute, a thing with a value, a name, a number or a day of
    something that both mention, or two content words.
    """
    if old.attributes & new.attributes or denied(old, new) or takes_back(old, new):
        return True
    if another_of_a_sort(old, new) or compound_of_a_sort(old, new) or (old.theme and old.theme <= new.stems):
        return True
    shared = old.stems & new.stems
    if not shared:
        return False
    if new.theme and new.theme <= old.stems:
        return True  # "My shoulder hurts", "My shoulder is fine again"
    if shared & (old.names | old.called_stems) or len(shared) >= TWO or old.negated != new.negated:
        return True
    return any(old.slots(name) and new.slots(name) for name in SLOTS) or bool(old.numbers and new.numbers)
