"""Sign-in to the console at an OpenID provider: authorization code with PKCE (RFC 6749, RFC 7636, OIDC Core 1.0).

A sign-in is bound to the browser that started it by a cookie with a random `state`, an expiry, and a tag under the
store's secret. The nonce and the PKCE verifier are derived from the state under that secret: nothing is stored on
either side, any process can finish a sign-in that another started, and the address bar reveals no verifier.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode, urlsplit

from mnemic.errors import InvalidConfig
from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from mnemic.ports import Clock, RecordStore
from mnemic_server.bearer_tokens import Tokens
from mnemic_server.credentials import Principal
from mnemic_server.provider_fetch import FetchFailed, fetch_json, require_fetchable

COOKIE, SECURE_COOKIE = "mnemic_sign_on", "__Host-mnemic_sign_on"
"""The name of the cookie of a sign-in under way, and its name over TLS, which no other host of the domain can set."""
PATH = "/console/sign-on"
LASTS = timedelta(minutes=10)
"""Time that a person has to sign on at the provider."""
DESCRIPTION_LASTS = timedelta(minutes=10)
"""Time for which the provider's metadata is used."""
RESTS = timedelta(seconds=30)
"""Time after which a provider without metadata is asked again."""
LONGEST_HINT = 4096
"""Maximum characters of an ID token that is sent again at sign-out, as part of an address. A longer one is omitted."""
AT_ONCE = 4
"""Maximum number of codes exchanged at the same time: callers here have not presented a credential yet."""

_COOKIE = re.compile(r"([A-Za-z0-9_-]{43})\.(\d{1,12})\.([0-9a-f]{64})", re.ASCII)


class SignOnFailed(Exception):
    """Failure of a sign-in, with the stable reason to show: `provider_unavailable` or `sign_in_failed`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Console as registered at the provider. Without a `secret` only PKCE authenticates it. `url` is the address under
    which browsers reach the service; None: the one in their requests. `ends_session`: signing out here also signs out
    there, if the provider offers it.
    """

    issuer: str
    client_id: str
    secret: str | None = field(default=None, repr=False)
    url: str | None = None
    scope: str = "openid"
    ends_session: bool = True

    def __post_init__(self) -> None:
        try:
            require_fetchable(self.issuer)
        except InvalidConfig:
            raise InvalidConfig("service_issuer", hint="to sign in at it, its issuer is an https address") from None

    @property
    def name(self) -> str:
        """The provider's name for people."""
        return urlsplit(self.issuer).hostname or self.issuer


class SignOn:
    """Sign-ins at one provider."""

    def __init__(self, client: Client, tokens: Tokens, store: RecordStore, clock: Clock) -> None:
        self.client = client
        self._tokens = tokens
        self._store = store
        self._clock = clock
        self._described: Mapping[str, Any] = {}
        self._described_at = self._tried_at = -DESCRIPTION_LASTS.total_seconds()
        self._one, self._exchanging = asyncio.Lock(), asyncio.Semaphore(AT_ONCE)

    async def begin(self, redirect_uri: str) -> tuple[str, str]:
        """Return the address at which the browser signs in, and the cookie that binds the sign-in to it. Raises
        SignOnFailed.
        """
        described = await self._description()
        state = secrets.token_urlsafe(32)
        # The cookie carries the state alone. Verifier and nonce are derived from it, so that nothing is stored between
        # the two requests, and any process can finish a sign-in that another one began.
        challenge = sha256((await self._derive_secret(state, "verifier")).encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self.client.client_id,
            "redirect_uri": redirect_uri,
            "scope": self.client.scope,
            "state": state,
            "nonce": await self._derive_secret(state, "nonce"),
            "code_challenge": _base64(challenge),
            "code_challenge_method": "S256",
        }
        address = described["authorization_endpoint"]
        cookie = await self._seal_state(state, int((self._clock.now() + LASTS).timestamp()))
        return _with_parameters(address, asked), cookie

    async def finish(self, cookie: str, answer: Mapping[str, str], redirect_uri: str) -> tuple[Principal, str]:
        """Return the principal that the provider vouches for, from the parameters of the redirect, and its ID token.
        Raises SignOnFailed.
        """
        state = await self._state_of(cookie)
        if state is None or not hmac.compare_digest(answer.get("state", "").encode(), state.encode()):
            raise SignOnFailed("sign_in_failed")
        if "code" not in answer or answer.get("iss", self.client.issuer) != self.client.issuer:  # RFC 9207
            raise SignOnFailed("sign_in_failed")
        form = {
            "grant_type": "authorization_code",
            "code": answer["code"],
            "redirect_uri": redirect_uri,
            "code_verifier": await self._derive_secret(state, "verifier"),
        }
        response = await self._exchange_code(form)
        nonce = await self._derive_secret(state, "nonce")
        token = str(response.get("id_token"))
        principal = await self._tokens.identify(token, client_id=self.client.client_id, nonce=nonce)
        if principal is None:
            raise SignOnFailed("sign_in_failed")
        return principal, token if len(token) <= LONGEST_HINT else ""

    async def end(self, id_token: str, back: str) -> str | None:
        """Return the address at which the browser is signed out at the provider, which sends it `back` (OpenID Connect
        RP-Initiated Logout 1.0); None if that is not offered, not wanted, or the provider does not answer.
        """
        try:
            address = (await self._description()).get("end_session_endpoint") if self.client.ends_session else None
            if not isinstance(address, str):
                return None
            require_fetchable(address)
        except (SignOnFailed, InvalidConfig):
            return None
        asked = {"id_token_hint": id_token, "client_id": self.client.client_id, "post_logout_redirect_uri": back}
        return _with_parameters(address, {name: value for name, value in asked.items() if value})

    async def _exchange_code(self, form: dict[str, str]) -> Mapping[str, Any]:
        """Return the provider's answer to a code, under the client's credentials."""
        described, known = await self._description(), self.client
        methods = described.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        basic = known.secret is not None and "client_secret_basic" in methods
        if not basic:
            form |= {"client_id": known.client_id} | ({} if known.secret is None else {"client_secret": known.secret})
        shown = (known.client_id, str(known.secret)) if basic else None
        # Refused rather than queued: a provider that hangs must not collect waiting requests.
        if self._exchanging.locked():
            raise SignOnFailed("provider_unavailable")
        try:
            async with self._exchanging:
                return await fetch_json(described["token_endpoint"], form=form, client=shown)
        except FetchFailed:
            raise SignOnFailed("sign_in_failed") from None

    async def _description(self) -> Mapping[str, Any]:
        """Return the provider's metadata (OpenID Connect Discovery 1.0); the previous one while it does not answer."""
        async with self._one:
            now = self._clock.monotonic()
            old = now - self._described_at >= DESCRIPTION_LASTS.total_seconds()
            if old and now - self._tried_at >= RESTS.total_seconds():
                # Before the attempt: a provider that does not answer must not be asked by every request.
                self._tried_at = now
                await self._describe(now)
        if not self._described:
            raise SignOnFailed("provider_unavailable")
        return self._described

    async def _describe(self, now: float) -> None:
        """Fetch the provider's metadata. Any other response leaves the previous one in use."""
        try:
            answer = await fetch_json(self.client.issuer.rstrip("/") + "/.well-known/openid-configuration")
            for name in ("authorization_endpoint", "token_endpoint"):
                require_fetchable(str(answer.get(name)))
        except (FetchFailed, InvalidConfig):
            return
        # OpenID Connect Discovery 1.0, 4.3: metadata of another issuer must not be used.
        if answer.get("issuer") == self.client.issuer:
            self._described, self._described_at = answer, now

    async def _state_of(self, cookie: str) -> str | None:
        """Return the state in a cookie of this service, while the sign-in lasts."""
        parts = _COOKIE.fullmatch(cookie)
        if parts is None or int(parts.group(2)) <= self._clock.now().timestamp():
            return None
        whole = await self._seal_state(parts.group(1), int(parts.group(2)))
        return parts.group(1) if hmac.compare_digest(whole.encode(), cookie.encode()) else None

    async def _seal_state(self, state: str, ends: int) -> str:
        tag = hmac.digest(await self._root(), f"cookie {state}.{ends}".encode(), "sha256").hex()
        return f"{state}.{ends}.{tag}"

    async def _derive_secret(self, state: str, what: str) -> str:
        return _base64(hmac.digest(await self._root(), f"{what} {state}".encode(), "sha256"))

    async def _root(self) -> bytes:
        return hmac.digest(await self._store.secret(SERVICE_TENANT), b"mnemic console sign-on", "sha256")


def _with_parameters(address: str, asked: Mapping[str, str]) -> str:
    return address + ("&" if "?" in address else "?") + urlencode(asked)


def _base64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
