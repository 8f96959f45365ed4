"""Names in a provider's tokens: every legal one has an identifier, no two have the same; the claims can be named."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import checked_identifier, checked_name
from mnemic.types.values import LONGEST_NAME
from mnemic_server.bearer_tokens import Claims, Provider, Tokens
from mnemic_server.claimed_identities import MARK, identifier_of, user_of
from mnemic_server.credentials import ApiKeys, Principal
from tests.identity_provider import IdentityProvider, running

ISSUER = "https://id.example"
LEGAL = st.text(st.characters(codec="utf-8"), min_size=1, max_size=255) | st.from_regex(
    r"(claim:)*[+a-z0-9|/:]{1,140}", fullmatch=True
)
"""Subjects: of any text, and of what looks like a name that was written already."""


def named(claimed: object) -> str:
    return identifier_of(claimed, "user", issuer=ISSUER)


def read(name: str) -> str | None:
    """What a name stands for; None where only its digest was kept."""
    if not name.startswith(MARK):
        return name
    rest = name.removeprefix(MARK)
    return None if rest.startswith("++") else unquote(rest.replace("+", "%"), errors="strict")


@given(LEGAL)
def test_every_text_has_an_identifier_that_says_it_again(claimed: str) -> None:
    name = named(claimed)
    assert checked_identifier(name, "user") == name
    assert read(name) in (claimed, None)
    if len(claimed.encode()) * 3 + len(MARK) <= LONGEST_NAME:
        assert read(name) == claimed


@given(LEGAL, LEGAL)
def test_no_two_have_the_same(one: str, other: str) -> None:
    assert (named(one) == named(other)) is (one == other)
    if named(one) != one:
        assert named(named(one)) != named(one)


@pytest.mark.parametrize(
    ("claimed", "name"),
    [
        ("ana", "ana"),
        ("ana+work@example.org", "ana+work@example.org"),
        ("auth0|5f7", "claim:auth0+7C5f7"),
        ("claim:auth0+7C5f7", "claim:claim:auth0+2B7C5f7"),
        ("_ana", "claim:_ana"),
        ("\u00f1", "claim:+C3+B1"),
        ("x" * 129, "claim:++5e76dd9b49272a6a86255b69eae931848db43801f1bbb98a808dabfdbcd1226b"),
    ],
)
def test_the_names_stay_what_they_are(claimed: str, name: str) -> None:
    assert named(claimed) == name


@pytest.mark.parametrize("claimed", [None, "", 7, ["ana"], "\ud800"])
def test_what_is_no_text_names_nobody(claimed: object) -> None:
    with pytest.raises(InvalidInput, match="user"):
        named(claimed)


@given(st.lists(LEGAL, max_size=5))
def test_a_user_is_called_what_the_provider_says_and_no_two_the_same(claimed: list[str]) -> None:
    named = {one: user_of(one, issuer=ISSUER) for one in claimed}
    assert len(set(named.values())) == len(named)
    for one, user in named.items():
        assert checked_name(user, "user") == user
        assert user in (one, identifier_of(one, "user", issuer=ISSUER))


@pytest.fixture
async def provider() -> AsyncIterator[IdentityProvider]:
    with running() as known:
        yield known


async def holder(provider: IdentityProvider, claims: Claims, **said: Any) -> Principal | None:
    """Whom a token of the provider stands for."""
    store = InProcessStore()
    await store.open(WordEmbedder().space)
    keys = f"{provider.address}/keys"
    known = Provider.from_jwks(keys, issuer=provider.address, audience="mnemic", claims=claims, default_tenant="acme")
    return await Tokens(ApiKeys(store, ManualClock()), ManualClock(), known).authenticate(
        provider.access_token("mnemic", **said)
    )


async def test_which_claim_names_user_tenant_and_roles_is_a_setting(provider: IdentityProvider) -> None:
    claims = Claims(user="oid", tenant="https://example.org/tenant", roles="https://example.org/roles")
    said = {"oid": "auth0|7", "https://example.org/tenant": "org|1", "https://example.org/roles": ["writer"]}
    principal = await holder(provider, claims, **said)
    assert principal is not None
    assert (principal.tenant, principal.user, principal.roles) == ("claim:org+7C1", "auth0|7", {"writer"})
    assert await holder(provider, claims, tenant="acme") is None


@pytest.mark.parametrize(
    ("confirmed", "believed"),
    [
        ({}, True),
        ({"email_verified": True}, True),
        ({"email_verified": False}, False),
        ({"email_verified": None}, False),
    ],
)
async def test_an_address_of_mail_names_somebody_unless_it_is_unconfirmed(
    provider: IdentityProvider, confirmed: dict[str, Any], believed: bool
) -> None:
    principal = await holder(provider, Claims(user="email"), email="ana@example.org", **confirmed)
    assert (principal is not None) is believed


async def test_the_service_s_own_tenant_is_reached_by_no_claim(provider: IdentityProvider) -> None:
    assert await holder(provider, Claims(), tenant="mnemic.service") is None
    principal = await holder(provider, Claims(), tenant=" mnemic.service")
    assert principal is not None
    assert principal.tenant == "claim:+20mnemic.service"
