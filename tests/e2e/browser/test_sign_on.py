"""Signing in at a provider, in a real browser: there, back from another site, and out again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.async_api import Browser, expect

from mnemic_server.bearer_tokens import Provider
from mnemic_server.oidc_sign_in import COOKIE, Client
from tests.e2e.browser.stage import Stage, served_here
from tests.e2e.browser.test_pages import serious
from tests.identity_provider import CLIENT_ID, SECRET, IdentityProvider, running

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with running() as known:
        known.address = known.address.replace("127.0.0.1", "localhost")  # another site than the service's
        known.offer_sign_out()
        yield known


@pytest.fixture(scope="module")
def address(stage: Stage, provider: IdentityProvider) -> Iterator[str]:
    keys = f"{provider.address}/keys"
    known = Provider.from_jwks(keys, issuer=provider.address, audience="mnemic", default_tenant="default")
    client = Client(issuer=provider.address, client_id=CLIENT_ID, secret=SECRET)
    with served_here(stage.store, provider=known, client=client) as served:
        yield served


async def test_one_signs_in_at_the_provider_and_out_again(
    browser: Browser, address: str, provider: IdentityProvider
) -> None:
    provider.claims = {"sub": "ana", "roles": ["reader", "writer", "subject"]}
    context = await browser.new_context(base_url=address)
    page = await context.new_page()
    await page.goto("/console")
    there = page.get_by_role("link", name="Sign in with localhost")
    await expect(there).to_be_visible()
    assert await serious(page) == []
    await there.click()
    await page.get_by_role("link", name="Agree").click()
    await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    await expect(page.locator(".whoami")).to_contain_text("ana")
    cookies = {cookie["name"]: cookie for cookie in await context.cookies()}
    assert COOKIE not in cookies
    assert cookies["mnemic_session"]["httpOnly"]
    assert cookies["mnemic_session"]["sameSite"] == "Strict"
    await page.get_by_role("link", name="Live").click()
    await page.get_by_label("A message").fill("I live in Oslo.")
    await page.get_by_role("button", name="Send").click()
    await expect(page.get_by_role("main").get_by_text("1 new")).to_be_visible()
    await page.get_by_role("button", name="Sign out").click()
    await expect(there).to_be_visible()
    await page.reload()
    await expect(there).to_be_visible()
    await context.close()


async def test_signing_out_ends_the_session_at_the_provider_too(
    browser: Browser, address: str, provider: IdentityProvider
) -> None:
    provider.claims = {"sub": "auth0|ana", "roles": ["reader", "subject"]}
    context = await browser.new_context(base_url=address)
    page = await context.new_page()
    await page.goto("/console/sign-on")
    await page.get_by_role("link", name="Agree").click()
    await expect(page.locator(".whoami")).to_contain_text("auth0|ana")
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("link", name="Sign in with localhost")).to_be_visible()
    assert page.url == f"{address}/console"
    assert provider.ended[-1:] == ["auth0|ana"]
    await context.close()


async def test_a_sign_in_that_does_not_succeed_is_told_in_words(
    browser: Browser, address: str, provider: IdentityProvider
) -> None:
    provider.claims = {"sub": "ana", "nonce": "another"}
    context = await browser.new_context(base_url=address)
    page = await context.new_page()
    await page.goto("/console/sign-on")
    await page.get_by_role("link", name="Agree").click()
    await expect(page.get_by_role("alert")).to_contain_text("The sign-in failed.")
    await page.reload()
    await expect(page.get_by_label("API key")).to_be_visible()
    await expect(page.get_by_text("The sign-in failed.")).to_have_count(0)
    await context.close()
