"""Verbs that keep a store in order: expiry, what stands beside the rows, another embedder, a look at what is held."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mnemic.errors import InvalidInput
from mnemic.maintain import expire, health, project, reembed
from mnemic.maintain.expire import ExpiryReport, ExpiryRules
from mnemic.maintain.health import Health
from mnemic.maintain.reembed import Reembedded
from mnemic.ports import Embedder
from mnemic.reading import ReadVerbs
from mnemic.types import Actor
from mnemic.write.feed import Feed
from mnemic.write.pipeline import MemoryWritePipeline


class UpkeepVerbs(ReadVerbs):
    """Verbs that `MemoryEngine` takes over."""

    embedder: Embedder
    _pipeline: MemoryWritePipeline

    @property
    def _feeds(self) -> Sequence[Feed]:
        return self._pipeline.publisher.feeds

    async def expire(self, *, actor: Actor, rules: ExpiryRules | None = None, dry_run: bool = False) -> ExpiryReport:
        """Mark what has expired in the actor's tenant, purge what was marked a grace period ago; see
        `mnemic.maintain.expire`.
        """
        rules = rules or ExpiryRules(hard_kinds=self.gateway.limits.hard_kinds)
        report = await expire.expire(self.store, self.clock, actor=actor, rules=rules, dry_run=dry_run)
        if not dry_run:
            await self._pipeline.publisher.catch_up()
        return report

    async def doctor(self, *, actor: Actor, limit: int = 2000) -> Health:
        """What stands twice, against itself, for nothing, unused or without a vector among the `limit` newest active
        memories of the actor's tenant, and how long review waits. Nothing is changed. Raises StoreFailed.
        """
        return await health.examine(self.store, actor.tenant, self.clock.now(), limit=limit)

    async def reembed(self, embedder: Embedder, *, on_progress: Callable[[int], None] | None = None) -> Reembedded:
        """Change the whole store, every tenant's memories, to another embedder while it is used; see
        `mnemic.maintain.reembed`. This engine goes on with it, and closes the one it had; other processes find by words
        until they are started with the new one. Raises EmbedderFailed, StoreFailed: a further call goes on.
        """
        self._pipeline.successor = embedder
        try:
            done = await reembed.reembed(self.store, embedder, on_progress=on_progress)
        except BaseException:
            self._pipeline.successor = None
            raise
        await self._pipeline.use(embedder)
        before, self.embedder, self.gateway.searcher.embedder = self.embedder, embedder, embedder
        await before.close()
        return done

    async def rebuild(self, projection: str, *, actor: Actor) -> int:
        """Build a projection anew for the actor's tenant; how many memories it took. Raises InvalidInput for one that
        this engine does not feed, StoreFailed.
        """
        feeds = {feed.name: feed for feed in self._feeds}
        if projection not in feeds:
            raise InvalidInput("projection", hint=f"one of {', '.join(sorted(feeds)) or 'none'}")
        return await project.rebuild(feeds[projection], actor.tenant)
