"""The review desk, by hand and by keyboard, on a world of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.e2e.browser.chromium import visit
from tests.e2e.browser.conftest import Enter
from tests.e2e.browser.stage import Stage, staged

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Stage]:
    """What is decided here must not be missing in other tests."""
    with staged(tmp_path) as built:
        yield built


async def waiting(page: Page) -> list[str]:
    return await page.locator(".queue .line").all_text_contents()


async def test_everything_is_decided_by_keyboard(own: Stage, enter: Enter) -> None:
    page = await enter("ben", on=own)
    await visit(page, "review")
    first, second, third, fourth, *rest = await waiting(page)

    await expect(page.locator(".versus ins").first).to_be_visible()
    case = page.get_by_role("article", name="What waits")
    for told in ("about ana", "Contradicts what ana said.", "said by ana", "Only 55% sure"):
        await expect(case).to_contain_text(told)
    for act, then in (
        ("Reject", "Nothing changes; this is not used."),
        ("Approve", "Loses “near the front”; replaces what is known."),
        ("Edit", "Uses your own words, which you write next."),
        ("Keep both", "Joins both in one memory that you word."),
    ):
        await expect(case.get_by_role("button", name=act)).to_have_accessible_description(then)
        await expect(case.get_by_text(then)).to_be_visible()
    assert await page.locator(".versus del").all_text_contents() == ["aisle ", "near the front."]
    assert await page.locator(".versus ins").all_text_contents() == ["window "]
    await expect(page.locator(".queue li").first).to_contain_text("replaces “aisle”55% sure")
    await expect(case).to_contain_text(f"1 of {len(rest) + 4}")
    await page.keyboard.press("r")
    await expect(page.get_by_role("status").filter(has_text="Rejected.")).to_be_visible()
    assert await waiting(page) == [second, third, fourth, *rest]

    await page.keyboard.press("j")
    await expect(page.locator(".queue [aria-current] .line")).to_have_text(third)
    await page.keyboard.press("k")
    await page.keyboard.press("a")
    await expect(page.get_by_role("status").filter(has_text="Approved.")).to_be_visible()
    assert await waiting(page) == [third, fourth, *rest]

    await page.keyboard.press("e")
    await page.get_by_label("What it should say").fill("I am allergic to peanuts and to shrimps.")
    await page.get_by_role("button", name="Approve", exact=True).last.click()
    await expect(page.get_by_role("status").filter(has_text="Approved with your words.")).to_be_visible()
    assert await waiting(page) == [fourth, *rest]

    await page.keyboard.press("m")
    await page.get_by_label("What the one memory should say").fill("I am gold, perhaps soon platinum.")
    await page.get_by_role("button", name="Merge", exact=True).last.click()
    await expect(page.get_by_role("status").filter(has_text="Merged.")).to_be_visible()

    reader = await enter("ana", on=own)
    await visit(reader, "mine")
    await reader.get_by_role("heading", name="Everything that is stored").click()
    await expect(reader.get_by_role("link", name="Lives in Porto.", exact=True)).to_be_visible()
    said = await reader.locator(".row a.content").all_text_contents()
    assert "Lives in Porto." in said
    assert "I am allergic to peanuts and to shrimps." in said
    assert "I am gold, perhaps soon platinum." in said
    assert "I am allergic to peanuts, also in small amounts." not in said
    assert first not in said


async def test_several_are_decided_together(own: Stage, enter: Enter) -> None:
    page = await enter("ben", on=own)
    await visit(page, "review")
    await page.get_by_label("Select all").click()
    await page.get_by_role("button", name="Reject selected").click()
    await page.get_by_role("button", name="Reject", exact=True).last.click()
    await expect(page.get_by_text("Nothing waits for review")).to_be_visible()
