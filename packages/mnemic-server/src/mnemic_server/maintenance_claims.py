"""Times of the last maintenance of each tenant, by which several workers share the tenants.

A tenant belongs to a slot, by the hash of its name, and the tenants of a slot become due together: a worker reads the
times of the slots, at most 1,024, and then the tenants of those that are due, and no others.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from mnemic.maintenance.tenant_registry import (
    MAINTAINED,
    SERVICE_TENANT,
    SLOT_MAINTAINED,
    slot_of,
)
from mnemic.ports import Clock, RecordStore
from mnemic.unit_of_work import Mutation, Unit, commit

_PAGE = 1000


class TenantSlot(NamedTuple):
    """A slot that has tenants. `at`: the oldest last maintenance of one of them; None: one was never maintained."""

    number: int
    at: datetime | None


async def slots_due(store: RecordStore, now: datetime, rest: timedelta, share: tuple[int, int]) -> Sequence[TenantSlot]:
    """Return the slots of the n-th (from 0) of m parts in which a tenant's last maintenance is `rest` ago, the one with
    the oldest first. Raises StoreFailed.
    """
    marks = await store.marks(SERVICE_TENANT, SLOT_MAINTAINED)
    slots = [TenantSlot(int(name.removeprefix(SLOT_MAINTAINED)), _time(value)) for name, value in marks.items()]
    due = [slot for slot in slots if slot.number % share[1] == share[0] and _due(slot.at, now, rest)]
    return sorted(due, key=lambda slot: (slot.at is not None, slot.at and slot.at.timestamp(), slot.number))


async def tenants_due(store: RecordStore, slot: TenantSlot, now: datetime, rest: timedelta) -> AsyncIterator[str]:
    """Yield the tenants of a slot not maintained for `rest`, page by page. Raises StoreFailed."""
    async for tenant, at in _of_slot(store, slot.number):
        if _due(at, now, rest):
            yield tenant


async def claim(store: RecordStore, clock: Clock, tenant: str, rest: timedelta, *, at: datetime | None = None) -> bool:
    """Return True if maintenance of the tenant is due, and claim it for this caller as of `at` (default: now); False if
    another one started it less than `rest` ago. Raises StoreFailed.
    """
    name, now = _name(tenant), clock.now()

    async def work(unit: Unit) -> bool:
        if not _due(_time(await unit.reads.find_mark(SERVICE_TENANT, name)), now, rest):
            return False
        await unit.apply(Mutation(tenant=SERVICE_TENANT, marks={name: (at or now).isoformat()}))
        return True

    known = (await store.marks(SERVICE_TENANT, name, limit=1)).get(name)
    return _due(_time(known), now, rest) and await commit(store, work)


async def settle(store: RecordStore, slot: TenantSlot) -> None:
    """Record when the tenants of a slot are due again. Raises StoreFailed."""
    times = [at async for _, at in _of_slot(store, slot.number)]
    known = [at for at in times if at is not None]
    if times and len(known) == len(times):
        await _put(store, {f"{SLOT_MAINTAINED}{slot.number:04}": min(known).isoformat()})


async def _of_slot(store: RecordStore, number: int) -> AsyncIterator[tuple[str, datetime | None]]:
    """Yield the tenants of a slot, each with its last maintenance."""
    prefix, last = f"{MAINTAINED}{number:04}:", None
    while page := await store.marks(SERVICE_TENANT, prefix, after=last, limit=_PAGE):
        for last, value in page.items():
            yield last.removeprefix(prefix), _time(value)


async def _put(store: RecordStore, marks: dict[str, str]) -> None:
    async def work(unit: Unit) -> None:
        await unit.apply(Mutation(tenant=SERVICE_TENANT, marks=marks))

    await commit(store, work)


def _name(tenant: str) -> str:
    return f"{MAINTAINED}{slot_of(tenant):04}:{tenant}"


def _time(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None


def _due(at: datetime | None, now: datetime, rest: timedelta) -> bool:
    return at is None or now - at >= rest
