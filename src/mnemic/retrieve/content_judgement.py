"""Judgement of the best memories by their texts: recorded questions, which answer nothing, and related words.

The lists rank by words and vectors alone. The texts of the best memories are read once for the result; their contents
about the question moves them up or down and decides how relevant they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mnemic.language.questions.word_fields import language_asked_in
from mnemic.language.text.language import in_latin_letters, language_of
from mnemic.retrieve.asked_attributes import ASKED, AttributeAnswers
from mnemic.retrieve.everyday_words import EverydayWords
from mnemic.retrieve.message_relevance import best_first
from mnemic.retrieve.question import Question
from mnemic.retrieve.recorded_questions import QUESTION, recorded_questions, without_score, without_value
from mnemic.retrieve.relevance import ANOTHER_MODEL, relevance, relevances
from mnemic.retrieve.signals import ScoreShift
from mnemic.types import Memory, Scored, Signals


@dataclass(frozen=True, slots=True)
class ContentJudgement:
    """Memories that answer (`asked`), recorded questions (`asking`), and statements judged by their words.
    `plain_chat`: another model than the default one is asked in English of a chat in English.
    """

    question: Question
    model: str
    asked: AttributeAnswers
    asking: frozenset[str]
    words: EverydayWords
    plain_chat: bool = False

    @classmethod
    def judge(
        cls,
        question: Question,
        memories: Mapping[str, Memory],
        asked: AttributeAnswers,
        *,
        nearest: Sequence[Scored],
        messages: Mapping[str, Signals],
        model: str,
    ) -> ContentJudgement:
        """Judge `memories`, of which `messages` are messages of a conversation; `nearest`: the list of meaning."""
        statements = {one: memory for one, memory in memories.items() if one not in messages}
        words = EverydayWords.judge(question, statements, nearest, model)
        plain = model == ANOTHER_MODEL and _is_plain(question, [memories[one] for one in messages if one in memories])
        return cls(question, model, asked, recorded_questions(question.text, memories), words, plain)

    def apply_moves(self, scores: Mapping[str, float]) -> tuple[Mapping[str, float], dict[str, ScoreShift]]:
        """Return `scores` after all moves, and the scores before and after each, by its name."""
        after = without_value(scores, self.asking)
        worded = self.words.omit(self.asking).raise_scores(after)
        moves = self.words.moves(after, worded)
        if self.asking:
            asking = (one for one in self.asking if one in scores)
            before = {one: scores[one] for one in asking}
            moves |= {QUESTION: ScoreShift(before, dict.fromkeys(before, 0.0))}
        raised = self.asked.raise_answers(worded)
        return raised, moves | {ASKED: ScoreShift(worded, raised)}

    def relevances(
        self,
        lists: Mapping[str, Sequence[Scored]],
        scores: Mapping[str, float],
        messages: Mapping[str, Signals],
        best: int | None,
    ) -> tuple[float | None, Mapping[str, float]]:
        """Return the relevance of the search and those of its memories; `best`: as in `mnemic.retrieve.relevance`."""
        order, words = best_first(scores), self.words
        answers = words.omit(self.asking).relevances
        lists_left, plain = without_score(lists, self.asking), self.plain_chat
        known = relevance(lists_left, self.question, self.model, scores, messages, order, answers, plain)
        each = relevances(lists, scores, messages, self.question, self.model, best, order, words.relevances)
        return self.asked.adjust_relevances(known, without_value(each, self.asking))


def _is_plain(question: Question, said: Sequence[Memory]) -> bool:
    """Return True if the question and most of these messages are in English; unidentified ones count as English."""
    texts = [memory.content for memory in said]
    foreign = sum(language_of(text) is not None or not in_latin_letters(text) for text in texts)
    if not texts or 2 * foreign >= len(texts):
        return False
    return in_latin_letters(question.text) and language_asked_in(question.text) is None
