"""Search by somebody who looks at how relevant each hit is."""

from __future__ import annotations

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.e2e.browser.chromium import visit
from tests.e2e.browser.conftest import Enter
from tests.e2e.browser.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "Which seat do I prefer on long flights"
UNKNOWN = "quantum chromodynamics"


async def meters(page: Page) -> list[float]:
    """Values of the bars beside the hits."""
    return [float(value) for value in await page.locator("meter").evaluate_all("all => all.map(one => one.value)")]


async def answered(stage: Stage, question: str) -> list[dict[str, float]]:
    """Hits of the service itself for the same search."""
    async with httpx.AsyncClient(
        base_url=stage.address, headers={"Authorization": f"Bearer {stage.keys['ana']}"}
    ) as client:
        response = await client.post("/v1/search", json={"query": question, "top_k": 20})
    hits: list[dict[str, float]] = response.raise_for_status().json()["hits"]
    return hits


async def test_the_meter_is_the_relevance_and_a_sentence_says_why(stage: Stage, enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, f"search?q={QUESTION}")
    shown = await meters(page)
    hits = await answered(stage, QUESTION)

    assert sorted(shown) == pytest.approx(sorted(hit["relevance"] for hit in hits))
    assert sorted(shown) != pytest.approx(sorted(hit["score"] for hit in hits))
    assert max(shown) > 0.5
    first = page.get_by_role("article").first
    await expect(first).to_contain_text("Why")


async def test_the_least_relevance_leaves_hits_out_and_stays_in_the_address(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, f"search?q={QUESTION}")
    every = await meters(page)
    await page.get_by_text("Filters").click()
    least = page.get_by_label("Minimum match (%)")
    await least.fill("50")
    await least.press("Enter")
    wanted = [value for value in every if value >= 0.5]
    assert 0 < len(wanted) < len(every)

    await expect(page.locator("meter")).to_have_count(len(wanted))
    assert await meters(page) == wanted
    assert "min=50" in page.url
    await page.reload()
    await expect(page.locator("meter")).to_have_count(len(wanted))


async def test_a_question_about_nothing_known_says_so(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, f"search?q={UNKNOWN}")
    note = page.get_by_text("No memory seems relevant")
    await expect(note).to_be_visible()
    assert max(await meters(page)) < 0.2
    await visit(page, f"search?q={QUESTION}")
    await expect(page.get_by_role("article").first).to_be_visible()
    await expect(note).to_have_count(0)


async def test_hits_that_are_hardly_about_it_are_behind_a_summary(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, f"search?q={UNKNOWN}")
    await expect(page.locator("article:visible")).to_have_count(3)
    await page.get_by_text("less relevant").click()
    await expect(page.locator("article:visible")).to_have_count(len(await meters(page)))


async def test_a_question_may_have_been_asked_on_another_day(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "search?q=seat%20last%20week")
    await page.get_by_text("Filters").click()
    async with page.expect_request(lambda one: one.url.endswith("/v1/search")) as asked:
        await page.get_by_label("Asked on").fill("2026-03-02")
        await page.get_by_label("Asked on").press("Tab")
    assert (await asked.value).post_data_json["asked_at"].startswith("2026-03-02")
    assert "asked_at=2026-03-02" in page.url
