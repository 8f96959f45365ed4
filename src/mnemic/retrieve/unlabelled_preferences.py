"""Preferences, constraints and personal facts that were stored without a category.

A fact captured from a message has a category, and a request is judged against it (`preference_relevance`). A program
that calls `add("I'm a vegetarian.")` gives none, and the statement resembles no request for a restaurant, so its words
are classified when such a request comes. bench/retrieval.md measures the effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from mnemic.language.sentences.categories import category_of
from mnemic.language.sentences.classify.classifier import weights
from mnemic.retrieve.preference_relevance import IDENTITY, ParsedRequest
from mnemic.types import Hit, Kind, Status

PERSONAL = frozenset({"preference", "constraint", IDENTITY})
"""Categories on which a choice, a plan or a draft can depend."""
LONGEST = 300
"""Maximum length, in characters, of a statement; a longer text is outside the classifier's training."""


def concerned_without_category(hits: Sequence[Hit], ask: ParsedRequest) -> list[Hit]:
    """Return those of `hits`, statements without a category and a key, on which the answer to a request for a choice
    could depend; none for other requests.
    """
    return [hit for hit in hits if _is_plain(hit) and _concerns(hit, ask)] if ask.wants_choice else []


def _is_plain(hit: Hit) -> bool:
    memory = hit.memory
    named = memory.category is not None or memory.key is not None
    return not named and memory.kind is Kind.LONG_TERM and memory.status is Status.ACTIVE and not hit.pinned


def _concerns(hit: Hit, ask: ParsedRequest) -> bool:
    """Return True if the statement is personal, likely to matter, and has a word or a topic of the request: it was not
    labelled as a preference, so its similarity alone is not enough.
    """
    content, near = hit.memory.content, hit.ranks.get("vector")
    category, cosine = _category_of(content), None if near is None else near.score
    if category not in PERSONAL or not ask.concerns(content, category=category):
        return False
    return ask.concerns(content, category=category, cosine=cosine)


@lru_cache(maxsize=4096)
def _category_of(content: str) -> str | None:
    """Return the category that the extractor would give a statement, by its words alone: 0.1 ms if it is new."""
    return None if len(content) > LONGEST else category_of(weights().opinions([content]), [content])
