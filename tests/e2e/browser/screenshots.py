"""Pictures of every page for the documentation: `make screenshots`."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Literal

from playwright.async_api import Browser, Page, ViewportSize

from tests.e2e.browser.chromium import chromium
from tests.e2e.browser.stage import Stage, staged

FOLDER = Path(__file__).parents[3] / "docs" / "console"
SIZE = ViewportSize(width=1280, height=800)
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

PAGES = (
    ("overview", "olga", "overview"),
    ("search", "ana", "search?q=where+do+I+like+to+sit"),
    ("remember", "ana", "remember"),
    ("review", "ben", "review"),
    ("mine", "ana", "mine"),
)
"""Name of the picture, who looks, and where."""


async def signed_in(browser: Browser, stage: Stage, who: str, scheme: Scheme = "light") -> Page:
    """A window in which `who` has signed in."""
    context = await browser.new_context(base_url=stage.address, viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
    page = await context.new_page()
    await page.goto("/console")
    await page.get_by_label("API key").fill(stage.keys[who])
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("navigation").wait_for()
    return page


async def visit(page: Page, place: str) -> None:
    """Open a page of the console and wait until it is there."""
    await page.goto("/console#/" + place)
    await page.locator("main:not([aria-busy]) h1").wait_for()
    await page.wait_for_load_state("networkidle")


async def _take(page: Page, name: str, scheme: str) -> None:
    await page.screenshot(path=FOLDER / f"{name}-{scheme}.png")


async def _tour(browser: Browser, stage: Stage, scheme: Scheme) -> None:
    anonymous = await browser.new_context(base_url=stage.address, viewport=SIZE, color_scheme=scheme)
    page = await anonymous.new_page()
    await page.goto("/console")
    await page.get_by_label("API key").wait_for()
    await _take(page, "sign-in", scheme)
    windows = {}
    for name, who, place in PAGES:
        windows[who] = windows.get(who) or await signed_in(browser, stage, who, scheme)
        await visit(windows[who], place)
        await _take(windows[who], name, scheme)
    await visit(windows["ana"], "search?q=where+do+I+like+to+sit")
    await windows["ana"].get_by_text("Why this hit?").first.click()
    await _take(windows["ana"], "search", scheme)
    await windows["ana"].get_by_role("link", name="I prefer aisle seats").click()
    await windows["ana"].get_by_role("heading", name="Versions").wait_for()
    await _take(windows["ana"], "memory", scheme)


async def _all(folder: Path) -> None:
    FOLDER.mkdir(exist_ok=True)
    async with chromium() as browser:
        with staged(folder) as stage:
            for scheme in SCHEMES:
                await _tour(browser, stage, scheme)


def main() -> None:
    """Take all of them."""
    with tempfile.TemporaryDirectory(prefix="mnemic-console-") as folder:
        asyncio.run(_all(Path(folder)))


if __name__ == "__main__":
    main()
