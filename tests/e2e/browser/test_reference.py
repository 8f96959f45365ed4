"""The reference of the API in a real browser: everything comes from the service, and a call can be tried in it."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.browser.chromium import SIZE, WAIT
from tests.e2e.browser.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_every_operation_is_shown_without_another_host(browser: Browser, stage: Stage) -> None:
    context = await browser.new_context(base_url=stage.address, viewport=SIZE)
    context.set_default_timeout(WAIT)
    page = await context.new_page()
    hosts: set[str] = set()
    complaints: list[str] = []
    page.on("request", lambda asked: hosts.add(urlsplit(asked.url).netloc))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    await page.goto("/docs")
    await expect(page.locator(".opblock")).to_have_count(await operations(stage, page))
    await expect(page.get_by_role("heading", name="mnemic")).to_be_visible()

    await page.locator("#operations-health-alive_healthz_get button.opblock-summary-control").click()
    await page.get_by_role("button", name="Try it out").click()
    await page.get_by_role("button", name="Execute").click()
    await expect(page.locator(".live-responses-table tbody .response-col_status").first).to_contain_text("200")
    assert hosts - {""} == {urlsplit(stage.address).netloc}
    assert complaints == []
    await context.close()


async def operations(stage: Stage, page: object) -> int:
    answer = await page.request.get(f"{stage.address}/openapi.json")  # type: ignore[attr-defined]
    described = await answer.json()
    return sum(len(one) for one in described["paths"].values())
