"""Evidence that two statements are about the same matter of the speaker's, beside a word of change.

Words such as "again", "back", "actually" and "rather" are in one remark of eight, and a remark resembles some memory by
chance. What a probability alone closed in long chats was mostly such a remark (decision 0103).
"""

from __future__ import annotations

from mnemic_language.compare.statement_frame import Frame
from mnemic_language.compare.vocabulary import SLOTS

_STRONG = frozenset({"end", "change", "correct"})
_CORRECTING = frozenset({"weak_correct", "takes_back"})
_FAINT = frozenset({"weak_end", "weak_change", "weak_correct"})
LONGEST_CORRECTION = 12
"""Words of a statement that "actually" makes a correction; in a longer one it is a filler."""
SHARED = 2
"""Content words that a remark with a faint word of change shares with what it changes, where neither is a name."""


def changed_by_remark(old: Frame, new: Frame) -> bool:
    """Return True if a remark that would not be stored for itself, and says that something has changed, is about a
    matter of the speaker's that `old` tells.

    Either both give the same attribute, or they share a word of content, and the remark has a word for its speaker or
    shares a name. One shared word that is no name needs a strong word of change, or other numbers. A remark that says
    that it corrects something ("I meant", "typo") need share nothing.
    """
    attribute, shared = old.attributes & new.attributes, old.stems & new.stems
    named = not shared.isdisjoint(old.names | new.names)
    strong, numbered = bool(new.cues & _STRONG), bool(old.numbers and new.numbers and old.numbers != new.numbers)
    if attribute:
        return new.own or named or strong
    if not shared:
        return "correct" in new.cues or bool(new.cues & _CORRECTING and _of_one_class(old, new))
    if new.addresses or _filled(new) or (not numbered and _of_something_else(old, new)):
        return False
    return (new.own or named or numbered) and (strong or named or numbered or len(shared) >= SHARED)


def _of_one_class(old: Frame, new: Frame) -> bool:
    """Return True if both name a member of a class of words such as weekdays: "Hmm, wrong. It's on Saturday"."""
    return any(old.slots(name) and new.slots(name) for name in SLOTS)


def _of_something_else(old: Frame, new: Frame) -> bool:
    """Return True if the speaker tells of themselves in `old`, and `new` only tells that something began or is new."""
    return old.own and not new.own and new.cues & (_STRONG | _FAINT) == {"weak_change"}


def _filled(new: Frame) -> bool:
    """Return True if the only word of change is a faint one of correction, in a sentence too long to be one."""
    faint = new.cues & (_STRONG | _FAINT) == {"weak_correct"}
    return faint and len(new.tokens) > LONGEST_CORRECTION
