"""The walk of docs/console.md: what somebody does who has never seen mnemic before, from an empty folder on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from mnemic_server.credentials import Principal, Role
from tests.e2e.browser.chromium import visit
from tests.e2e.browser.stage import served_here
from tests.service import run, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROLES = ("reader", "writer", "subject")


@pytest.fixture
def first_day(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of a service on a new store, and the first key."""
    roles = [word for role in ROLES for word in ("--role", role)]
    made = run(tmp_path, "apikeys", "create", *roles, "--for-user", "ana")
    assert made.returncode == 0, made.stderr
    with serving(tmp_path) as served:
        yield served.address, made.stdout.strip()


async def test_sign_in_remember_find_ask_why_and_erase(browser: Browser, first_day: tuple[str, str]) -> None:
    address, key = first_day
    context = await browser.new_context(base_url=address, accept_downloads=True)
    page = await context.new_page()
    logged: list[str] = []
    page.on("console", lambda said: logged.append(said.text) if said.type == "error" else None)
    await page.goto("/")
    await page.get_by_label("API key").fill(key)
    assert logged == []
    await page.get_by_role("button", name="Sign in").click()

    await expect(page.get_by_text("Nothing remembered yet")).to_be_visible()
    await page.get_by_role("link", name="Remember something").click()
    await page.get_by_label("A message").fill("I prefer aisle seats on long flights.")
    await page.get_by_text("Keep it word for word").click()
    await page.get_by_label("Key (optional)").fill("seat")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator(".said button").first).to_have_text("1 new")

    await page.get_by_role("link", name="Search").click()
    await page.get_by_label("Search your memory").fill("which seat should I book?")
    await page.keyboard.press("Enter")
    hit = page.get_by_role("article")
    await expect(hit).to_contain_text("I prefer aisle seats on long flights.")
    await hit.get_by_text("Why", exact=True).click()
    await expect(hit).to_contain_text("#1 by meaning")

    await page.get_by_role("link", name="I prefer aisle seats").click()
    await page.get_by_role("button", name="Edit").click()
    await page.get_by_label("What it should say").fill("I prefer aisle seats on every flight.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("I prefer aisle seats on every flight.")
    await expect(page.locator("del")).to_contain_text("long flights.")
    await expect(page.locator("ins")).to_contain_text("every flight.")
    await page.get_by_role("status").get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("I prefer aisle seats on long flights.")
    await page.get_by_role("button", name="Use this version: 2").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("I prefer aisle seats on every flight.")
    await expect(page.get_by_role("status").get_by_role("button", name="Undo")).to_be_visible()

    await page.get_by_role("link", name="My memory").click()
    async with page.expect_download() as taken:
        await page.get_by_role("button", name="Download my data").click()
    exported = [json.loads(line) for line in _text(await (await taken.value).path()).splitlines()]
    assert [memory["content"] for memory in exported] == ["I prefer aisle seats on every flight."]

    await page.get_by_role("heading", name="Erase everything").click()
    await page.get_by_role("button", name="Erase everything about me").click()
    await page.get_by_label("Type your name, ana, to confirm").fill("ana")
    await page.get_by_role("button", name="Erase everything", exact=True).click()
    await expect(page.get_by_role("heading", name="Everything is erased")).to_be_visible()
    await expect(page.get_by_text("Nothing is remembered about you")).to_be_visible()
    await page.get_by_role("button", name="Check that nothing is left").click()
    await expect(page.get_by_text("nothing of it is left")).to_be_visible()

    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_label("API key")).to_be_visible()
    await context.close()


async def test_on_ones_own_machine_nobody_has_to_sign_in(browser: Browser, tmp_path: Path) -> None:
    ana = Principal(tenant="default", user="ana", roles=frozenset(Role), key_id="own-machine")
    with served_here(tmp_path / "own.db", open_to=ana) as address:
        context = await browser.new_context(base_url=address)
        page = await context.new_page()
        await visit(page, "live")
        await page.get_by_label("A message").fill("I prefer aisle seats.")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator(".said button").first).to_have_text("1 new")
        assert await page.get_by_role("button", name="Sign out").count() == 0
        await context.close()


async def test_the_graph_is_there_without_a_setting(browser: Browser, tmp_path: Path) -> None:
    ana = Principal(tenant="default", user="ana", roles=frozenset(Role), key_id="own-machine")
    with served_here(tmp_path / "own.db", open_to=ana) as address:
        context = await browser.new_context(base_url=address)
        page = await context.new_page()
        await visit(page, "entities")
        await expect(page.get_by_text("No people or things yet")).to_be_visible()
        await context.request.post("/v1/capture", data={"message": "My sister Emma lives in Madrid. I live in Oslo."})
        await page.reload()
        await expect(page.locator(".graph a.node").filter(has_text="Emma")).to_be_visible()
        for place in ("Madrid", "Oslo"):
            await expect(page.get_by_role("row").filter(has_text=place)).to_contain_text("lives in")
        await page.get_by_role("link", name="The memory that says: Emma lives in Madrid").click()
        await expect(page.get_by_role("heading", level=1)).to_contain_text("My sister Emma lives in Madrid")
        await context.close()


async def test_everything_is_erased_only_where_the_own_name_is_typed(browser: Browser, tmp_path: Path) -> None:
    somebody = Principal(tenant="default", user="ana-maria", roles=frozenset(Role), key_id="own-machine")
    with served_here(tmp_path / "own.db", open_to=somebody) as address:
        context = await browser.new_context(base_url=address)
        page = await context.new_page()
        await context.request.post("/v1/memories", data={"content": "I prefer aisle seats."})
        await visit(page, "mine")
        await page.get_by_role("heading", name="Erase everything").click()
        for typed, told in (
            ("no", "That is not your name. Nothing was erased."),
            ("ana-maria", "Everything is erased"),
        ):
            await expect(page.get_by_text("I prefer aisle seats.")).to_be_visible()
            await page.get_by_role("button", name="Erase everything about me").click()
            await page.get_by_label("Type your name, ana-maria, to confirm").fill(typed)
            await page.get_by_role("button", name="Erase everything", exact=True).click()
            await expect(page.get_by_text(told)).to_be_visible()
        await expect(page.get_by_text("I prefer aisle seats.")).to_have_count(0)
        await context.close()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
