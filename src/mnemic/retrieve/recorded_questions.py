"""Recorded questions: "Where do I work?", recorded in a chat, is the nearest memory when the same is asked again, and
answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from mnemic.language.questions.asks_only import asks_only
from mnemic.retrieve.question import ROLES
from mnemic.types import Memory, Scored
from mnemic.types.search import MESSAGE_CATEGORY

QUESTION = "question"
"""Rank name of the move of recorded questions."""
_OWN = frozenset({None, "", *ROLES})
_OF_QUESTIONS = re.compile(
    r"\b(?:ask|asks|asked|asking|questions?|frag\w+|gefragt|demand\w+|pregunt\w+|domand\w+)\b", re.IGNORECASE
)
"""Matches a question for an earlier question."""


def recorded_questions(question: str, memories: Mapping[str, Memory]) -> frozenset[str]:
    """Return the recorded messages that only ask; none if `question` is about an earlier question."""
    if _OF_QUESTIONS.search(question):
        return frozenset()
    return frozenset(one for one, memory in memories.items() if is_question(memory))


def is_question(memory: Memory) -> bool:
    """Return True if it is a recorded message that only asks. Between people who write to each other, a question also
    informs the other.
    """
    return memory.category == MESSAGE_CATEGORY and memory.source.speaker in _OWN and asks_only(memory.content)


def without_value(values: Mapping[str, float], among: Collection[str]) -> Mapping[str, float]:
    """Return `values` with those of `among` at zero."""
    return {one: 0.0 if one in among else value for one, value in values.items()} if among else values


def without_score(lists: Mapping[str, Sequence[Scored]], among: Collection[str]) -> Mapping[str, Sequence[Scored]]:
    """Return `lists` with the scores of `among` at zero, so that they do not count as knowledge."""
    if not among:
        return lists
    return {
        name: [Scored(one.memory_id, 0.0) if one.memory_id in among else one for one in entries]
        for name, entries in lists.items()
    }
