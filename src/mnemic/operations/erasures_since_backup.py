"""Users erased since a backup was made: found in a later store, and erased from the restored one."""

from __future__ import annotations

import json
from collections.abc import Mapping

from mnemic.maintenance.erase import erase
from mnemic.maintenance.erasure_receipt import ErasureReceipt
from mnemic.maintenance.subject_data import audit_of, users_of
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor
from mnemic.types.identity import token_of

_SUBJECT, _ERASED = "subject/", "/erased"
_LINES = ("erasing", "erased")
"""The lines of an erasure in the audit; the last one says that it has ended."""


async def erased_since(store: RecordStore, tenant: str, lines: int, last_hash: str) -> dict[str, bool]:
    """Return the subjects that the store's tombstones name as erased, by keyed hash, except where the erasure had ended
    when the tenant's audit had `lines` lines, the last with `last_hash`; True: nothing may be learnt again.

    Positions in the audit decide, for a clock may have been set back, and an erasure may have begun before the copy was
    made and ended after it. Where the audit is not the one that the copy continues, everybody counts.
    """
    marks = await store.marks(tenant, _SUBJECT)
    tombstones = {
        name.removeprefix(_SUBJECT).removesuffix(_ERASED): bool(json.loads(value)["block"])
        for name, value in marks.items()
        if name.endswith(_ERASED)
    }
    if not tombstones:
        return {}
    ended: set[str] = set()
    later: set[str] = set()
    known = lines == 0
    async for event in audit_of(store, tenant):
        known = known or (event.sequence == lines and event.hash == last_hash)
        subject = str(event.detail.get("subject"))
        if event.sequence > lines and event.action in _LINES:
            later.add(subject)
        elif event.action == _LINES[-1]:
            ended.add(subject)
    done = ended - later if known else set()
    return {token: block for token, block in tombstones.items() if token not in done}


async def erase_again(
    store: RecordStore, clock: Clock, tenant: str, tokens: Mapping[str, bool], *, actor: Actor
) -> list[ErasureReceipt]:
    """Erase those of the tenant's users whom `tokens` name; one receipt each. Raises StoreFailed."""
    if not tokens:
        return []
    secret = await store.secret(tenant)
    named = {
        user: tokens[token] for user in await users_of(store, tenant) if (token := token_of(secret, user)) in tokens
    }
    return [await erase(store, clock, user, actor=actor, block=block) for user, block in sorted(named.items())]
