"""Memories about a sibling of what a question asks for: the dog where the question is about the hamster.

Siblings are near in meaning and share the question's other words ("what is my ... called"), so that similarity takes
one for the other. A small table of everyday groups (`sibling_kinds.json`, words in a row mean the same) tells them
apart: a memory that owns up to a sibling and does not name the thing itself does not answer. Words outside the table
are judged as before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pkgutil import get_data

from mnemic.types import Memory, Scored

LOWERED = 0.15
"""Part of its relevance, and `BEHIND` of its score, that such a memory keeps."""
BEHIND = 0.8
_READ = 300
"""Characters of a question, and of a memory, that are read."""
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_OWNED = frozenset(
    "my our mine mein meine meiner meinem meinen meines unser unsere unseren mon ma mes notre nos mi mis nuestro"
    " nuestra mio mia miei mie nostro nostra meu minha meus minhas nosso nossa mijn ons onze".split()
)
"""Words before what the asker has, in seven languages; so does a name with 's."""
_HAS = _OWNED | frozenset(
    "his her their your a an have has had another one two three ein eine einen habe hat un une uno una um uma een heb"
    " tengo tenho ho".split()
)
"""Words before what somebody has."""
_NEAR = 2
"""Words between what shows an owner and what is owned ("my new red car")."""


@cache
def _groups() -> Mapping[str, tuple[str, int]]:
    """Return the group and the number of the row of each word."""
    read: dict[str, list[str]] = json.loads(get_data("mnemic.retrieve", "sibling_kinds.json") or b"{}")
    return {
        word: (kind, row) for kind, rows in read.items() for row, words in enumerate(rows) for word in words.split()
    }


def about_siblings(question: str, memories: Mapping[str, Memory]) -> frozenset[str]:
    """Return those of `memories` that tell of a sibling of what `question` asks for, and not of the thing itself."""
    asked = _owned(question[:_READ], asking=True)
    if not asked:
        return frozenset()
    return frozenset(one for one, memory in memories.items() if _is_of_sibling(asked, memory.content[:_READ]))


def set_aside(lists: Mapping[str, Sequence[Scored]], apart: frozenset[str]) -> Mapping[str, Sequence[Scored]]:
    """Return `lists` with the scores of `apart` at zero, by which nothing is known."""
    if not apart:
        return lists
    return {
        name: [Scored(one.memory_id, 0.0) if one.memory_id in apart else one for one in entries]
        for name, entries in lists.items()
    }


def lowered(values: Mapping[str, float], apart: frozenset[str], part: float) -> dict[str, float]:
    """Return `values` with that part of those of `apart`."""
    return {one: value * part if one in apart else value for one, value in values.items()}


def _is_of_sibling(asked: frozenset[tuple[str, int]], content: str) -> bool:
    named, owned = _named(content), _owned(content, asking=False)
    return any(one not in named and any(kind == one[0] and row != one[1] for kind, row in owned) for one in asked)


@lru_cache(maxsize=2048)
def _owned(text: str, *, asking: bool) -> frozenset[tuple[str, int]]:
    """Return the things of the table that somebody in `text` has; of a question (`asking`), those of its asker or of
    somebody named.
    """
    table, owners = _groups(), _OWNED if asking else _HAS
    words = _WORD.findall(text.lower())
    found = set()
    for place, word in enumerate(words):
        thing = table.get(_bare(word))
        before = words[max(0, place - 1 - _NEAR) : place]
        if thing is not None and any(one in owners or one.endswith(("'s", "’s")) for one in before):
            found.add(thing)
    return frozenset(found)


@lru_cache(maxsize=2048)
def _named(text: str) -> frozenset[tuple[str, int]]:
    """Return the things of the table that `text` names."""
    table = _groups()
    words = map(_bare, _WORD.findall(text.lower()))
    return frozenset(table[word] for word in words if word in table)


def _bare(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")
