"""Times of the last maintenance of each tenant, by which several workers share the tenants."""

from __future__ import annotations

from datetime import datetime, timedelta

from mnemic.maintain.tenants import SERVICE_TENANT
from mnemic.ports import Clock, RecordStore
from mnemic.unit_of_work import Mutation, Unit, commit

_PREFIX = "upkeep:"


async def claim(store: RecordStore, clock: Clock, tenant: str, rest: timedelta) -> bool:
    """Return True if maintenance of the tenant is due, and claim it for this caller; False if another one started it
    less than `rest` ago. Raises StoreFailed.
    """
    name, now = _PREFIX + tenant, clock.now()

    def due(value: str | None) -> bool:
        return value is None or now - datetime.fromisoformat(value) >= rest

    async def work(unit: Unit) -> bool:
        if not due(await unit.reads.find_mark(SERVICE_TENANT, name)):
            return False
        await unit.apply(Mutation(tenant=SERVICE_TENANT, marks={name: now.isoformat()}))
        return True

    known = (await store.marks(SERVICE_TENANT, name, limit=1)).get(name)
    return due(known) and await commit(store, work)
