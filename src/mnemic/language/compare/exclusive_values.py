"""Values of one sort: if a thing has one at a time, another member of the sort replaces it.

"Quotes in USD" and "quotes in EUR", second class and first, hand luggage and hold luggage ("Handgepäck",
"Aufgabegepäck"), two children and a third.
"""

from __future__ import annotations

from functools import lru_cache

from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.text.pattern import WordPattern

LONGEST_FAINT = 16
"""Maximum words of a statement that may change a value by a faint word ("now", "again")."""
SHORTEST_COMPOUND, SHORTEST_HEAD = 9, 5
"""Minimum letters of a compound, and of the final noun that two of them share."""
_CHILDREN = frozenset(
    "kids kid children sons daughters boys girls kinder kind kindern sohne tochter enfants enfant fils filles hijos"
    " hijas ninos figli figlie bambini filhos filhas criancas kinderen zonen dochters grandchildren grandkids"
    " nephews nieces enkel enkelkinder petits-enfants nietos nipoti netos kleinkinderen".split()
)
_BORN = frozenset(
    "baby child son daughter boy girl nephew niece grandchild grandson granddaughter kind sohn tochter fils fille"
    " hijo hija figlio figlia filho filha zoon dochter enkel enkelin enkelkind petit-enfant petit-fils petite-fille"
    " nieto nieta nipote neto neta kleinkind kleinzoon kleindochter".split()
)
_ONE_CHILD = WordPattern(
    r"\b(?:have|haben|hab|avons|j'ai|tenemos|tengo|abbiamo|ho|temos|tenho|hebben|heb) (?:a|one|ein|eine|einen"
    r"|un|une|una|um|uma|een) (?:child|kid|son|daughter|boy|girl|baby|kind|sohn|tochter|enfant|fils|fille|hijo|hija"
    r"|figlio|figlia|bambino|bambina|filho|filha|zoon|dochter)\b"
)
_RANKS = {
    "second": 2, "zweit": 2, "deuxieme": 2, "segund": 2, "second'": 2, "tweed": 2,
    "third": 3, "dritt": 3, "troisieme": 3, "tercer": 3, "terz": 3, "terceir": 3, "derde": 3,
    "fourth": 4, "viert": 4, "quatrieme": 4, "cuart": 4, "quart": 4, "vierde": 4,
    "fifth": 5, "funft": 5, "cinquieme": 5, "quint": 5, "vijfde": 5,
}  # fmt: skip


def another_of_a_sort(old: Frame, new: Frame) -> bool:
    """Return True if both name members of one sort of values, and have none in common."""
    return any(name in new.sorts and mine.isdisjoint(new.sorts[name]) for name, mine in old.sorts.items())


def compound_of_a_sort(old: Frame, new: Frame) -> bool:
    """Return True if the two name different compounds with the same final noun."""
    mine, theirs = compounds(old) - compounds(new), compounds(new) - compounds(old)
    return any(_same_head(one, other) for one in mine for other in theirs)


def rambles(new: Frame) -> bool:
    """Return True if the only cue for a change is a faint word in a long sentence, where it is as often a filler."""
    return len(new.tokens) > LONGEST_FAINT and new.cues.isdisjoint({"change", "correct"})


def one_more_child(old: Frame, new: Frame) -> bool:
    """Return True if `new` reports the birth of one child more than `old` counts: "two kids", "our third was born"."""
    if not new.bears_child or _of_others(new):
        return False
    one = _ONE_CHILD.search(old.plain) is not None
    counts = {"1"} if one else old.numbers
    counted = one or not _CHILDREN.isdisjoint(old.tokens)
    if len(counts) != 1 or not counted:
        return False
    (count,) = counts
    ranks = {rank for token in new.tokens for word, rank in _RANKS.items() if token.startswith(word)}
    return count.isdigit() and ranks == {int(count) + 1}


def _of_others(frame: Frame) -> bool:
    """Return True if the child is not the speaker's: "my sister's third was born"."""
    return bool(frame.relations - _children()) or (frame.subject.startswith("other:") and not frame.own)


@lru_cache(maxsize=1)
def _children() -> frozenset[str]:
    return frozenset(stem(word) for word in (*_CHILDREN, *_BORN))


def compounds(frame: Frame) -> set[str]:
    """Return the long words of a statement, which may be compounds."""
    return {token for token in frame.tokens if len(token) >= SHORTEST_COMPOUND}


def _same_head(one: str, other: str) -> bool:
    shared = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        shared += 1
    return SHORTEST_HEAD <= shared <= min(len(one), len(other)) - 3
