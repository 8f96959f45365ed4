"""What can be done on the other pages: runs, names, policy, versions, and changes that show by themselves."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, Route, expect

from tests.e2e.browser.chromium import signed_in, visit
from tests.e2e.browser.conftest import Enter
from tests.e2e.browser.stage import Stage, staged

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def said(stage: Stage, who: str, path: str, body: dict[str, Any]) -> Any:
    """What the service answers to a program of `who`."""
    async with httpx.AsyncClient(base_url=stage.address, timeout=60) as client:
        answer = await client.post(path, json=body, headers={"Authorization": f"Bearer {stage.keys[who]}"})
    assert answer.is_success, answer.text
    return answer.json()


async def test_what_begins_to_wait_appears_on_the_open_desk(enter: Enter, stage: Stage) -> None:
    page = await enter("ben")
    await visit(page, "review")
    await expect(page.get_by_text("Updates live")).to_be_visible()
    looking = await page.locator(".queue [aria-current] .line").text_content()
    trait = "Greet in Norwegian."
    await said(stage, "ana", "/v1/memories", {"content": trait, "kind": "persona"})
    await expect(page.locator(".queue .line", has_text=trait)).to_be_visible()
    assert await page.locator(".queue [aria-current] .line").text_content() == looking


async def test_what_is_sent_again_because_no_answer_came_is_remembered_once(enter: Enter, stage: Stage) -> None:
    page = await enter("ana")
    await visit(page, "live")
    sent: list[str] = []

    async def lost(route: Route) -> None:
        sent.append(route.request.headers["idempotency-key"])
        answer = await route.fetch()
        if len(sent) == 1:
            await route.abort()
        else:
            await route.fulfill(response=answer)

    await page.route("**/v1/memories", lost)
    await page.get_by_text("Keep it word for word").click()
    content = page.get_by_label("A message")
    await content.fill("I sleep in the train.")
    await page.get_by_role("button", name="Send").click()
    await expect(page.get_by_role("alert")).to_contain_text("unreachable")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator(".said button").first).to_have_text("1 new")
    await content.fill("I sleep in the plane.")
    async with page.expect_response("**/v1/memories"):
        await page.get_by_role("button", name="Send").click()
    await page.unroute_all(behavior="wait")
    assert sent[0] == sent[1] != sent[2]


async def test_a_run_shows_how_far_each_memory_came(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "runs")
    await page.get_by_label("Ask something your memory can answer").fill("Which seat should I book?")
    await page.get_by_role("button", name="Ask").click()
    await page.get_by_role("link", name="See what it used").click()
    row = page.get_by_role("row", name="I prefer aisle seats")
    await expect(row.get_by_text("yes").first).to_be_visible()
    await row.get_by_role("link").click()
    await expect(page.get_by_role("heading", level=1, name="I prefer aisle seats")).to_be_visible()
    await expect(page.get_by_text(re.compile(r"^Used in (an answer|\d+ answers)")).first).to_be_visible()


async def test_names_are_reached_by_keyboard_and_said_in_a_table(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "entities")
    nodes = page.locator(".graph a.node")
    assert await page.locator(".graph .edge").count() == await page.get_by_role("row").count() - 1
    await nodes.filter(has_text="Mira").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Everyone and everything connected with Mira.")).to_be_visible()
    await expect(page.get_by_role("row", name="Mira lives in Bergen")).to_be_visible()


async def test_a_policy_is_tried_before_it_is_put_in_force(enter: Enter) -> None:
    page = await enter("olga")
    await visit(page, "policy")
    text = page.get_by_label("The policy as JSON")
    await text.fill("{")
    await page.get_by_role("button", name="Test on existing memories").click()
    await expect(page.get_by_text("This is not valid JSON yet.")).to_be_visible()
    await page.get_by_role("button", name="Start over").click()
    await page.get_by_role("button", name="Test on existing memories").click()
    await expect(page.get_by_text("Nothing would change")).to_be_visible()

    policy = json.loads(await text.input_value())
    del policy["keys"]["seat"]
    policy["open_keys"] = False
    await text.fill(json.dumps(policy))
    await page.get_by_role("button", name="Test on existing memories").click()
    refused = page.get_by_role("table", name="Refused by reason")
    await expect(refused.get_by_text("memory_key_not_allowed_policy:seat")).to_be_visible()
    async with page.expect_download() as taken:
        await page.get_by_role("button", name="Save as a file").click()
    assert json.loads(_text(await (await taken.value).path())) == policy


async def test_a_policy_with_a_mistake_is_refused_in_words(enter: Enter) -> None:
    page = await enter("olga")
    await visit(page, "policy")
    await page.get_by_label("The policy as JSON").fill('{"keys": {"seat": {"colour": "red"}}}')
    await page.get_by_role("button", name="Test on existing memories").click()
    await expect(page.get_by_role("alert")).to_contain_text("seat.colour")


async def test_a_memory_goes_back_to_what_it_said(enter: Enter, stage: Stage) -> None:
    made = await said(stage, "ana", "/v1/memories", {"content": "I read in English.", "key": "reading"})
    page = await enter("ana")
    await visit(page, f"memory/{made['memory_id']}")
    await page.get_by_role("button", name="Edit").click()
    await page.get_by_label("What it should say").fill("I read in Portuguese.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("I read in Portuguese.")
    useful = page.get_by_role("button", name=re.compile("^Helpful: "))
    await useful.click()
    await expect(useful).to_have_attribute("aria-pressed", "true")
    for told in ("ana (you)", "until it is forgotten", made["memory_id"]):
        await expect(page.locator(".details")).to_contain_text(told)
    await page.get_by_role("button", name="Use this version: 1").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("I read in English.")
    await expect(useful).to_have_attribute("aria-pressed", "true")
    await expect(page.get_by_text("Version 3", exact=True)).to_be_visible()


async def test_a_change_that_somebody_else_made_first_is_not_overwritten(enter: Enter, stage: Stage) -> None:
    made = await said(stage, "ana", "/v1/memories", {"content": "I have a cat.", "key": "pet"})
    page = await enter("ana")
    await visit(page, f"memory/{made['memory_id']}")
    await page.get_by_role("button", name="Edit").click()
    async with httpx.AsyncClient(base_url=stage.address, timeout=60) as client:
        await client.patch(
            f"/v1/memories/{made['memory_id']}",
            json={"content": "I have two cats."},
            headers={"Authorization": f"Bearer {stage.keys['ana']}"},
        )
    await page.get_by_label("What it should say").fill("I have a dog.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Somebody changed this memory in the meantime.")).to_be_visible()


async def test_what_holds_now_is_found_corrected_shown_as_it_was_and_forgotten_in_place(
    browser: Browser, tmp_path: Path
) -> None:
    with staged(tmp_path) as own:
        page = await signed_in(browser, own, "ana", "light")
        await visit(page, "mine")
        await page.get_by_label("Search your memories").fill("aisle")
        row = page.get_by_role("listitem").filter(has_text="aisle seats on long flights, near the front")
        await row.get_by_text("1 earlier version").click()
        await expect(row.get_by_role("listitem").first).to_contain_text("until")
        await row.get_by_role("button", name="Edit: ").click()
        await page.get_by_label("What it should say").press("Escape")
        await expect(row.get_by_role("button", name="Edit: ")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.get_by_label("What it should say").fill("I prefer aisle seats everywhere.")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("link", name="I prefer aisle seats everywhere.")).to_be_visible()
        await page.get_by_label("Search your memories").fill("")
        await page.get_by_role("button", name="Select").click()
        for text in ("I prefer aisle seats everywhere.", "My home airport is Oslo Gardermoen."):
            await page.get_by_label(f"Choose: {text}").check()
        await page.get_by_role("button", name="Forget 2 memories").click()
        await page.get_by_role("button", name="Forget them").click()
        await expect(page.get_by_role("link", name="I prefer aisle seats everywhere.")).to_have_count(0)
        await expect(page.get_by_role("link", name="My home airport is Oslo Gardermoen.")).to_have_count(0)
        await page.context.close()


async def test_a_consent_is_given_and_withdrawn(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "mine")
    await page.get_by_role("heading", name="What may be kept").click()
    await page.get_by_label("Allow another topic").fill("health")
    await page.get_by_role("button", name="Allow", exact=True).click()
    await page.get_by_role("button", name="Do not keep health").click()
    await page.get_by_role("button", name="Do not keep it").click()
    await expect(page.get_by_role("listitem").filter(has_text="health")).to_contain_text("not kept: you have said no")


async def test_no_end_is_promised_to_messages(enter: Enter) -> None:
    """Only episodes of a task end by themselves; both are of one kind."""
    page = await enter("ana")
    await visit(page, "quotas")
    row = page.get_by_role("table", name="How long each kind is kept").get_by_role("row").filter(has_text="episodic")
    await expect(row).to_contain_text("messages until forgotten, events 90 days")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
