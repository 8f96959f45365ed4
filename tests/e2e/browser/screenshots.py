"""Pictures of every page for the documentation: `make screenshots`."""

from __future__ import annotations

import asyncio
import base64
import math
import random
import tempfile
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from pathlib import Path

from playwright.async_api import Browser, Page, ViewportSize

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.inject.engine_injector import InjectionRun
from mnemic.inject.injection_log import record_injection
from mnemic.testing.clock import ManualClock
from mnemic.types import Actor
from mnemic_server.observability import Observation
from mnemic_server.prometheus_metrics import Meter
from tests.e2e.browser.chromium import SCHEMES, SIZE, WAIT, Scheme, chromium, signed_in, visit
from tests.e2e.browser.stage import Stage, staged

PHONE = ViewportSize(width=390, height=844)
FOLDER = Path(__file__).parents[3] / "docs" / "console"
CROWD = {
    "ana": (
        "I work as a product designer at Fjordline.",
        "My sister Mira lives in Bergen.",
        "I love jazz, and piano trios most of all.",
        "My manager is called Jonas.",
        "I run three times a week.",
        "My daughter Ida is seven.",
        "I will see the dentist next month.",
        "My team meets on Monday mornings at nine.",
    ),
    "kai": (
        "I am vegetarian.",
        "I live in Kyoto.",
        "I prefer trains to planes.",
        "My wife is called Yuki.",
        "I work at a small pottery.",
        "I wake up at six.",
        "I like green tea more than coffee.",
        "My knee hurts on stairs.",
        "I play go on Thursdays.",
    ),
    "mei": (
        "I work at Northwind.",
        "I hate coriander.",
        "I moved to Leeds in May.",
        "I have a cat.",
        "I cycle to the office.",
        "My brother Tom studies law.",
        "I want to learn Italian next year.",
        "I like films without violence.",
    ),
    "noah": (
        "I travel with a cello.",
        "I like small hotels.",
        "My mother lives in Haifa.",
        "I rehearse every morning.",
        "I have a concert in Graz in spring.",
        "I do not eat before I play.",
    ),
    "lena": (
        "I am allergic to milk.",
        "I teach maths at a school.",
        "I live in Graz.",
        "I love climbing.",
        "My partner is called Jakob.",
        "I sing in a choir.",
        "I read mystery novels on holidays.",
    ),
}
"""What people say in the last two months, in turn, more and more often."""
CROWD_DAYS = 59
CALLED = {
    ("POST", "/v1/context"): (58, 0.034, 0.4, 0),
    ("POST", "/v1/search"): (74, 0.018, 0.5, 0),
    ("POST", "/v1/capture"): (96, 0.42, 1.05, 2),
    ("POST", "/v1/memories"): (24, 0.031, 0.4, 0),
    ("GET", "/v1/profile"): (61, 0.012, 0.4, 0),
    ("POST", "/v1/remember"): (9, 0.9, 0.4, 0),
}
"""How often the service was called before anybody looks, the seconds of half the calls, their spread, and failures."""
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
    """Two months of a service with five users: what they say, and prompts with their memory, fewer at weekends."""
    chance, start = random.Random(7), datetime.now(UTC) - timedelta(days=CROWD_DAYS)
    said = [
        (user, words)
        for round_ in zip_longest(*CROWD.values())
        for user, words in zip(CROWD, round_, strict=True)
        if words
    ]
    clock, told = ManualClock(start), len(said)
    async with build_engine(Settings(store=str(store), policy=store.with_name("policy.json")), clock=clock) as engine:
        kai = Actor(user="kai")
        await engine.capture("I collect stamps. I live near the river. I have two bicycles.", actor=kai)
        hits = (await engine.search("Where do I live?", actor=kai)).hits
        for day in range(CROWD_DAYS):
            morning = start + timedelta(days=day)
            busy = (4 + day // 12) if morning.weekday() < 5 else 1
            for _ in range(busy + chance.randrange(3)):
                clock.advance(max(morning + timedelta(hours=chance.uniform(0, 9)) - clock.now(), timedelta()))
                took = chance.lognormvariate(3.75 - day / 200, 0.4)
                await record_injection(
                    engine.store,
                    clock,
                    kai,
                    InjectionRun().run_id,
                    hits[: chance.randint(2, 5)],
                    tokens=chance.randint(90, 190),
                    ms=took,
                )
            while said and len(said) > told * (1 - ((day + 1) / CROWD_DAYS) ** 1.4):
                user, words = said.pop(0)
                report = await engine.capture(words, actor=Actor(user=user))
                if len(said) % 9 == 1 and report.receipts[0].memory_id:
                    await engine.forget(report.receipts[0].memory_id, actor=Actor(user=user))


def called() -> Meter:
    """A meter that has counted some days of a busy service, with a call that is slow and fails at times."""
    chance, meter = random.Random(7), Meter()
    meter.since -= timedelta(days=6).total_seconds()
    for (method, route), (count, half, spread, failed) in CALLED.items():
        for at in range(count):
            meter.began()
            took, status = int(1e9 * chance.lognormvariate(math.log(half), spread)), 503 if at < failed else 200
            meter.on_end(Observation(method=method, route=route, status=status, began=0, ended=took))
    meter.degraded.labels("vector").inc(4)
    meter.searches.labels("found").inc(124)
    meter.searches.labels("empty").inc(8)
    meter.model_calls.labels("default").inc(96)
    for direction, tokens in (("in", 61_580), ("out", 5_712)):
        meter.model_tokens.labels("default", direction).inc(tokens)
    return meter


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
    await page.get_by_label("A message").fill(
        "I moved to Bergen on Saturday. I play padel on Wednesdays. My card number is 4111 1111 1111 1111."
    )
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
            with staged(folder / scheme, crowd, meter=called()) as stage:
                await _tour(browser, stage, scheme)


def main() -> None:
    """Take all of them."""
    with tempfile.TemporaryDirectory(prefix="mnemic-console-") as folder:
        asyncio.run(_all(Path(folder)))


if __name__ == "__main__":
    main()
