"""An operator helps somebody: finds, reads with a reason, erases; keys, the audit, and the keys of the keyboard."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Route, ViewportSize, expect

from mnemic import MemoryManager
from tests.e2e.browser.chromium import visit
from tests.e2e.browser.conftest import Enter
from tests.e2e.browser.stage import Stage
from tests.e2e.browser.test_pages import serious

pytestmark = pytest.mark.asyncio(loop_scope="session")
PHONE = ViewportSize(width=390, height=844)


@pytest_asyncio.fixture(loop_scope="session")
async def noah(stage: Stage) -> AsyncIterator[str]:
    """A user who asks for help."""

    def told(store: Path) -> None:
        with MemoryManager("noah", store=store) as memory:
            memory.add("I travel with a cello.")
            memory.context("What do I travel with?")

    await asyncio.to_thread(told, stage.store)
    yield "noah"


async def test_somebody_is_found_read_with_a_reason_and_erased(enter: Enter, noah: str) -> None:
    page = await enter("olga")
    await visit(page, "users")
    find, name = page.get_by_role("button", name="Find", exact=True), page.get_by_label("User", exact=True)
    beside, asked = await find.bounding_box(), await name.bounding_box()
    assert beside is not None
    assert asked is not None
    assert abs(beside["y"] + beside["height"] / 2 - asked["y"] - asked["height"] / 2) <= 2
    await page.get_by_role("link", name=noah).click()
    await page.get_by_role("button", name="Read the memories").click()
    await page.get_by_label("Reason").fill("case 4711")
    await page.get_by_role("button", name="Read", exact=True).click()
    await expect(page.get_by_text("I travel with a cello.")).to_be_visible()

    await page.get_by_role("button", name="Erase").click()
    await page.get_by_label(f"Type {noah} to confirm").fill(noah)
    await page.get_by_role("button", name="Erase everything").click()
    await expect(page.get_by_role("heading", name="Everything is erased")).to_be_visible()

    await visit(page, "audit")
    line = page.get_by_role("row").filter(has_text="case 4711")
    await expect(line).to_contain_text("olga")
    await page.get_by_role("button", name="Check the chain").click()
    await expect(page.get_by_text("nothing was changed or removed")).to_be_visible()


async def test_somebodys_runs_are_opened_with_a_reason_and_the_audit_names_it(enter: Enter, noah: str) -> None:
    page = await enter("olga")
    await visit(page, f"users/{noah}")
    await page.get_by_role("button", name="See the runs").click()
    await page.get_by_label("Reason").fill("case 4712")
    await page.get_by_role("button", name="Open", exact=True).click()
    run = page.locator("details.run").filter(has_text="What do I travel with?")
    await expect(run).to_contain_text("block for a prompt")
    await run.locator("summary").click()
    await expect(run.locator("pre.block")).to_contain_text("I travel with a cello.")
    await expect(run.locator("dl")).to_contain_text("Tokens")
    await expect(run.get_by_role("listitem")).to_contain_text("I travel with a cello.")
    assert await serious(page) == []
    await page.set_viewport_size(PHONE)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    await visit(page, "audit")
    await expect(page.get_by_role("row").filter(has_text="case 4712")).to_contain_text("olga")


async def test_a_key_is_made_shown_once_and_revoked(enter: Enter) -> None:
    page = await enter("olga")
    await visit(page, "keys")
    await page.get_by_role("button", name="Create a key").click()
    await page.get_by_label("What is it for?").fill("the booking desk")
    await page.get_by_role("button", name="Create it").click()
    await expect(page.locator("pre")).to_contain_text("mnk_")
    await page.get_by_role("button", name="Revoke the booking desk").click()
    await page.get_by_role("button", name="Revoke it").click()
    await expect(page.get_by_role("button", name="Revoke the booking desk")).to_have_count(0)


async def test_whoever_a_key_is_made_for_sees_it_and_who_made_it(enter: Enter) -> None:
    page = await enter("olga")
    await visit(page, "keys")
    await page.get_by_role("button", name="Create a key").click()
    await page.get_by_label("What is it for?").fill("a look at what Ana said")
    await page.get_by_label("User").fill("ana")
    await page.get_by_role("button", name="Create it").click()
    await expect(page.locator("pre")).to_contain_text("mnk_")

    theirs = await enter("ana")
    await visit(theirs, "mine")
    await theirs.get_by_role("heading", name="Who can open it").click()
    key = theirs.get_by_role("listitem").filter(has_text="a look at what Ana said")
    await expect(key).to_contain_text("by olga")


async def test_the_overview_says_what_is_wrong_and_its_counts_are_those_of_the_other_pages(enter: Enter) -> None:
    page = await enter("olga")
    await visit(page, "review")
    waiting = await page.locator(".queue li").count()
    await visit(page, "quotas")
    table = page.get_by_role("table", name="What is held of all of default")
    held = [int(one) for one in await table.locator("tbody tr td:nth-child(2)").all_text_contents()]
    await visit(page, "overview")
    waits = page.get_by_role("link", name=f"{waiting} memories wait for review.")
    await expect(waits).to_be_visible()
    await expect(page.locator(".tile").filter(has_text="Memories held").locator(".tile-value")).to_have_text(
        str(sum(held))
    )
    await expect(page.get_by_text("in use examined")).to_be_visible()
    await waits.click()
    await expect(page.get_by_role("heading", name="Review desk", level=1)).to_be_visible()


async def test_the_overview_names_what_fails_and_what_is_full(enter: Enter) -> None:
    page = await enter("olga")

    async def troubled(route: Route) -> None:
        answer = await route.fetch()
        state = await answer.json()
        state["process"]["requests"] = {"2xx": 328, "5xx": 12}
        state["process"]["searches"] = {"found": 124, "empty": 8, "hit_rate": 0.9394}
        state["process"]["degraded"] = {"vector": 4}
        state["process"]["models"] = {"calls": 7, "input_tokens": 4200, "output_tokens": 310}
        state["projections"] = {"neo4j": 40}
        slow = {"method": "POST", "route": "/v1/capture", "count": 60, "failed": 0, "p50_ms": 480.0, "p95_ms": 2400.0}
        state["process"]["latency"] = [slow]
        await route.fulfill(json=state)

    async def full(route: Route) -> None:
        quota = {"per": "tenant", "kind": None, "rows": 100, "bytes": None, "writes_a_minute": None, "soft": 0.8}
        await route.fulfill(json={"quotas": [{**quota, "used": {"rows": 0.93}}], "held": {}})

    await page.route("**/v1/overview", troubled)
    await page.route("**/v1/tenant/quotas", full)
    await visit(page, "overview")
    attention = page.locator(".panel").filter(has=page.get_by_role("heading", name="What needs attention"))
    for sentence in (
        "12 of 340 requests failed since the service started.",
        "Search by meaning failed in 4 of all 132 searches; the other ways answered alone.",
        "The copy in neo4j is 40 changes behind.",
        "Reading a message is slow: 1 in 20 takes over 2.4 s (limit 1 s).",
        "A limit of the tenant is used to 93%.",
    ):
        await expect(attention).to_contain_text(sentence)
    await expect(page.locator("dd").filter(has_text="132")).to_contain_text(
        "94% found something4 without search by meaning"
    )
    await expect(page.locator("dd").filter(has_text="tokens sent")).to_have_text("74,200 tokens sent, 310 received")


async def test_a_slow_or_failing_call_is_marked_and_one_of_few_calls_has_no_slowest_part(enter: Enter) -> None:
    page = await enter("olga")
    slow = {"method": "POST", "route": "/v1/capture", "count": 60, "failed": 2, "p50_ms": 480.0, "p95_ms": 2400.0}
    few = {**slow, "route": "/v1/remember", "count": 3, "failed": 0}

    async def measured(route: Route) -> None:
        answer = await route.fetch()
        state = await answer.json()
        state["process"]["latency"] = [slow, few]
        await route.fulfill(json=state)

    await page.route("**/v1/overview", measured)
    await visit(page, "overview")
    line = page.get_by_role("listitem").filter(has_text="Reading a message", has=page.locator(".call"))
    for told in ("2 failed", "60 calls", "480 ms", "2.4 s"):
        await expect(line).to_contain_text(told)
    attention = page.locator(".panel").filter(has=page.get_by_role("heading", name="What needs attention"))
    told_once = attention.get_by_role("listitem").filter(has_text="Reading a message")
    await expect(told_once).to_contain_text("2 of 60 failed (3.3%), and 1 in 20 takes over 2.4 s (limit 1 s).")
    await page.get_by_text("1 other kind of call").click()
    rare = page.get_by_role("listitem").filter(has_text="Reading a conversation", has=page.locator(".call"))
    await expect(rare).to_contain_text("480 ms")
    await expect(rare).not_to_contain_text("slowest")


async def test_the_period_of_the_overview_is_chosen_and_every_figure_follows(enter: Enter) -> None:
    page = await enter("olga")
    await visit(page, "overview")
    await expect(page.get_by_text("The last 30 days, compared with the 30 before.")).to_be_visible()
    async with page.expect_request(lambda one: one.url.endswith("days?days=7")):
        await page.get_by_role("link", name="7 days").click()
    await expect(page.get_by_text("The last 7 days, compared with the 7 before.")).to_be_visible()


async def test_a_hit_is_corrected_and_forgotten_where_it_is_found(enter: Enter, stage: Stage) -> None:
    page = await enter("ana")
    await visit(page, "live")
    await page.get_by_label("A message").fill("My locker has the number nine.")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator(".said button")).to_have_text("1 new")
    await visit(page, "search?q=locker")
    hit = page.get_by_role("article").filter(has_text="locker")
    await hit.get_by_role("button", name="Actions: ").click()
    await hit.get_by_role("button", name="Edit: ").click()
    await page.get_by_label("What it should say").fill("My locker has the number ten.")
    await page.get_by_role("button", name="Save").click()
    await expect(hit).to_contain_text("number ten")
    await hit.get_by_role("button", name="Actions: ").click()
    await hit.get_by_role("button", name="Forget: ").click()
    await page.get_by_role("dialog").get_by_role("button", name="Forget it").click()
    await expect(hit).to_have_count(0)


async def test_a_page_left_before_it_loads_does_not_cover_the_next_one(enter: Enter) -> None:
    page = await enter("olga")
    await visit(page, "overview")
    await page.clock.install()
    still_open = asyncio.Event()

    async def hold(route: Route) -> None:
        await still_open.wait()
        await route.continue_()

    await page.route("**/pages/audit.js", hold)
    await page.goto("/console#/audit")
    await page.goto("/console#/keys")
    await expect(page.get_by_role("heading", name="Keys", level=1)).to_be_visible()
    await page.clock.run_for(1_000)
    await expect(page.get_by_role("heading", name="Keys", level=1)).to_be_visible()
    still_open.set()


async def test_keys_of_the_keyboard_lead_anywhere(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "overview")
    await page.keyboard.press("Control+k")
    await page.get_by_label("Page, or words to search for").fill("quot")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Quotas", level=1)).to_be_visible()
    await page.keyboard.press("/")
    await expect(page.get_by_role("heading", name="Search", level=1)).to_be_visible()
    await expect(page.get_by_label("Search your memory")).to_be_focused()
    await visit(page, "overview")
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keys")).to_contain_text("go to a page")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_a_hit_is_rated_and_the_rating_is_taken_back(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "search?q=aisle+seats")
    hit = page.get_by_role("listitem").filter(has_text="aisle seats on long flights")
    useful, wrong = (hit.get_by_role("button", name=name) for name in (re.compile("^Helpful: "), "Not helpful: "))
    await hit.get_by_role("button", name="Actions: ").click()
    await wrong.click()
    await expect(wrong).to_have_attribute("aria-pressed", "true")
    await visit(page, "overview")
    await visit(page, "search?q=aisle+seats")
    await hit.get_by_role("button", name="Actions: ").click()
    await expect(wrong).to_have_attribute("aria-pressed", "true")
    await useful.click()
    await expect(wrong).to_have_attribute("aria-pressed", "false")
    await useful.click()
    await expect(useful).to_have_attribute("aria-pressed", "false")
    await visit(page, "overview")
    await visit(page, "search?q=aisle+seats")
    await hit.get_by_text("Why", exact=True).click()
    await expect(hit.get_by_text("your rating")).to_have_count(0)


async def test_a_hit_says_how_old_it_is_and_marks_what_was_asked(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "search?q=aisle+seats")
    hit = page.get_by_role("listitem").filter(has_text="aisle seats on long flights")
    await expect(hit.locator("mark").first).to_have_text("aisle")
    await expect(hit).to_contain_text("3 months ago")
    await hit.get_by_text("Why", exact=True).click()
    await expect(hit.locator("details p")).not_to_have_text("")


async def test_the_menu_of_a_phone_folds(enter: Enter) -> None:
    page = await enter("ana")
    await page.set_viewport_size(PHONE)
    await visit(page, "overview")
    heading = page.get_by_role("heading", level=1)
    box = await heading.bounding_box()
    assert box is not None
    assert box["y"] < 160
    await expect(page.get_by_role("navigation")).to_be_hidden()
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("navigation").get_by_role("link", name="Import").click()
    await expect(page.get_by_role("heading", name="Import", level=1)).to_be_visible()
    await expect(page.get_by_role("navigation")).to_be_hidden()
