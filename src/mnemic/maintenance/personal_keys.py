"""API keys of a person, which end with the person's erasure.

The service issues the keys (`mnemic_server.credentials`). They are marks of the service's tenant, so that an erasure
finds them however it is requested.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from mnemic.maintenance.tenant_registry import PAGE, SERVICE_TENANT
from mnemic.ports import Reads, RecordStore
from mnemic.types import Actor
from mnemic.unit_of_work import Mutation, commit_decided

API_KEY, API_KEY_USED = "api_key:", "api_key_used:"
"""Beginnings of the marks: a key, and the time of its last use."""
RECEIPT_LASTS = timedelta(hours=24)
"""Time for which the receipt of an erasure over REST can be fetched."""
_CAN_ERASE = frozenset({"subject", "operator"})


async def end_keys(store: RecordStore, subject: str, token: str, *, actor: Actor, at: datetime) -> int:
    """Revoke the API keys of the user `subject` of the actor's tenant, and return their number.

    Users who erase themselves retain the keys that may request it, reduced to the role `subject` and to the time for
    which the receipt can be fetched. Each key leaves a line in the audit, with the keyed hash `token` for the name.
    """
    ended = 0
    async for name in _names(store, actor.tenant, subject):

        async def decide(reads: Reads, name: str = name) -> tuple[int, list[Mutation]]:
            value = await reads.find_mark(SERVICE_TENANT, name)
            key: dict[str, Any] | None = None if value is None else json.loads(value)
            if key is None or not _belongs_to(key, actor.tenant, subject):
                return 0, []
            reduced = _reduce_key(key, at) if actor.user == subject else None
            key_id = name.removeprefix(API_KEY)
            marks: dict[str, str | None] = {name: None, API_KEY_USED + key_id: None}
            detail = {"key_id": key_id, "roles": key["roles"], "subject": token}
            if reduced is not None:
                marks, detail = {name: json.dumps(reduced)}, {**detail, "until": reduced["expires_at"]}
            line = Mutation.line("api_key_revoked", actor=actor, at=at, detail=detail)
            return 1, [replace(line, marks=marks, marks_of=SERVICE_TENANT)]

        ended += await commit_decided(store, decide)
    return ended


async def names_of_key_owners(store: RecordStore, tenant: str) -> set[str]:
    """Return the users of the tenant who have an API key."""
    keys = [json.loads(value) async for _, value in _all(store)]
    return {key["user"] for key in keys if key["tenant"] == tenant and key["user"] is not None}


async def _names(store: RecordStore, tenant: str, subject: str) -> AsyncIterator[str]:
    wanted = json.dumps(subject)
    async for name, value in _all(store):
        if wanted in value and _belongs_to(json.loads(value), tenant, subject):
            yield name


async def _all(store: RecordStore) -> AsyncIterator[tuple[str, str]]:
    last = None
    while page := await store.marks(SERVICE_TENANT, API_KEY, after=last, limit=PAGE):
        for name, value in page.items():
            yield name, value
        last = max(page)


def _belongs_to(key: dict[str, Any], tenant: str, subject: str) -> bool:
    return bool(key["tenant"] == tenant and key["user"] == subject)


def _reduce_key(key: dict[str, Any], at: datetime) -> dict[str, Any] | None:
    """Return the key as it can still fetch the receipt; None for one that could not ask for an erasure."""
    if _CAN_ERASE.isdisjoint(key["roles"]):
        return None
    until, expires_at = at + RECEIPT_LASTS, key["expires_at"]
    if expires_at is not None:
        until = min(until, datetime.fromisoformat(expires_at))
    return {**key, "roles": ["subject"], "expires_at": until.isoformat()}
