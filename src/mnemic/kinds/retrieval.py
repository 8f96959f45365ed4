"""Retrieval across the kinds of one actor's memory: each home answers, and their lists are joined by rank."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mnemic.errors import EmbedderFailed, InvalidInput, MnemicError, StoreFailed
from mnemic.kinds.short_term import MAX_TAIL
from mnemic.language.text.bm25 import keyword_scores
from mnemic.retrieve.question import read_question
from mnemic.types import Actor, Kind, Memory, Message
from mnemic.types.memory_kinds import DURABLE_KINDS, kind_of

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.kinds.working import WorkingMemory

RANK_CONSTANT = 60
"""k of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindHit:
    """Hit of a retrieval across kinds, its score (1 for the first of its list) and its memory; None for a working value
    or a message of the session, which are in no store.
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


class KindRetrieval(list[KindHit]):
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


@dataclass(frozen=True, slots=True)
class MemoryHomes:
    """Places where memories of the actor are: the store, the working values, the session's messages, the agent's
    traits.
    """

    engine: MemoryEngine
    actor: Actor
    working: WorkingMemory
    messages: Callable[[int], Awaitable[Sequence[Message]]]
    traits: Callable[[], Awaitable[Sequence[Memory]]]

    async def retrieve_kinds(self, query: str, kinds: Sequence[Kind | str] | None, top_k: int) -> KindRetrieval:
        """Return the result of `SevenKinds.retrieve`."""
        chosen = frozenset(Kind) if kinds is None else frozenset(kind_of(kind) for kind in kinds)
        if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= 100:
            raise InvalidInput("top_k", hint="a whole number from 1 to 100")
        errors: dict[str, str] = {}
        stored = chosen & DURABLE_KINDS - {Kind.PERSONA}
        homes: dict[str, Awaitable[list[KindHit]]] = {}
        if Kind.SHORT_TERM in chosen:
            homes["short_term"] = self._matching_messages(query)
        if stored:
            homes["store"] = self._search_homes(query, stored, top_k, errors)
        if Kind.PERSONA in chosen:
            homes["persona"] = self._matching_traits(query)
        answers = dict(zip(homes, await gather(*map(_attempt_home, homes.values())), strict=True))
        failed = {home: why for home, why in answers.items() if isinstance(why, MnemicError)}
        # As in a search: if everything failed, the answer must not look like "nothing is known".
        if failed and len(failed) == len(homes) and Kind.WORKING not in chosen:
            raise next(iter(failed.values()))
        values = await self._matching_values(query) if Kind.WORKING in chosen else []
        lists = [values, *(found for found in answers.values() if not isinstance(found, MnemicError))]
        return KindRetrieval(_fuse_lists(lists)[:top_k], errors | {home: why.reason for home, why in failed.items()})

    async def _matching_values(self, query: str) -> list[KindHit]:
        """Return the matching working values, redacted: values that were set without wrapping stay visible to the
        program alone.
        """
        values = {key: value for key, value in self.working.snapshot().items() if isinstance(value, str)}
        order = _by_words({key: f"{key} {value}" for key, value in values.items()}, query)
        shown = {key: await self.engine.redact_text(values[key], actor=self.actor) for key in order}
        return [KindHit(kind=Kind.WORKING, content=shown[key], score=0.0, key=key) for key in order]

    async def _matching_messages(self, query: str) -> list[KindHit]:
        messages = await self.messages(MAX_TAIL)
        order = _by_words({place: message.content for place, message in enumerate(messages)}, query)
        return [KindHit(kind=Kind.SHORT_TERM, content=messages[place].content, score=0.0) for place in order]

    async def _matching_traits(self, query: str) -> list[KindHit]:
        traits = {memory.memory_id: memory for memory in await self.traits()}
        order = _by_words({name: memory.content for name, memory in traits.items()}, query)
        return [_hit(traits[name]) for name in order]

    async def _search_homes(
        self, query: str, kinds: frozenset[Kind], top_k: int, errors: dict[str, str]
    ) -> list[KindHit]:
        result = await self.engine.search(query, actor=self.actor, kinds=sorted(kinds), top_k=top_k)
        errors |= {f"store:{name}": why for name, why in result.errors.items()}
        return [_hit(hit.memory) for hit in result.hits]


async def _attempt_home(home: Awaitable[list[KindHit]]) -> list[KindHit] | StoreFailed | EmbedderFailed:
    """Return the answer of a home, or the reason that it does not answer."""
    try:
        return await home
    except (StoreFailed, EmbedderFailed) as failure:
        return failure


def _hit(memory: Memory) -> KindHit:
    return KindHit(kind=memory.kind, content=memory.content, score=0.0, key=memory.key, memory=memory)


def _by_words(texts: Mapping[Any, str], query: str) -> list[Any]:
    """Return the names of the texts that share a word with the query, best first; without one all, newest first."""
    if not query.strip():
        return list(texts)[::-1]
    scores = keyword_scores(texts, read_question(query).keywords)
    return sorted(scores, key=lambda name: -scores[name])


def _fuse_lists(lists: Sequence[Sequence[KindHit]]) -> list[KindHit]:
    """Reciprocal rank fusion. No hit is in two lists, so a hit's score depends on its rank in one list."""
    ranked = sorted(
        ((rank, place, hit) for place, hits in enumerate(lists) for rank, hit in enumerate(hits)),
        key=lambda one: one[:2],
    )
    return [
        KindHit(
            kind=hit.kind,
            content=hit.content,
            # Scaled so that the first of each list scores 1.
            score=round((RANK_CONSTANT + 1) / (RANK_CONSTANT + 1 + rank), 6),
            key=hit.key,
            memory=hit.memory,
        )
        for rank, _, hit in ranked
    ]
