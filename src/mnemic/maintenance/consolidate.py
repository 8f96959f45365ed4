"""Consolidation in the background: a summary for each finished conversation, a profile for each entity that users
mention, a reflection for each recurring theme, and, by a model alone, a portrait of the user.

The texts are derived memories (`mnemic.write.derived_memories`). A run is bounded by the texts it writes and the
memories it reads; the next one continues where it stopped, and starts over at the end. It writes nothing for unchanged
sources, and deletes texts with deleted or changed sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from mnemic.errors import InvalidInput, ModelFailed
from mnemic.maintenance.summarise import SUMMARY as SUMMARY_ROLE
from mnemic.maintenance.summarise import portrait, reflections, shorten_messages
from mnemic.maintenance.topics import Topic, topics_of
from mnemic.policy.expiry_rule import FOREVER
from mnemic.ports import Clock, Completer, RecordStore
from mnemic.ports.providers import count_calls, counting
from mnemic.types import (
    Actor,
    Candidate,
    Cost,
    Deadline,
    Kind,
    Level,
    Memory,
    Message,
    Origin,
    Outcome,
    Scope,
    Source,
    Status,
    Where,
    WriteReceipt,
)
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.derived_memories import (
    PORTRAIT,
    REFLECTION,
    SUMMARY,
    delete_memories,
    derived_in,
    digest_of,
    sources_of,
)

PAGE = 500
MAX_READ = 20_000
"""Memories that one run looks at to find users, and that it reads of one user: the newest."""
SHORTEST_LIFE = timedelta(days=1)
"""A source that ends sooner is left out: nothing may outlive it."""

_PLACE = "consolidate/place"
_ROLES = frozenset({"assistant", "tool"})

Write = Callable[[Candidate, Actor, Collection[str]], Awaitable[WriteReceipt]]
"""Writes a candidate for the actor, if the memories of these ids are still there when it is committed."""
Hidden = Callable[[Actor], Awaitable[frozenset[str]]]
"""The keys under which nothing of the actor's is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRules:
    """Settings of a consolidation. `by`: "rules" selects sentences of the sources; "model" asks the language model once
    for each text. `most`: maximum number of texts per run. `quiet`: time since the last message of a conversation.
    `max_tokens`: per text. Raises InvalidInput (`by`, `most`).
    """

    by: Literal["rules", "model"] = "rules"
    most: int = 50
    quiet: timedelta = timedelta(hours=1)
    max_tokens: int = 300
    timeout: timedelta = timedelta(seconds=60)

    def __post_init__(self) -> None:
        if self.by not in ("rules", "model"):
            raise InvalidInput("by", hint="rules or model")
        if type(self.most) is not int or not 1 <= self.most <= 10_000:
            raise InvalidInput("most", hint="1 to 10,000")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport:
    """Result of one run: texts written by category, deleted and left unchanged; reasons of refusals; how often and why
    rules replaced the model; the cost of the model. `complete`: it reached the end of the tenant.
    """

    made: Mapping[str, int] = field(default_factory=dict)
    removed: int = 0
    unchanged: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    degraded: Mapping[str, int] = field(default_factory=dict)
    cost: Cost = Cost()
    complete: bool = True
    dry_run: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "made": dict(self.made),
            "removed": self.removed,
            "unchanged": self.unchanged,
            "refused": dict(self.refused),
            "degraded": dict(self.degraded),
            "cost": self.cost.as_dict(),
            "complete": self.complete,
            "dry_run": self.dry_run,
        }


@dataclass(slots=True)
class _Run:
    store: RecordStore
    clock: Clock
    actor: Actor
    rules: ConsolidationRules
    write: Write
    hidden: Hidden
    model: Completer | None
    dry_run: bool
    made: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    degraded: Counter[str] = field(default_factory=Counter)
    removed: int = 0
    unchanged: int = 0

    @property
    def spent(self) -> bool:
        """True if this run has reached its limit of texts. Refused texts count, as they cost the same."""
        return self.made.total() + self.refused.total() >= self.rules.most

    def report(self, *, complete: bool, cost: Cost) -> ConsolidationReport:
        return ConsolidationReport(
            made=dict(sorted(self.made.items())),
            removed=self.removed,
            unchanged=self.unchanged,
            refused=dict(sorted(self.refused.items())),
            degraded=dict(sorted(self.degraded.items())),
            cost=cost,
            complete=complete,
            dry_run=self.dry_run,
        )

    async def user(self, scope: Scope) -> bool:
        """Consolidate one user's scope; return False if the limit of the run was reached before the end."""
        owner = Actor(tenant=scope.tenant, user=scope.owner)
        now = self.clock.now()
        where = Where(scopes=(scope,), live_at=now, hidden_keys=await self.hidden(owner))
        known = await self._valid_derived(scope, where)
        lasting = [one for one in await self._memories(where) if _lasts(one, now)]
        for topic in topics_of(lasting, quiet_since=now - self.rules.quiet):
            existing = known.get((topic.category, topic.about), ())
            if topic.category == PORTRAIT and self.model is None:
                continue  # rules read the profile anew each time it is asked for
            if existing and all(one.data.get("digest") == topic.digest for one in existing):
                self.unchanged += len(existing)
            elif self.spent:
                return False
            else:
                await self._renew(topic, existing, owner, now)
        return True

    async def _memories(self, where: Where) -> list[Memory]:
        found: list[Memory] = []
        before = None
        while len(found) < MAX_READ and (page := await self.store.newest(where, limit=PAGE, before=before)):
            before = page[-1].memory_id
            found += page
        return found

    async def _valid_derived(self, scope: Scope, where: Where) -> dict[tuple[str, str], list[Memory]]:
        """Return the valid derived memories of the scope, by category and topic; delete the others."""
        known: dict[tuple[str, str], list[Memory]] = {}
        gone: list[Memory] = []
        for memory in await derived_in(self.store, scope):
            if memory.status is Status.ACTIVE and await self._stands(memory, where):
                known.setdefault((memory.category or "", str(memory.data.get("about"))), []).append(memory)
            else:
                gone.append(memory)
        await self._remove(gone)
        return known

    async def _stands(self, memory: Memory, where: Where) -> bool:
        names = [str(name) for name in memory.data["sources"]]  # type: ignore[union-attr]
        found = await self.store.get_many(names, scopes=where.scopes)
        sources = [found[name] for name in names if name in found and where.accepts(found[name])]
        cited = memory.data.get("said")
        return len(sources) == len(names) and (cited is None or cited == digest_of(sources))

    async def _renew(self, topic: Topic, existing: Sequence[Memory], owner: Actor, now: datetime) -> None:
        if self.dry_run:
            self.made[topic.category] += 1
            return
        texts, by = await self._summarise_topic(topic)
        if topic.category == PORTRAIT and not texts:
            return  # the sentences that still stand stay; the others have been removed
        await self._remove(existing)
        if not texts:
            self.refused["empty"] += 1
        for text, sources in texts:
            candidate = _candidate(topic, text, sources, by, now)
            receipt = await self.write(candidate, owner, [one.memory_id for one in sources])
            if receipt.outcome is Outcome.BLOCKED:
                self.refused[receipt.reason or "blocked"] += 1
            else:
                self.made[topic.category] += 1

    async def _summarise_topic(self, topic: Topic) -> tuple[list[tuple[str, tuple[Memory, ...]]], str]:
        """Return the texts about a topic, each with its sources, and their author (model or rules)."""
        deadline = Deadline.after(self.rules.timeout, self.clock.monotonic)
        if topic.category == PORTRAIT:
            return await self._draw(topic, deadline), "model"
        if topic.category == REFLECTION and self.model is not None:
            try:
                found = await reflections(topic, completer=self.model, deadline=deadline)
                if found:
                    return [(f"{topic.title}\n{text}", sources) for text, sources in found], "model"
                self.degraded["unsupported"] += 1
            except ModelFailed as failure:
                self.degraded[failure.reason] += 1
        asked = None if topic.category == REFLECTION else self.model
        short = await shorten_messages(
            _as_messages(topic),
            max_tokens=self.rules.max_tokens,
            completer=asked,
            deadline=deadline,
            about=topic.called,
        )
        if short.degraded is not None:
            self.degraded[short.degraded] += 1
        text = "\n".join([topic.title, *short.lines])
        return ([(text, topic.sources)] if short.lines else []), short.by

    async def _draw(self, topic: Topic, deadline: Deadline) -> list[tuple[str, tuple[Memory, ...]]]:
        """Return the sentences of the user's portrait; none if there is no model, or it wrote nothing that is said."""
        if self.model is None:
            return []
        try:
            drawn = await portrait(topic, completer=self.model, deadline=deadline)
        except ModelFailed as failure:
            self.degraded[failure.reason] += 1
            return []
        if not drawn:
            self.degraded["unsupported"] += 1
        return drawn

    async def _remove(self, memories: Sequence[Memory]) -> None:
        if self.dry_run:
            self.removed += len(memories)
            return
        self.removed += await delete_memories(self.store, memories, by=self.actor, now=self.clock.now())


async def consolidate(
    store: RecordStore,
    clock: Clock,
    *,
    actor: Actor,
    rules: ConsolidationRules,
    write: Write,
    hidden: Hidden,
    completer: Completer | None = None,
    dry_run: bool = False,
) -> ConsolidationReport:
    """Run once over the users of the actor's tenant. If a model fails, rules take its place, which the report mentions.
    Raises StoreFailed; finished work stays, and a further run continues.
    """
    model = count_calls(completer) if completer is not None and rules.by == "model" else None
    run = _Run(store, clock, actor, rules, write, hidden, model, dry_run)
    if rules.by == "model" and completer is None:
        run.degraded["no_model"] += 1
    after = (await store.marks(actor.tenant, _PLACE)).get(_PLACE)
    with counting() as meter:
        place = await _over_users(run, after)
    if not dry_run:
        await apply(store, Mutation(tenant=actor.tenant, marks={_PLACE: place}))
    return run.report(complete=place is None, cost=meter.cost)


async def _over_users(run: _Run, after: str | None) -> str | None:
    """Return the memory after which the next run continues; None at the end."""
    seen: set[Scope] = set()
    read = 0
    while page := await run.store.scan(run.actor.tenant, statuses=[Status.ACTIVE], after=after, limit=PAGE):
        for memory in page:
            if memory.scope.level == Level.USER and memory.scope not in seen:
                if not await run.user(memory.scope):
                    return after or ""
                seen.add(memory.scope)
            after = memory.memory_id
        read += len(page)
        if read >= MAX_READ:
            return after
    return None


def _lasts(memory: Memory, now: datetime) -> bool:
    return not sources_of(memory) and (memory.expires_at is None or memory.expires_at - now > SHORTEST_LIFE)


def _as_messages(topic: Topic) -> list[Message]:
    """Return facts as known lines, everything else verbatim."""
    facts = {one.memory_id for one in topic.facts}
    return [
        Message(
            role=SUMMARY_ROLE if one.memory_id in facts else _role(one),
            content=one.content,
            speaker=one.source.speaker,
            message_id=one.memory_id,
        )
        for one in topic.sources
    ]


def _role(memory: Memory) -> str:
    return memory.source.speaker if memory.source.speaker in _ROLES else "user"


def _candidate(topic: Topic, text: str, sources: Sequence[Memory], by: str, now: datetime) -> Candidate:
    """Build the candidate to write: it ends with the first of its sources."""
    ends = [one.expires_at for one in sources if one.expires_at is not None]
    return Candidate(
        content=text,
        kind=Kind.EPISODIC,
        category=topic.category,
        data={
            "about": topic.about,
            "sources": [one.memory_id for one in sources],
            "digest": topic.digest,
            "said": digest_of(sources),
            "by": by,
        },
        ttl=min(ends) - now if ends else FOREVER,
        source=Source(origin=Origin.AGENT_INFERRED, session=topic.about if topic.category == SUMMARY else None),
        occurred_at=max(one.happened_at for one in sources),
    )
