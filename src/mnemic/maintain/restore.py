"""A restored backup must not bring back whom an erasure has taken away since it was made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from mnemic.identity import token_of
from mnemic.maintain.belonging import audit_of
from mnemic.maintain.erase import ErasureReceipt, erase
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Level, Status

PAGE = 500
_SUBJECT, _ERASED = "subject/", "/erased"


async def erased_since(store: RecordStore, tenant: str, moment: datetime) -> dict[str, bool]:
    """Whom the store's tombstones name as erased after `moment`, by keyed hash; True: nothing may be learnt again."""
    found = {}
    for name, value in (await store.marks(tenant, _SUBJECT)).items():
        if name.endswith(_ERASED):
            told = json.loads(value)
            if datetime.fromisoformat(told["at"]) > moment:
                found[name.removeprefix(_SUBJECT).removesuffix(_ERASED)] = bool(told["block"])
    return found


async def erase_again(
    store: RecordStore, clock: Clock, tenant: str, tokens: Mapping[str, bool], *, actor: Actor
) -> list[ErasureReceipt]:
    """Erase those of the tenant's users whom `tokens` name; one receipt each. Raises StoreFailed."""
    if not tokens:
        return []
    secret = await store.secret(tenant)
    named = {user: tokens[token] for user in await _users(store, tenant) if (token := token_of(secret, user)) in tokens}
    return [await erase(store, clock, user, actor=actor, block=block) for user, block in sorted(named.items())]


async def _users(store: RecordStore, tenant: str) -> set[str]:
    """Everybody who owns or wrote something in the tenant."""
    users: set[str] = set()
    after = None
    while page := await store.held(tenant, statuses=list(Status), after=after, limit=PAGE):
        after = page[-1].memory_id
        users |= {one.scope.owner for one in page if one.scope.level is Level.USER}
        users |= {one.author for one in page if one.author is not None}
    async for event in audit_of(store, tenant):
        users.add(event.actor)
    return users
