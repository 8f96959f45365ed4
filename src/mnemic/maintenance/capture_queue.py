"""Queue of recorded messages that an extractor has not read yet, in the store itself.

An entry is a mark with the message's memory_id in its name; the message is an episodic memory like any other, redacted,
sealed and erased with the rest. One reader at a time has a lease on a tenant's queue, which expires.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mnemic.extract.messages import recorded_message
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Level, Message
from mnemic.types.identity import new_id
from mnemic.unit_of_work import Mutation, Unit, apply, commit
from mnemic.write.limiter import apply_of_user, subject_token

LEASE = timedelta(minutes=5)
_QUEUE = "waiting/"
_READER = "waiting-reader"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMessage:
    """Message that waits for capture: the mark's `name`, its speaker, and the recorded message. `context`: it was
    recorded only to be read before another, and is forgotten then. `tries`: times that it could not be read while
    others could; it rests until `rests_until`. `doubts`: times that neither it nor another could be read.
    """

    name: str
    actor: Actor
    memory_id: str
    context: bool = False
    tries: int = 0
    doubts: int = 0
    rests_until: datetime | None = None


def waiting_prefix(token: str) -> str:
    """Return the prefix of the names of the marks of a user's waiting messages."""
    return f"{_QUEUE}{token}/"


async def enqueue(
    store: RecordStore, memory_ids: Sequence[str], *, actor: Actor, context: Collection[str] = ()
) -> None:
    """Leave recorded messages of the actor's for an extractor, durably; those in `context` are only read before the
    others; nothing of a user who was erased meanwhile. Raises StoreFailed.
    """
    token = await subject_token(store, actor.tenant, actor.user)
    prefix = waiting_prefix(token)
    author = {"user": actor.user, "agent": actor.agent, "workspace": actor.workspace}
    marks = {prefix + one: json.dumps(author | ({"context": True} if one in context else {})) for one in memory_ids}
    await apply_of_user(store, actor.tenant, token, marks)


async def waiting(store: RecordStore, tenant: str) -> list[QueuedMessage]:
    """Return the tenant's queue: each user's messages together, in their order."""
    found = []
    for name, value in sorted((await store.marks(tenant, _QUEUE)).items()):
        data = json.loads(value)
        actor = Actor(tenant=tenant, user=data["user"], agent=data["agent"], workspace=data["workspace"])
        rests_until = None if data.get("rests_until") is None else datetime.fromisoformat(data["rests_until"])
        found.append(
            QueuedMessage(
                name=name,
                actor=actor,
                memory_id=name.rpartition("/")[2],
                context=data.get("context", False),
                tries=data.get("tries", 0),
                doubts=data.get("doubts", 0),
                rests_until=rests_until,
            )
        )
    return found


async def set_aside(store: RecordStore, tenant: str, entries: Sequence[QueuedMessage], until: datetime) -> None:
    """Count one more failed try of entries, which rest until then; those that were erased meanwhile stay gone."""
    tried = {one.name: {"tries": one.tries + 1, "rests_until": until.isoformat()} for one in entries}
    await _change(store, tenant, tried)


async def doubt(store: RecordStore, tenant: str, entries: Sequence[QueuedMessage]) -> None:
    """Count one more doubt of entries, so that others are tried first; those that were erased meanwhile stay gone."""
    await _change(store, tenant, {one.name: {"doubts": one.doubts + 1} for one in entries})


async def _change(store: RecordStore, tenant: str, fields: Mapping[str, Mapping[str, object]]) -> None:
    async def work(unit: Unit) -> None:
        for name, changed in fields.items():
            known = await unit.reads.find_mark(tenant, name)
            if known is not None:
                await unit.apply(Mutation(tenant=tenant, marks={name: json.dumps(json.loads(known) | {**changed})}))

    await commit(store, work)


async def messages_of(store: RecordStore, entries: Sequence[QueuedMessage]) -> dict[str, Message]:
    """Return the messages of the entries of one user, by memory_id; those that were forgotten since are left out."""
    if not entries:
        return {}
    scopes = entries[0].actor.scopes([Level.USER])
    found = await store.get_many([one.memory_id for one in entries], scopes=scopes)
    return {memory_id: recorded_message(memory) for memory_id, memory in found.items()}


async def take_out(store: RecordStore, tenant: str, entries: Sequence[QueuedMessage]) -> None:
    """Remove entries from the queue, once they are read."""
    await apply(store, Mutation(tenant=tenant, marks=dict.fromkeys(one.name for one in entries)))


@dataclass(slots=True)
class Lease:
    """Lease on a tenant's queue."""

    store: RecordStore
    clock: Clock
    tenant: str
    holder: str = ""

    async def take(self) -> bool:
        """Take it for five minutes from now; return True if it could be had, or was had already."""
        self.holder = self.holder or new_id(self.clock.now())

        async def work(unit: Unit) -> bool:
            now = self.clock.now()
            known = await unit.reads.find_mark(self.tenant, _READER)
            lease = {} if known is None else json.loads(known)
            if lease and lease["by"] != self.holder and datetime.fromisoformat(lease["until"]) > now:
                return False
            mark = json.dumps({"by": self.holder, "until": (now + LEASE).isoformat()})
            await unit.apply(Mutation(tenant=self.tenant, marks={_READER: mark}))
            return True

        return await commit(self.store, work)

    async def give_back(self) -> None:
        """Return the lease, so that others may read."""
        await apply(self.store, Mutation(tenant=self.tenant, marks={_READER: None}))
