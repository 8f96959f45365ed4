"""The page of the service's own admins: tenants are made, limited, suspended and resumed."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.e2e.browser.chromium import visit
from tests.e2e.browser.conftest import Enter
from tests.e2e.browser.test_pages import serious

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_tenant_is_made_limited_suspended_and_resumed(enter: Enter) -> None:
    page = await enter("root")
    await visit(page, "tenants")
    await page.get_by_role("button", name="Create a tenant").click()
    assert await serious(page) == []
    await page.get_by_label("Name").fill("fjord-cafe")
    await page.get_by_role("group", name="The whole tenant").get_by_label("Memories").fill("500")
    await page.get_by_role("button", name="Create it").click()
    made = page.get_by_role("article").filter(has=page.get_by_role("heading", name="fjord-cafe"))
    await expect(made).to_contain_text("500 memories")
    await page.get_by_role("button", name="Limit fjord-cafe").click()
    await page.get_by_role("group", name="Each user").get_by_label("Writes a minute").fill("20")
    await page.get_by_role("button", name="Set the limits").click()
    await expect(made).to_contain_text("20 writes a minute")
    await expect(made).to_contain_text("500 memories")
    await page.get_by_role("button", name="Suspend fjord-cafe").click()
    await page.get_by_role("button", name="Suspend it").click()
    await expect(made).to_contain_text("suspended")
    await page.get_by_role("button", name="Resume fjord-cafe").click()
    await expect(made).not_to_contain_text("suspended")


async def test_who_is_no_admin_of_the_service_is_not_shown_it(enter: Enter) -> None:
    page = await enter("olga")
    await page.goto("/console#/tenants")
    await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    await expect(page.get_by_role("link", name="Tenants")).to_have_count(0)
