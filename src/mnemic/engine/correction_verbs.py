"""The engine's verbs that correct a memory and forget it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from mnemic import requests
from mnemic.engine.read_verbs import ReadVerbs
from mnemic.types import Actor, JsonValue, Kind, Origin, WriteReceipt
from mnemic.write.forget import forget_matching

if TYPE_CHECKING:
    from mnemic.types import ForgetResult


class CorrectionVerbs(ReadVerbs):
    """Verbs of `MemoryEngine` that correct and forget."""

    async def update(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        actor: Actor,
        key: str | None = None,
        category: str | None = None,
        data: Mapping[str, Any] | None = None,
        context: str | None = None,
        ttl: timedelta | str | None = None,
        confidence: float | None = None,
        occurred_at: datetime | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        expected_version: int | None = None,
        origin: Origin | None = None,
    ) -> WriteReceipt:
        """Correct a memory: the same memory_id in its next version, with the old one in the history. Omitted fields
        stay unchanged; an empty `key`, `category` or `context` removes it. `ttl` counts from now, as a duration or as
        `30d`, `10y`, `never`. `origin` is the channel of the words: lower trust cannot correct higher trust.

        Consent and quotas apply as for a new memory. Raises MemoryNotFound, InvalidInput (`key:taken` if another memory
        has the key), or VersionConflict if it is no longer at `expected_version`.
        """
        request = requests.Update(
            memory_id=memory_id,
            content=content,
            key=key,
            category=category,
            data=data,
            context=context,
            ttl=ttl,
            confidence=confidence,
            occurred_at=occurred_at,
            valid_from=valid_from,
            valid_to=valid_to,
            expected_version=expected_version,
            origin=origin,
        )
        return await self.handle(request, actor=actor)

    async def forget(self, memory_id: str, *, actor: Actor) -> None:
        """Delete a memory with all its versions. Raises MemoryNotFound."""
        await self.handle(requests.Forget(memory_id=memory_id), actor=actor)

    async def forget_matching(
        self,
        *,
        actor: Actor,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, JsonValue] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        limit: int = 1000,
        dry_run: bool = False,
    ) -> ForgetResult:
        """Delete the active memories that meet a filter, with all their versions: the newest `limit` (1 to 1,000), each
        in a separate transaction. `dry_run` only lists them. Raises InvalidInput (`filter:empty`) without any bound:
        `erase` deletes everything of a user.
        """
        bounds: dict[str, Any] = {"kinds": kinds, "categories": categories, "keys": keys, "where": where}
        bounds |= {"happened_from": happened_from, "happened_to": happened_to}
        return await forget_matching(self, actor, bounds, limit=limit, dry_run=dry_run)
