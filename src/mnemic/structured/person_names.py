"""Names of the person that a thing is for, as senders spell them: `Ana Silva`, `SILVA/ANAMRS`, `Dr. Ana M. Silva`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mnemic.language.text.names import fold_name

_TITLES = frozenset("mr mrs ms miss mstr dr prof chd inf".split())
_WORD = re.compile(r"\w+")


def may_be_one(one: Any, other: Any) -> bool:
    """Return False if the two name different people: every word of the shorter name must occur in the longer one.

    A name is a text, or an object with `name` or with `givenName` and `familyName`. Letter case, accents, order and
    titles are ignored. If one of them has no name, the two are compatible.
    """
    short, long = sorted((person_words(one), person_words(other)), key=len)
    return all(any(_alike(word, another) for another in long) for word in short)


def person_words(value: Any) -> tuple[str, ...]:
    """Return the words of a name in alphabetical order, folded, without titles; empty if there is no name."""
    if isinstance(value, Mapping):
        value = value.get("name") or " ".join(str(value.get(part) or "") for part in ("givenName", "familyName"))
    if not isinstance(value, str):
        return ()
    return tuple(sorted(set(_WORD.findall(fold_name(value))) - _TITLES))


def _alike(one: str, other: str) -> bool:
    """Return True for equal words, also if an airline has appended the title to the given name (`ANAMRS`)."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and long[len(short) :] in {"", *_TITLES}
