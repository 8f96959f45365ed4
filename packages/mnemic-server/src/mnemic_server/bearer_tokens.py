"""Bearer tokens: those this service issues for an application's users, and those of an OpenID provider.

Both are JSON Web Tokens (RFC 7519) read by joserfc. The algorithms are fixed here and never taken from a token. Tokens
of this service are signed with Ed25519 under a key that is derived from the application's secret while it is presented,
and verified with the public half, which is stored with the application's key: a copy of the store cannot sign. They end
with that key, and have at most its roles. A provider's tokens are signed with RS256 or ES256 under its JWKS, from a
file or an address (`mnemic_server.provider_keys`).
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet, OKPKey

from mnemic.errors import InvalidConfig, InvalidInput, MemoryNotFound
from mnemic.ports import Clock
from mnemic_server.claimed_identities import identifier_of, user_of
from mnemic_server.credentials import ApiKeys, Principal, Role, TokenKey, shown_key
from mnemic_server.provider_fetch import require_fetchable
from mnemic_server.provider_keys import FetchedKeys, FixedKeys
from mnemic_server.token_audit import Issued

ISSUER = "mnemic"
MAX_TTL = timedelta(hours=24)
# For clocks that differ; RFC 7519 (4.1.4) suggests no more than a few minutes.
LEEWAY_SECONDS = 60
LATEST = 1e12
"""Maximum in seconds. Infinity, NaN and numbers that no float can express exceed it as well."""

_OWN = ["Ed25519"]
_KEY_ID = re.compile(r"[0-9a-f-]{36}", re.ASCII)
_PURPOSE = b"mnemic bearer tokens"
_PROVIDERS = ["RS256", "ES256"]
ONES_OWN = frozenset({Role.READER, Role.WRITER, Role.SUBJECT})
"""Roles that reach no further than the user they are given to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Names of the claims of a token for the user, the tenant and the roles. For how one becomes the name of a user or
    a tenant, see `mnemic_server.claimed_identities`.
    """

    user: str = "sub"
    tenant: str = "tenant"
    roles: str = "roles"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """An OpenID provider: issuer, audience, keys (or their address), and the names of the claims.

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
    def from_jwks(
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
    """Return the keys of a JWKS file. Raises InvalidConfig (`invalid_config:jwks`)."""
    try:
        keys: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        KeySet.import_key_set(keys)  # type: ignore[arg-type]
    except (OSError, ValueError, KeyError, JoseError):
        raise InvalidConfig("jwks", hint="not a JWKS file") from None
    return keys


class Tokens:
    """Issues and reads tokens."""

    def __init__(self, keys: ApiKeys, clock: Clock, provider: Provider | None = None) -> None:
        self._applications = keys
        self._clock = clock
        self._provider = provider
        self._keys = None if provider is None else _keys(provider, clock)
        self._issued = Issued(keys.store, clock)

    async def issue(
        self, api_key: str, *, user: str, session: str | None, roles: frozenset[Role], ttl: timedelta
    ) -> str:
        """Return a token for a user of the tenant of the application with this key text, with some of its roles, and
        record it in the audit of the tenant. Raises InvalidInput, MemoryNotFound for an unknown key.
        """
        if not timedelta(0) < ttl <= MAX_TTL:
            raise InvalidInput("ttl", hint="more than nothing, at most 24 hours")
        shown = shown_key(api_key)
        application = None if shown is None else await self._applications.principal(*shown)
        if shown is None or application is None:
            raise MemoryNotFound("api_key")
        # An application cannot grant what it does not have, and never a role over other users.
        if not roles <= application.roles & ONES_OWN:
            raise InvalidInput("roles", hint=f"only roles that the key has, of {', '.join(sorted(ONES_OWN))}")
        now = int(self._clock.now().timestamp())
        claims = {
            "iss": ISSUER,
            "sub": user,
            "tenant": application.tenant,
            "agent": application.agent,
            "session": session,
            "roles": sorted(roles),
            "iat": now,
            "exp": now + int(ttl.total_seconds()),
        }
        opened = _principal(claims, claims["tenant"], claims["roles"], application.key_id)
        signing = await self._signing(api_key, *shown)
        await self._issued.note(opened)
        return jwt.encode({"alg": _OWN[0], "kid": application.key_id}, claims, signing, algorithms=_OWN)

    async def _signing(self, api_key: str, key_id: str, shown: str) -> OKPKey:
        """Return the key that signs the application's tokens, derived from its secret."""
        # Used only if no key is stored yet: two first tokens at the same time are both signed with the stored one.
        salt = secrets.token_hex(16)
        made = TokenKey(salt=salt, public=str(_derive_key(api_key, salt).as_dict(private=False)["x"]))
        return _derive_key(api_key, (await self._applications.signed_with(key_id, shown, made)).salt)

    async def authenticate(self, text: str) -> Principal | None:
        """Return the principal of the token; None if anything about it is wrong."""
        try:
            # Own tokens first: they are verified without a network call.
            return await self._own(text)
        except (JoseError, InvalidInput, ValueError, KeyError, TypeError):
            pass
        try:
            return await self._providers(text)
        except (JoseError, InvalidInput, ValueError, KeyError, TypeError):
            return None

    async def _own(self, text: str) -> Principal:
        # Unverified at this point: it only selects the key that the signature is verified with.
        key_id = jws.extract_compact(text.encode()).protected.get("kid")
        key = await self._applications.find(key_id) if isinstance(key_id, str) and _KEY_ID.fullmatch(key_id) else None
        if key is None or key.principal.user is not None:
            raise ValueError("kid")
        now = self._clock.now()
        verifying = [key.signing[shown] for shown in key.live(now) if shown in key.signing]
        claims = next((claims for one in verifying if (claims := _claims_by_key(text, one)) is not None), None)
        if claims is None:
            raise ValueError("signature")
        self._require(claims, ISSUER, None)
        begun = _moment(claims.get("iat"))
        application = key.principal
        principal = _principal(claims, claims["tenant"], claims["roles"], key.key_id)
        if (
            # Check the limits again at every use: the signing key is derived from a secret that the application knows,
            # so the application could sign any claims.
            claims["exp"] - begun > MAX_TTL.total_seconds()
            or begun > now.timestamp() + LEEWAY_SECONDS
            or (principal.tenant, principal.agent) != (application.tenant, application.agent)
            or not principal.roles <= application.roles & ONES_OWN
        ):
            raise ValueError("claims")
        await self._applications.note_use(key.key_id)
        return principal

    async def _providers(self, text: str) -> Principal | None:
        known, claims = self._provider, await self._verified_claims(text)
        if known is None or claims is None:
            return None
        self._require(claims, known.issuer, known.audience)
        return await self._of_provider(claims, known)

    async def identify(self, text: str, *, client_id: str, nonce: str) -> Principal | None:
        """Return the principal of an ID token of the provider that was made for `client_id` and this sign-in (OpenID
        Connect Core 1.0, section 3.1.3.7); None if anything about it is wrong.
        """
        try:
            known, claims = self._provider, await self._verified_claims(text)
            if known is None or claims is None:
                return None
            self._require(claims, known.issuer, client_id)
            # The nonce binds the ID token to this sign-in, so that a stolen one cannot be replayed.
            if not hmac.compare_digest(str(claims.get("nonce")).encode(), nonce.encode()):
                return None
            if claims.get("azp", client_id) != client_id:
                return None
            return await self._of_provider(claims, known)
        except (JoseError, InvalidInput, ValueError, KeyError, TypeError):
            return None

    async def _of_provider(self, claims: Mapping[str, Any], known: Provider) -> Principal:
        """Return the principal of a provider's token. Raises ValueError for an unverified mail address, which anybody
        may have entered.
        """
        # Anybody can enter an address at a provider that does not verify it.
        if known.claims.user == "email" and claims.get("email_verified", True) not in (True, "true"):
            raise ValueError("claims")
        tenant = identifier_of(claims.get(known.claims.tenant, known.default_tenant), "tenant", issuer=known.issuer)
        user = user_of(claims.get(known.claims.user), issuer=known.issuer)
        named = {"sub": user, "agent": claims.get("agent"), "session": claims.get("session")}
        roles = claims.get(known.claims.roles, [Role.SUBJECT])
        principal = _principal(named, tenant, roles)
        # Roles over others count only if the provider also names the tenant: else `admin` may mean something else
        # there.
        if known.claims.tenant in claims:
            return principal
        return replace(principal, roles=principal.roles & ONES_OWN or frozenset({Role.SUBJECT}))

    async def _verified_claims(self, text: str) -> Mapping[str, Any] | None:
        """Return the claims of a token that the provider has signed; None if there is no provider or the key is not its
        own.
        """
        keys = None if self._keys is None else await self._keys.current()
        if self._keys is None or keys is None:
            return None
        try:
            return jwt.decode(text, keys, algorithms=_PROVIDERS).claims
        except (InvalidKeyIdError, BadSignatureError):
            # The provider may have rotated its keys; at most one fetch every 30 seconds, so that forged tokens cannot
            # cause a flood.
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
            # No leeway for own tokens, which have no audience: the same clock issued them.
            or _moment(claims.get("exp")) + (LEEWAY_SECONDS if audience else 0) <= now
            or _moment(claims.get("nbf", 0)) > now + LEEWAY_SECONDS
        ):
            raise ValueError("claims")


def _moment(claimed: object) -> float:
    """Return a time in a token (NumericDate of RFC 7519). Raises ValueError for any other value."""
    if isinstance(claimed, bool) or not isinstance(claimed, int | float) or not abs(claimed) < LATEST:
        raise ValueError("claims")
    return claimed


def _keys(provider: Provider, clock: Clock) -> FixedKeys | FetchedKeys:
    return FetchedKeys(provider.keys, clock) if isinstance(provider.keys, str) else FixedKeys(provider.keys)


def _derive_key(secret: str, salt: str) -> OKPKey:
    return OKPKey.derive_key(secret, "Ed25519", kdf_options={"salt": bytes.fromhex(salt), "info": _PURPOSE})


def _claims_by_key(text: str, known: TokenKey) -> Mapping[str, Any] | None:
    """Return the claims of a token that was signed with the other half of this key; None for any other."""
    public = OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": known.public})
    try:
        return jwt.decode(text, public, algorithms=_OWN).claims
    except BadSignatureError:
        return None


def _principal(claims: Mapping[str, Any], tenant: object, roles: object, key_id: str | None = None) -> Principal:
    if not isinstance(claims.get("sub"), str) or not isinstance(tenant, str) or not isinstance(roles, list):
        raise ValueError("claims")
    return Principal(
        tenant=tenant,
        user=claims["sub"],
        agent=claims.get("agent") or "default",
        session=claims.get("session"),
        roles=frozenset(Role(role) for role in roles),
        key_id=key_id or str(claims.get("kid") or claims["sub"]),
    )
