"""Browser sessions: a cookie that scripts cannot read represents an API key, which the browser does not store.

A cookie is `<key id>.<session id>.<secret>` with 256 random bits. Only the SHA-256 of the secret is stored, as a mark
like the keys, so a session is valid in every process of the service. It ends on sign-out, by age, with its key, and
with the secret of the key that was presented for it. The key is consulted at every request, so a change of roles takes
effect at once. A session that a provider has vouched for represents the user named at sign-in, until it ends. The
provider's ID token, which ends the session there, is stored with it, encrypted under the cookie's secret: access to the
store alone reveals no token.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from joserfc import jwe
from joserfc.jwk import OctKey
from starlette.requests import HTTPConnection

from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from mnemic.ports import Clock, RecordStore
from mnemic.types.scope import new_id
from mnemic.unit_of_work import Mutation, apply
from mnemic_server.credentials import ApiKeys, Principal, Role, digest

COOKIE, SECURE_COOKIE = "mnemic_session", "__Host-mnemic_session"
"""Its name, and its name over TLS (RFC 6265bis, section 4.1.3.2)."""
CSRF_HEADER = "x-csrf-token"
LASTS = timedelta(hours=8)
AT_ONCE = 20
"""Browsers that one key may be signed in with; one more signs the oldest of them out."""

_PREFIX = "console_session:"
_SEALED = {"alg": "dir", "enc": "A256GCM"}
_COOKIE = re.compile(r"([0-9a-f-]{36})\.([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A browser that has signed in. A request that changes anything must carry `csrf_token` in a header."""

    principal: Principal
    csrf_token: str = field(repr=False)
    expires_at: datetime


class Sessions:
    """The sessions of a store."""

    def __init__(self, store: RecordStore, clock: Clock, keys: ApiKeys) -> None:
        self._store = store
        self._clock = clock
        self._keys = keys

    async def begin(self, principal: Principal, key_digest: str) -> tuple[str, Session]:
        """Return a new session and its cookie for the user of an API key, which was presented with the secret of this
        digest.
        """
        now = self._clock.now()
        prefix, session_id, secret = _prefix(principal.key_id), new_id(now), secrets.token_urlsafe(32)
        kept = {"digest": digest(secret), "key_digest": key_digest, "begun_at": now.isoformat()}
        await self._put({**dict.fromkeys(await self._over(prefix, now)), prefix + session_id: json.dumps(kept)})
        return f"{principal.key_id}.{session_id}.{secret}", _session(principal, secret, now)

    async def begin_for(self, principal: Principal, id_token: str = "") -> tuple[str, Session]:
        """Return a new session and its cookie for a user that a provider has vouched for, with the token that ends the
        provider's session. Expired sessions of all users are removed.
        """
        now = self._clock.now()
        owner = digest(f"{principal.tenant}\x1f{principal.user}")[:36]
        prefix, session_id, secret = _prefix(owner), new_id(now), secrets.token_urlsafe(32)
        kept = {"digest": digest(secret), "principal": _encode_principal(principal), "begun_at": now.isoformat()}
        kept["id_token"] = jwe.encrypt_compact(dict(_SEALED), id_token, _sealing_key(secret))
        over = {*await self._over(prefix, now), *await self._past(now)}
        await self._put({**dict.fromkeys(over), prefix + session_id: json.dumps(kept)})
        return f"{owner}.{session_id}.{secret}", _session(principal, secret, now)

    async def find(self, cookie: str) -> Session | None:
        """Return the session that `cookie` opens; None if it is unknown, over, or its key is gone, whichever it is."""
        parts = _COOKIE.fullmatch(cookie)
        if parts is None:
            return None
        key_id, session_id, secret = parts.groups()
        name = _prefix(key_id) + session_id
        value = (await self._store.marks(SERVICE_TENANT, name)).get(name)
        kept = {} if value is None else json.loads(value)
        # Constant time, so that the stored digest cannot be guessed byte by byte.
        if not kept or not hmac.compare_digest(digest(secret), kept["digest"]):
            return None
        vouched = kept.get("principal")
        # The key is read at every request: revoking it, or changing its roles, takes effect at once.
        principal = _decode_principal(vouched) if vouched else await self._keys.principal(key_id, kept["key_digest"])
        begun_at = datetime.fromisoformat(kept["begun_at"])
        if principal is None or begun_at + LASTS <= self._clock.now():
            return None
        return _session(principal, secret, begun_at)

    async def end(self, cookie: str) -> str | None:
        """End the session of `cookie`; return the ID token that it was started with, if a provider has vouched for it.
        An unknown cookie changes nothing.
        """
        if await self.find(cookie) is None:
            return None
        key_id, session_id, secret = cookie.split(".")
        name = _prefix(key_id) + session_id
        kept = json.loads((await self._store.marks(SERVICE_TENANT, name)).get(name, "{}"))
        await self._put({name: None})
        if "id_token" not in kept:
            return None
        sealed = jwe.decrypt_compact(kept["id_token"], _sealing_key(secret), algorithms=list(_SEALED.values()))
        return (sealed.plaintext or b"").decode()

    async def _over(self, prefix: str, now: datetime) -> list[str]:
        """Return a key's sessions that are over, and the oldest ones, if one more would be too many."""
        marks = await self._store.marks(SERVICE_TENANT, prefix)
        begun = {name: datetime.fromisoformat(json.loads(marks[name])["begun_at"]) for name in sorted(marks)}
        # Sign-in cleans up, because nothing else visits these marks.
        live = [name for name, begun_at in begun.items() if begun_at + LASTS > now]
        kept = set(live[-(AT_ONCE - 1) :])
        return [name for name in begun if name not in kept]

    async def _past(self, now: datetime) -> list[str]:
        """Return the expired sessions of all users."""
        marks = await self._store.marks(SERVICE_TENANT, _PREFIX)
        begun = {name: datetime.fromisoformat(json.loads(value)["begun_at"]) for name, value in marks.items()}
        return [name for name, begun_at in begun.items() if begun_at + LASTS <= now]

    async def _put(self, marks: dict[str, str | None]) -> None:
        await apply(self._store, Mutation(tenant=SERVICE_TENANT, marks=marks))


def session_cookie(request: HTTPConnection, *, secure: bool) -> str:
    """Return the cookie of a request; an empty text if there is none. Over TLS only the name with the prefix `__Host-`
    is accepted, which no other host of the domain can set: otherwise a sister site could log its visitors in to the
    attacker's session.
    """
    return request.cookies.get(SECURE_COOKIE if secure else COOKIE, "")


def _prefix(key_id: str) -> str:
    return f"{_PREFIX}{key_id}:"


def _encode_principal(principal: Principal) -> dict[str, Any]:
    return {**asdict(principal), "roles": sorted(principal.roles)}


def _decode_principal(vouched: dict[str, Any]) -> Principal:
    return Principal(**{**vouched, "roles": frozenset(map(Role, vouched["roles"]))})


def _session(principal: Principal, secret: str, begun_at: datetime) -> Session:
    return Session(principal=principal, csrf_token=_csrf(secret), expires_at=begun_at + LASTS)


def _sealing_key(secret: str) -> OctKey:
    return OctKey.import_key(hmac.digest(secret.encode(), b"mnemic id token", "sha256"))


def _csrf(secret: str) -> str:
    return hmac.digest(secret.encode(), b"mnemic console csrf", "sha256").hex()
