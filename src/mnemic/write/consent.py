"""Consent: a user's decisions about the keys and kinds that may be remembered, as `mnemic.write.limiter` reads them."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

from mnemic.errors import WriteBlocked
from mnemic.policy.grant import retention_denied
from mnemic.policy.key_rules import Policy
from mnemic.policy.limits import ERASED
from mnemic.types import Actor
from mnemic.types.identity import token_of
from mnemic.types.values import canonical_key
from mnemic.unit_of_work import Mutation, Unit, commit
from mnemic.write.limiter import consent_prefix, is_erased, words_read_at

if TYPE_CHECKING:
    from mnemic.ports import Clock, RecordStore


async def subject_token(store: RecordStore, tenant: str, user: str) -> str:
    """Return the pseudonym of a user for places where the name must not appear; see `token_of`."""
    return token_of(await store.secret(tenant), user)


async def decide(
    store: RecordStore, clock: Clock, key: str, *, granted: bool, user: str, actor: Actor, policy: Policy
) -> str:
    """Store the decision of `user` about `key`, with its line in the audit log; return the canonical key.

    The audit log names keys of the policy; of others it has a keyed hash, because they may reveal something about a
    person. The decision takes effect in every process once this returns; repeating it changes nothing. Raises
    InvalidInput for an invalid key, WriteBlocked (`retention_denied`) for a user who was erased meanwhile, or for good.
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

    read_at = words_read_at()

    async def work(unit: Unit) -> None:
        if await is_erased(unit.reads, actor.tenant, token, read_at=read_at):
            raise WriteBlocked(retention_denied(ERASED))
        # Writes under the key that passed the check share the lock: once this is committed, so are they.
        known = await unit.reads.find_mark(actor.tenant, consent_prefix(token) + name, lock="exclusive")
        if known is None or json.loads(known)["granted"] is not granted:
            await unit.apply(decided)

    await commit(store, work)
    return name
