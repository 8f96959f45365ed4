"""Credentials of callers: API keys in the store, and the short-lived tokens that a key can issue.

A key is `mnk_<key id>_<secret>`. The secret has 256 random bits, of which only the SHA-256 is stored: a fast hash
suffices for a secret that cannot be guessed. Keys are marks of a separate tenant, which no credential can name, so they
are as durable as memories and part of the same backup.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from mnemic.errors import InvalidInput, MemoryNotFound, NotSupported, StoreFailed
from mnemic.maintenance.personal_keys import API_KEY, API_KEY_USED
from mnemic.maintenance.tenant_registry import PAGE, SERVICE_TENANT, note_tenant
from mnemic.ports import Clock, Reads, RecordStore
from mnemic.types import Actor
from mnemic.types.scope import new_id
from mnemic.unit_of_work import Mutation, Unit, commit, commit_decided
from mnemic.write.limiter import subject_token

COMMAND_LINE = "command line"
"""Actor of an operation without a credential, by a person with access to the store itself."""
KEYS_OF_A_TENANT = 10_000
"""Maximum number of keys of a tenant."""
USE_NOTED = timedelta(hours=1)
"""Precision of a key's last use: to write each use would cost a commit for each request."""

_KEY = re.compile(r"mnk_([0-9a-f-]{36})_([A-Za-z0-9_-]{43})", re.ASCII)


class Role(StrEnum):
    """Permissions of a credential. Roles do not contain each other: a key names every one it has."""

    READER = "reader"
    WRITER = "writer"
    REVIEWER = "reviewer"
    SUBJECT = "subject"
    OPERATOR = "operator"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Caller that a credential represents. Without a `user` an application, which may issue tokens for its users."""

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
    def caller(self) -> str:
        """Name by which calls are counted: every user of an application's tokens is a caller of their own."""
        return f"{self.key_id} {self.user or ''}"

    @property
    def actor(self) -> Actor:
        """Actor for calls of the engine; an application acts under the name of its key."""
        return Actor(tenant=self.tenant, user=self.user or self.key_id, agent=self.agent, session=self.session)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenKey:
    """Key that verifies an application's tokens: the public half of a key pair that is derived from the application's
    own secret with `salt`. The other half is not stored: it is derived again while the secret is presented.
    """

    salt: str
    public: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key without its secret."""

    principal: Principal
    created_at: datetime
    expires_at: datetime | None = None
    label: str = ""
    digests: tuple[str, ...] = field(repr=False)
    """Digests of its valid secrets: one, or two in the grace period of a rotation."""
    retires_at: datetime | None = None
    """The time at which the older of two secrets stops working."""
    created_by: str = COMMAND_LINE
    signing: Mapping[str, TokenKey] = field(default_factory=dict)
    """Verification keys of issued tokens, by the digest of the secret that they were issued with."""

    @property
    def key_id(self) -> str:
        """The key's name; it is no secret."""
        return self.principal.key_id

    def live(self, now: datetime) -> tuple[str, ...]:
        """Return the digests of the secrets that open it now."""
        if self.expires_at is not None and self.expires_at <= now:
            return ()
        return self.digests if self.retires_at is None or now < self.retires_at else self.digests[-1:]


KeyFilter = Callable[[Principal], bool]
"""Subjects with keys that a caller may manage. Any other key is reported as missing."""


def _anybody(_: Principal) -> bool:
    return True


class ApiKeys:
    """The keys of a store."""

    def __init__(self, store: RecordStore, clock: Clock, *, most: int = KEYS_OF_A_TENANT) -> None:
        self.store = store
        self._clock = clock
        self._most = most
        self._used: OrderedDict[str, datetime] = OrderedDict()

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
        """Return a new key and its text, which cannot be retrieved again; `by` is the actor. Without `ttl` it never
        expires. Raises InvalidInput, `keys:too_many` if the tenant has as many as it may.
        """
        if ttl is not None and ttl <= timedelta(0):
            raise InvalidInput("ttl")
        now = self._clock.now()
        chosen = _roles(roles)
        # Only its digest is stored: a copy of the store opens nothing. 256 random bits need no slow hash.
        secret = secrets.token_urlsafe(32)
        principal = Principal(tenant=tenant, user=user, agent=agent, roles=chosen, key_id=new_id(now))
        key = ApiKey(
            principal=principal,
            created_at=now,
            expires_at=None if ttl is None else now + ttl,
            label=label[:200],
            digests=(digest(secret),),
            created_by=by,
        )
        if len(await self.all(tenant=tenant)) >= self._most:
            raise InvalidInput("keys:too_many", hint=f"a tenant has at most {self._most}; revoke some")
        await self._put(key, "api_key_created", by)
        return key, f"mnk_{key.key_id}_{secret}"

    async def authenticate(self, text: str) -> Principal | None:
        """Return the principal of the key; None if it is unknown, revoked or expired, whichever it is."""
        shown = shown_key(text)
        return None if shown is None else await self.principal(*shown)

    async def principal(self, key_id: str, shown: str) -> Principal | None:
        """Return the principal of the key if `shown` is the digest of a secret that opens it now; None as in
        `authenticate`.
        """
        key = await self.find(key_id)
        if key is None:
            return None
        now = self._clock.now()
        # Summed rather than stopped at the first match, so that the time does not reveal which secret it was.
        if not sum(hmac.compare_digest(shown, known) for known in key.live(now)):
            return None
        await self.note_use(key_id)
        return key.principal

    async def find(self, key_id: str) -> ApiKey | None:
        """Return the key of this id; None if there is none."""
        name = API_KEY + key_id
        value = (await self.store.marks(SERVICE_TENANT, name, limit=1)).get(name)
        return None if value is None else read(value)

    async def note_use(self, key_id: str) -> None:
        """Record when the key was used last, at most once an hour. A store that cannot be written refuses no caller."""
        now, noted_at = self._clock.now(), self._used.get(key_id)
        if noted_at is not None and now - noted_at < USE_NOTED:
            return
        self._used[key_id] = now
        self._used.move_to_end(key_id)
        while len(self._used) > KEYS_OF_A_TENANT:
            self._used.popitem(last=False)

        async def work(unit: Unit) -> None:
            # A key that was revoked meanwhile must not leave a time of its last use behind.
            if await unit.reads.find_mark(SERVICE_TENANT, API_KEY + key_id) is not None:
                await unit.apply(Mutation(tenant=SERVICE_TENANT, marks={API_KEY_USED + key_id: now.isoformat()}))

        with suppress(StoreFailed, NotSupported):
            await commit(self.store, work)

    async def last_used(self) -> dict[str, datetime]:
        """Return the time of each key's last use, to the hour, by its id."""
        marks = await self.store.marks(SERVICE_TENANT, API_KEY_USED)
        return {name.removeprefix(API_KEY_USED): datetime.fromisoformat(at) for name, at in marks.items()}

    async def signed_with(self, key_id: str, shown: str, made: TokenKey) -> TokenKey:
        """Store the verification key of tokens that are issued with the secret of this digest, unless there is one;
        return the stored one. Raises MemoryNotFound.
        """

        async def work(unit: Unit) -> TokenKey:
            value = await unit.reads.find_mark(SERVICE_TENANT, API_KEY + key_id)
            if value is None:
                raise MemoryNotFound("api_key")
            key = read(value)
            if shown in key.signing:
                return key.signing[shown]
            # Keys of secrets that no longer open anything go: their tokens end with them.
            kept = {one: known for one, known in key.signing.items() if one in key.digests}
            renewed = replace(key, signing={**kept, shown: made})
            await unit.apply(Mutation(tenant=SERVICE_TENANT, marks={API_KEY + key_id: encode_key(renewed)}))
            return made

        return await commit(self.store, work)

    async def rotate_signing(self, *, tenant: str, key_id: str | None = None) -> int:
        """Invalidate every token issued by the tenant's applications, or by this one; later tokens are signed with a
        new key. Return the number of applications that had issued tokens. Raises MemoryNotFound.
        """
        keys = [await self._existing(key_id, tenant, _anybody)] if key_id else await self.all(tenant=tenant)
        signing = [key for key in keys if key.signing]
        for key in signing:
            await self._put(replace(key, signing={}), "token_signing_rotated", COMMAND_LINE)
        return len(signing)

    async def rotate(
        self,
        key_id: str,
        *,
        grace: timedelta,
        tenant: str | None = None,
        may: KeyFilter = _anybody,
        by: str = COMMAND_LINE,
    ) -> str:
        """Return a new secret for the key; the old one works for `grace` more. Raises MemoryNotFound."""
        key = await self._existing(key_id, tenant, may)
        secret = secrets.token_urlsafe(32)
        retires_at = self._clock.now() + grace
        # Two at most: a second rotation within the grace period ends the oldest secret at once.
        digests = (key.digests[-1], digest(secret))
        signing = {one: known for one, known in key.signing.items() if one in digests}
        renewed = replace(key, digests=digests, retires_at=retires_at, signing=signing)
        await self._put(renewed, "api_key_rotated", by)
        return f"mnk_{key_id}_{secret}"

    async def revoke(
        self, key_id: str, *, tenant: str | None = None, may: KeyFilter = _anybody, by: str = COMMAND_LINE
    ) -> None:
        """Revoke a key with immediate effect. Raises MemoryNotFound."""
        key = await self._existing(key_id, tenant, may)
        event = await self._event(key, "api_key_revoked", by)

        gone: dict[str, str | None] = {API_KEY + key_id: None, API_KEY_USED + key_id: None}

        async def decide(_: Reads) -> tuple[None, list[Mutation]]:
            return None, [replace(event, marks=gone, marks_of=SERVICE_TENANT)]

        await commit_decided(self.store, decide)

    async def all(self, *, tenant: str | None = None) -> list[ApiKey]:
        """Return every key, oldest first, or those of one tenant."""
        found: list[ApiKey] = []
        async for page in self.pages():
            found += await asyncio.to_thread(_those_of, page, tenant)
        return found

    async def any(self) -> bool:
        """Check whether there is a key at all."""
        return bool(await self.store.marks(SERVICE_TENANT, API_KEY, limit=1))

    async def pages(self) -> AsyncIterator[dict[str, str]]:
        """Yield the records of all keys, page by page."""
        last = None
        while page := await self.store.marks(SERVICE_TENANT, API_KEY, after=last, limit=PAGE):
            yield page
            # Pages are in the order of names, so the last name is the cursor.
            last = max(page)

    async def _existing(self, key_id: str, tenant: str | None, may: KeyFilter) -> ApiKey:
        key = await self.find(key_id)
        if key is None or (tenant is not None and key.principal.tenant != tenant) or not may(key.principal):
            raise MemoryNotFound("api_key")
        return key

    async def _put(self, key: ApiKey, action: str, by: str) -> None:
        event = await self._event(key, action, by)

        async def decide(reads: Reads) -> tuple[None, list[Mutation]]:
            known = await note_tenant(reads, key.principal.tenant, event.at)
            marks = {API_KEY + key.key_id: encode_key(key)}
            return None, [*known, replace(event, marks=marks, marks_of=SERVICE_TENANT)]

        await commit_decided(self.store, decide)

    async def _event(self, key: ApiKey, action: str, by: str) -> Mutation:
        """Return the line in the audit of the key's tenant, committed with the act itself. It names the user of the key
        by the name that an erasure leaves as well.
        """
        tenant, user = key.principal.tenant, key.principal.user
        detail: dict[str, Any] = {"key_id": key.key_id, "roles": sorted(key.principal.roles)}
        if user is not None:
            detail["subject"] = await subject_token(self.store, tenant, user)
        return Mutation(tenant=tenant, action=action, at=self._clock.now(), actor=by, detail=detail)


def _roles(roles: Iterable[Role | str]) -> frozenset[Role]:
    try:
        chosen = frozenset(Role(role) for role in roles)
    except ValueError:
        raise InvalidInput("roles", hint=f"of {', '.join(Role)}") from None
    if not chosen:
        raise InvalidInput("roles", hint="at least one")
    return chosen


def _those_of(marks: Mapping[str, str], tenant: str | None) -> list[ApiKey]:
    """Return the keys of a tenant, by age; records that cannot belong to it are not read."""
    named = None if tenant is None else json.dumps(tenant)
    keys = (read(value) for _, value in sorted(marks.items()) if named is None or named in value)
    return [key for key in keys if tenant is None or key.principal.tenant == tenant]


def digest(secret: str) -> str:
    """Return the stored digest of a secret: its SHA-256 in hexadecimal digits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def shown_key(text: str) -> tuple[str, str] | None:
    """Return the id of the key in `text` and the digest of its secret; None if `text` is no key."""
    parts = _KEY.fullmatch(text)
    return None if parts is None else (parts.group(1), digest(parts.group(2)))


def encode_key(key: ApiKey) -> str:
    """Return a key in its stored form."""
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
            "created_by": key.created_by,
            "signing": {shown: asdict(one) for shown, one in key.signing.items()},
        }
    )


def read(value: str) -> ApiKey:
    """Return a stored key, also one from before its maker was recorded."""
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
        created_by=kept.get("created_by", COMMAND_LINE),
        signing={shown: TokenKey(**one) for shown, one in kept.get("signing", {}).items()},
    )


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
