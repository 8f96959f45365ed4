"""The browser of these tests: the system's Chromium without a window, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

from tests.e2e.browser.stage import Stage

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
SIZE = ViewportSize(width=1280, height=800)
WAIT = 120_000
"""Milliseconds for a page to load: a loaded machine is not a bug."""
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


def installed() -> str | None:
    """Where a Chromium is, if there is one; MNEMIC_CHROMIUM names another."""
    return os.environ.get("MNEMIC_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A browser, closed when the block ends. Its own sandbox needs a user that is not root."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=installed(), args=arguments)
        try:
            yield browser
        finally:
            await browser.close()


async def signed_in(browser: Browser, stage: Stage, who: str, scheme: Scheme = "light") -> Page:
    """A window of its own in which `who` has signed in."""
    context = await browser.new_context(
        base_url=stage.address, viewport=SIZE, color_scheme=scheme, reduced_motion="reduce"
    )
    context.set_default_timeout(WAIT)
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
    await expect(page.get_by_text("Loading…")).to_have_count(0)
