"""The pages for importing, webhooks, settings, charts, the form of a policy, and what agents were shown."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.e2e.browser.chromium import visit
from tests.e2e.browser.conftest import Enter
from tests.e2e.browser.test_pages import serious

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_chat_is_counted_imported_and_found(enter: Enter, tmp_path: Path) -> None:
    said = [{"role": "user", "content": f"Line {one}: I once rowed across the lake of Ohrid."} for one in range(3)]
    said += [{"role": "assistant", "content": "x" * 70_000}]
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    page = await enter("ana")
    await visit(page, "import")
    await page.get_by_label("File").set_input_files(file)
    await expect(page.get_by_text("Nothing has been imported.")).to_be_visible()
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    assert await serious(page) == []
    await visit(page, "search?q=Ohrid")
    await expect(page.get_by_text("rowed across the lake").first).to_be_visible()


async def test_the_zip_of_an_export_is_opened_in_the_browser(enter: Enter, tmp_path: Path) -> None:
    def said(words: str) -> dict[str, object]:
        turn = {"uuid": words[-9:], "sender": "human", "text": words, "created_at": "2026-03-04T09:30:00Z"}
        return {"uuid": "c-9", "name": "Boats", "created_at": "2026-03-04T09:30:00Z", "chat_messages": [turn]}

    remembered = [{"conversations_memory": "**Sailing**\n\nAna sails a ketch called Halcyon.", "account_uuid": "a-9"}]
    export = tmp_path / "export.zip"
    with zipfile.ZipFile(export, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data/conversations.json", json.dumps([said("I once rowed across Skadar.")]))
        archive.writestr("data/memories.json", json.dumps(remembered))
        archive.writestr("data/users.json", "[]")
        archive.writestr("__MACOSX/data/._conversations.json", "x")
    slack = tmp_path / "slack.zip"
    day = [{"type": "message", "user": "U1", "text": "I once rowed across Prespa :wave:", "ts": "1710278100.0001"}]
    with zipfile.ZipFile(slack, "w") as archive:
        archive.writestr("users.json", json.dumps([{"id": "U1", "profile": {"real_name": "Ana Roy"}}]))
        archive.writestr("channels.json", "[]")
        archive.writestr("boats/2024-03-12.json", json.dumps(day))
    page = await enter("ana")
    for file in (export, slack):
        await visit(page, "import")
        await page.get_by_label("File").set_input_files(file)
        await expect(page.get_by_text("Nothing has been imported.")).to_be_visible()
        if file == slack:
            await expect(page.get_by_role("note")).to_contain_text("Enter your name in this chat: Ana Roy.")
            await page.get_by_label("Your name in this chat").fill("Ana Roy")
        await page.get_by_role("button", name="Import", exact=True).click()
        await expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    await visit(page, "search?q=rowed across Skadar")
    await expect(page.get_by_text("I once rowed across Skadar.").first).to_be_visible()
    await visit(page, "search?q=Halcyon")
    await expect(page.get_by_text("a ketch called Halcyon").first).to_be_visible()
    await visit(page, "search?q=rowed across Prespa")
    await expect(page.get_by_text("Ana Roy").first).to_be_visible()


async def test_a_chat_between_people_asks_for_the_users_name(enter: Enter, tmp_path: Path) -> None:
    file = tmp_path / "_chat.txt"
    file.write_text(
        "[12/03/2024, 21:15:42] Ana: I once rowed across Bled.\n[12/03/2024, 21:16:42] Ben: I prefer aisle seats.\n",
        encoding="utf-8",
    )
    page = await enter("ana")
    await visit(page, "import")
    await page.get_by_label("File").set_input_files(file)
    await expect(page.get_by_role("note")).to_contain_text("Enter your name in this chat: Ana, Ben.")
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_role("heading", name="Imported")).to_have_count(0)
    await page.get_by_label("Your name in this chat").fill("Ben")
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    await expect(page.get_by_text("Enter your name in this chat")).to_have_count(0)
    await expect(page.get_by_role("link", name="Seat: aisle")).to_be_visible()
    assert await serious(page) == []
    await page.get_by_role("button", name="Take this import back").click()
    await expect(page.get_by_text("Taken back: ")).to_be_visible()


async def test_a_chat_named_after_the_other_person_asks_nobody(enter: Enter, tmp_path: Path) -> None:
    file = tmp_path / "WhatsApp Chat with Ben.txt"
    file.write_text("12/03/2024, 21:15 - Ana: I am vegetarian.\n12/03/2024, 21:16 - Ben: Hello!\n", encoding="utf-8")
    page = await enter("ana")
    await visit(page, "import")
    await page.get_by_label("File").set_input_files(file)
    await expect(page.get_by_role("heading", name="Facts that would be kept")).to_be_visible()
    await expect(page.get_by_text("Diet: vegetarian")).to_be_visible()
    await expect(page.get_by_label("Your name in this chat")).to_be_hidden()


async def test_a_long_chat_is_taken_in_by_several_requests(enter: Enter, tmp_path: Path) -> None:
    """Messages of two lines, whose dates only the whole chat tells."""
    file = tmp_path / "WhatsApp Chat with Ben.txt"
    days = [(1 + at // 4, 1 + at % 4) for at in range(48)]
    chat = "".join(
        f"{day:02}/{month:02}/2023, 9:15 PM - Ana: Trip {at}\nto Vis.\n" for at, (month, day) in enumerate(days)
    )
    file.write_text(chat * 2 + "28/12/2023, 9:15 PM - Ben: Bye.\n", encoding="utf-8")
    page = await enter("ana")
    await visit(page, "import")
    await page.get_by_label("File").set_input_files(file)
    await page.get_by_label("Remember what I state").uncheck()
    async with page.expect_response("**/v1/uploads") as first:
        await page.get_by_role("button", name="Import", exact=True).click()
    assert (await (await first.value).json())["entries"] == 97
    await expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    await expect(page.get_by_text("97", exact=True).first).to_be_visible()


async def test_a_file_of_no_known_kind_is_refused_in_words(enter: Enter, tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    file.write_text("[1, 2, 3]", encoding="utf-8")
    page = await enter("ana")
    await visit(page, "import")
    await page.get_by_label("File").set_input_files(file)
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("file:format")


async def test_a_webhook_is_added_rotated_and_deleted_and_its_secret_shown_once(enter: Enter) -> None:
    page = await enter("olga")
    await visit(page, "webhooks")
    await page.get_by_role("button", name="Add a webhook").click()
    await page.get_by_label("Address").fill("https://127.0.0.1/hook")
    await page.get_by_role("button", name="Add it").click()
    await expect(page.get_by_role("status").filter(has_text="cannot be used")).to_be_visible()
    await page.get_by_role("button", name="Add a webhook").click()
    await page.get_by_label("Address").fill("https://app.example.com/hook")
    await page.get_by_label("Label").fill("the booking app")
    await page.get_by_label("replaced").check()
    assert await serious(page) == []
    await page.get_by_role("button", name="Add it").click()
    secret = page.get_by_label("Secret", exact=True)
    await expect(secret).to_contain_text("whsec_")
    first = await secret.inner_text()
    row = page.get_by_role("article").filter(has_text="the booking app")
    await expect(row).to_contain_text("superseded")
    await row.get_by_role("button", name="Rotate").click()
    await page.get_by_role("button", name="Rotate it").click()
    await expect(secret).not_to_have_text(first)
    await row.get_by_role("button", name="Delete").click()
    await page.get_by_role("button", name="Delete it").click()
    await expect(page.get_by_text("No webhooks yet")).to_be_visible()


async def test_settings_are_found_and_those_of_operators_alone_are_not_shown(enter: Enter) -> None:
    page = await enter("root")
    await visit(page, "settings")
    await page.get_by_label("Find").fill("policy file")
    await expect(page.get_by_role("row").filter(has_text="MNEMIC_POLICY")).to_contain_text("policy.json")
    await expect(page.get_by_role("row").filter(has_text="MNEMIC_SERVICE_PORT")).to_have_count(0)
    operator = await enter("olga")
    await expect(operator.get_by_role("link", name="Settings")).to_have_count(0)


async def test_charts_say_in_a_table_what_they_draw(enter: Enter) -> None:
    page = await enter("olga")
    await visit(page, "overview")
    chart = page.get_by_role("figure").filter(has=page.get_by_role("heading", name="Memories", exact=True))
    await expect(chart.get_by_role("img")).to_be_visible()
    await chart.get_by_text("Show as a table").click()
    await expect(chart.get_by_role("row")).to_have_count(31)


async def test_form_and_text_of_a_policy_are_the_same_policy(enter: Enter) -> None:
    page = await enter("olga")
    await visit(page, "policy")
    text = page.get_by_label("The policy as JSON")
    await page.get_by_label("Add a key").fill("favourite_team")
    await page.get_by_role("button", name="Add", exact=True).click()
    rule = page.get_by_role("group", name="favourite_team")
    await rule.get_by_label("Allowed values").fill("red, blue")
    await rule.get_by_label("A new value").select_option("review")
    await rule.get_by_label("Sensitive").check()
    kept = json.loads(await text.input_value())["keys"]["favourite_team"]
    assert (kept["allowed_values"], kept["on_change"], kept["sensitive"]) == (["red", "blue"], "review", True)
    await page.get_by_role("button", name="Test on existing memories").click()
    await expect(page.get_by_text("memories tested.")).to_be_visible()
    assert await serious(page) == []
    policy = json.loads(await text.input_value())
    policy["keys"]["favourite_team"]["ttl_days"] = 90
    await text.fill(json.dumps(policy))
    await text.blur()
    await expect(rule.get_by_label("Kept for, in days")).to_have_value("90")
    await rule.get_by_role("button", name="Remove the rule").click()
    assert "favourite_team" not in json.loads(await text.input_value())["keys"]


async def test_what_an_adapter_showed_its_model_is_a_run(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "runs")
    row = page.locator(".row").filter(has_text="LangGraph")
    await expect(row.first).to_contain_text("tokens")
    await row.first.get_by_role("link").first.click()
    await expect(page.get_by_role("heading", name="What the model was shown")).to_be_visible()
    await expect(page.get_by_text("aisle seat").first).to_be_visible()
    assert await serious(page) == []


async def test_an_episode_under_its_day_is_opened_by_the_keyboard(enter: Enter) -> None:
    page = await enter("ana")
    await visit(page, "episodes")
    told = page.locator(".chronicle")
    await expect(told.locator("h2.date").first).to_be_visible()
    first = told.locator("article").get_by_role("link").first
    await first.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Where it came from")).to_be_visible()
