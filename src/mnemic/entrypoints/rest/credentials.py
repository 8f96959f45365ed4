"""Who may call, and as whom: API keys kept in the store, and the short-lived tokens that a key can issue.

A key is `mnk_<key id>_<secret>`. The secret has 256 random bits, of which only the SHA-256 is kept: a fast hash is
enough where nothing can be guessed. Keys live as marks of a tenant of their own, which no credential can name, so that
they are as durable as memories and lie in the same backup.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.identity import new_id
from mnemic.maintain.tenants import SERVICE_TENANT, noted
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor
from mnemic.unit_of_work import Mutation, Unit, apply, commit

MAX_KEYS_LISTED = 10_000
COMMAND_LINE = "command line"
"""Whose act it is where no credential was shown: whoever reaches the store itself."""

_PREFIX = "api_key:"
_KEY = re.compile(r"mnk_([0-9a-f-]{36})_([A-Za-z0-9_-]{43})", re.ASCII)


class Role(StrEnum):
    """What a credential may do. Roles do not contain each other: a key names every one it has."""

    READER = "reader"
    WRITER = "writer"
    REVIEWER = "reviewer"
    SUBJECT = "subject"
    OPERATOR = "operator"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Whom a credential stands for. Without a `user` it is an application, which may issue tokens for its users."""

    tenant: str
    user: str | None
    agent: str = "default"
    session: str | None = None
    roles: frozenset[Role]
    key_id: str

    def __post_init__(self) -> None:
        if self.tenant == SERVICE_TENANT:
            raise InvalidInput("tenant")
        Actor(tenant=self.tenant, user=self.user or self.key_id, agent=self.agent, session=self.session)

    @property
    def actor(self) -> Actor:
        """On whose behalf the engine is called; an application acts under the name of its key."""
        return Actor(tenant=self.tenant, user=self.user or self.key_id, agent=self.agent, session=self.session)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key without its secret."""

    principal: Principal
    created_at: datetime
    expires_at: datetime | None = None
    label: str = ""
    digests: tuple[str, ...] = field(repr=False)
    """Of the secrets that open it: one, or two while a rotation's grace runs."""
    retires_at: datetime | None = None
    """When the older of two secrets stops working."""

    @property
    def key_id(self) -> str:
        """The key's name; it is no secret."""
        return self.principal.key_id


Reach = Callable[[Principal], bool]
"""Which keys a caller may manage, by whom they stand for. A key out of reach is not there."""


def _anybody(_: Principal) -> bool:
    return True


class ApiKeys:
    """The keys of a store."""

    def __init__(self, store: RecordStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def create(
        self,
        *,
        tenant: str,
        roles: Iterable[Role | str],
        user: str | None = None,
        agent: str = "default",
        label: str = "",
        ttl: timedelta | None = None,
        by: str = COMMAND_LINE,
    ) -> tuple[ApiKey, str]:
        """A new key and its text, which cannot be had again; `by` is whose act it is. Raises InvalidInput."""
        if ttl is not None and ttl <= timedelta(0):
            raise InvalidInput("ttl")
        now = self._clock.now()
        chosen = _roles(roles)
        secret = secrets.token_urlsafe(32)
        principal = Principal(tenant=tenant, user=user, agent=agent, roles=chosen, key_id=new_id(now))
        key = ApiKey(
            principal=principal,
            created_at=now,
            expires_at=None if ttl is None else now + ttl,
            label=label[:200],
            digests=(digest(secret),),
        )
        await self._put(key, "api_key_created", by)
        return key, f"mnk_{key.key_id}_{secret}"

    async def authenticate(self, text: str) -> Principal | None:
        """Whom the key stands for; None where it is unknown, revoked or expired, whichever it is."""
        shown = shown_key(text)
        return None if shown is None else await self.principal(*shown)

    async def principal(self, key_id: str, shown: str) -> Principal | None:
        """Whom the key stands for if `shown` is the digest of a secret that opens it now; None as in `authenticate`."""
        key = await self._find(key_id)
        if key is None:
            return None
        live = _live(key, self._clock.now())
        return key.principal if any(hmac.compare_digest(shown, known) for known in live) else None

    async def rotate(
        self,
        key_id: str,
        *,
        grace: timedelta,
        tenant: str | None = None,
        may: Reach = _anybody,
        by: str = COMMAND_LINE,
    ) -> str:
        """A new secret for the key; the old one works for `grace` more. Raises MemoryNotFound."""
        key = await self._existing(key_id, tenant, may)
        secret = secrets.token_urlsafe(32)
        retires_at = self._clock.now() + grace
        renewed = replace(key, digests=(key.digests[-1], digest(secret)), retires_at=retires_at)
        await self._put(renewed, "api_key_rotated", by)
        return f"mnk_{key_id}_{secret}"

    async def revoke(
        self, key_id: str, *, tenant: str | None = None, may: Reach = _anybody, by: str = COMMAND_LINE
    ) -> None:
        """The key opens nothing from now on. Raises MemoryNotFound."""
        key = await self._existing(key_id, tenant, may)
        event = self._event(key, "api_key_revoked", by)

        await apply(self._store, replace(event, marks={_PREFIX + key_id: None}, marks_of=SERVICE_TENANT))

    async def all(self, *, tenant: str | None = None) -> list[ApiKey]:
        """Every key, oldest first; of one tenant where it is named."""
        marks = await self._store.marks(SERVICE_TENANT, _PREFIX)
        keys = [_read(value) for _, value in sorted(marks.items())[:MAX_KEYS_LISTED]]
        return [key for key in keys if tenant is None or key.principal.tenant == tenant]

    async def _existing(self, key_id: str, tenant: str | None, may: Reach) -> ApiKey:
        key = await self._find(key_id)
        if key is None or (tenant is not None and key.principal.tenant != tenant) or not may(key.principal):
            raise MemoryNotFound("api_key")
        return key

    async def _find(self, key_id: str) -> ApiKey | None:
        value = (await self._store.marks(SERVICE_TENANT, _PREFIX + key_id)).get(_PREFIX + key_id)
        return None if value is None else _read(value)

    async def _put(self, key: ApiKey, action: str, by: str) -> None:
        event = self._event(key, action, by)

        async def work(unit: Unit) -> None:
            await noted(unit, key.principal.tenant, event.at)
            marks = {_PREFIX + key.key_id: _written(key)}
            await unit.apply(replace(event, marks=marks, marks_of=SERVICE_TENANT))

        await commit(self._store, work)

    def _event(self, key: ApiKey, action: str, by: str) -> Mutation:
        """The line in the audit of the key's tenant, committed with the act itself."""
        detail = {"key_id": key.key_id, "roles": sorted(key.principal.roles)}
        return Mutation(tenant=key.principal.tenant, action=action, at=self._clock.now(), actor=by, detail=detail)


def _roles(roles: Iterable[Role | str]) -> frozenset[Role]:
    try:
        chosen = frozenset(Role(role) for role in roles)
    except ValueError:
        raise InvalidInput("roles", hint=f"of {', '.join(Role)}") from None
    if not chosen:
        raise InvalidInput("roles", hint="at least one")
    return chosen


def _live(key: ApiKey, now: datetime) -> tuple[str, ...]:
    """The digests of the secrets that open the key now."""
    if key.expires_at is not None and key.expires_at <= now:
        return ()
    return key.digests if key.retires_at is None or now < key.retires_at else key.digests[-1:]


def digest(secret: str) -> str:
    """What is kept of a secret: the SHA-256, in hexadecimal digits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def shown_key(text: str) -> tuple[str, str] | None:
    """The id of the key that `text` is and the digest of its secret; None where it is no key's text."""
    parts = _KEY.fullmatch(text)
    return None if parts is None else (parts.group(1), digest(parts.group(2)))


def _written(key: ApiKey) -> str:
    principal = key.principal
    return json.dumps(
        {
            "tenant": principal.tenant,
            "user": principal.user,
            "agent": principal.agent,
            "roles": sorted(principal.roles),
            "key_id": principal.key_id,
            "created_at": key.created_at.isoformat(),
            "expires_at": _iso(key.expires_at),
            "retires_at": _iso(key.retires_at),
            "label": key.label,
            "digests": list(key.digests),
        }
    )


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _read(value: str) -> ApiKey:
    kept: dict[str, Any] = json.loads(value)
    return ApiKey(
        principal=Principal(
            tenant=kept["tenant"],
            user=kept["user"],
            agent=kept["agent"],
            roles=frozenset(Role(role) for role in kept["roles"]),
            key_id=kept["key_id"],
        ),
        created_at=datetime.fromisoformat(kept["created_at"]),
        expires_at=_moment(kept["expires_at"]),
        retires_at=_moment(kept["retires_at"]),
        label=kept["label"],
        digests=tuple(kept["digests"]),
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
