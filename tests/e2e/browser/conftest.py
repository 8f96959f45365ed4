"""One browser and one service for all of these tests; every test has windows of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.e2e.browser.chromium import Scheme, chromium, installed, signed_in
from tests.e2e.browser.stage import Stage, staged

expect.set_options(timeout=30_000)  # a loaded machine is not a bug

Enter = Callable[..., Awaitable[Page]]


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with staged(tmp_path_factory.mktemp("console")) as built:
        yield built


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    if installed() is None:
        pytest.skip("no Chromium here: install the package chromium, or name one in MNEMIC_CHROMIUM")
    async with chromium() as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def enter(browser: Browser, stage: Stage) -> AsyncIterator[Enter]:
    """Opens a window in which somebody has signed in; anything that a page's console complains of fails the test."""
    windows: list[Page] = []
    complaints: list[str] = []

    async def opened(who: str, scheme: Scheme = "light", *, on: Stage = stage) -> Page:
        page = await signed_in(browser, on, who, scheme)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
        windows.append(page)
        return page

    yield opened
    for page in windows:
        await page.context.close()
    assert complaints == []
