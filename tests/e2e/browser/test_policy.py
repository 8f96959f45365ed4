"""The policy page: another policy is put in force from it, and the one of before comes back."""

from __future__ import annotations

import json

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.e2e.browser.chromium import SIZE, visit
from tests.e2e.browser.conftest import Enter
from tests.e2e.browser.stage import Stage
from tests.e2e.browser.test_pages import serious

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def put_in_force(page: Page, **changes: object) -> None:
    text = page.get_by_label("The policy as JSON")
    await text.fill(json.dumps(json.loads(await text.input_value()) | changes))
    await page.get_by_role("button", name="Put it in force").click()
    await page.get_by_role("dialog").get_by_role("button", name="Put it in force").click()


async def test_a_policy_is_put_in_force_and_taken_back(enter: Enter, stage: Stage) -> None:
    page = await enter("olga")
    await visit(page, "policy")
    await expect(page.get_by_text("The policy of the service's settings")).to_be_visible()
    await put_in_force(page, default_ttl_days=200)
    await expect(page.get_by_text("Version 1, put in force")).to_contain_text("by olga")
    await put_in_force(page, default_ttl_days=100)
    await expect(page.get_by_text("Version 2, put in force")).to_be_visible()
    assert await serious(page) == []
    await page.get_by_role("button", name="Go back to version 1").click()
    await page.get_by_role("dialog").get_by_role("button", name="Go back").click()
    await expect(page.get_by_text("as version 1 was")).to_be_visible()
    assert '"default_ttl_days": 200' in await page.get_by_label("The policy as JSON").input_value()
    await page.get_by_role("button", name="Go back to the service's settings").click()
    await page.get_by_role("dialog").get_by_role("button", name="Go back").click()
    await expect(page.get_by_text("The policy of the service's settings, again since")).to_be_visible()


async def test_who_edits_what_somebody_has_changed_meanwhile_is_told(enter: Enter, stage: Stage) -> None:
    page = await enter("olga")
    await visit(page, "policy")
    headers = {"Authorization": f"Bearer {stage.keys['olga']}"}
    async with httpx.AsyncClient(base_url=stage.address, headers=headers, timeout=60) as elsewhere:
        said = (await elsewhere.get("/v1/policy")).json()
        await elsewhere.put("/v1/policy", json={"policy": said | {"default_ttl_days": 300}})
        await put_in_force(page, default_ttl_days=10)
        await expect(page.get_by_role("alert")).to_contain_text("version_conflict")
        assert (await elsewhere.get("/v1/policy")).json()["default_ttl_days"] == 300
        await elsewhere.post("/v1/policy/rollback", json={"version": 0})


async def test_the_keys_fit_on_a_phone(enter: Enter) -> None:
    """Each cell with its name, and nothing to the right of the screen."""
    page = await enter("olga")
    await page.set_viewport_size({"width": 360, "height": 740})
    await visit(page, "policy")
    keys = page.get_by_role("region", name="Keys", exact=True)
    await expect(keys).to_be_visible()
    assert await keys.evaluate("region => region.scrollWidth <= region.clientWidth")
    assert await serious(page) == []
    await page.set_viewport_size(SIZE)
