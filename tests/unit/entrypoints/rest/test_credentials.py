"""Keys: kept as hashes, scoped, rotated, expiring; and nothing else opens the door."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey

from mnemic.entrypoints.rest.credentials import Principal, Role
from mnemic.entrypoints.rest.tokens import Provider, Tokens
from mnemic.errors import InvalidConfig, InvalidInput, MemoryNotFound
from mnemic.maintain.tenants import SERVICE_TENANT
from tests.unit.entrypoints.rest.conftest import Running


async def test_a_key_opens_as_whom_it_was_made_for_and_is_kept_as_a_hash(running: Running) -> None:
    key, text = await running.keys.create(tenant="acme", roles=["reader"], user="ana", label="phone")
    principal = await running.keys.authenticate(text)

    assert principal == key.principal
    assert (principal.actor.tenant, principal.actor.user) == ("acme", "ana")
    kept = str(await running.engine.store.marks(SERVICE_TENANT, ""))
    assert key.key_id in kept
    assert text.removeprefix(f"mnk_{key.key_id}_") not in kept
    assert text not in repr(key)


@pytest.mark.parametrize("change", [lambda text: text[:-1] + "x", lambda text: text[4:], lambda _: "", str.upper])
async def test_another_text_opens_nothing(running: Running, change: Any) -> None:
    _, text = await running.keys.create(tenant="acme", roles=["reader"], user="ana")
    assert await running.keys.authenticate(change(text)) is None


async def test_an_expired_and_a_revoked_key_open_nothing(running: Running) -> None:
    _, short = await running.keys.create(tenant="acme", roles=["reader"], user="ana", ttl=timedelta(hours=1))
    lasting, text = await running.keys.create(tenant="acme", roles=["reader"], user="ana")
    running.clock.advance(timedelta(hours=1))
    assert await running.keys.authenticate(short) is None
    assert await running.keys.authenticate(text) is not None

    await running.keys.revoke(lasting.key_id)
    assert await running.keys.authenticate(text) is None
    with pytest.raises(MemoryNotFound):
        await running.keys.revoke(lasting.key_id)


async def test_after_a_rotation_both_secrets_work_for_the_grace_and_then_the_new_one(running: Running) -> None:
    key, old = await running.keys.create(tenant="acme", roles=["reader"], user="ana")
    new = await running.keys.rotate(key.key_id, grace=timedelta(minutes=5))
    assert await running.keys.authenticate(old) == await running.keys.authenticate(new) == key.principal

    running.clock.advance(timedelta(minutes=5))
    assert await running.keys.authenticate(old) is None
    assert await running.keys.authenticate(new) == key.principal


async def test_what_is_done_with_a_key_is_in_the_audit_of_its_tenant(running: Running) -> None:
    operator = await running.caller("operator", user="olga")
    made = (await running.client.post("/v1/keys", json={"roles": ["reader"]}, headers=operator)).json()
    await running.client.post(f"/v1/keys/{made['key_id']}/rotation", headers=operator)
    await running.client.delete(f"/v1/keys/{made['key_id']}", headers=operator)
    lines = await running.engine.store.audit("acme")
    assert [(line.action, line.actor) for line in lines] == [
        ("api_key_created", "command line"),
        ("api_key_created", "olga"),
        ("api_key_rotated", "olga"),
        ("api_key_revoked", "olga"),
    ]
    assert {line.detail["key_id"] for line in lines[1:]} == {made["key_id"]}
    assert made["api_key"].removeprefix(f"mnk_{made['key_id']}_") not in str(lines)


async def test_a_key_of_another_tenant_is_not_there(running: Running) -> None:
    key, text = await running.keys.create(tenant="acme", roles=["reader"], user="ana")
    for attempt in (running.keys.revoke(key.key_id, tenant="other"), _rotated(running, key.key_id)):
        with pytest.raises(MemoryNotFound):
            await attempt
    assert await running.keys.all(tenant="other") == []
    assert await running.keys.authenticate(text) is not None


async def _rotated(running: Running, key_id: str) -> str:
    return await running.keys.rotate(key_id, grace=timedelta(0), tenant="other")


@pytest.mark.parametrize("wanted", [{"roles": []}, {"roles": ["root"]}, {"tenant": SERVICE_TENANT}, {"user": "a b"}])
async def test_a_key_for_nobody_is_not_made(running: Running, wanted: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await running.keys.create(**{"tenant": "acme", "roles": ["reader"], "user": "ana", **wanted})
    assert await running.keys.all() == []


def application(*roles: Role) -> Principal:
    return Principal(tenant="acme", user=None, roles=frozenset(roles), key_id="app")


async def issued(tokens: Tokens, **wanted: Any) -> str:
    given = {"user": "ana", "session": None, "roles": frozenset({Role.READER}), "ttl": timedelta(hours=1)}
    return await tokens.issue(application(Role.READER, Role.WRITER), **{**given, **wanted})


async def test_a_token_stands_for_a_user_until_it_expires(running: Running) -> None:
    tokens = Tokens(running.engine.store, running.clock)
    text = await issued(tokens, session="s1")
    principal = await tokens.authenticate(text)
    assert principal is not None
    assert (principal.tenant, principal.user, principal.session) == ("acme", "ana", "s1")
    assert principal.roles == {Role.READER}

    running.clock.advance(timedelta(hours=1))
    assert await tokens.authenticate(text) is None


@pytest.mark.parametrize(
    "wanted",
    [
        {"roles": frozenset({Role.ADMIN})},
        {"ttl": timedelta(0)},
        {"ttl": timedelta(days=2)},
        {"user": "a b"},
    ],
)
async def test_an_application_gives_away_no_more_than_it_has(running: Running, wanted: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await issued(Tokens(running.engine.store, running.clock), **wanted)


async def test_a_token_of_another_hand_is_not_believed(running: Running) -> None:
    tokens = Tokens(running.engine.store, running.clock)
    claims = {"iss": "mnemic", "sub": "ana", "tenant": "acme", "roles": ["admin"], "exp": 9_999_999_999}
    forged = jwt.encode({"alg": "HS256"}, claims, OctKey.generate_key(256))
    assert await tokens.authenticate(forged) is None
    unsigned = "eyJhbGciOiJub25lIn0." + forged.split(".")[1] + "."
    assert await tokens.authenticate(unsigned) is None


def provider_and_key() -> tuple[Provider, ECKey]:
    key = ECKey.generate_key("P-256", {"kid": "k1"})
    keys = {"keys": [key.as_dict(private=False)]}
    return Provider(issuer="https://id.example", audience="mnemic", keys=keys, default_tenant="acme"), key


async def test_a_providers_token_is_believed_for_its_audience_alone(running: Running) -> None:
    provider, key = provider_and_key()
    tokens = Tokens(running.engine.store, running.clock, provider)
    good = {
        "iss": "https://id.example",
        "aud": "mnemic",
        "sub": "ana",
        "roles": ["reader"],
        "exp": int(running.clock.now().timestamp()) + 600,
    }

    def signed(**other: Any) -> str:
        return jwt.encode({"alg": "ES256", "kid": "k1"}, {**good, **other}, key)

    principal = await tokens.authenticate(signed())
    assert principal is not None
    assert (principal.tenant, principal.user, principal.roles) == ("acme", "ana", {Role.READER})
    flaws: list[dict[str, Any]] = [
        {"aud": "else"},
        {"iss": "https://evil.example"},
        {"exp": int(running.clock.now().timestamp()) - 120},
        {"exp": None},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"exp": 10**400},
        {"exp": True},
        {"nbf": "soon"},
        {"aud": {"mnemic": 1}},
        {"tenant": SERVICE_TENANT},
        {"roles": ["root"]},
        {"sub": None},
    ]
    for flaw in flaws:
        assert await tokens.authenticate(signed(**flaw)) is None, flaw
    public = OctKey.import_key({"kty": "oct", "k": str(key.as_dict(private=False)["x"])})
    confused = jwt.encode({"alg": "HS256", "kid": "k1"}, good, public)
    assert await tokens.authenticate(confused) is None


@pytest.mark.parametrize(
    ("claimed", "counts"),
    [
        ({"roles": ["admin"]}, {"subject"}),
        ({"roles": ["admin", "operator", "reviewer", "reader"]}, {"reader"}),
        ({"roles": ["reader", "writer", "subject"]}, {"reader", "writer", "subject"}),
        ({"roles": ["admin"], "tenant": "acme"}, {"admin"}),
        ({}, {"subject"}),
    ],
)
async def test_a_token_that_names_no_tenant_reaches_nobody_else(
    running: Running, claimed: dict[str, Any], counts: set[str]
) -> None:
    provider, key = provider_and_key()
    exp = int(running.clock.now().timestamp()) + 600
    claims = {"iss": "https://id.example", "aud": "mnemic", "sub": "ana", "exp": exp, **claimed}
    text = jwt.encode({"alg": "ES256", "kid": "k1"}, claims, key)
    principal = await Tokens(running.engine.store, running.clock, provider).authenticate(text)
    assert principal is not None
    assert (principal.tenant, principal.roles) == ("acme", counts)


def test_a_provider_without_keys_is_refused(tmp_path: Any) -> None:
    (tmp_path / "jwks").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidConfig, match="jwks"):
        Provider.named(str(tmp_path / "jwks"), issuer="i", audience="a")
