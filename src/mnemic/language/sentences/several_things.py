"""Several things of one kind in statements: of two cars, "my car" may mean either."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mnemic.language.text.pattern import Pattern

_OWNER = Pattern(r"(?i)\b(?:my|our) (?P<who>[a-z-]{3,20})'s\b")
"""Matches another person as the owner of a thing: "my wife's car"."""
_OF_A_KIND = re.compile(
    r"\b(?:an?|another|eine?n?|einem|une?|una?|uno|um|uma|een) (?:[a-zà-ÿ-]+ ){0,2}?(?P<name>[A-ZÀ-Þ][\w-]+(?:"
    r" [A-ZÀ-Þ\d][\w-]*)?)"
)
"""Matches a member of a kind, by its name: "a red Volvo"."""


def things_in(statements: Iterable[str]) -> list[str]:
    """Return the names of the things in statements, with their owners other than the speaker, in order; fewer than two
    if there is no sign of several.
    """
    found: dict[str, None] = {}
    for text in statements:
        names = [match["name"] for match in _OF_A_KIND.finditer(text)]
        owner = _OWNER.search(text.replace("’", "'"))
        whose = f" ({owner['who'].lower()})" if owner is not None else ""
        for name in names or ([""] if whose else []):
            found.setdefault(f"{name}{whose}".strip(), None)
    return list(found)
