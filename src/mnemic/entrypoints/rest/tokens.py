"""Bearer tokens: those this service issues for an application's users, and those of an OpenID provider.

Both are JSON Web Tokens (RFC 7519) read by joserfc. The algorithms are named here and never taken from a token. Our own
are signed with HS256 under a secret of the store; a provider's with RS256 or ES256 under its JWKS, from a file or an
address (`mnemic.entrypoints.rest.provider_keys`).
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet, OctKey

from mnemic.entrypoints.rest.claimed import identifier_of
from mnemic.entrypoints.rest.credentials import Principal, Role
from mnemic.entrypoints.rest.fetching import require_fetchable
from mnemic.entrypoints.rest.provider_keys import FetchedKeys, FixedKeys
from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.maintain.tenants import SERVICE_TENANT
from mnemic.ports import Clock, RecordStore

ISSUER = "mnemic"
MAX_TTL = timedelta(hours=24)
LEEWAY_SECONDS = 60
LATEST = 1e12
"""Seconds. Infinity, NaN and what no float can express lie beyond it as well."""

_OWN = ["HS256"]
_PROVIDERS = ["RS256", "ES256"]
_ONES_OWN = frozenset({Role.READER, Role.WRITER, Role.SUBJECT})
"""Roles that reach no further than the user they are given to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Which claims of a token say what. How one becomes the name of a user or a tenant:
    `mnemic.entrypoints.rest.claimed`.
    """

    user: str = "sub"
    tenant: str = "tenant"
    roles: str = "roles"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """An OpenID provider: who signs, for whom, with which keys (or where they are fetched), and which claims say what.

    A token that names no tenant is of the `default_tenant`, and has of its roles only those that reach no further than
    its user: `admin` in a claim named `roles` may mean anything at a provider that knows no tenants. One that names no
    roles is a subject's.
    """

    issuer: str
    audience: str
    keys: Mapping[str, Any] | str
    claims: Claims = Claims()
    default_tenant: str | None = None

    @classmethod
    def named(
        cls, jwks: str, *, issuer: str, audience: str, claims: Claims | None = None, default_tenant: str | None = None
    ) -> Provider:
        """With its keys at an address or in a file. Raises InvalidConfig (`invalid_config:jwks`)."""
        keys = jwks if "://" in jwks else _keys_in(Path(jwks))
        if isinstance(keys, str):
            require_fetchable(keys)
        return cls(
            issuer=issuer, audience=audience, keys=keys, claims=claims or Claims(), default_tenant=default_tenant
        )


def _keys_in(path: Path) -> Mapping[str, Any]:
    """The keys of a JWKS file. Raises InvalidConfig (`invalid_config:jwks`)."""
    try:
        keys: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        KeySet.import_key_set(keys)  # type: ignore[arg-type]
    except (OSError, ValueError, KeyError, JoseError):
        raise InvalidConfig("jwks", hint="not a JWKS file") from None
    return keys


class Tokens:
    """Issues and reads tokens."""

    def __init__(self, store: RecordStore, clock: Clock, provider: Provider | None = None) -> None:
        self._store = store
        self._clock = clock
        self._provider = provider
        self._keys = None if provider is None else _keys(provider, clock)

    async def issue(
        self, application: Principal, *, user: str, session: str | None, roles: frozenset[Role], ttl: timedelta
    ) -> str:
        """A token for a user of the application's tenant with some of its roles. Raises InvalidInput."""
        if not timedelta(0) < ttl <= MAX_TTL:
            raise InvalidInput("ttl", hint="more than nothing, at most 24 hours")
        if not roles <= application.roles:
            raise InvalidInput("roles", hint="only roles that the key has")
        now = int(self._clock.now().timestamp())
        claims = {
            "iss": ISSUER,
            "sub": user,
            "tenant": application.tenant,
            "agent": application.agent,
            "session": session,
            "roles": sorted(roles),
            "kid": application.key_id,
            "iat": now,
            "exp": now + int(ttl.total_seconds()),
        }
        _principal(claims, claims["tenant"], claims["roles"])
        return jwt.encode({"alg": _OWN[0]}, claims, await self._secret())

    async def authenticate(self, text: str) -> Principal | None:
        """Whom the token stands for; None where anything about it is wrong."""
        try:
            return await self._own(text)
        except (JoseError, InvalidInput, ValueError, KeyError, TypeError):
            pass
        try:
            return await self._providers(text)
        except (JoseError, InvalidInput, ValueError, KeyError, TypeError):
            return None

    async def _own(self, text: str) -> Principal:
        claims = jwt.decode(text, await self._secret(), algorithms=_OWN).claims
        self._require(claims, ISSUER, None)
        return _principal(claims, claims["tenant"], claims["roles"])

    async def _providers(self, text: str) -> Principal | None:
        known, claims = self._provider, await self._signed(text)
        if known is None or claims is None:
            return None
        self._require(claims, known.issuer, known.audience)
        return _of_provider(claims, known)

    async def identified(self, text: str, *, client_id: str, nonce: str) -> Principal | None:
        """Whom an ID token of the provider stands for that was made for `client_id` and this sign-in (OpenID Connect
        Core 1.0, section 3.1.3.7); None where anything about it is wrong.
        """
        try:
            known, claims = self._provider, await self._signed(text)
            if known is None or claims is None:
                return None
            self._require(claims, known.issuer, client_id)
            if not hmac.compare_digest(str(claims.get("nonce")).encode(), nonce.encode()):
                return None
            if claims.get("azp", client_id) != client_id:
                return None
            return _of_provider(claims, known)
        except (JoseError, InvalidInput, ValueError, KeyError, TypeError):
            return None

    async def _signed(self, text: str) -> Mapping[str, Any] | None:
        """The claims of a token that the provider has signed; None where there is no provider or none of its keys."""
        keys = None if self._keys is None else await self._keys.current()
        if self._keys is None or keys is None:
            return None
        try:
            return jwt.decode(text, keys, algorithms=_PROVIDERS).claims
        except (InvalidKeyIdError, BadSignatureError):
            renewed = await self._keys.current(anew=True)
            if renewed is None:
                raise
            return jwt.decode(text, renewed, algorithms=_PROVIDERS).claims

    def _require(self, claims: Mapping[str, Any], issuer: str, audience: str | None) -> None:
        now = self._clock.now().timestamp()
        audiences = claims.get("aud")
        listed = [audiences] if isinstance(audiences, str) else audiences
        if (
            claims.get("iss") != issuer
            or (audience is not None and (not isinstance(listed, list) or audience not in listed))
            or _moment(claims.get("exp")) + (LEEWAY_SECONDS if audience else 0) <= now
            or _moment(claims.get("nbf", 0)) > now + LEEWAY_SECONDS
        ):
            raise ValueError("claims")

    async def _secret(self) -> OctKey:
        root = await self._store.secret(SERVICE_TENANT)
        return OctKey.import_key(hmac.digest(root, b"mnemic bearer tokens", "sha256"))


def _moment(claimed: object) -> float:
    """A time that a token names (NumericDate of RFC 7519). Raises ValueError for what is none."""
    if isinstance(claimed, bool) or not isinstance(claimed, int | float) or not abs(claimed) < LATEST:
        raise ValueError("claims")
    return claimed


def _keys(provider: Provider, clock: Clock) -> FixedKeys | FetchedKeys:
    return FetchedKeys(provider.keys, clock) if isinstance(provider.keys, str) else FixedKeys(provider.keys)


def _of_provider(claims: Mapping[str, Any], known: Provider) -> Principal:
    """Raises ValueError for an address of mail that nobody has confirmed: anybody may have typed it."""
    if known.claims.user == "email" and claims.get("email_verified", True) not in (True, "true"):
        raise ValueError("claims")
    user = identifier_of(claims.get(known.claims.user), "user", issuer=known.issuer)
    tenant = identifier_of(claims.get(known.claims.tenant, known.default_tenant), "tenant", issuer=known.issuer)
    named = {"sub": user, "agent": claims.get("agent"), "session": claims.get("session")}
    roles = claims.get(known.claims.roles, [Role.SUBJECT])
    principal = _principal(named, tenant, roles)
    if known.claims.tenant in claims:
        return principal
    return replace(principal, roles=principal.roles & _ONES_OWN or frozenset({Role.SUBJECT}))


def _principal(claims: Mapping[str, Any], tenant: object, roles: object) -> Principal:
    if not isinstance(claims.get("sub"), str) or not isinstance(tenant, str) or not isinstance(roles, list):
        raise ValueError("claims")
    return Principal(
        tenant=tenant,
        user=claims["sub"],
        agent=claims.get("agent") or "default",
        session=claims.get("session"),
        roles=frozenset(Role(role) for role in roles),
        key_id=str(claims.get("kid") or claims["sub"]),
    )
