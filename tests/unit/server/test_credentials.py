"""Keys: kept as hashes, scoped, rotated, expiring; and nothing else opens the door."""

from __future__ import annotations

import hmac
from datetime import timedelta
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, OKPKey

from mnemic.errors import InvalidConfig, InvalidInput, MemoryNotFound, StoreFull
from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from mnemic.write.limiter import subject_token
from mnemic_server.bearer_tokens import _PURPOSE, Provider, Tokens, _derive_key
from mnemic_server.credentials import ApiKeys, Role
from tests.unit.server.conftest import Running


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
    assert [(line.action, line.actor) for line in lines if line.action.startswith("api_key")] == [
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


@pytest.mark.parametrize("wanted", [{"roles": []}, {"roles": ["root"]}, {"tenant": SERVICE_TENANT}, {"user": "a\tb"}])
async def test_a_key_for_nobody_is_not_made(running: Running, wanted: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await running.keys.create(**{"tenant": "acme", "roles": ["reader"], "user": "ana", **wanted})
    assert await running.keys.all() == []


async def application(running: Running, *roles: Role, **named: Any) -> str:
    """The text of an application's key."""
    chosen = roles or (Role.READER, Role.WRITER)
    return (await running.keys.create(**{"tenant": "acme", "roles": chosen, **named}))[1]


async def issued(tokens: Tokens, key: str, **wanted: Any) -> str:
    given = {"user": "ana", "session": None, "roles": frozenset({Role.READER}), "ttl": timedelta(hours=1)}
    return await tokens.issue(key, **{**given, **wanted})


async def test_a_token_stands_for_a_user_until_it_expires(running: Running) -> None:
    tokens = Tokens(running.keys, running.clock)
    text = await issued(tokens, await application(running), session="s1")
    principal = await tokens.authenticate(text)
    assert principal is not None
    assert (principal.tenant, principal.user, principal.session) == ("acme", "ana", "s1")
    assert principal.roles == {Role.READER}

    running.clock.advance(timedelta(hours=1))
    assert await tokens.authenticate(text) is None


async def test_a_token_ends_with_its_key(running: Running) -> None:
    tokens, key = Tokens(running.keys, running.clock), await application(running)
    key_id = key.split("_")[1]
    first, second = await issued(tokens, key), await issued(tokens, key, user="ben")
    assert None not in [await tokens.authenticate(text) for text in (first, second)]
    await running.keys.revoke(key_id)
    assert [await tokens.authenticate(text) for text in (first, second)] == [None, None]
    with pytest.raises(MemoryNotFound):
        await issued(tokens, key)

    short = await application(running, ttl=timedelta(minutes=5))
    text = await issued(tokens, short)
    running.clock.advance(timedelta(minutes=5))
    assert await tokens.authenticate(text) is None


async def test_a_token_lives_as_long_as_the_secret_it_was_issued_with(running: Running) -> None:
    tokens, key = Tokens(running.keys, running.clock), await application(running)
    old = await issued(tokens, key)
    renewed = await running.keys.rotate(key.split("_")[1], grace=timedelta(minutes=5))
    new = await issued(tokens, renewed)
    assert None not in [await tokens.authenticate(text) for text in (old, new, await issued(tokens, key))]
    running.clock.advance(timedelta(minutes=5))
    assert await tokens.authenticate(old) is None
    assert await tokens.authenticate(new) is not None


async def test_rotating_the_signing_ends_what_was_issued_and_nothing_else(running: Running) -> None:
    tokens, key = Tokens(running.keys, running.clock), await application(running)
    other = await application(running, tenant="other")
    before, elsewhere = await issued(tokens, key), await issued(tokens, other)
    assert await running.keys.rotate_signing(tenant="acme") == 1
    assert await tokens.authenticate(before) is None
    assert await tokens.authenticate(elsewhere) is not None
    assert await tokens.authenticate(await issued(tokens, key)) is not None
    assert await tokens.authenticate(before) is None
    assert await running.keys.rotate_signing(tenant="acme", key_id=key.split("_")[1]) == 1
    assert await running.keys.rotate_signing(tenant="acme") == 0
    with pytest.raises(MemoryNotFound):
        await running.keys.rotate_signing(tenant="acme", key_id=other.split("_")[1])
    lines = await running.engine.store.audit("acme")
    assert [line.action for line in lines].count("token_signing_rotated") == 2


async def test_nothing_in_the_store_signs_a_token(running: Running) -> None:
    """Whoever has a copy of the store has public halves, and the hashes of secrets."""
    tokens, key = Tokens(running.keys, running.clock), await application(running)
    text = await issued(tokens, key)
    marks = str(await running.engine.store.marks(SERVICE_TENANT, ""))
    kept = await running.keys.find(key.split("_")[1])
    assert kept is not None
    (signing,) = kept.signing.values()
    assert signing.public in marks
    assert key.split("_", 2)[2] not in marks
    now = int(running.clock.now().timestamp())
    claims = {"iss": "mnemic", "sub": "eve", "tenant": "acme", "agent": "default", "roles": ["reader"]}
    claims |= {"iat": now, "exp": now + 600}
    root = await running.engine.store.secret(SERVICE_TENANT)
    for guess in (root, hmac.digest(root, b"mnemic bearer tokens", "sha256"), kept.digests[0].encode()):
        forged = OKPKey.derive_key(
            guess, "Ed25519", kdf_options={"salt": bytes.fromhex(signing.salt), "info": _PURPOSE}
        )
        header = {"alg": "Ed25519", "kid": kept.key_id}
        assert await tokens.authenticate(jwt.encode(header, claims, forged, algorithms=["Ed25519"])) is None
        shared = {"alg": "HS256", "kid": kept.key_id}
        assert await tokens.authenticate(jwt.encode(shared, claims, OctKey.import_key(guess))) is None
    assert await tokens.authenticate(text) is not None


@pytest.mark.parametrize(
    "flaw",
    [
        {"roles": ["admin"]},
        {"roles": ["reader", "operator"]},
        {"roles": ["subject"]},
        {"roles": "reader"},
        {"tenant": "rival"},
        {"tenant": SERVICE_TENANT},
        {"agent": "another"},
        {"exp": 10**12},
        {"exp": None},
        {"iat": None},
        {"iat": 10**11, "exp": 10**11 + 600},
        {"iss": "https://id.example"},
        {"sub": None},
    ],
)
async def test_what_a_token_says_is_checked_though_it_is_signed(running: Running, flaw: dict[str, Any]) -> None:
    tokens = Tokens(running.keys, running.clock)
    key = await application(running, Role.READER, Role.OPERATOR)
    await issued(tokens, key)
    kept = await running.keys.find(key.split("_")[1])
    assert kept is not None
    (signing,) = kept.signing.values()
    now = int(running.clock.now().timestamp())
    claims = {"iss": "mnemic", "sub": "ana", "tenant": "acme", "agent": "default", "roles": ["reader"]}
    claims |= {"iat": now, "exp": now + 600}
    header, private = {"alg": "Ed25519", "kid": kept.key_id}, _derive_key(key, signing.salt)
    good = jwt.encode(header, claims, private, algorithms=["Ed25519"])
    assert await tokens.authenticate(good) is not None
    assert await tokens.authenticate(jwt.encode(header, {**claims, **flaw}, private, algorithms=["Ed25519"])) is None


async def test_a_key_of_a_user_signs_nothing(running: Running) -> None:
    tokens, key = Tokens(running.keys, running.clock), await application(running, user="ana")
    text = await issued(tokens, key, user="ben")
    assert await tokens.authenticate(text) is None
    headers = {"alg": "Ed25519", "kid": "../../x"}
    pair = OKPKey.generate_key("Ed25519")
    assert await tokens.authenticate(jwt.encode(headers, {"iss": "mnemic"}, pair, algorithms=["Ed25519"])) is None


@pytest.mark.parametrize(
    "wanted",
    [
        {"roles": frozenset({Role.ADMIN})},
        {"roles": frozenset({Role.OPERATOR})},
        {"ttl": timedelta(0)},
        {"ttl": timedelta(days=2)},
        {"user": "a\tb"},
    ],
)
async def test_an_application_gives_away_no_more_than_it_has(running: Running, wanted: dict[str, Any]) -> None:
    key = await application(running, Role.READER, Role.OPERATOR)
    with pytest.raises(InvalidInput):
        await issued(Tokens(running.keys, running.clock), key, **wanted)


async def test_a_browsers_session_issues_no_tokens(running: Running) -> None:
    key = await application(running)
    signed_in = await running.client.post("/console/session", json={"api_key": key})
    headers = {"X-CSRF-Token": signed_in.json()["csrf_token"]}
    answer = await running.client.post("/v1/tokens", json={"user": "ana"}, headers=headers)
    assert (answer.status_code, answer.json()["reason"]) == (403, "application_required")


async def test_keys_come_by_pages_and_no_tenant_hides_anothers(running: Running) -> None:
    operator = await running.caller("operator", user="olga")
    for _ in range(5):
        await running.keys.create(tenant="rival", roles=["reader"], user="eve")
        await running.keys.create(tenant="acme", roles=["reader"], user="ana")
        running.tick()
    seen: list[str] = []
    cursor: str | None = None
    while cursor is not None or not seen:
        asked = {"limit": 2} | ({} if cursor is None else {"cursor": cursor})
        page = (await running.client.get("/v1/keys", params=asked, headers=operator)).json()
        seen += [key["key_id"] for key in page["keys"]]
        assert {key["tenant"] for key in page["keys"]} == {"acme"}
        cursor = page["next"]
    assert len(seen) == len(set(seen)) == 6


async def test_a_tenant_has_a_bounded_number_of_keys(running: Running) -> None:
    keys = ApiKeys(running.engine.store, running.clock, most=2)
    for _ in range(2):
        await keys.create(tenant="acme", roles=["reader"], user="ana")
    with pytest.raises(InvalidInput, match="keys:too_many"):
        await keys.create(tenant="acme", roles=["reader"], user="ana")
    await keys.create(tenant="rival", roles=["reader"], user="eve")


async def test_a_key_says_who_made_it_for_whom_and_when_it_was_used(running: Running) -> None:
    operator = await running.caller("operator", user="olga")
    made = (await running.client.post("/v1/keys", json={"roles": ["reader"], "user": "ana"}, headers=operator)).json()
    assert (made["created_by"], made["expires_at"] is None) == ("olga", False)
    lasting = {"roles": ["reader"], "user": "ben", "ttl_hours": 0}
    assert (await running.client.post("/v1/keys", json=lasting, headers=operator)).json()["expires_at"] is None
    ana = {"Authorization": f"Bearer {made['api_key']}"}
    (before,) = [one for one in await listed(running, operator) if one["key_id"] == made["key_id"]]
    own = (await running.client.get("/v1/keys/own", headers=ana)).json()["keys"]
    assert before["last_used_at"] is None
    assert [(one["key_id"], one["created_by"]) for one in own] == [(made["key_id"], "olga")]
    first = own[0]["last_used_at"]
    running.clock.advance(timedelta(minutes=59))
    own = (await running.client.get("/v1/keys/own", headers=ana)).json()["keys"]
    assert own[0]["last_used_at"] == first
    running.clock.advance(timedelta(minutes=1))
    own = (await running.client.get("/v1/keys/own", headers=ana)).json()["keys"]
    assert own[0]["last_used_at"] == running.clock.now().isoformat()
    line = (await running.engine.store.audit("acme"))[1]
    assert line.detail["subject"] == await subject_token(running.engine.store, "acme", "ana")
    assert "ana" not in str(line.detail)


async def listed(running: Running, headers: dict[str, str]) -> list[dict[str, Any]]:
    keys: list[dict[str, Any]] = (await running.client.get("/v1/keys", headers=headers)).json()["keys"]
    return keys


async def test_a_store_that_cannot_be_written_keeps_nobody_out(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, text = await running.keys.create(tenant="acme", roles=["reader"], user="ana")

    async def full(_: object, **__: object) -> None:
        raise StoreFull

    monkeypatch.setattr(running.engine.store, "transact", full)
    assert await running.keys.authenticate(text) is not None


async def test_a_token_of_another_hand_is_not_believed(running: Running) -> None:
    tokens = Tokens(running.keys, running.clock)
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
    tokens = Tokens(running.keys, running.clock, provider)
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
    principal = await Tokens(running.keys, running.clock, provider).authenticate(text)
    assert principal is not None
    assert (principal.tenant, principal.roles) == ("acme", counts)


def test_a_provider_without_keys_is_refused(tmp_path: Any) -> None:
    (tmp_path / "jwks").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidConfig, match="jwks"):
        Provider.from_jwks(str(tmp_path / "jwks"), issuer="i", audience="a")
