"""Statements without a key that give what a question asks for: "I moved to Madrid" answers "Where do I live?".

A value under the key is found by the key. A statement has none, and often no word of the question; what it is about is
read as when it is compared with others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from mnemic.ports import Snapshot
from mnemic.retrieve.question import Question
from mnemic.retrieve.relevance import RELATED
from mnemic.types import Kind, Memory, Scope
from mnemic_language.compare.change import frame_of
from mnemic_language.questions.key_questions import PREFERENCE

ATTRIBUTES: Mapping[str, str] = MappingProxyType({"home_city": "residence", "employer": "job", "job": "job"})
"""The attribute of a statement that gives a key's value."""
MOST_WORDS = 12
"""Words of a replaced statement by which its successor is known to be about the same."""
LIFT = 1.0
"""Raise of the score of a memory that is about what the question asks for, however alike the others are in a language
that the embedder reads badly.
"""


async def about_asked(
    memories: Mapping[str, Memory], question: Question, moment: Snapshot, scopes: Sequence[Scope]
) -> frozenset[str]:
    """Return those of `memories` that are about what the question asks for, or took the place of one that was: "I quit
    Bosch, I'm at Fiat now" names no work.
    """
    wanted = frozenset(ATTRIBUTES[key] for key in question.keys if key in ATTRIBUTES)
    if not wanted and PREFERENCE not in question.keys:
        return frozenset()
    about = {one for one, memory in memories.items() if _is_about(memory, wanted, question)}
    rest = {one: memory.supersedes for one, memory in memories.items() if one not in about and memory.supersedes}
    if rest:
        closed = await moment.get_many([old for olds in rest.values() for old in olds], scopes=scopes)
        before = {one for one, memory in closed.items() if _is_short(memory) and _is_about(memory, wanted, question)}
        about |= {one for one, olds in rest.items() if not before.isdisjoint(olds) and _is_own(memories[one])}
    return frozenset(about)


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
    return memory.key in question.keys or (not wanted.isdisjoint(frame.attributes) and frame.subject == "self")


def _is_short(memory: Memory) -> bool:
    """Return True if a statement is about one thing: of several, the later one may have replaced another."""
    return len(frame_of(memory).tokens) <= MOST_WORDS


def _is_own(memory: Memory) -> bool:
    return memory.kind is Kind.LONG_TERM and not _is_of_others(frame_of(memory).subject)


def _is_of_others(subject: str) -> bool:
    return subject.startswith(("other:", "name:"))
