"""The seven kinds of one actor's memory, side by side, and what goes across them."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mnemic.errors import EmbedderFailed, InvalidInput, MnemicError, StoreFailed
from mnemic.kinds.view import KindView
from mnemic.runtime.sync_facade import Ground, M, awaited, verb
from mnemic.types import Actor, Candidate, Kind, Level, Memory, Message, Outcome, WriteReceipt
from mnemic.types.catalog import CATALOG, DURABLE_KINDS, Home, kind_of
from mnemic.types.identity import new_id

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.kinds.entity import EntityMemory
    from mnemic.kinds.episodic import EpisodicMemory
    from mnemic.kinds.long_term import LongTermMemory
    from mnemic.kinds.persona import PersonaMemory
    from mnemic.kinds.profile import Profile
    from mnemic.kinds.short_term import ShortTermMemory
    from mnemic.kinds.structured import StructuredMemory
    from mnemic.kinds.working import WorkingMemory

RANK_CONSTANT = 60
"""k of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindHit:
    """One hit of a retrieval across kinds, its score (1 for what is first in its list) and the memory behind it; None
    for what lives in no store: a working value, a message of the session.
    """

    kind: Kind
    content: str = field(repr=False)
    score: float
    key: str | None = None
    memory: Memory | None = field(default=None, repr=False)

    @property
    def memory_id(self) -> str | None:
        """The memory's identifier, if it has one."""
        return None if self.memory is None else self.memory.memory_id


class Retrieved(list[KindHit]):
    """Memories that were found, best first, and in `errors` why a home (`short_term`, `store`, `persona`) did not
    answer, or a list of the store's (`store:keyword`).
    """

    def __init__(self, hits: Iterable[KindHit] = (), errors: Mapping[str, str] | None = None) -> None:
        super().__init__(hits)
        self.errors: Mapping[str, str] = dict(errors or {})

    @property
    def degraded(self) -> bool:
        """True if something did not answer."""
        return bool(self.errors)


class SevenKinds(KindView[M]):
    """One view of each kind, loaded when it is first used, and the verbs that go across them."""

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        ground: Ground[M],
        *,
        profile: Profile | None = None,
    ) -> None:
        super().__init__(engine, actor, ground)
        self._profile = profile

    @cached_property
    def working(self) -> WorkingMemory:
        """Scratch values of one task."""
        from mnemic.kinds.working import WorkingMemory

        return WorkingMemory()

    @cached_property
    def short_term(self) -> ShortTermMemory[M]:
        """The messages of the session."""
        from mnemic.kinds.short_term import ShortTermMemory

        return ShortTermMemory(self._engine, self._actor, self.ground)

    @cached_property
    def long_term(self) -> LongTermMemory[M]:
        """Facts and preferences."""
        from mnemic.kinds.long_term import LongTermMemory

        return LongTermMemory(self._engine, self._actor, self.ground)

    @cached_property
    def persona(self) -> PersonaMemory[M]:
        """Memory of who the agent is."""
        from mnemic.kinds.persona import PersonaMemory

        return PersonaMemory(self._engine, self._actor, self.ground, profile=self._profile)

    @cached_property
    def episodic(self) -> EpisodicMemory[M]:
        """Memory of what the agent did, and how it ended."""
        from mnemic.kinds.episodic import EpisodicMemory

        return EpisodicMemory(self._engine, self._actor, self.ground)

    @cached_property
    def entity(self) -> EntityMemory[M]:
        """Memory of the people and things that the user speaks of."""
        from mnemic.kinds.entity import EntityMemory

        return EntityMemory(self._engine, self._actor, self.ground)

    @cached_property
    def structured(self) -> StructuredMemory[M]:
        """Data of a known shape."""
        from mnemic.kinds.structured import StructuredMemory

        return StructuredMemory(self._engine, self._actor, self.ground)

    @verb
    async def add(
        self,
        content: str | Candidate,
        kind: Kind | str = Kind.LONG_TERM,
        *,
        key: str | None = None,
        level: Level | str | None = None,
        category: str | None = None,
        data: Mapping[str, Any] | None = None,
        ttl: timedelta | str | None = None,
        confidence: float = 0.8,
        occurred_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> WriteReceipt:
        """Remember one thing where its kind lives, at its kind's own level unless another is named.

        `working`: set, redacted, under `key`, or under a new one that the receipt names. `short_term`: a message of the
        user's; for these two the receipt is not durable and the other arguments mean nothing. `entity`: all that the
        text names and tells (`EntityMemory.extract`), with the receipt of the first; a text that names nothing is kept
        as it is. All others: `MemoryEngine.add`. `ttl`: how long, as a duration or as `30d`, `10y`, `never`.
        """
        chosen = content.kind if isinstance(content, Candidate) else kind_of(kind)
        home = CATALOG[chosen].home
        if home is not Home.RECORDS:
            text = content.content if isinstance(content, Candidate) else content
            return await self._keep(text, home, key)
        if chosen is Kind.ENTITY and isinstance(content, str) and key is None and data is None:
            receipts = await self._extracted(content, idempotency_key)
            if receipts:
                return receipts[0]
        return await self._engine.add(
            content,
            actor=self._actor,
            kind=chosen,
            key=key,
            level=level or CATALOG[chosen].level,
            category=category,
            data=data,
            ttl=ttl,
            confidence=confidence,
            occurred_at=occurred_at,
            idempotency_key=idempotency_key,
        )

    @verb
    async def retrieve(self, query: str, kinds: Sequence[Kind | str] | None = None, *, top_k: int = 10) -> Retrieved:
        """Return the best `top_k` (1 to 100) for `query` across `kinds` (None: all seven), best first.

        Every home answers by itself: the store with one search over all kinds asked for (by meaning and words), the
        working values, the session's messages and the agent's traits by words. The lists are joined by reciprocal ranks
        (k = 60), so that no list's scores are compared with another's; of the same rank, what is nearer to the task
        comes first: working, short_term, the store, persona. A home that does not answer is named in `errors`, and what
        the others have is returned; where none of those asked answers, the first failure is raised.
        """
        chosen = frozenset(Kind) if kinds is None else frozenset(kind_of(kind) for kind in kinds)
        if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= 100:
            raise InvalidInput("top_k", hint="1 to 100")
        errors: dict[str, str] = {}
        stored = chosen & DURABLE_KINDS - {Kind.PERSONA}
        homes: dict[str, Awaitable[list[KindHit]]] = {}
        if Kind.SHORT_TERM in chosen:
            homes["short_term"] = self._matching_messages(query)
        if stored:
            homes["store"] = self._searched(query, stored, top_k, errors)
        if Kind.PERSONA in chosen:
            homes["persona"] = self._matching_traits(query)
        answers = dict(zip(homes, await gather(*map(_attempted, homes.values())), strict=True))
        failed = {home: why for home, why in answers.items() if isinstance(why, MnemicError)}
        if failed and len(failed) == len(homes) and Kind.WORKING not in chosen:
            raise next(iter(failed.values()))
        values = await self._matching_values(query) if Kind.WORKING in chosen else []
        lists = [values, *(found for found in answers.values() if not isinstance(found, MnemicError))]
        return Retrieved(_joined(lists)[:top_k], errors | {home: why.reason for home, why in failed.items()})

    # -- add ----------------------------------------------------------------------------------------------------------

    async def _extracted(self, content: str, idempotency_key: str | None) -> Sequence[WriteReceipt]:
        from mnemic.kinds.entity import EntityMemory

        view = EntityMemory(self._engine, self._actor, awaited())
        return (await view.extract(content, idempotency_key=idempotency_key)).receipts

    async def _keep(self, content: str, home: Home, key: str | None) -> WriteReceipt:
        if home is Home.PROCESS:
            key = key or new_id(self._engine.clock.now())
            self.working.set(key, await self._engine.redacted(content, actor=self._actor))
        else:
            await self._said(content)
        return WriteReceipt(outcome=Outcome.CREATED, key=key, level=Level.SESSION, durable=False)

    async def _said(self, content: str) -> None:
        from mnemic.kinds.short_term import ShortTermMemory

        await ShortTermMemory(self._engine, self._actor, awaited()).append("user", content)

    # -- retrieve -----------------------------------------------------------------------------------------------------

    async def _matching_values(self, query: str) -> list[KindHit]:
        """Return the working values that match, redacted: what was set as it is stays so for the program alone."""
        values = {key: value for key, value in self.working.snapshot().items() if isinstance(value, str)}
        order = _by_words({key: f"{key} {value}" for key, value in values.items()}, query)
        shown = {key: await self._engine.redacted(values[key], actor=self._actor) for key in order}
        return [KindHit(kind=Kind.WORKING, content=shown[key], score=0.0, key=key) for key in order]

    async def _matching_messages(self, query: str) -> list[KindHit]:
        from mnemic.kinds.short_term import MAX_TAIL

        messages = await self._messages(MAX_TAIL)
        order = _by_words({place: message.content for place, message in enumerate(messages)}, query)
        return [KindHit(kind=Kind.SHORT_TERM, content=messages[place].content, score=0.0) for place in order]

    async def _messages(self, limit: int) -> Sequence[Message]:
        if self._engine.sessions is None:
            return []
        return await self._engine.sessions.tail(self._actor.scope(Level.SESSION), limit=limit)

    async def _matching_traits(self, query: str) -> list[KindHit]:
        traits = {memory.memory_id: memory for memory in await self._traits()}
        order = _by_words({name: memory.content for name, memory in traits.items()}, query)
        return [_hit(traits[name]) for name in order]

    async def _traits(self) -> Sequence[Memory]:
        from mnemic.kinds.persona import PersonaMemory

        return await PersonaMemory(self._engine, self._actor, awaited()).traits()

    async def _searched(self, query: str, kinds: frozenset[Kind], top_k: int, errors: dict[str, str]) -> list[KindHit]:
        result = await self._engine.search(query, actor=self._actor, kinds=sorted(kinds), top_k=top_k)
        errors |= {f"store:{name}": why for name, why in result.errors.items()}
        return [_hit(hit.memory) for hit in result.hits]


async def _attempted(home: Awaitable[list[KindHit]]) -> list[KindHit] | StoreFailed | EmbedderFailed:
    """Return the answer of a home, or the reason that it does not answer."""
    try:
        return await home
    except (StoreFailed, EmbedderFailed) as failure:
        return failure


def _hit(memory: Memory) -> KindHit:
    return KindHit(kind=memory.kind, content=memory.content, score=0.0, key=memory.key, memory=memory)


def _by_words(texts: Mapping[Any, str], query: str) -> list[Any]:
    """Return the names of the texts that share a word with the query, best first; without one all, newest first."""
    from mnemic.retrieve.question import read_question
    from mnemic.text.keywords import keyword_scores

    if not query.strip():
        return list(texts)[::-1]
    scores = keyword_scores(texts, read_question(query).keywords)
    return sorted(scores, key=lambda name: -scores[name])


def _joined(lists: Sequence[Sequence[KindHit]]) -> list[KindHit]:
    """Reciprocal rank fusion. No hit stands in two lists, so that its rank in its own list is all there is to it."""
    ranked = sorted(
        ((rank, place, hit) for place, hits in enumerate(lists) for rank, hit in enumerate(hits)),
        key=lambda one: one[:2],
    )
    return [
        KindHit(
            kind=hit.kind,
            content=hit.content,
            score=round((RANK_CONSTANT + 1) / (RANK_CONSTANT + 1 + rank), 6),
            key=hit.key,
            memory=hit.memory,
        )
        for rank, _, hit in ranked
    ]
