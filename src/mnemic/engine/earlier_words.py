"""Earlier words of a user between people that a later one of theirs plainly changes: "I bought a Skoda", "I sold the
Skoda".

Little of what people tell each other is worth storing alone, so most changes would find no statement to replace. A
plain change names the thing changed, so the earlier statement was worth storing, too. It is stored with its own message
as the source, and the change takes its place; the history has both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from mnemic.engine.implied_changes import sentence_candidate
from mnemic.errors import EmbedderFailed
from mnemic.extract import Extraction, is_users_own
from mnemic.requests import Run
from mnemic.types import BETWEEN_PEOPLE, Actor, Candidate, Message
from mnemic_language.changes.agreement import agree, is_faint
from mnemic_language.changes.change_classifier import cosine_of, framed, judge
from mnemic_language.changes.change_evidence import IN_TALK_FROM, evidence
from mnemic_language.changes.changes_between_people import names_what_it_changes
from mnemic_language.ended_facts.implicit_endings import tells_change
from mnemic_language.ended_facts.left_jobs import leaves_work
from mnemic_language.frames.statement_frame import Frame
from mnemic_language.sentences.clauses import sentences
from mnemic_language.sentences.exclusion_rules import said_plainly
from mnemic_language.sentences.general_knowledge_messages import speaks_of_self
from mnemic_language.sentences.social_remarks import is_company
from mnemic_language.sentences.unresolved_references import hangs
from mnemic_language.text.pattern import Pattern

if TYPE_CHECKING:
    from mnemic.dispatch.gateway import MemoryGateway
    from mnemic.errors import MnemicError
    from mnemic.types.trace import RunReport

SHORTEST_WORDS, LONGEST = 3, 200
"""Minimum length in words, and maximum in characters, of a sentence that is considered."""
MAX_EARLIER = 2_000
"""Maximum number of a user's earlier sentences in memory, the latest."""
MAX_COMPARED = 24
"""Earlier sentences with a word or an attribute of the change that are compared with it, the latest."""


_OF_NAMED = ("name:", "other:")
_UNSAID = Pattern(
    r"(?i)^(?:(?:and|so|but|ok|just|finally|already|also|oh) )*(?:sold|quit|stopped|gave up|haven't|don't|moved|left"
    r"|switched|cancell?ed|dropped|traded|finished|broke up|split up|got rid|bought|started|joined|resigned|retired"
    r"|still (?:in|at|on|with))\b"
)
"""Opens a sentence of a chat that leaves its "I" out: "sold the car", "haven't smoked since May"."""


class TurnRunner(Protocol):
    """Engine that runs a turn with an extracted message."""

    @property
    def gateway(self) -> MemoryGateway:
        """The gateway that every write passes."""

    async def run_turn(self, turn: Run, actor: Actor, *, read: Extraction | MnemicError | None = None) -> RunReport:
        """Run one turn."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence of a message, by its place."""

    message: Message
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.message.content[self.start : self.end]

    @property
    def frame(self) -> Frame:
        """Frame of its words, with the "I" that a chat leaves out."""
        return _framed(self.text)


@dataclass(slots=True)
class EarlierWords:
    """Sentences of a user's messages of which nothing was stored, oldest first."""

    said: list[_Said] = field(default_factory=list)

    def hear(self, message: Message, found: object) -> None:
        """Record the sentences of a message of which nothing is stored."""
        if not (isinstance(found, Extraction) and found.between_people and is_users_own(message)):
            return
        stored = [one.source.span for one in found.candidates if one.source.span is not None]
        for start, end in sentences(message.content):
            if any(first < end and start < last for first, last in stored):
                continue
            if end - start <= LONGEST and len(message.content[start:end].split()) >= SHORTEST_WORDS:
                self.said.append(_Said(message, start, end))
        del self.said[:-MAX_EARLIER]

    async def closed_by(
        self,
        engine: TurnRunner,
        actor: Actor,
        message: Message,
        found: Extraction,
        *,
        idempotency_key: str | None = None,
    ) -> Extraction:
        """Return `found` with the plain changes of a message that replace earlier words, which are stored first, under
        the `idempotency_key` of the message. Raises StoreFailed.
        """
        async for span, earlier in self._changes(engine, message, found):
            memory_id = await _stored(engine, actor, earlier, idempotency_key)
            found = found if memory_id is None else _replacing(engine, message, found, span, memory_id)
        return found

    async def pass_over(self, engine: TurnRunner, message: Message, found: object) -> None:
        """Process a message that is captured already, and drop the earlier words that it replaced."""
        if isinstance(found, Extraction):
            async for _ in self._changes(engine, message, found):
                pass
        self.hear(message, found)

    async def _changes(
        self, engine: TurnRunner, message: Message, found: Extraction
    ) -> AsyncIterator[tuple[tuple[int, int], _Said]]:
        """Yield the place of each plain change in a message, with the earlier words that it changes, which are dropped
        here.
        """
        if not (self.said and found.between_people and engine.gateway.policy.allows_keyless and is_users_own(message)):
            return
        for start, end in sentences(message.content):
            text = message.content[start:end]
            earlier = await self._changed_by(engine, text, message.speaker) if _is_plain(text) else None
            if earlier is not None:
                self.said.remove(earlier)
                yield (start, end), earlier

    async def _changed_by(self, engine: TurnRunner, text: str, speaker: str | None) -> _Said | None:
        """Return the latest earlier sentence of a speaker that a sentence of theirs plainly changes; None if there is
        none, or vectors cannot be had.
        """
        new = _framed(text)
        own = (one for one in self.said if one.message.speaker == speaker)
        near = [one for one in own if names_what_it_changes(one.frame, new)][-MAX_COMPARED:]
        near = [one for one in near if _tells(one.text)]
        if not near:
            return None
        gateway = engine.gateway
        within = gateway.budget.deadline(gateway.clock.monotonic)
        try:
            vector, *vectors = await gateway.searcher.embedder.embed(
                [text, *(one.text for one in near)], deadline=within
            )
        # Best effort: the message itself is still captured.
        except EmbedderFailed:
            return None
        for one, other in reversed(list(zip(near, vectors, strict=True))):
            if _changes(one.frame, new, cosine_of(vector, other), among=len(near)):
                return one
        return None


def _is_plain(text: str) -> bool:
    """Return True if a sentence plainly states a change to something of its speaker's or of a named person's. A thing
    that it does not specify ("the van") may be one mentioned before.
    """
    if len(text.split()) < SHORTEST_WORDS or len(text) > LONGEST:
        return False
    new = _framed(text)
    if is_faint(new) and not (leaves_work(new) or tells_change(new)):
        return False
    return (_is_own(text) or new.subject.startswith(_OF_NAMED)) and not is_company(text) and said_plainly(text)


def _tells(text: str) -> bool:
    """Return True if a sentence states something of its speaker."""
    return _is_own(text) and not is_company(text) and not hangs(text) and said_plainly(text)


def _is_own(text: str) -> bool:
    return speaks_of_self(text) or _UNSAID.match(text) is not None or framed(text).own


def _framed(text: str) -> Frame:
    return framed(f"I {text}" if _UNSAID.match(text) else text)


def _changes(old: Frame, new: Frame, cosine: float, *, among: int) -> bool:
    """Return True if a rule is certain of a change, or both are about one matter and their words are evidence."""
    change = judge(old, new, cosine, among=among)
    if change is None or change.probability >= 1:
        return change is not None
    return agree(old, new) and evidence(old, new, change.probability, one_talk=False) >= IN_TALK_FROM


async def _stored(engine: TurnRunner, actor: Actor, earlier: _Said, idempotency_key: str | None) -> str | None:
    """Store earlier words as they would have been when they were said; return the memory_id, None if they may not be
    stored.
    """
    message = earlier.message
    made = _candidate(engine, message, (earlier.start, earlier.end))
    if made is None:
        return None
    turn = Run(message=message, idempotency_key=idempotency_key)
    report = await engine.run_turn(turn, actor, read=Extraction(candidates=(made,), between_people=True))
    return next((one.memory_id for one in report.receipts if one.stored), None)


def _candidate(engine: TurnRunner, message: Message, span: tuple[int, int], *replaced: str) -> Candidate | None:
    text = message.content[slice(*span)]
    return sentence_candidate(engine.gateway, message, text, span, replaces=replaced, data={BETWEEN_PEOPLE: True})


def _replacing(
    engine: TurnRunner, message: Message, found: Extraction, span: tuple[int, int], memory_id: str
) -> Extraction:
    """`found` with the sentence at a place as the replacement of a memory."""
    kept: Sequence[Candidate] = found.candidates
    for one in kept:
        mine = one.source.span
        if one.key is None and mine is not None and mine[0] < span[1] and span[0] < mine[1]:
            changed = replace(one, replaces=(*one.replaces, memory_id))
            return replace(found, candidates=tuple(changed if other is one else other for other in kept))
    made = _candidate(engine, message, span, memory_id)
    return found if made is None else replace(found, candidates=(*kept, made))
