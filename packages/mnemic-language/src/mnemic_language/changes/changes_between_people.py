"""Evidence that a statement of a talk between two people changes an earlier one of the same speaker.

People tell each other what goes on, about many persons and things, in few words; so a resemblance means less than in
notes to an assistant. Both statements have to be about the same person, agree in their matter, and the later one has to
say plainly that something changed, or give an attribute another value.
"""

from __future__ import annotations

from mnemic_language.changes.agreement import agree, is_faint
from mnemic_language.changes.change_features import new_value
from mnemic_language.frames.statement_frame import Frame

_NAMED = "name:"


def is_plain_change(old: Frame, new: Frame) -> bool:
    """Return True if `new`, said to another person, plainly changes `old`: one subject, one matter, a clear change.
    What somebody is not goes beside what they are: "We're not vegans", "I've been a vegetarian for two years now".
    """
    if not (_of_one_subject(old, new) and agree(old, new)):
        return False
    return not is_faint(new) or (new_value(old, new) and not old.negated)


def _of_one_subject(old: Frame, new: Frame) -> bool:
    """Return True if both are about the same person or thing, as far as they say so."""
    if new.subject.startswith(_NAMED):
        return new.subject == old.subject or new.subject.removeprefix(_NAMED) in old.stems
    return bool(new.subject) and new.subject == old.subject
