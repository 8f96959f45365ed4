"""Several things of one kind in statements: of two cars, "my car" may mean either."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mnemic_language.frames.statement_frame import Frame
from mnemic_language.frames.vocabulary import person_words, plain

_OF = "'s"
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
        frame = Frame(text)
        names = [match["name"] for match in _OF_A_KIND.finditer(text)]
        whose = next((word for word in text.split() if _is_of_another(word)), None)
        for name in names or ([""] if whose else []):
            owner = f" ({plain(whose).removesuffix(_OF)})" if whose and frame.relations else ""
            found.setdefault(f"{name}{owner}".strip(), None)
    return list(found)


def _is_of_another(word: str) -> bool:
    bare = plain(word).removesuffix("'s")
    return bare in person_words()["relations"]
