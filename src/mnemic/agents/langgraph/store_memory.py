"""Any LangGraph store as the long-term memory of a turn: one document for each thing remembered."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.store.base import BaseStore

from mnemic.agents.steps import KnownMemory, Recall
from mnemic.agents.steps.memory_backend import DEFAULT_COLLECTION, content_key
from mnemic.inject.memory_source import TRUSTED_ORIGINS
from mnemic.policy.key_rules import Policy
from mnemic.types import Candidate, Message
from mnemic.write.prepare import Redactor, redact
from mnemic.write.turn_log import TurnTexts

UNRANKED = 200
"""Documents that are read of a store that ranks none: the first few of those are as good as any, and the turn chooses.
"""
_SECRET = (("%mnemic", "redaction"), "secret")
"""A namespace without any user's memories: no user_id contains "%"."""


class StoreMemory:
    """Memories as documents in the namespace `(user_id, collection)`, under the candidate's key.

    One document per key rather than a profile that is read, changed and written back, so that concurrent turns lose
    nothing. A key whose values accumulate has a document for each value. Policy and review apply as with the engine;
    merging, versions and the audit belong to the engine and are missing here. Stored texts and queries are redacted by
    the built-in detectors; the secret that separates users in the markers is a document as well.
    """

    def __init__(self, store: BaseStore, *, policy: Policy | None = None, collection: str = DEFAULT_COLLECTION) -> None:
        self._store = store
        self._policy = policy or Policy()
        self._collection = collection
        self._redactor = Redactor()
        self._secret: bytes | None = None

    @property
    def policy(self) -> Policy:
        """Policy on memories."""
        return self._policy

    async def place(self, user_id: str, candidate: Candidate) -> tuple[list[str], str]:
        """Return the user's namespace, and the candidate's key."""
        redacted = redact(candidate, self._redactor, await self._kept_secret())
        return self._place(user_id, redacted.candidate)

    def _place(self, user_id: str, redacted: Candidate) -> tuple[list[str], str]:
        key = redacted.key
        if key is None:
            return list(self._namespace(user_id)), content_key(redacted.content)
        if self._policy.rule(key).on_change == "accumulate":
            key = f"{key}/{content_key(redacted.content)}"
        return list(self._namespace(user_id)), key

    async def search(self, user_id: str, query: str, *, limit: int) -> Recall:
        """Return the results of the store for `query` in the user's namespace."""
        query = await self.redact_text(query)
        items = await self._store.asearch(self._namespace(user_id), query=query, limit=limit)
        if len(items) == limit < UNRANKED and all(item.score is None for item in items):
            items = await self._store.asearch(self._namespace(user_id), query=query, limit=UNRANKED)
        return Recall(
            entries=tuple(
                {
                    "namespace": list(item.namespace),
                    "key": item.key,
                    "value": item.value,
                    "score": item.score,
                    "trusted": item.value.get("origin") in TRUSTED_ORIGINS,
                }
                for item in items
            )
        )

    async def find_known(self, user_id: str, candidate: Candidate) -> Sequence[KnownMemory]:
        """Return the document at the candidate's place."""
        namespace, key = await self.place(user_id, candidate)
        item = await self._store.aget(tuple(namespace), key)
        return [] if item is None else [KnownMemory(content=str(item.value.get("value", "")))]

    async def write(
        self, user_id: str, candidate: Candidate, *, idempotency_key: str, reviewed: bool = False
    ) -> dict[str, Any]:
        """Put the document, replacing an existing one; doing it twice gives the same document."""
        candidate = redact(candidate, self._redactor, await self._kept_secret()).candidate
        namespace, key = self._place(user_id, candidate)
        ttl = candidate.ttl.total_seconds() / 60 if candidate.ttl is not None and self._store.supports_ttl else None
        value = {
            "value": candidate.content,
            "kind": candidate.kind.value,
            "category": candidate.category,
            "confidence": candidate.confidence,
            "origin": candidate.source.origin.value,
            "quote": candidate.source.quote,
        }
        if ttl is None:
            await self._store.aput(tuple(namespace), key, value)
        else:
            await self._store.aput(tuple(namespace), key, value, ttl=ttl)
        return {"success": True, "outcome": "stored", "value": {"value": candidate.content}}

    async def record(self, user_id: str, said: Message, *, idempotency_key: str) -> None:
        """Store nothing: a document store cannot distinguish an old message from a current one, and the graph's
        checkpoints contain the conversation.
        """

    async def log_injection(self, user_id: str, run_id: str, entries: Sequence[Mapping[str, Any]], digest: str) -> None:
        """Do nothing: a LangGraph store has no audit."""

    async def record_answer(self, user_id: str, turn: TurnTexts) -> None:
        """Do nothing: the graph's checkpoints contain the conversation."""

    async def redact_text(self, text: str) -> str:
        """By the detectors that are built in."""
        return self._redactor.redact(text, await self._kept_secret()).text

    async def _kept_secret(self) -> bytes:
        """Return the store's secret, created if there is none: of two concurrent ones the later counts."""
        if self._secret is None:
            kept = await self._store.aget(*_SECRET)
            if kept is None:
                await self._store.aput(*_SECRET, {"secret": secrets.token_hex(32)}, index=False, ttl=None)
                kept = await self._store.aget(*_SECRET)
            assert kept is not None
            self._secret = bytes.fromhex(kept.value["secret"])
        return self._secret

    def _namespace(self, user_id: str) -> tuple[str, str]:
        # LangGraph refuses a period in a namespace label, but a user_id may have one. A user_id never contains "%", so
        # the escape is reversible.
        return user_id.replace(".", "%2E"), self._collection
