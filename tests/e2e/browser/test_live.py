"""The live page: what is read from a message, what that ends, what is held back, what a model gets, and undo."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from mnemic_server.credentials import Principal, Role
from tests.e2e.browser.chromium import SCHEMES, SIZE, Scheme, visit
from tests.e2e.browser.conftest import Enter
from tests.e2e.browser.stage import served_here
from tests.e2e.browser.test_pages import serious

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, tmp_path: Path) -> AsyncIterator[Page]:
    """The live page of somebody about whom two things are known."""
    ana = Principal(tenant="default", user="ana", roles=frozenset(Role), key_id="own-machine")
    with served_here(tmp_path / "own.db", open_to=ana) as address:
        context = await browser.new_context(base_url=address)
        opened = await context.new_page()
        for said in ("I live in Oslo.", "I like small hotels."):
            await context.request.post("/v1/capture", data={"message": said})
        await visit(opened, "live")
        yield opened
        await context.close()


async def say(page: Page, message: str) -> None:
    await page.get_by_label("A message").fill(message)
    await page.keyboard.press("Enter")
    await expect(page.locator(".said button").first).to_be_visible()


async def test_a_message_shows_what_it_replaces_and_what_a_model_gets_and_is_undone(page: Page) -> None:
    await say(page, "I moved to Bergen, and I am a vegetarian.")
    home = page.locator("li.row").filter(has=page.locator("del", has_text="Oslo"))
    await expect(home).to_contain_text("Bergen")
    await expect(page.locator(".said button")).to_have_text("2 new · an older one replaced")
    block = page.locator("pre.block")
    await expect(block).to_contain_text("Bergen")
    tokens = await page.locator(".prompt .meta strong").first.text_content()
    assert int(tokens or "0") > 0
    await expect(page.locator(".prompt .meta").first).to_contain_text("2 facts")
    for fact in await page.locator(".used").all():
        await expect(fact).to_contain_text("just read from this message")

    await page.get_by_role("button", name="Undo all of it").click()
    await expect(home).to_contain_text("taken back")
    await visit(page, "mine")
    await expect(page.get_by_text("Oslo").first).to_be_visible()
    await expect(page.get_by_text("Bergen")).to_have_count(0)


async def test_a_value_is_undone_with_the_sentence_that_it_was_read_from(page: Page) -> None:
    await say(page, "I moved to Bergen on 3 May 2026.")
    row = page.locator("li.row.read")
    await expect(row).to_have_count(1)
    await expect(row).to_contain_text("I moved to Bergen on 3 May 2026.")
    await expect(row).to_contain_text("Home city: Bergen")
    await page.get_by_role("button", name="Undo: I moved to Bergen").click()
    await expect(page.locator("li.row.undone")).to_have_count(1)
    await visit(page, "mine")
    await expect(page.get_by_text("Oslo").first).to_be_visible()
    await expect(page.get_by_text("Bergen")).to_have_count(0)


async def test_an_entry_of_the_block_is_rated_beside_it_and_on_the_page_of_what_the_model_was_shown(page: Page) -> None:
    await say(page, "Where do I live?")
    entry = page.locator("li.used").filter(has_text="Oslo")
    await entry.get_by_role("button", name="Actions: ").click()
    wrong = entry.get_by_role("button", name="Not helpful: ")
    await wrong.click()
    await expect(wrong).to_have_attribute("aria-pressed", "true")

    await visit(page, "runs")
    await page.locator("main .row a.content").first.click()
    shown = page.locator("li.row").filter(has_text="Oslo")
    pressed = shown.get_by_role("button", name="Not helpful: ")
    await expect(pressed).to_have_attribute("aria-pressed", "true")
    await shown.get_by_role("button", name=re.compile("^Helpful: ")).click()
    await expect(pressed).to_have_attribute("aria-pressed", "false")
    await pressed.click()
    await pressed.click()
    await expect(pressed).to_have_attribute("aria-pressed", "false")


async def test_a_secret_is_masked_before_it_is_sent_and_in_what_is_kept(page: Page) -> None:
    await page.get_by_label("A message").fill("My card number is 4111 1111 1111 1111.")
    await expect(page.get_by_text("It would be kept as:")).to_be_visible()
    await page.get_by_role("button", name="Send").click()
    await expect(page.get_by_text("The card number was left out: it is never stored.")).to_be_visible()
    await expect(page.locator(".said")).not_to_contain_text("4111")
    await expect(page.get_by_text("Nothing is kept of it.")).to_be_visible()
    await expect(page.locator(".used").filter(has_text="card")).to_have_count(0)


async def test_what_a_model_gets_is_corrected_and_forgotten_where_it_is_shown(page: Page) -> None:
    await say(page, "Where do I live?")
    entry = page.locator("li.used").filter(has_text="Oslo")
    await entry.get_by_role("button", name="Actions: ").click()
    await entry.get_by_role("button", name="Edit: ").click()
    await page.get_by_label("What it should say").fill("I live in Tromso.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("pre.block")).to_contain_text("Tromso")
    fresh = page.locator("li.used").filter(has_text="Tromso")
    await fresh.get_by_role("button", name="Actions: ").click()
    await fresh.get_by_role("button", name="Forget: ").click()
    await page.get_by_role("dialog").get_by_role("button", name="Forget it").click()
    await expect(page.locator(".prompt")).not_to_contain_text("Tromso")


async def test_what_is_not_kept_is_said_with_its_reason(page: Page) -> None:
    await say(page, "Where do I live?")
    await expect(page.get_by_text("Nothing is kept of it.")).to_be_visible()
    await expect(page.get_by_text("it is a question, or true only for the moment")).to_be_visible()
    await expect(page.locator("pre.block")).to_contain_text("Oslo")


async def test_what_is_typed_while_a_message_is_read_is_not_lost(page: Page) -> None:
    answer = asyncio.Event()

    async def late(route: Route) -> None:
        await answer.wait()
        await route.continue_()

    await page.route("**/v1/capture", late)
    message = page.get_by_label("A message")
    await message.fill("I am a vegetarian.")
    await page.keyboard.press("Enter")
    await message.fill("I moved to Bergen.")
    answer.set()
    await expect(page.locator(".said button")).to_be_visible()
    await expect(message).to_have_value("I moved to Bergen.")


async def test_a_request_to_forget_is_carried_out_only_when_it_is_confirmed(page: Page) -> None:
    await say(page, "Forget what I said about hotels.")
    await expect(page.get_by_text("What it asks of memory")).to_be_visible()
    await expect(page.locator("pre.block")).to_contain_text("hotel")
    await page.get_by_role("button", name="Forget it").click()
    await page.get_by_role("dialog").get_by_role("button", name="Forget it").click()
    await expect(page.get_by_text("Nothing: no memory bears on it.")).to_be_visible()


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_the_answers_are_accessible_and_fit_a_phone(enter: Enter, scheme: Scheme) -> None:
    page = await enter("ana", scheme)
    await page.set_viewport_size({"width": 390, "height": 844})
    await visit(page, "live")
    await say(page, "I travel with a folding bike, and my mail is ana@example.org.")
    await expect(page.get_by_text("What a model gets with this message")).to_be_visible()
    assert await serious(page, scheme) == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    await page.set_viewport_size(SIZE)
