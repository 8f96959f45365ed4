"""Sessions of browsers: a cookie that scripts cannot read stands for an API key, which is not kept in the browser.

A cookie is `<session id>.<secret>` with 256 random bits. Of the secret only the SHA-256 is kept, as a mark beside the
keys: so a session holds in every process of the service. It ends when it is signed out of, when it is too old, and with
its key. Whom it stands for is asked of the key at every request, so a change of roles takes effect at once.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from mnemic.entrypoints.rest.credentials import SERVICE_TENANT, ApiKeys, Principal
from mnemic.identity import new_id
from mnemic.ports import Clock, RecordStore, Transaction

COOKIE = "mnemic_session"
CSRF_HEADER = "x-csrf-token"
LASTS = timedelta(hours=8)

_PREFIX = "console_session:"
_COOKIE = re.compile(r"([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})", re.ASCII)
_MOST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A browser that has signed in. What changes anything must carry `csrf_token` in a header."""

    principal: Principal
    csrf_token: str = field(repr=False)
    expires_at: datetime


class Sessions:
    """The sessions of a store."""

    def __init__(self, store: RecordStore, clock: Clock, keys: ApiKeys) -> None:
        self._store = store
        self._clock = clock
        self._keys = keys

    async def begin(self, api_key: str) -> str | None:
        """The cookie of a new session of whom `api_key` stands for; None where it opens nothing."""
        principal = await self._keys.authenticate(api_key)
        if principal is None:
            return None
        now = self._clock.now()
        session_id, secret = new_id(now), secrets.token_urlsafe(32)
        kept = {"key_id": principal.key_id, "digest": _digest(secret), "begun_at": now.isoformat()}
        await self._put({**dict.fromkeys(await self._over(now)), _PREFIX + session_id: json.dumps(kept)})
        return f"{session_id}.{secret}"

    async def find(self, cookie: str) -> Session | None:
        """The session that `cookie` opens; None where it is unknown, over, or its key is gone, whichever it is."""
        parts = _COOKIE.fullmatch(cookie)
        if parts is None:
            return None
        name = _PREFIX + parts.group(1)
        value = (await self._store.marks(SERVICE_TENANT, name)).get(name)
        kept = {} if value is None else json.loads(value)
        if not kept or not hmac.compare_digest(_digest(parts.group(2)), kept["digest"]):
            return None
        begun_at = datetime.fromisoformat(kept["begun_at"])
        principal = await self._keys.principal(kept["key_id"], shown_at=begun_at)
        if principal is None or begun_at + LASTS <= self._clock.now():
            return None
        return Session(principal=principal, csrf_token=_csrf(parts.group(2)), expires_at=begun_at + LASTS)

    async def end(self, cookie: str) -> None:
        """The session that `cookie` opens is over. Another cookie changes nothing."""
        if await self.find(cookie) is not None:
            await self._put({_PREFIX + cookie.partition(".")[0]: None})

    async def _over(self, now: datetime) -> list[str]:
        """Sessions that are over; and the oldest ones, where there are too many."""
        marks = await self._store.marks(SERVICE_TENANT, _PREFIX)
        names = sorted(marks)
        old = [name for name in names if datetime.fromisoformat(json.loads(marks[name])["begun_at"]) + LASTS <= now]
        return [*old, *names[: max(0, len(names) - _MOST)]]

    async def _put(self, marks: dict[str, str | None]) -> None:
        async def work(transaction: Transaction) -> None:
            for name, value in marks.items():
                await transaction.put_mark(SERVICE_TENANT, name, value)

        await self._store.transact(work)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _csrf(secret: str) -> str:
    return hmac.digest(secret.encode(), b"mnemic console csrf", "sha256").hex()
