"""Backend for the long-term memory of a turn: the engine by way of its gateway, or any other implementation of this
protocol.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from mnemic.dispatch.gateway import MemoryGateway
from mnemic.engine import MemoryEngine
from mnemic.engine.extraction import surroundings
from mnemic.engine.first_use import expressions_compiled, wait_until_loaded
from mnemic.engine.later_words import with_later_words
from mnemic.engine.recall import recall
from mnemic.engine.requests_about_memory import remove_requests, requests_in
from mnemic.engine.turn import keep_texts
from mnemic.errors import MnemicError, StoreFailed
from mnemic.extract import Extraction, Extractor
from mnemic.extract.layered_extractor import talk_around
from mnemic.extract.message_context import InformedExtractor, MessageContext
from mnemic.extract.messages import in_parts, message_candidates
from mnemic.inject.injection_log import record_injection
from mnemic.inject.memory_source import is_trusted, said_by
from mnemic.language.text.normalise import canonical_value
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.policy.proposal_check import MAX_CONTENT_CHARS
from mnemic.types import (
    Actor,
    Candidate,
    Deadline,
    Hit,
    Intent,
    Memory,
    MemoryRequest,
    Message,
    Outcome,
    RecallRequest,
    Where,
)
from mnemic.write.turn_log import TurnTexts

DEFAULT_COLLECTION = "memories"
_PASSING = secrets.token_bytes(32)
"""Keys markers that nothing is stored under."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Finds of a search, as JSON data (`namespace`, `key`, `value`, `score`, ...), and its failures. An entry with a
    `reason` is shown as it is; one without must reach the minimum score of the turn's rules.
    """

    entries: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMemory:
    """An existing memory: its content, and its identity for the record."""

    content: str = field(repr=False)
    memory_id: str | None = None
    version: int | None = None


class LongTerm(Protocol):
    """The lasting memories of many users. Every call names the user; nothing reaches beyond them."""

    @property
    def policy(self) -> Policy:
        """Policy on memories."""

    async def place(self, user_id: str, candidate: Candidate) -> tuple[list[str], str]:
        """Return the namespace and key a candidate is written under, always the same for the same subject. Raises if
        they cannot be determined.
        """

    async def search(self, user_id: str, query: str, *, limit: int) -> Recall:
        """Find the memories relevant to `query`. Raises if nothing could be searched."""

    async def find_known(self, user_id: str, candidate: Candidate) -> Sequence[KnownMemory]:
        """Return the live memories under the candidate's key; for one without a key, those with the same content."""

    async def write(
        self, user_id: str, candidate: Candidate, *, idempotency_key: str, reviewed: bool = False
    ) -> dict[str, Any]:
        """Store one candidate, redacted: `{"success", "outcome"}`, with `memory_id` and `version`, or a `reason`; as
        `value` what is to be shown of it. `reviewed`: a person has decided that it replaces what it contradicts.
        """

    async def record(self, user_id: str, said: Message, *, idempotency_key: str) -> None:
        """Keep the message itself, redacted. Raises if that failed."""

    async def log_injection(self, user_id: str, run_id: str, entries: Sequence[Mapping[str, Any]], digest: str) -> None:
        """Log the memories that enter the model's input. Raises if that is impossible."""

    async def record_answer(self, user_id: str, turn: TurnTexts) -> None:
        """Store question, block and answer of a turn with injected memories, if policy allows it."""

    async def redact_text(self, text: str) -> str:
        """Return the text with personal data and secrets redacted, as a model may see it. Raises if redaction fails."""


class GatewayMemory:
    """The engine's memories, through policy, grant and the write pipeline.

    The namespace shown is `[user_id, category]`; a memory without a category is in `collection`. `min_score` is the
    minimum relevance of each memory that policy does not pin. `turns` is the engine that stores the texts of turns.
    """

    def __init__(
        self,
        gateway: MemoryGateway,
        *,
        tenant: str = "default",
        agent: str = "default",
        collection: str = DEFAULT_COLLECTION,
        preference_bias: bool = False,
        min_score: float = 0.0,
        turns: MemoryEngine | None = None,
    ) -> None:
        self._gateway = gateway
        self._turns = turns
        self._tenant = tenant
        self._agent = agent
        self._collection = collection
        self._bias = preference_bias
        self._min_score = min_score

    @property
    def policy(self) -> Policy:
        """The gateway's policy."""
        return self._gateway.policy

    async def wait_until_loaded(self) -> None:
        """Wait for the models and tables that the first question of the process needs."""
        await wait_until_loaded(self._gateway.searcher.embedder)

    async def place(self, user_id: str, candidate: Candidate) -> tuple[list[str], str]:
        """Return the user's namespace for the candidate's category, and its key."""
        key = candidate.key or content_key(await self.redact_text(candidate.content))
        return [user_id, candidate.category or self._collection], key

    async def search(self, user_id: str, query: str, *, limit: int) -> Recall:
        """Return the memories of the user that `mnemic.engine.recall` shows within the grant."""
        budget = self._gateway.budget
        intent = Intent(query=query, top_k=min(limit, budget.max_retrieve_top_k), min_score=self._min_score)
        request = RecallRequest(intent=intent, preference_bias=self._bias)
        found = await recall(self._gateway, request, actor=self._actor(user_id))
        errors = tuple(f"{name}: {why}" for name, why in found.errors.items())
        return Recall(entries=tuple(self._entry(user_id, hit) for hit in found.hits), errors=errors)

    async def find_known(self, user_id: str, candidate: Candidate) -> Sequence[KnownMemory]:
        """Look up by key, unchanged; without one, search for the words."""
        actor = self._actor(user_id)
        store, now = self._gateway.searcher.store, self._gateway.clock.now()
        if candidate.key is not None:
            where = Where(scopes=(actor.scope(candidate.level),), keys=frozenset({candidate.key}), live_at=now)
            return [_known_memory(memory) for memory in await store.newest(where, limit=20)]
        where = Where(scopes=(actor.scope(candidate.level),), live_at=now)
        found = await self._gateway.searcher.search(candidate.content, where, top_k=10)
        said = canonical_value(candidate.content)
        return [_known_memory(hit.memory) for hit in found.hits if canonical_value(hit.memory.content) == said]

    async def find_surroundings(
        self, user_id: str, extractor: Extractor, said: Message, before: Sequence[Message], *, deadline: Deadline
    ) -> dict[str, Any]:
        """Return the surroundings of a message for the extractor: the turns before it and the user's
        memories that concern it. Raises MnemicError.
        """
        return await surroundings(self._gateway, extractor, self._actor(user_id), said, before, deadline=deadline)

    async def add_changes(
        self, user_id: str, said: Message, found: Extraction, *, deadline: Deadline
    ) -> tuple[Extraction, tuple[MemoryRequest, ...]]:
        """Return `found` with what the message changes of the user's memories unstated, and without what it asks of
        memory, which is returned beside it. Raises MnemicError.
        """
        actor = self._actor(user_id)
        changed = await with_later_words(self._gateway, actor, said, found, deadline=deadline)
        requests, asked = await requests_in(self._gateway, actor, said, deadline=deadline)
        return remove_requests(changed, asked), requests

    async def write(
        self, user_id: str, candidate: Candidate, *, idempotency_key: str, reviewed: bool = False
    ) -> dict[str, Any]:
        """Through the gateway; a write that the runtime does not grant comes back as a failure with its reason."""
        gateway = self._gateway
        if reviewed:
            gateway = replace(gateway, policy=_replacing(gateway.policy, candidate.key))
        done = await gateway.write([candidate], actor=self._actor(user_id), idempotency_key=idempotency_key)
        shown = {"value": {"value": await self.redact_text(candidate.content)}}
        if done.blocked:
            return shown | {"success": False, "outcome": Outcome.BLOCKED.value, "reason": done.blocked[0].reason}
        receipt = done.receipts[0]
        stored = receipt.stored and receipt.outcome is not Outcome.PENDING_REVIEW
        result = shown | {"success": stored, "outcome": receipt.outcome.value, "memory_id": receipt.memory_id}
        return result | (
            {"version": receipt.version} if stored else {"reason": receipt.reason or receipt.outcome.value}
        )

    async def record(self, user_id: str, said: Message, *, idempotency_key: str) -> None:
        """As an episodic memory, through the gateway."""
        if len(said.content) > MAX_CONTENT_CHARS:
            said = replace(said, content=await self.redact_text(said.content))  # no card number may end at a cut
        candidates = message_candidates(list(in_parts(said)))
        await self._gateway.write_captured(candidates, actor=self._actor(user_id), idempotency_key=idempotency_key)

    async def log_injection(self, user_id: str, run_id: str, entries: Sequence[Mapping[str, Any]], digest: str) -> None:
        """One line in the tenant's audit."""
        actor, gateway = self._actor(user_id), self._gateway
        hits = await self._hits(actor, [entry["memory_id"] for entry in entries])
        foreign = len(entries) - len(hits)
        store, clock = gateway.searcher.store, gateway.clock
        await record_injection(store, clock, actor, run_id, hits, digest=digest, foreign=foreign, by="langgraph")

    async def record_answer(self, user_id: str, turn: TurnTexts) -> None:
        """Store them as those of every adapter, if the engine was named."""
        if self._turns is not None:
            actor = self._actor(user_id)
            await keep_texts(self._turns, actor, turn, await self._hits(actor, turn.shown))

    async def _hits(self, actor: Actor, memory_ids: Sequence[str]) -> list[Hit]:
        gateway = self._gateway
        scopes = actor.scopes(gateway.grant.reached_by(actor))
        found = await gateway.searcher.store.get_many(memory_ids, scopes=scopes)
        return [Hit(memory=found[memory_id], score=0.0) for memory_id in memory_ids if memory_id in found]

    async def redact_text(self, text: str) -> str:
        """Return `text` as the write path stores it, also while the store is down: its markers are then of this
        process alone. Raises InvalidInput (`redaction`).
        """
        pipeline = self._gateway.pipeline
        try:
            return await pipeline.redact_text(text, tenant=self._tenant)
        except StoreFailed:
            return pipeline.redactor.redact(text, _PASSING).text

    def _actor(self, user_id: str) -> Actor:
        return Actor(tenant=self._tenant, user=user_id, agent=self._agent)

    def _entry(self, user_id: str, hit: Hit) -> dict[str, Any]:
        memory = hit.memory
        return {
            "namespace": [user_id, memory.category or self._collection],
            "key": memory.key or content_key(memory.content),
            "value": {"value": memory.content, "kind": memory.kind.value},
            "score": hit.score,
            "relevance": hit.relevance,
            "why": hit.why,
            "reason": hit.reason,
            "memory_id": memory.memory_id,
            "version": memory.version,
            "trusted": is_trusted(memory, self._actor(user_id)),
            "said_by": said_by(memory, self._actor(user_id)),
        }


async def extract_message(
    long_term: LongTerm,
    extractor: Extractor,
    user_id: str,
    said: Message,
    before: Sequence[Message],
    budget: Budget,
    deadline: Deadline,
) -> Extraction:
    """Return the extractor's findings in a message that followed the turns `before`; it gets the memories that concern
    the message if their home has them. Raises MnemicError.
    """
    if isinstance(long_term, GatewayMemory):
        around = await long_term.find_surroundings(user_id, extractor, said, before, deadline=deadline)
    elif isinstance(extractor, InformedExtractor):
        shown = [replace(one, content=await long_term.redact_text(one.content)) for one in before]
        around = {"around": MessageContext(before=tuple(shown))}
    else:
        around = dict(talk_around(extractor, [*before, said], len(before)))
    await expressions_compiled()
    return await extractor.extract(said, policy=long_term.policy, budget=budget, deadline=deadline, **around)


async def with_implied(
    long_term: LongTerm, user_id: str, said: Message, found: Extraction, deadline: Deadline
) -> tuple[Extraction, tuple[MemoryRequest, ...], str | None]:
    """Return `found` with what the message changes of known memories, and what it asks of memory, where their home can
    tell; and the reason if that could not be looked up: a failure must not read as "nothing is asked".
    """
    if not isinstance(long_term, GatewayMemory):
        return found, (), None
    try:
        changed, asked = await long_term.add_changes(user_id, said, found, deadline=deadline)
    except MnemicError as failure:
        return found, (), failure.reason
    return changed, asked, changed.unknown


def content_key(content: str) -> str:
    """Return a key for a statement without one: the same for the same words in any case and spacing."""
    return "m-" + hashlib.sha256(canonical_value(content).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _known_memory(memory: Memory) -> KnownMemory:
    return KnownMemory(content=memory.content, memory_id=memory.memory_id, version=memory.version)


def _replacing(policy: Policy, key: str | None) -> Policy:
    """Return the policy under which a reviewed value replaces the one it contradicts."""
    if key is None:
        return policy
    rule = (policy.keys or {}).get(key, KeyRule(key))
    return replace(policy, keys={**(policy.keys or {}), key: replace(rule, on_change="supersede")}, **_open(policy))


def _open(policy: Policy) -> dict[str, Any]:
    return {"open_keys": True, "keyless": True} if policy.keys is None else {}
