"""Pictures of every page for the documentation: `make screenshots`."""

from __future__ import annotations

import asyncio
import base64
import tempfile
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from pathlib import Path

import httpx
from playwright.async_api import Browser, Page, ViewportSize

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.testing.clock import ManualClock
from mnemic.types import Actor
from tests.e2e.browser.chromium import SCHEMES, SIZE, WAIT, Scheme, chromium, signed_in, visit
from tests.e2e.browser.stage import Stage, staged

PHONE = ViewportSize(width=390, height=844)
FOLDER = Path(__file__).parents[3] / "docs" / "console"
CROWD = {
    "ana": (
        "I work as a product designer at Fjordline.",
        "My sister Mira lives in Bergen.",
        "I love jazz.",
        "My manager is called Jonas.",
        "I run three times a week.",
        "My daughter Ida is seven.",
        "I will see the dentist next month.",
    ),
    "kai": ("I am vegetarian.", "I live in Kyoto.", "I prefer trains to planes.", "My wife is called Yuki."),
    "mei": ("I work at Northwind.", "I hate coriander.", "I moved to Leeds in May.", "I have a cat."),
    "noah": ("I travel with a cello.", "I like small hotels.", "My mother lives in Haifa."),
    "lena": ("I am allergic to milk.", "I teach maths at a school.", "I live in Graz.", "I love climbing."),
}
"""What others say in the last month, in turn."""
CROWD_DAYS = 28
PAGES = (
    ("search", "ana", "search?q=aisle+or+window+on+a+long+flight"),
    ("import", "ana", "import"),
    ("review", "ben", "review"),
    ("mine", "ana", "mine"),
    ("entities", "ana", "entities"),
    ("episodes", "ana", "episodes"),
    ("runs", "ana", "runs"),
    ("users", "olga", "users"),
    ("webhooks", "olga", "webhooks"),
    ("audit", "olga", "audit"),
    ("policy", "olga", "policy"),
    ("quotas", "ana", "quotas"),
    ("tenants", "root", "tenants"),
    ("settings", "root", "settings"),
    ("overview", "olga", "overview"),
)
"""Name of the picture, who looks, and where."""


async def crowd(store: Path) -> None:
    """A month of a service with five users: what they say, and what they ask."""
    clock = ManualClock(datetime.now(UTC) - timedelta(days=CROWD_DAYS))
    said = [
        (user, words)
        for round_ in zip_longest(*CROWD.values())
        for user, words in zip(CROWD, round_, strict=True)
        if words
    ]
    async with build_engine(Settings(store=str(store), policy=store.with_name("policy.json")), clock=clock) as engine:
        for at, (user, words) in enumerate(said):
            clock.advance(timedelta(days=CROWD_DAYS) / (len(said) + 1))
            await engine.capture(words, actor=Actor(user=user))
            for question in ("Where do I live?", "What do I like?")[: 1 + at % 2]:
                await engine.context(question, actor=Actor(user=user))


async def asked(stage: Stage) -> None:
    """What the service has answered since it started."""
    async with httpx.AsyncClient(base_url=stage.address, timeout=60) as client:
        headers = {"Authorization": f"Bearer {stage.keys['ana']}"}
        for at in range(60):
            question = ("Which seat do I prefer?", "Where do I live?", "What may I not eat?")[at % 3]
            path = "/v1/search" if at % 20 else "/v1/context"
            (await client.post(path, json={"query": question}, headers=headers)).raise_for_status()


async def _take(page: Page, name: str, scheme: str) -> None:
    devtools = await page.context.new_cdp_session(page)
    taken = await devtools.send("Page.captureScreenshot", {"format": "webp", "quality": 82})
    (FOLDER / f"{name}-{scheme}.webp").write_bytes(base64.b64decode(taken["data"]))
    await devtools.detach()


async def _tour(browser: Browser, stage: Stage, scheme: Scheme) -> None:
    anonymous = await browser.new_context(base_url=stage.address, viewport=SIZE, color_scheme=scheme)
    anonymous.set_default_timeout(WAIT)
    page = await anonymous.new_page()
    await page.goto("/console")
    await page.get_by_label("API key").wait_for()
    await _take(page, "sign-in", scheme)
    windows = {}
    for name, who, place in PAGES:
        windows[who] = windows.get(who) or await signed_in(browser, stage, who, scheme)
        await visit(windows[who], place)
        await _take(windows[who], name, scheme)
    await _talk(windows["ana"])
    await _take(windows["ana"], "live", scheme)
    await visit(windows["ana"], "search?q=aisle+or+window+on+a+long+flight")
    await windows["ana"].get_by_text("Why this hit?").first.click()
    await _take(windows["ana"], "search", scheme)
    await windows["ana"].get_by_role("link", name="I prefer aisle seats").click()
    await windows["ana"].get_by_role("heading", name="Where it came from").wait_for()
    await _take(windows["ana"], "memory", scheme)
    await visit(windows["ana"], "runs")
    await windows["ana"].locator(".row").filter(has_text="LangGraph").locator("a.content").first.click()
    await windows["ana"].get_by_role("heading", name="What the model was shown").wait_for()
    await _take(windows["ana"], "injection", scheme)
    await visit(windows["ana"], "runs")
    await windows["ana"].locator(".row").filter(has_text="retrieved").locator("a.content").first.click()
    await windows["ana"].get_by_role("heading", name="The memories in it").wait_for()
    await _take(windows["ana"], "run", scheme)
    await _on_a_phone(browser, stage, scheme)
    await _erase(windows["ana"])
    await _take(windows["ana"], "receipt", scheme)


async def _talk(page: Page) -> None:
    """A message that changes something, with a number that is not kept."""
    await visit(page, "live")
    await page.get_by_label("A message").fill("I moved to Bergen last week. My card number is 4111 1111 1111 1111.")
    await page.get_by_role("button", name="Send").click()
    await page.locator("pre.block").wait_for(state="attached")


async def _on_a_phone(browser: Browser, stage: Stage, scheme: Scheme) -> None:
    page = await signed_in(browser, stage, "olga", scheme)
    await page.set_viewport_size(PHONE)
    for place in ("overview", "policy"):
        await visit(page, place)
        await _take(page, f"{place}-phone", scheme)


async def _erase(page: Page) -> None:
    """At last: everything about the one whose world it is."""
    await visit(page, "mine")
    await page.get_by_role("heading", name="Erase everything").click()
    await page.get_by_role("button", name="Erase everything about me").click()
    await page.get_by_label("Type your name, ana, to confirm").fill("ana")
    await page.get_by_role("button", name="Erase everything", exact=True).click()
    await page.get_by_role("button", name="Check that nothing is left").click()
    await page.get_by_text("nothing of it is left").scroll_into_view_if_needed()
    await page.locator(".toast").first.evaluate("toast => toast.remove()")


async def _all(folder: Path) -> None:
    FOLDER.mkdir(exist_ok=True)
    async with chromium() as browser:
        for scheme in SCHEMES:
            (folder / scheme).mkdir()
            with staged(folder / scheme, crowd) as stage:
                await asked(stage)
                await _tour(browser, stage, scheme)


def main() -> None:
    """Take all of them."""
    with tempfile.TemporaryDirectory(prefix="mnemic-console-") as folder:
        asyncio.run(_all(Path(folder)))


if __name__ == "__main__":
    main()
