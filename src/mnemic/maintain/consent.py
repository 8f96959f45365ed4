"""Decisions of a user on what may be remembered of them, as `mnemic.write.limiter` reads them."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

from mnemic.guard.policy import Policy
from mnemic.text.normalise import canonical_key
from mnemic.types import Actor
from mnemic.types.identity import token_of
from mnemic.unit_of_work import Mutation, Unit, commit
from mnemic.write.limiter import consent_prefix

if TYPE_CHECKING:
    from mnemic.ports import Clock, RecordStore


async def subject_token(store: RecordStore, tenant: str, user: str) -> str:
    """Return the name of a user where theirs must not stand; see `token_of`."""
    return token_of(await store.secret(tenant), user)


async def decide(
    store: RecordStore, clock: Clock, key: str, *, granted: bool, user: str, actor: Actor, policy: Policy
) -> str:
    """Keep what `user` decided about `key`, with its line in the audit; the canonical key.

    The audit names keys of the policy; of others it keeps a keyed hash, for they may say something about somebody.
    It holds from the moment this returns, in every process; decided again, it changes nothing. Raises InvalidInput for
    a key that is none.
    """
    name = canonical_key(key)
    token = await subject_token(store, actor.tenant, user)
    shown_key = name if name in (policy.keys or ()) else await subject_token(store, actor.tenant, f"key\x1f{name}")
    now: datetime = clock.now()

    decided = Mutation.line(
        "consent_granted" if granted else "consent_revoked",
        actor=actor,
        at=now,
        detail={"subject": token, "key": shown_key, "agent": actor.agent},
        marks={consent_prefix(token) + name: json.dumps({"granted": granted, "at": now.isoformat()})},
    )

    async def work(unit: Unit) -> None:
        known = await unit.reads.find_mark(actor.tenant, consent_prefix(token) + name)
        if known is None or json.loads(known)["granted"] is not granted:
            await unit.apply(decided)

    await commit(store, work)
    return name
