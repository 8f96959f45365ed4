"""Statements without a key that answer a question for an attribute: "I moved to Madrid" answers "Where do I live?".

A value under the key is found by the key. A statement has none, and often no word of the question; what it gives of its
author is read as when it is compared with others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mnemic.language.comparison import given_keys
from mnemic.language.questions.attributes import PREFERENCE, Work, stated_work
from mnemic.ports import Snapshot
from mnemic.retrieve.question import Question
from mnemic.retrieve.relevance import RELATED
from mnemic.retrieve.time_questions import asks_past
from mnemic.types import Kind, Memory, Origin, Scope
from mnemic.types.search import MESSAGE_CATEGORY

ASKED = "asked"
"""Rank name of the move of memories that answer, or end an earlier answer."""
HOME = frozenset({"home_city"})
WORK = frozenset({"employer", "job"})
MAX_WORDS = 12
"""Words of a replaced statement by which its successor is known to be about the same."""
LIFT = 1.0
"""Raise of the score of a memory about the requested attribute, however similar the others are in a language that the
embedder reads badly.
"""
SAYS = 0.9
"""Least relevance of a statement that literally states the requested attribute."""
OVER = 0.5
"""Factor for the relevance of a statement that is no longer true, if the question asks for the present."""
BEHIND = 0.5
"""Factor for the score of a statement that says that what is asked for is over."""


@dataclass(frozen=True, slots=True)
class AttributeAnswers:
    """Memories about the attribute that a question asks for, each with its least relevance, and those now untrue."""

    about: Mapping[str, float] = field(default_factory=dict)
    over: frozenset[str] = frozenset()

    def raise_answers(self, scores: Mapping[str, float]) -> Mapping[str, float]:
        """Return `scores`, raised for the memories that answer."""
        if not self.about and not self.over:
            return scores
        after = _lower_scores(scores, self.over, BEHIND)
        return {one: score + LIFT * (one in self.about) for one, score in after.items()}

    def adjust_relevances(
        self, known: float | None, relevances: Mapping[str, float]
    ) -> tuple[float | None, Mapping[str, float]]:
        """Return the relevance of the search and those of its memories, with the answers."""
        if not self.about and not self.over:
            return known, relevances
        found = _lower_scores(relevances, self.over, OVER)
        if not self.about:
            return known, found
        found |= {one: max(found.get(one, 0.0), least) for one, least in self.about.items()}
        return None if known is None else max(known, *self.about.values()), found


NOTHING_ASKED = AttributeAnswers()


async def answering(
    memories: Mapping[str, Memory], question: Question, snapshot: Snapshot, scopes: Sequence[Scope]
) -> AttributeAnswers:
    """Return those of `memories` about the attribute that the question asks for, or that replaced one: "I quit Bosch,
    I'm at Fiat now" names no work.
    """
    wanted = question.keys & (HOME | WORK)
    # Most questions ask for none of these attributes, and then no statement is read.
    if not wanted and PREFERENCE not in question.keys:
        return NOTHING_ASKED
    about = {one for one, memory in memories.items() if _is_about(memory, wanted, question)}
    rest = {one: memory.supersedes for one, memory in memories.items() if one not in about and memory.supersedes}
    if rest:
        # The successor may lack the attribute's words; its predecessor has them.
        closed = await snapshot.get_many([old for olds in rest.values() for old in olds], scopes=scopes)
        before = {one for one, memory in closed.items() if _is_short(memory) and _is_about(memory, wanted, question)}
        about |= {one for one, olds in rest.items() if not before.isdisjoint(olds)}
    # For the past, work that is over is an answer as well.
    if wanted.isdisjoint(WORK) or asks_past(question):
        return AttributeAnswers(dict.fromkeys(about, RELATED))
    return _by_work(about, memories)


def _by_work(about: set[str], memories: Mapping[str, Memory]) -> AttributeAnswers:
    """Return `about` with the statements of the speaker's work in other words, without those of work that is over."""
    works = {one: stated_work(memory.content) for one, memory in memories.items() if _is_stated(memory)}
    over = frozenset(one for one, work in works.items() if work is Work.IS_OVER)
    found = dict.fromkeys(about - over, RELATED)
    found |= {one: SAYS for one, work in works.items() if work is Work.HOLDS}
    # A vague statement of work answers only if no clear one is known.
    return AttributeAnswers(found or {one: RELATED for one, work in works.items() if work is Work.MAY_HOLD}, over)


def _is_about(memory: Memory, wanted: frozenset[str], question: Question) -> bool:
    if not _is_stated(memory):
        return False
    if memory.kind is Kind.LONG_TERM:
        if PREFERENCE in question.keys and memory.category == PREFERENCE:
            return True
        if memory.key is not None:
            return memory.key in question.keys
    return not wanted.isdisjoint(given_keys(memory.content))


def _is_stated(memory: Memory) -> bool:
    """Return True for a statement, and for a message in which the user may speak about themselves."""
    if memory.kind is Kind.LONG_TERM:
        return True
    said_by_user = memory.category == MESSAGE_CATEGORY and memory.source.speaker in (None, "", "user")
    return said_by_user and memory.source.origin is Origin.USER_STATED


def _is_short(memory: Memory) -> bool:
    """Return True if a statement is about one thing: of several, the later one may have replaced another."""
    # The successor of a long statement may replace a part of it that is about something else.
    return len(memory.content.split()) <= MAX_WORDS


def _lower_scores(values: Mapping[str, float], among: frozenset[str], part: float) -> dict[str, float]:
    """Return `values` with that part of those of `among`."""
    return {one: value * part if one in among else value for one, value in values.items()}
