"""Merge of two versions of one item.

Values of the later version take precedence; values it leaves out remain. Three differences are not changes: a poorer
spelling of a name (shorter, in capitals, without accents), a link in place of the item itself, and an empty value.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any


def merge(known: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return `new` over `known`, field by field. Neither is changed."""
    return {
        name: _merge_values(name, known.get(name), new.get(name))
        for name in [*known, *(name for name in new if name not in known)]
    }


def _merge_values(name: str, known: Any, new: Any) -> Any:
    if new in (None, "") or new == [] or new == {}:
        return known
    if known in (None, ""):
        return new
    if isinstance(known, Mapping) and isinstance(new, Mapping):
        return merge(known, new)
    if isinstance(known, str) and isinstance(new, str):
        return _text(name, known, new)
    return new


def _text(name: str, known: str, new: str) -> str:
    if name.lower().endswith("name") and _same_name(known, new):
        return max(known, new, key=_worth)
    if new.startswith(("http://", "https://")) and not known.startswith(("http://", "https://")):
        return known
    return new


def _same_name(known: str, new: str) -> bool:
    """Return True if the words of one are those of the other, or begin them ("K Ottens" and "Kevin Ottens")."""
    shorter, longer = sorted((_words(known), _words(new)), key=lambda words: (len(words), sum(map(len, words))))
    return bool(shorter) and all(any(word.startswith(part) for word in longer) for part in shorter)


def _words(name: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c if c.isalnum() else "" if unicodedata.combining(c) else " " for c in folded).split()


def _worth(name: str) -> tuple[int, bool, int]:
    """Rank a spelling by its information: its letters, then mixed case, then accents."""
    accents = sum(not c.isascii() for c in name)
    return sum(map(len, _words(name))), not (name.isupper() or name.islower()), accents
