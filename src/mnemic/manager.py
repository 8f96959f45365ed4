"""The face most programs meet: one user's memory, synchronous, open in one line."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from mnemic.bootstrap import build_airports, build_engine, build_profile
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.face import Blocking, blocking
from mnemic.governance import AuditTrail, ConsentBook, Privacy, ReviewQueue
from mnemic.guard.policy import Policy
from mnemic.kinds.profile import Profile
from mnemic.kinds.seven import Retrieved, SevenKinds
from mnemic.maintain.health import Health
from mnemic.portal import Portal, PortalOwner
from mnemic.stewardship import Form, MaintenanceReport
from mnemic.trace import RunReport
from mnemic.types import Actor, Candidate, ContextBlock, Kind, Level, Memory, Message, SearchResult, WriteReceipt
from mnemic.types.recalling import DEFAULT_MAX_ENTRIES, DEFAULT_MAX_TOKENS


class MemoryManager(PortalOwner):
    """One user's memory with one agent.

        with MemoryManager("ana") as memory:
            memory.capture("I am vegetarian and I prefer aisle seats.")
            print(memory.search("what should I order for dinner?").hits)

    Opens at once: the file named by `store`, by MNEMIC_STORE, or `mnemic.db`. Threads may share a manager. `engine`
    gives an engine that is already built; it is opened and closed here all the same. `profile` is what the agent's
    makers say of it, else what the folder of personas in the settings holds.

    The seven kinds are `working`, `short_term`, `long_term`, `persona`, `episodic`, `entity` and `structured`; `add`
    and `retrieve` go across them.
    """

    def __init__(
        self,
        user_id: str,
        agent_id: str = "default",
        *,
        store: str | Path | None = None,
        tenant: str | None = None,
        workspace: str | None = None,
        session: str | None = None,
        policy: Policy | None = None,
        settings: Settings | None = None,
        engine: MemoryEngine | None = None,
        profile: Profile | None = None,
    ) -> None:
        settings = settings or Settings.load(store=str(store) if store is not None else None)
        self.actor = Actor(
            tenant=tenant or settings.tenant,
            user=user_id,
            agent=agent_id,
            workspace=workspace,
            session=session or f"session-{uuid.uuid4().hex[:12]}",
        )
        self.engine = engine or build_engine(settings, policy=policy)
        profile = profile or build_profile(settings, agent_id)
        self._portal = Portal()
        self._kinds = SevenKinds(
            self.engine, self.actor, blocking(self._portal.call), profile=profile, airports=build_airports
        )
        self.working, self.short_term = self._kinds.working, self._kinds.short_term
        self.long_term, self.persona = self._kinds.long_term, self._kinds.persona
        self.episodic, self.entity, self.structured = self._kinds.episodic, self._kinds.entity, self._kinds.structured
        try:
            self._portal.call(self.engine.open)
        except BaseException:
            self._portal.close()
            raise

    async def _release(self) -> None:
        await self.engine.close()

    def add(
        self,
        content: str | Candidate,
        kind: Kind | str = Kind.LONG_TERM,
        *,
        key: str | None = None,
        level: Level | str | None = None,
        category: str | None = None,
        data: Mapping[str, Any] | None = None,
        ttl: timedelta | None = None,
        confidence: float = 0.8,
        idempotency_key: str | None = None,
    ) -> WriteReceipt:
        """Remember one thing where its kind lives; see `SevenKinds.add`."""
        return self._kinds.add(
            content,
            kind,
            key=key,
            level=level,
            category=category,
            data=data,
            ttl=ttl,
            confidence=confidence,
            idempotency_key=idempotency_key,
        )

    def add_many(
        self, candidates: Sequence[Candidate], *, idempotency_keys: Sequence[str | None] | None = None
    ) -> Sequence[WriteReceipt]:
        """Remember many things; one receipt each, in order."""
        return self._portal.call(self.engine.add_many, candidates, actor=self.actor, idempotency_keys=idempotency_keys)

    def record(self, messages: Sequence[Message]) -> Sequence[WriteReceipt]:
        """Keep the messages of a conversation as episodic memories; one receipt for each that has text."""
        return self._portal.call(self.engine.record, messages, actor=self.actor)

    def capture(self, message: str | Message, *, idempotency_key: str | None = None) -> RunReport:
        """Remember what is worth it in something the user said; the report says what was written, blocked and
        skipped.
        """
        return self._portal.call(self.engine.capture, message, actor=self.actor, idempotency_key=idempotency_key)

    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        levels: Sequence[str] | None = None,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        min_score: float = 0.0,
        max_tokens: int | None = None,
        preference_bias: bool = False,
    ) -> SearchResult:
        """The best memories for `query`; see `MemoryEngine.search`."""
        return self._portal.call(
            self.engine.search,
            query,
            actor=self.actor,
            top_k=top_k,
            levels=levels,
            kinds=kinds,
            categories=categories,
            keys=keys,
            happened_from=happened_from,
            happened_to=happened_to,
            as_of=as_of,
            known_at=known_at,
            min_score=min_score,
            max_tokens=max_tokens,
            preference_bias=preference_bias,
        )

    def context(
        self, query: str, *, top_k: int = DEFAULT_MAX_ENTRIES, max_tokens: int = DEFAULT_MAX_TOKENS
    ) -> ContextBlock:
        """What a model that is asked `query` is shown, as a block of data; see `MemoryEngine.context`."""
        return self._portal.call(self.engine.context, query, actor=self.actor, top_k=top_k, max_tokens=max_tokens)

    def retrieve(self, query: str, kinds: Sequence[Kind | str] | None = None, *, top_k: int = 10) -> Retrieved:
        """The best for `query` across kinds (None: all seven), best first, and in `errors` what failed; see
        `SevenKinds.retrieve`.
        """
        return self._kinds.retrieve(query, kinds, top_k=top_k)

    def get(self, memory_id: str) -> Memory:
        """One memory. Raises MemoryNotFound."""
        return self._portal.call(self.engine.get, memory_id, actor=self.actor)

    def list(
        self, *, kinds: Sequence[Kind | str] | None = None, limit: int = 50, before: str | None = None
    ) -> Sequence[Memory]:
        """Active memories, newest first; `before` is the memory_id that ended the previous page."""
        return self._portal.call(self.engine.list, actor=self.actor, kinds=kinds, limit=limit, before=before)

    def count(self) -> int:
        """How many active memories there are."""
        return self._portal.call(self.engine.count, actor=self.actor)

    def update(self, memory_id: str, content: str, *, expected_version: int | None = None) -> WriteReceipt:
        """Correct a memory; its old version stays in the history. Raises MemoryNotFound, VersionConflict."""
        return self._portal.call(
            self.engine.update, memory_id, content, actor=self.actor, expected_version=expected_version
        )

    def history(self, memory_id: str) -> Sequence[Memory]:
        """All versions of a memory, or of all values of a key, oldest first. Raises MemoryNotFound."""
        return self._portal.call(self.engine.history, memory_id, actor=self.actor)

    def forget(self, memory_id: str) -> None:
        """Delete a memory with all its versions. Raises MemoryNotFound."""
        self._portal.call(self.engine.forget, memory_id, actor=self.actor)

    def export(self) -> Iterator[dict[str, Any]]:
        """Everything held in this user's scopes, as JSON data, one memory at a time."""
        return self._portal.iterate(self.engine.export(actor=self.actor))

    def export_subject(self, subject: str | None = None, *, form: Form = "json", values: bool = False) -> Iterator[str]:
        """Everything held about this user, or about `subject` of the tenant, as the chunks of one document; see
        `MemoryEngine.export_subject`.
        """
        wanted = self.actor.user if subject is None else subject
        return self._portal.iterate(self.engine.export_subject(wanted, actor=self.actor, form=form, values=values))

    def rollback(self, memory_id: str, version: int) -> WriteReceipt:
        """Make a memory say again what it said in `version`. Raises MemoryNotFound, InvalidInput, VersionConflict."""
        return self._portal.call(self.engine.rollback, memory_id, version, actor=self.actor)

    @property
    def consent(self) -> ConsentBook[Blocking]:
        """What may be remembered of this user, key by key."""
        return ConsentBook(blocking(self._portal.call), self.engine, self.actor)

    @property
    def privacy(self) -> Privacy[Blocking]:
        """What is held about somebody, and its erasure."""
        return Privacy(blocking(self._portal.call), self.engine, self.actor)

    @property
    def audit(self) -> AuditTrail[Blocking]:
        """What happened to the tenant's memories."""
        return AuditTrail(blocking(self._portal.call), self.engine, self.actor)

    def review(self, *, whole_tenant: bool = False) -> ReviewQueue[Blocking]:
        """What waits for a person in this user's scopes, or with the program's word `whole_tenant` in everybody's."""
        return ReviewQueue(blocking(self._portal.call), self.engine, self.actor, whole_tenant=whole_tenant)

    def maintain(self, *, whole: bool = False, dry_run: bool = False) -> MaintenanceReport:
        """Every job of upkeep, one after the other; see `MemoryEngine.maintain`."""
        return self._portal.call(self.engine.maintain, actor=self.actor, whole=whole, dry_run=dry_run)

    def doctor(self, *, limit: int = 2000) -> Health:
        """What of the tenant's memories a person should look at; see `MemoryEngine.doctor`."""
        return self._portal.call(self.engine.doctor, actor=self.actor, limit=limit)

    def run(
        self,
        *,
        message: str | Message | None = None,
        goal: str | None = None,
        context: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> RunReport:
        """One memory-augmented turn; see `MemoryEngine.run`."""
        return self._portal.call(
            self.engine.run,
            actor=self.actor,
            message=message,
            goal=goal,
            context=context,
            idempotency_key=idempotency_key,
        )
