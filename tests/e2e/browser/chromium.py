"""The browser of these tests: the system's Chromium without a window, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


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
