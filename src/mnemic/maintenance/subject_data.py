"""Data of a subject outside their own scope: statements in shared scopes, and open conversations."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta

from mnemic.errors import InvalidInput
from mnemic.ports import AuditLog, RecordStore, SessionStore
from mnemic.types import AuditEvent, Kind, Level, Memory, Scope, Status
from mnemic.types.memory_kinds import CATALOG

PAGE = 500
CONVERSATION = 200
"""Messages of an open conversation."""

_WRITES = frozenset({"created", "kept", "pending_review", "revised"})


async def written_elsewhere(
    store: RecordStore, own: Scope, touched: Mapping[str, Scope] | None = None
) -> AsyncIterator[Memory]:
    """Yield the memories outside the scope `own` of which its owner wrote a version: by the author of the memories, or
    by the audit for memories without an author; `touched` are the results of `touched_elsewhere`.
    """
    after = None
    while page := await store.scan(own.tenant, statuses=list(Status), author=own.owner, after=after, limit=PAGE):
        after = page[-1].memory_id
        for memory in page:
            if memory.scope != own:
                yield memory
    places = await touched_elsewhere(store, own) if touched is None else touched
    for memory_id, scope in places.items():
        unsigned = await store.get(memory_id, scopes=[scope])
        if unsigned is not None and unsigned.author is None:
            yield unsigned


async def touched_elsewhere(store: RecordStore, own: Scope) -> dict[str, Scope]:
    """Return the scope of each memory that the owner of the scope `own` wrote a version of outside it, as the audit
    says.
    """
    return {
        event.memory_id: event.scope
        async for event in audit_of(store, own.tenant)
        if event.actor == own.owner and event.scope not in (None, own) and event.action in _WRITES
        if event.memory_id is not None and event.scope is not None
    }


async def audit_of(log: AuditLog, tenant: str) -> AsyncIterator[AuditEvent]:
    """Every line of the tenant's audit, in order."""
    line = 0
    while events := await log.audit(tenant, after=line):
        line = events[-1].sequence
        for event in events:
            yield event


async def users_of(store: RecordStore, tenant: str) -> set[str]:
    """Return everybody who owns or wrote something in the tenant, or acted there. Reads the whole tenant."""
    users: set[str] = set()
    after = None
    while page := await store.scan(tenant, statuses=list(Status), after=after, limit=PAGE):
        after = page[-1].memory_id
        users |= {one.scope.owner for one in page if one.scope.level is Level.USER}
        users |= {one.author for one in page if one.author is not None}
    async for event in audit_of(store, tenant):
        users.add(event.actor)
    return users


def conversation(tenant: str, session: str) -> Scope | None:
    """Return the scope of the open conversation of a memory's session; None if its name cannot be a scope's."""
    try:
        return Scope(tenant=tenant, level=Level.SESSION, owner=session)
    except InvalidInput:
        return None


async def leave(sessions: SessionStore, place: Scope, subject: str) -> None:
    """Remove the subject from an open conversation. It is ended unless another person speaks in it: the words of others
    stay. Text by several people, such as a summary, is removed.
    """
    messages = await sessions.tail(place, limit=CONVERSATION)
    others = [one for one in messages if one.author not in (None, subject)]
    if messages and len(others) == len(messages):
        return
    await sessions.clear(place)
    retention = CATALOG[Kind.SHORT_TERM].retention
    for message in others:
        await sessions.append(place, message, ttl=retention or timedelta(hours=1), keep=CONVERSATION)
