"""Every page as somebody meets it: accessible in both colours, with the keyboard, whatever a memory says."""

from __future__ import annotations

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect

from tests.e2e.browser.chromium import SCHEMES, SIZE, Scheme, visit
from tests.e2e.browser.conftest import Enter
from tests.e2e.browser.stage import XSS, Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = {
    "ana": (
        "overview",
        "search?q=seat",
        "live",
        "import",
        "entities",
        "entities/Nobody",
        "episodes",
        "review",
        "mine",
        "runs",
        "quotas",
    ),
    "ben": ("review",),
    "olga": ("overview", "users", "users/ana", "keys", "webhooks", "audit", "policy", "quotas", "runs"),
    "app": ("overview",),
    "root": ("tenants", "settings"),
}
"""Who looks, and at what."""


CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}


async def serious(page: Page, scheme: Scheme = "light") -> list[str]:
    """What axe calls serious or worse, with where it is; in the dark, the one rule that colours can break."""
    found = (await Axe().run(page, options=CONTRAST if scheme == "dark" else {})).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['target']} {one['nodes'][0]['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("who", PAGES)
async def test_every_page_is_accessible(enter: Enter, who: str, scheme: Scheme) -> None:
    page = await enter(who, scheme)
    for place in PAGES[who]:
        await visit(page, place)
        assert (place, await serious(page, scheme)) == (place, [])
        heading = page.get_by_role("heading", level=1)
        assert await heading.count() == 1
        assert " · mnemic" in await page.title()


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_signing_in_and_a_memory_are_accessible(
    browser: Browser, stage: Stage, enter: Enter, scheme: Scheme
) -> None:
    context = await browser.new_context(base_url=stage.address, color_scheme=scheme)
    alone = await context.new_page()
    await alone.goto("/console")
    await alone.get_by_label("API key").wait_for()
    assert await serious(alone, scheme) == []
    await context.close()
    page = await enter("ana", scheme)
    await visit(page, "search?q=aisle")
    await page.get_by_role("link", name="I prefer aisle seats").click()
    await page.get_by_role("heading", name="Where it came from").wait_for()
    assert await serious(page, scheme) == []
    await page.get_by_role("button", name="Edit").click()
    assert await serious(page, scheme) == []


async def test_what_a_memory_says_is_shown_as_it_was_written_and_never_run(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "live")
    await page.get_by_text("Keep it word for word").click()
    for kept, payload in enumerate(XSS, start=1):
        await page.get_by_label("A message").fill(payload)
        await page.get_by_role("button", name="Send").click()
        # One line for each answer: the steps of the answer before are on the page until the next one is there.
        await expect(page.locator(".said button")).to_have_count(kept)
        await expect(page.get_by_text("What each step decided")).to_have_count(1)
    for place in ("search", "overview", "mine"):
        await visit(page, place)
        assert "owned" not in await page.title()
        assert await page.locator("main img, main script, main a[href^='javascript']").count() == 0
    await expect(page.get_by_text(XSS[0], exact=True)).to_be_visible()
    await page.get_by_role("link", name=XSS[0], exact=True).click()
    await expect(page.get_by_role("heading", level=1, name=XSS[0])).to_be_visible()
    assert "owned" not in await page.title()


async def test_the_browser_itself_refuses_markup_and_code_made_from_text(enter: Enter) -> None:
    page = await enter("ana")
    attempts = """() => new Promise((resolve) => setTimeout(() => resolve(
        [() => { document.body.innerHTML = "<b>x</b>"; }, () => eval("1"), () => new Function("return 1")]
            .map((attempt) => { try { attempt(); return "done"; } catch (error) { return error.name; } }))))"""
    assert await page.evaluate(attempts) == ["TypeError", "EvalError", "EvalError"]


async def test_the_key_is_nowhere_in_the_browser(enter: Enter, stage: Stage) -> None:
    page = await enter("ana")
    kept = await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    secret = stage.keys["ana"].split("_", 2)[2]
    assert secret not in kept
    assert "mnemic_session" not in kept
    assert all(secret not in cookie["value"] for cookie in await page.context.cookies())


async def test_a_page_shows_what_the_key_may_do(enter: Enter) -> None:
    async def places(who: str) -> list[str]:
        return [
            name.strip()
            for name in await (await enter(who)).get_by_role("navigation").get_by_role("link").all_text_contents()
        ]

    assert {"Search", "Live", "My memory"} <= set(await places("ana"))
    assert "Review desk" in await places("ana")
    assert "Policy" not in await places("ana")
    assert "Review desk" in await places("ben")
    assert "Live" not in await places("ben")
    assert "Search" not in await places("app")


async def test_the_keyboard_reaches_everything_and_the_focus_follows(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "overview")
    await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_focused()
    skip = page.get_by_role("link", name="Skip to the page")
    for _ in range(await page.locator(".side :is(a, button, summary):visible").count() + 1):
        await page.keyboard.press("Shift+Tab")
    await expect(skip).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("main")).to_be_focused()
    await page.get_by_role("link", name="My memory").press("Enter")
    await expect(page.get_by_role("heading", level=1, name="My memory")).to_be_focused()
    forget = page.get_by_role("button", name="Forget:").first
    await forget.press("Enter")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(forget).to_be_focused()


async def test_a_question_does_not_stay_over_the_page_one_goes_on_to(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "mine")
    row = page.locator(".known").first
    await row.hover()
    await row.get_by_role("button", name="Forget:").click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.goto("/console#/live")
    await expect(page.get_by_role("heading", level=1, name="Live")).to_be_visible()
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_colours_are_chosen_here_and_stay_chosen(enter: Enter) -> None:
    page = await enter("ana", "light")

    async def paper() -> str:
        return str(await page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = await paper()
    switch = page.get_by_role("button", name="Theme: System")
    await switch.click()
    assert await paper() == light
    await page.get_by_role("button", name="Theme: Light").click()
    dark = await paper()
    assert dark != light
    await page.reload()
    await page.get_by_role("heading", level=1).wait_for()
    assert await paper() == dark


async def test_a_refusal_is_said_in_words(enter: Enter) -> None:
    page = await enter("ana")
    await page.goto("/console#/memory/01a201b1-ecf7-7000-9089-77ac477d222f")
    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("There is no such memory, or you are not allowed to see it.")
    await expect(alert).to_contain_text("memory_not_found")


async def test_it_works_in_a_narrow_window(enter: Enter) -> None:
    page = await enter("ben")
    await page.set_viewport_size({"width": 360, "height": 740})
    for place in ("overview", "search?q=seat", "review"):
        await visit(page, place)
        assert await page.evaluate("document.documentElement.scrollWidth") <= 360, place
    await page.set_viewport_size(SIZE)


async def test_without_a_key_nothing_is_shown(browser: Browser, stage: Stage) -> None:
    context = await browser.new_context(base_url=stage.address)
    page = await context.new_page()
    await page.goto("/console#/mine")
    await page.get_by_label("API key").fill("mnk_wrong")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_contain_text("This key is not valid")
    await context.close()


DIFFERENCES: tuple[tuple[str, str, list[str], list[str]], ...] = (
    ("I prefer aisle seats.", "I prefer window seats.", ["aisle"], ["window"]),
    ("one two three", "one three", ["two"], []),
    ("", "all of it is new", [], ["all of it is new"]),
    ("same", "same", [], []),
    ("a b c d", "b d a c", ["a", "c"], ["a c"]),
    ("<b>bold</b> words", "<i>other</i> words", ["<b>bold</b>"], ["<i>other</i>"]),
)
"""Old, new, and what must be marked as gone and as new."""


async def test_a_difference_leaves_nothing_out(enter: Enter) -> None:
    page = await enter("ana")
    for old, fresh, gone, new in DIFFERENCES:
        runs = await page.evaluate("async (two) => (await import('/console/diff.js')).changes(...two)", [old, fresh])
        assert "".join(text for kind, text in runs if kind != "gone") == fresh
        assert "".join(text for kind, text in runs if kind != "new").split() == old.split()
        assert [text.strip() for kind, text in runs if kind == "gone"] == gone
        assert [text.strip() for kind, text in runs if kind == "new"] == new
