"""Statements without a key that give what a question asks for: "I moved to Madrid" answers "Where do I live?".

A value under the key is found by the key. A statement has none, and often no word of the question; what it is about is
read as when it is compared with others.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mnemic.retrieve.question import Question
from mnemic.retrieve.relevance import RELATED
from mnemic.types import Kind, Memory
from mnemic_language.compare.change import frame_of
from mnemic_language.questions.key_questions import PREFERENCE

ATTRIBUTES: Mapping[str, str] = MappingProxyType({"home_city": "residence", "employer": "job", "job": "job"})
"""The attribute of a statement that gives a key's value."""
LIFT = 1.0
"""Raise of the score of a memory that is about what the question asks for, however alike the others are in a language
that the embedder reads badly.
"""


def about_asked(memories: Mapping[str, Memory], question: Question) -> frozenset[str]:
    """Return those of `memories` that are about what the question asks for."""
    wanted = frozenset(ATTRIBUTES[key] for key in question.keys if key in ATTRIBUTES)
    if not wanted and PREFERENCE not in question.keys:
        return frozenset()
    return frozenset(one for one, memory in memories.items() if _is_about(memory, wanted, question))


def raised(scores: Mapping[str, float], about: frozenset[str]) -> dict[str, float]:
    """Return `scores`, raised for the memories of `about`."""
    return {one: score + LIFT * (one in about) for one, score in scores.items()}


def related(
    known: float | None, relevances: dict[str, float], about: frozenset[str]
) -> tuple[float | None, dict[str, float]]:
    """Return the relevance of the search and those of its memories; with `about`, at least as likely as not."""
    if not about:
        return known, relevances
    each = {one: max(relevances.get(one, 0.0), RELATED) for one in about}
    return None if known is None else max(known, RELATED), {**relevances, **each}


def _is_about(memory: Memory, wanted: frozenset[str], question: Question) -> bool:
    if memory.kind is not Kind.LONG_TERM:
        return False
    if PREFERENCE in question.keys and memory.category == PREFERENCE:
        return True
    frame = frame_of(memory)
    return memory.key in question.keys or (not wanted.isdisjoint(frame.attributes) and not _is_of_others(frame.subject))


def _is_of_others(subject: str) -> bool:
    return subject.startswith(("other:", "name:"))
