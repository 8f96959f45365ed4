"""Evidence that a statement changes one made by the same person shortly before, in the same talk.

Facts rarely change while people talk. A statement minutes later corrects a slip, names the change, or continues the
same topic; so a faint word ("since", "only", "got") on a shared topic is no evidence.
"""

from __future__ import annotations

import re
from functools import lru_cache

from mnemic.language.changes import KEPT
from mnemic.language.changes.agreement import PLAIN, TWO, agree, is_faint
from mnemic.language.changes.change_features import denied, new_value, takes_back
from mnemic.language.ended_facts.ended_objects import SAYS_LITTLE
from mnemic.language.frames.frame_expressions import FROM_NOW_ON
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import SLOTS

LONGEST_SLIP = 8
"""Maximum number of words of a correction by a faint word: "Sorry, the 14th!"."""
LATELY_COMPARED = 256
"""Maximum number of later statements with a cached matter: each is compared with all its neighbours in turn."""
_CLAUSES = re.compile(
    r"[,;:.!?()]\s|\s[-\u2013\u2014]{1,3}\s|\b(?:and|but|so|und|aber|et|mais|donc|y|pero|e|ma|mas|en|maar|dus)\b"
)
LONGEST_NOW = 9
"""Maximum number of words of either of two statements of which the later begins with "now"."""
_NOW = re.compile(
    r"\W{0,3}(?:now|jetzt|nun|maintenant|desormais|ahora|adesso|ora|agora|nu)\b"
    r"(?!,| (?:that|then|dass|wo|dann|que|che|dat)\b)"
)
_JUDGES = re.compile(r"\bnot (?:exactly |really )?(?:the|my|a|an) (?:most|dream|best|worst|\w+est|favou?rite|ideal)\b")
"""Matches the judgement of a thing that continues: "It's not my dream job"."""
_FEELS = re.compile(r"\A\W*(?:i'm|i am|we're|we are) (?:so |really |very |just )?(?:glad|happy|proud|lucky|grateful)\b")
"""Matches the opening of a feeling about something known: "I'm glad I'm retired now"."""


def changes_earlier(old: Frame, new: Frame) -> bool:
    """Return True if `new` states that `old`, said shortly before in the same talk, is wrong or over: it corrects it,
    begins with "from now on", gives an attribute another value, or a clause with a plain word for a change or an end
    names the matter of `old`.
    """
    if "correct" in new.cues or "takes_back" in new.cues or announces(old, new):
        return True
    if _JUDGES.search(new.plain) is not None or _FEELS.match(new.plain) is not None:
        return False
    if takes_back_slip(old, new):
        return True
    if new.turns and (new_value(old, new) or _says_again(old, new)):
        return True
    return not is_faint(new) and agree(old, new) and names_matter(old, new)


def announces(old: Frame, new: Frame) -> bool:
    """Return True if `new` begins with "from now on", or is short and begins with "now", and shares a content word with
    `old`, which is no event.
    """
    if old.event or old.stems.isdisjoint(new.stems):
        return False
    return FROM_NOW_ON.match(new.text) is not None or _says_now(old, new)


def _says_now(old: Frame, new: Frame) -> bool:
    """Return True if both state in few words an action or a preference of the speaker, and the later its new form:
    "Prefiro o lugar no corredor", "Agora prefiro o lugar à janela".
    """
    if old.subject != "self" or new.subject != "self" or not new.cues.isdisjoint({"add", "passing", "past", "again"}):
        return False
    short = max(len(old.tokens), len(new.tokens)) <= LONGEST_NOW
    return short and not new.event and _NOW.match(new.plain) is not None


def _says_again(old: Frame, new: Frame) -> bool:
    """Return True if `new` has all words of `old` except one ("It leaves at noon", "Actually, it leaves at one"), or
    names in few words another day for the same thing.
    """
    shared = old.stems & new.stems
    days = any(old.slots(name) and new.slots(name) - old.slots(name) for name in SLOTS)
    if shared and days and len(new.tokens) <= LONGEST_SLIP:
        return True
    return len(shared) >= TWO and len(old.stems - shared) <= 1 and len(new.stems - shared) <= 1


def corrects_slip(new: Frame) -> bool:
    """Return True if a statement may correct a slip: it has a word of correction, or is short and no mere judgement
    ("It's not the most exciting job").
    """
    if "correct" in new.cues or "takes_back" in new.cues:
        return True
    return len(new.tokens) <= LONGEST_SLIP and _JUDGES.search(new.plain) is None


def takes_back_slip(old: Frame, new: Frame) -> bool:
    """Return True if `new` corrects a slip, and denies `old` or gives another value of its sort."""
    return corrects_slip(new) and (takes_back(old, new) or denied(old, new))


def names_matter(old: Frame, new: Frame) -> bool:
    """Return True if a clause with a plain word of change shares another word with `old`, or the two share no word but
    an attribute.
    """
    if not old.stems & new.stems:
        return True  # they agree in an attribute or in a value of a sort
    return not _matter(new.plain).isdisjoint(old.stems)


@lru_cache(maxsize=LATELY_COMPARED)
def _matter(plain: str) -> frozenset[str]:
    """Return the content words of the clauses with a plain word of change, without the words for changing or ending."""
    clauses = [Frame(one) for one in _CLAUSES.split(plain) if one.strip()]
    turning = [one for one in clauses if one.cues & PLAIN]
    stems = {one for clause in turning for one in clause.stems - set(map(stem, filter(_turns, clause.tokens)))}
    return frozenset(stems) - SAYS_LITTLE


@lru_cache(maxsize=KEPT)
def _turns(word: str) -> bool:
    """Return True if a word alone plainly means a change or an end."""
    return not Frame(word).cues.isdisjoint(PLAIN)
