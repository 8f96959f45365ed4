"""Names of another person or thing than a question asks for: the landlord's, if it asks for the pet's.

A statement of the landlord's name has the words of every answer to "What is my pet's name?", and so has the user's own
name under its key. The table of everyday kinds shows whether a thing is of the requested kind; other things are judged
as before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from mnemic.language.text.analyse import terms
from mnemic.language.text.pattern import Pattern
from mnemic.retrieve.category_members import kinds_of_things
from mnemic.types import Memory

OWN_NAME = "name"
"""The key of the user's own name."""
_WHOSE = Pattern(
    r"\b(?:my|our) (?:\w+ )?(?P<of>[^\W\d_]+)(?:['’]s name\b| (?:called|named)\b\W*\Z)"
    r"|\bnames? of (?:my|our) (?:\w+ )?(?P<whose>[^\W\d_]+)\W*\Z",
    re.IGNORECASE,
)
"""Matches a question for the name of a person or thing of the asker's."""
_NAMED = Pattern(
    r"\A\W{0,3}(?:my|our) (?P<who>[\w'’-]+(?: [\w'’-]+){0,2}?)(?:['’]s name is| (?:is|are|was) (?:called|named)) ",
    re.IGNORECASE,
)
"""Matches a statement of such a name."""


def of_other_names(question: str, memories: Mapping[str, Memory]) -> frozenset[str]:
    """Return the memories that state another name than `question` asks for."""
    asked = _asked(question)
    if asked is None:
        return frozenset()
    return frozenset(one for one, memory in memories.items() if memory.key == OWN_NAME or _is_of_another(asked, memory))


@lru_cache(maxsize=64)
def _asked(question: str) -> str | None:
    found = _WHOSE.search(question[:300])
    words = [] if found is None else terms(found["of"] or found["whose"])
    return words[-1] if words else None


def _is_of_another(asked: str, memory: Memory) -> bool:
    members = kinds_of_things().get(asked)
    said = _NAMED.match(memory.content) if members is not None else None
    if members is None or said is None:
        return False
    who = frozenset(terms(said["who"]))
    return asked not in who and members.isdisjoint(who)
