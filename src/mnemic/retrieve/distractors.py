"""Memories that resemble a question and do not answer it: those of a sibling, of another kind or of another person,
earlier questions, and mere names.

"Where do I work?", recorded in a chat, is the nearest memory when the same is asked again, and answers nothing. Nor
does "My sister Emma." answer where she lives.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mnemic.language.questions.asks_only import asks_only
from mnemic.retrieve.distractor_kinds import about_other_kinds
from mnemic.retrieve.distractor_names import of_other_names
from mnemic.retrieve.distractor_owners import about_other_owners
from mnemic.retrieve.distractor_persons import about_other_persons
from mnemic.retrieve.distractor_siblings import about_siblings, behind, lowered, set_aside
from mnemic.retrieve.name_only_memories import asks_more, mere_names
from mnemic.retrieve.question import ROLES
from mnemic.retrieve.signals import ScoreShift
from mnemic.types import Memory, Scored
from mnemic.types.search import MESSAGE_CATEGORY

SIBLING, KIND, QUESTION, NAME, PERSON = "sibling", "kind", "question", "name", "person"
"""Names of the moves of such memories among the ranks."""
OF_SIBLING, OF_QUESTION, OF_NAME = 0.15, 0.0, 0.15
"""Factor for the relevance of such a memory."""
BEHIND_NAMES = 0.2
"""Factor for the score of another's name: it has every word of an answer."""
_OWN = frozenset({None, "", *ROLES})
_OF_QUESTIONS = re.compile(
    r"\b(?:ask|asks|asked|asking|questions?|frag\w+|gefragt|demand\w+|pregunt\w+|domand\w+)\b", re.IGNORECASE
)
"""Matches a question for an earlier question."""


def is_question(memory: Memory) -> bool:
    """Return True if it is a recorded message that only asks. Between people who write to each other, a question also
    informs the other.
    """
    return memory.category == MESSAGE_CATEGORY and memory.source.speaker in _OWN and asks_only(memory.content)


@dataclass(frozen=True, slots=True)
class NonAnswers:
    """Memories of siblings, of other persons, of other kinds or of others' names (`apart`; `persons` are the second,
    `kinds` the last two, `others` the last), recorded questions, and those that only name a person.
    """

    apart: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    persons: frozenset[str] = frozenset()

    @classmethod
    def among(cls, question: str, memories: Mapping[str, Memory]) -> NonAnswers:
        """Return the memories that do not answer `question`."""
        others = of_other_names(question, memories)
        kinds = about_other_kinds(question, memories) | others
        persons = about_other_persons(question, memories) | about_other_owners(question, memories)
        apart = about_siblings(question, memories) | kinds | persons
        named = mere_names(memories) if asks_more(question) else frozenset()
        if _OF_QUESTIONS.search(question):
            return cls(apart, named=named, kinds=kinds, others=others, persons=persons)
        asked = frozenset(one for one, memory in memories.items() if is_question(memory))
        return cls(apart, asked, named, kinds, others, persons)

    @property
    def every(self) -> frozenset[str]:
        """Return all of them."""
        return self.apart | self.asked | self.named

    def behind(self, scores: Mapping[str, float], messages: Collection[str]) -> Mapping[str, float]:
        """Return `scores` with those of non-answers lowered; a question is ranked after all others."""
        if not self.every:
            return scores
        after = behind(scores, (self.apart - self.others) | self.named, messages)
        return lowered(lowered(after, self.others, BEHIND_NAMES), self.asked, OF_QUESTION)

    def set_aside(self, lists: Mapping[str, Sequence[Scored]]) -> Mapping[str, Sequence[Scored]]:
        """Return `lists` with the scores of non-answers at zero, so that they do not count as knowledge."""
        return set_aside(lists, self.every)

    def lowered(self, relevances: Mapping[str, float]) -> Mapping[str, float]:
        """Return `relevances` with those of non-answers lowered."""
        if not self.every:
            return relevances
        after = lowered(lowered(relevances, self.apart, OF_SIBLING), self.named - self.apart, OF_NAME)
        return lowered(after, self.asked, OF_QUESTION)

    def moves(self, before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, ScoreShift]:
        """Return the scores before and after of those that each reason moved, by its name."""
        reasons = {
            SIBLING: self.apart - self.kinds - self.persons - self.asked,
            PERSON: self.persons - self.asked,
            KIND: self.kinds - self.asked,
            QUESTION: self.asked,
            NAME: self.named - self.apart - self.asked,
        }
        return {
            name: ScoreShift(*({one: scores[one] for one in ids if one in before} for scores in (before, after)))
            for name, ids in reasons.items()
            if ids
        }
