"""Long-term memory: facts for later conversations, found by meaning and by words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from mnemic.kinds.view import KindView
from mnemic.policy.expiry_rule import ttl_of
from mnemic.runtime.sync_facade import M, verb
from mnemic.types import Hit, Kind, WriteReceipt


class LongTermMemory(KindView[M]):
    """Facts and preferences of one user, stored until they are changed, forgotten or erased."""

    @verb
    async def add(
        self,
        content: str,
        *,
        key: str | None = None,
        category: str | None = None,
        data: Mapping[str, Any] | None = None,
        ttl: timedelta | str | None = None,
        confidence: float = 0.8,
        idempotency_key: str | None = None,
    ) -> WriteReceipt:
        """Remember one thing; under a `key`, `content` is the key's value. See `MemoryEngine.add`."""
        return await self._engine.add(
            content,
            actor=self._actor,
            kind=Kind.LONG_TERM,
            key=key,
            category=category,
            data=data,
            ttl=ttl_of(ttl),
            confidence=confidence,
            idempotency_key=idempotency_key,
        )

    @verb
    async def search(
        self,
        query: str,
        *,
        top_k: int = 5,
        categories: Sequence[str] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        min_score: float = 0.0,
    ) -> Sequence[Hit]:
        """Return the best `top_k` (1 to 100) of them for `query`, each with its memory_id, version, times and
        scores.
        """
        result = await self._engine.search(
            query,
            actor=self._actor,
            kinds=[Kind.LONG_TERM],
            top_k=top_k,
            categories=categories,
            as_of=as_of,
            known_at=known_at,
            min_score=min_score,
        )
        return result.hits
