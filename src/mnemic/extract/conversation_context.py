"""Conversation around a message: the question it answers, the person it still describes, and other participants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from mnemic.extract import Extraction, is_other_person, is_users_own
from mnemic.language.sentences.answers import question_of, statement_of
from mnemic.language.sentences.classify.between_people import Said, is_worth_telling
from mnemic.language.sentences.clauses import sentences
from mnemic.language.sentences.statements import Piece
from mnemic.policy.proposal_check import drop_duplicates
from mnemic.types import Candidate, Message

TURNS_BEFORE = 3
"""Turns before a message that may contain the question that it answers."""
ANSWERED_WITHIN = timedelta(days=2)
"""Time after which a message hardly answers the one before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """Surroundings of a message: `other` is the last text to its author (empty if there is none), `own` the author's
    words before that, and `people` whether another person takes part, and not only a model.
    """

    other: str = ""
    own: str = ""
    people: bool = False


SPOKEN_ALONE = Talk()
"""Surroundings of a message that nothing precedes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A first sentence that answers a question: the `statement` that it makes, whether the question makes it one that
    `lasts`, its end, and the message with it blanked out, so that offsets stay valid.
    """

    statement: str
    lasts: bool
    asked: str
    end: int
    message: Message
    rest: Message

    def join_findings(self, answered: Extraction, rest: Extraction) -> Extraction:
        """Return the findings in the statement, with the answer as their evidence, and in the rest of the message."""
        # The statement is composed from question and answer; the evidence must be words that the user wrote.
        quote = self.message.content[: self.end].strip()
        start = self.message.content.index(quote)
        span = start, start + len(quote)
        own = [self._evident(one, quote, span) for one in answered.candidates]
        kept, doubles = drop_duplicates([*own, *rest.candidates])
        return Extraction(candidates=kept, skipped=(*rest.skipped, *doubles), between_people=rest.between_people)

    def _evident(self, one: Candidate, quote: str, span: tuple[int, int]) -> Candidate:
        return replace(one, context=self.asked, source=replace(one.source, quote=quote, span=span))


def talk_before(message: Message, before: Sequence[Message], *, people: bool = False) -> Talk:
    """Return the surroundings of `message`; `before`: the turns before it, oldest first; `people`:
    another person takes part, though perhaps not in these.
    """
    said: list[str] = []
    own = ""
    # A question of last week is not answered by today's first message.
    turns = [turn for turn in before if turn.session == message.session and not _is_long_past(turn, message)]
    for turn in reversed(turns):
        if is_users_own(turn):
            # The user's last message ends the talk to be answered; earlier questions were answered by it or never.
            own = turn.content
            break
        if is_other_person(turn) or turn.role == "assistant":
            said.insert(0, turn.content)
    return Talk(other="\n".join(said), own=own, people=people or any(map(is_other_person, before)))


def _is_long_past(turn: Message, message: Message) -> bool:
    if turn.sent_at is None or message.sent_at is None:
        return False
    return message.sent_at - turn.sent_at > ANSWERED_WITHIN


def answer_in(message: Message, talk: Talk) -> Answer | None:
    """Return the answer that `message` opens with; None if it answers nothing, or needs no question."""
    if not talk.other:
        return None

    asked = question_of(talk.other)
    if not asked:
        return None
    text = message.content
    end = next((end for _, end in sentences(text)), len(text))
    stated = statement_of(asked, text[:end], confirms=talk.people)
    if not stated.text:
        return None
    # Blanks in place of the answer: it is not read twice, and spans of the rest still refer to the message.
    rest = replace(message, content=" " * end + text[end:])
    return Answer(statement=stated.text, lasts=stated.lasts, asked=asked, end=end, message=message, rest=rest)


def is_kept_between_people(content: str, whole: Piece, pieces: Sequence[Piece], talk: Talk) -> bool:
    """Return True if a statement was not said to another person, or is worth storing nevertheless."""
    if not talk.people or whole.opinion is None:
        return True

    # One clause worth storing is enough, since the statement is stored whole.
    opinions = [whole.opinion, *(piece.opinion for piece in pieces if piece.opinion is not None)]
    best = max(opinions, key=lambda one: one.keep)
    return is_worth_telling(Said(content=content, whole=whole.opinion, best=best, world=whole.world, other=talk.other))
