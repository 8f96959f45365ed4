"""People whose names are those of identity providers or of their own language: every page opens for them, and an
operator finds, reads, exports and erases them.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page, expect

from mnemic import MemoryManager
from tests.e2e.browser.chromium import visit
from tests.e2e.browser.conftest import Enter
from tests.e2e.browser.stage import Stage
from tests.e2e.browser.test_pages import PAGES

pytestmark = pytest.mark.asyncio(loop_scope="session")

NAMES = ("auth0|5f7c8ec7", "José", "a/b", "eva@example.org", "50% & #1?")
SAID = "I travel with a cello."


@pytest.fixture
def known(stage: Stage, request: pytest.FixtureRequest) -> tuple[str, Stage]:
    """Somebody with a memory and a key, and the stage with that key."""
    name: str = request.param
    with MemoryManager(name, store=stage.store) as memory:
        memory.add(SAID)
        memory.context("What do I travel with?")
    wanted = {"roles": ["reader", "writer", "subject"], "user": name}
    headers = {"Authorization": f"Bearer {stage.keys['olga']}"}
    made = httpx.post(f"{stage.address}/v1/keys", json=wanted, headers=headers, timeout=60)
    assert made.status_code == 201, made.text
    return name, replace(stage, keys={**stage.keys, name: made.json()["api_key"]})


async def taken(page: Page, button: str) -> str:
    """Return what a button of a page downloads."""
    async with page.expect_download() as coming:
        await page.get_by_role("button", name=button).click()
    path: Path = await (await coming.value).path()
    return await asyncio.to_thread(path.read_text, encoding="utf-8")


@pytest.mark.parametrize("known", NAMES, indirect=True)
async def test_each_page_opens_for_somebody_of_that_name(enter: Enter, known: tuple[str, Stage]) -> None:
    name, stage = known
    page = await enter(name, on=stage)
    await expect(page.locator(".whoami")).to_contain_text(name)
    for place in PAGES["ana"]:
        await visit(page, place)
        assert (place, await page.get_by_role("alert").all_text_contents()) == (place, [])
    await visit(page, "mine")
    await expect(page.get_by_role("link", name=SAID, exact=True)).to_be_visible()
    await page.get_by_role("link", name=SAID, exact=True).click()
    await expect(page.get_by_role("heading", name="Where it came from")).to_be_visible()
    await visit(page, "mine")
    assert SAID in await taken(page, "Download my data")


@pytest.mark.parametrize("known", NAMES, indirect=True)
async def test_an_operator_reads_exports_and_erases_them(enter: Enter, known: tuple[str, Stage]) -> None:
    name, stage = known
    page = await enter("olga", on=stage)
    await visit(page, "users")
    await page.get_by_role("link", name=name, exact=True).click()
    await expect(page.get_by_role("heading", level=1, name=name, exact=True)).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("heading", level=1, name=name, exact=True)).to_be_visible()
    for button, act, shown in (("Read the memories", "Read", SAID), ("See the runs", "Open", "What do I travel")):
        await page.get_by_role("button", name=button).click()
        await page.get_by_label("Reason").fill("case 4713")
        await page.get_by_role("button", name=act, exact=True).click()
        await expect(page.get_by_text(shown).first).to_be_visible()
    exported = json.loads(await taken(page, "Export"))
    assert SAID in json.dumps(exported)

    await visit(page, "users")
    await page.get_by_label("User", exact=True).fill(name)
    await page.get_by_role("button", name="Find", exact=True).click()
    await page.get_by_role("button", name="Erase").click()
    await page.get_by_label(f"Type {name} to confirm").fill(name)
    await page.get_by_role("button", name="Erase everything").click()
    await expect(page.get_by_role("heading", name="Everything is erased")).to_be_visible()
    await visit(page, "users")
    await expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
