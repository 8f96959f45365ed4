"""Odd things that real exports contain: emoji cut in two, other locales, nested zips, forwarded words, broken files."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic.importers.conversation_files import read_bytes, read_conversation
from mnemic.importers.file_readers.item import Item
from mnemic.types import Candidate, Message

MARCH = datetime(2024, 3, 12, 21, 15, tzinfo=UTC)


def read(path: Path) -> list[Item]:
    return list(read_conversation(path))


def written(folder: Path, name: str, told: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(told if isinstance(told, str) else json.dumps(told), encoding="utf-8")
    return path


def zipped(path: Path, files: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, told in files.items():
            archive.writestr(name, told if isinstance(told, str) else json.dumps(told))
    return path


def said(items: list[Item]) -> list[tuple[str, str | None, str]]:
    return [(one.content.role, one.content.speaker, one.content.content) for one in items if _is_message(one)]


def _is_message(item: Item) -> bool:
    return isinstance(item.content, Message)


def notes(items: list[Item]) -> list[tuple[str | None, str]]:
    return [(one.content.context, one.content.content) for one in items if isinstance(one.content, Candidate)]


# -- JSON --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("escaped", "read_as"),
    [
        (r"cut \ud83d", "cut �"),
        (r"cut \uDE00 here", "cut � here"),
        (r"whole \ud83d\ude00, then cut \ud83d", "whole \U0001f600, then cut �"),
        (r"a path \\ud83d\\x and cut \ud83d", r"a path \ud83d\x and cut �"),
    ],
)
def test_an_emoji_cut_in_two_loses_no_file(tmp_path: Path, escaped: str, read_as: str) -> None:
    told = f'[{{"conversations": [{{"from": "human", "value": "{escaped}"}}, {{"from": "gpt", "value": "yes"}}]}}]'
    assert said(read(written(tmp_path, "talks.json", told))) == [
        ("user", None, read_as), ("assistant", None, "yes")]  # fmt: skip


def test_a_broken_place_in_one_long_line_is_named_with_its_column(tmp_path: Path) -> None:
    talks = json.dumps([{"conversations": [{"from": "human", "value": "I live in Oslo."}]}] * 9)
    broken = talks[:300] + "}" + talks[300:]
    with pytest.raises(InvalidInput) as refused:
        read(written(tmp_path, "talks.json", broken))
    assert refused.value.hint == "line 1, column 301: not JSON"


# -- ChatGPT and ShareGPT ----------------------------------------------------------------------------------------------


def chatgpt(name: str, at: int, parts: list[Any]) -> dict[str, Any]:
    message = {
        "id": f"{name}-1", "author": {"role": "user"}, "create_time": at, "recipient": "all", "metadata": {},
        "content": {"content_type": "multimodal_text", "parts": parts},
    }  # fmt: skip
    nodes = {"top": {"parent": None, "message": None}, "one": {"parent": "top", "message": message}}
    return {"conversation_id": name, "create_time": at, "mapping": nodes, "current_node": "one"}


def test_an_export_in_several_files_is_read_as_one(tmp_path: Path) -> None:
    files = {
        "conversations-000.json": [chatgpt("later", 1_700_000_100, ["I moved to Bergen."])],
        "conversations-001.json": [chatgpt("earlier", 1_700_000_000, ["I live in Oslo."])],
        "conversations-002.json": "{broken",
        "user.json": {}, "export_manifest.json": {}, "chat.html": "<html></html>",
    }  # fmt: skip
    items = read(zipped(tmp_path / "export.zip", files))
    assert [text for _, _, text in said(items)] == ["I live in Oslo.", "I moved to Bergen."]
    assert [one.place for one in items if one.problem is not None] == ["conversations-002.json"]


def test_what_was_said_aloud_is_kept(tmp_path: Path) -> None:
    spoken = {"content_type": "audio_transcription", "text": "I am allergic to peanuts.", "direction": "in"}
    pointer = {"content_type": "real_time_user_audio_video_asset_pointer"}
    told = [chatgpt("voice", 1_700_000_000, [spoken, pointer])]
    assert said(read(written(tmp_path, "conversations.json", told))) == [("user", None, "I am allergic to peanuts.")]


def test_an_empty_conversation_is_no_mistake(tmp_path: Path) -> None:
    told = [{"conversations": [{"from": "human", "value": "I live in Oslo."}]}, {"id": "q", "conversations": []}]
    items = read(written(tmp_path, "talks.json", told))
    assert [one.problem for one in items] == [None]


# -- WhatsApp ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "sent_at"),
    [
        ("12. 3. 2024 21:15 - ", MARCH),
        ("2024. 03. 12. 21:15 - ", MARCH),
        ("12.3.2024 klo 21.15 - ", MARCH),
        ("12/03/2024 à 21:15 - ", MARCH),
        ("2024-03-12 21 h 15 - ", MARCH),
        ("2024/3/12 下午9:15 - ", MARCH),
        ("[2024/3/12 下午9:15:22] ", MARCH.replace(second=22)),
        ("2024/3/12 上午12:15 - ", MARCH.replace(hour=0)),
        ("2024년 3월 12일 오후 9:15 - ", MARCH),
        ("2024. 3. 12. 오후 9:15 - ", MARCH),
        ("١٢/٣/٢٠٢٤، ٩:١٥ م - ", MARCH),
        ("12/3/24, 9:15 p.\u00a0m. - ", MARCH),
        ("12/3/24, 9:15 p.\u202fm. - ", MARCH),
        ("12/03/2024, 9:15 pm - ", MARCH),
        ("3/12/24, 12:15\u202fAM - ", MARCH.replace(hour=0)),
    ],
)
def test_dates_of_further_locales(tmp_path: Path, head: str, sent_at: datetime) -> None:
    (one,) = read(written(tmp_path, "chat.txt", f"{head}Ana: Hello\n"))
    assert isinstance(one.content, Message)
    assert (one.content.content, one.content.speaker, one.content.sent_at) == ("Hello", "Ana", sent_at)


def test_the_order_of_messages_tells_day_and_month_apart(tmp_path: Path) -> None:
    days = ["01/02/2024", "03/02/2024", "02/03/2024", "01/04/2024"]
    chat = "".join(f"{day}, 9:15 PM - Ana: Hello {at}\n" for at, day in enumerate(days))
    found = [one.content.sent_at for one in read(written(tmp_path, "chat.txt", chat)) if _is_message(one)]
    assert [(at.month, at.day) for at in found] == [(2, 1), (2, 3), (3, 2), (4, 1)]


@pytest.mark.parametrize(
    "words",
    [
        "<Medien ausgeschlossen>", "<Media omessi>", "<Media weggelaten>", "<Arquivo de mídia oculto>",
        "<Без медиафайлов>", "<メディアは含まれていません>", "<pominięto multimedia>", "<Media har utelämnats>",
        "IMG-20240312-WA0001.jpg (Datei angehängt)", "<Anhang: 00000012-PHOTO-2024-03-12.jpg>",
        "Diese Nachricht wurde gelöscht.", "Se eliminó este mensaje.", "Ce message a été supprimé",
        "Mensagem apagada", "Questo messaggio è stato eliminato", "Dit bericht is verwijderd",
    ],
)  # fmt: skip
def test_what_whatsapp_writes_in_other_languages_is_nobodys_message(tmp_path: Path, words: str) -> None:
    chat = f"12.03.24, 21:15 - Ana: Hallo\n12.03.24, 21:16 - Ben: {words}\n"
    assert said(read(written(tmp_path, "chat.txt", chat))) == [("participant", "Ana", "Hallo")]


def test_captions_are_kept_and_notes_of_an_edit_are_not(tmp_path: Path) -> None:
    chat = (
        "3/13/24, 8:00 AM - Ana: IMG-20240313-WA0001.jpg (file attached)\nMy cat Miso at home\n"
        '3/13/24, 8:01 AM - Ana changed the subject to "Trip: Oslo"\n'
        "3/13/24, 8:02 AM - Ben: Ich bin Vegetarier. <Diese Nachricht wurde bearbeitet.>\n"
        '3/13/24, 8:03 AM - Ben "Benny" King: i <3 you\n'
    )
    assert said(read(written(tmp_path, "chat.txt", chat))) == [
        ("participant", "Ana", "My cat Miso at home"),
        ("participant", "Ben", "Ich bin Vegetarier."),
        ("participant", 'Ben "Benny" King', "i <3 you"),
    ]


def test_a_chat_has_one_name_alone_and_in_its_zip(tmp_path: Path) -> None:
    chat = "12/03/2024, 21:15 - Ana: Hello\n12/03/2024, 21:16 - Ben: Hi\n"
    alone = read(written(tmp_path, "WhatsApp Chat with Ben.txt", chat))
    packed = read(zipped(tmp_path / "WhatsApp Chat with Ben.zip", {"WhatsApp Chat with Ben.txt": chat, "a.jpg": "x"}))
    assert [one.content for one in packed] == [one.content for one in alone]
    apple = read(zipped(tmp_path / "WhatsApp Chat - Ben.zip", {"_chat.txt": chat}))
    assert said(apple) == [("user", "Ana", "Hello"), ("participant", "Ben", "Hi")]


@pytest.mark.parametrize(
    "name", ["WhatsApp Chat with Ben (2).txt", "WhatsApp Chat with Ben(1).txt", "WhatsApp Chat with Ben (12).zip"]
)
def test_a_chat_that_was_downloaded_again_is_the_same_chat(tmp_path: Path, name: str) -> None:
    chat = "12/03/2024, 21:15 - Ana: Hello\n12/03/2024, 21:16 - Ben: Hi\n"
    alone = read(written(tmp_path, "WhatsApp Chat with Ben.txt", chat))
    packed = name.endswith(".zip")
    copy = zipped(tmp_path / name, {"_chat.txt": chat}) if packed else written(tmp_path, name, chat)
    assert [one.content for one in read(copy)] == [one.content for one in alone]
    assert said(alone) == [("user", "Ana", "Hello"), ("participant", "Ben", "Hi")]


def test_a_message_keeps_its_identifier_in_a_later_export(tmp_path: Path) -> None:
    """A long message that was deleted in between moves all lines; the same words twice in a minute stay two."""
    before = "12/03/2024, 21:14 - Ben: A long\nmessage\n12/03/2024, 21:15 - Ana: ok\n12/03/2024, 21:15 - Ana: ok\n"
    after = before.replace("A long\nmessage", "This message was deleted") + "12/03/2024, 21:16 - Ben: bye\n"
    first, second = (
        [one.content.message_id for one in read(written(tmp_path, "chat.txt", chat)) if _is_message(one)]
        for chat in (before, after)
    )
    assert len(set(first)) == 3
    assert second[:2] == first[1:]


# -- Slack and Telegram ------------------------------------------------------------------------------------------------


def slack(root: str) -> dict[str, Any]:
    users = [{"id": "U1", "name": "ana", "profile": {"real_name": "Ana Roy"}}]
    message = {"type": "message", "user": "U1", "text": "My dog is called Rex.", "ts": "1710430060.000400"}
    return {
        f"{root}users.json": users, f"{root}channels.json": [], f"{root}dms.json": [],
        f"{root}general/2024-03-12.json": "{broken", f"{root}general/2024-03-13.json": "",
        f"{root}general/2024-03-14.json": [message], f"__MACOSX/{root}general/._2024-03-14.json": "\0\5",
    }  # fmt: skip


@pytest.mark.parametrize("root", ["", "Acme export/"])
def test_one_broken_day_of_slack_stops_no_other(tmp_path: Path, root: str) -> None:
    items = read(zipped(tmp_path / "slack.zip", slack(root)))
    assert said(items) == [("participant", "Ana Roy", "My dog is called Rex.")]
    assert [(one.place, one.problem.reason) for one in items if one.problem is not None] == [
        ("general/2024-03-12.json", "invalid_input:file:json"),
        ("general/2024-03-13.json", "invalid_input:file:empty"),
    ]


def test_forwarded_words_are_not_the_users_own(tmp_path: Path) -> None:
    head = {"type": "message", "date_unixtime": "1710274500", "from": "Ana", "from_id": "user7"}
    forwarded = {**head, "id": 2, "forwarded_from": "Cleo", "text": "I work as a pilot."}
    chat = {"type": "saved_messages", "id": 7, "messages": [{**head, "id": 1, "text": "I live in Oslo."}, forwarded]}
    left = {"type": "private_group", "id": 9, "messages": [{**head, "id": 1, "text": "I play the cello."}]}
    account = {"personal_information": {"user_id": 7}, "chats": {"list": [chat]}, "left_chats": {"list": [left]}}
    assert said(read(written(tmp_path, "result.json", account))) == [
        ("user", "Ana", "I live in Oslo."),
        ("participant", "Cleo", "I work as a pilot."),
        ("user", "Ana", "I play the cello."),
    ]


# -- Markdown ----------------------------------------------------------------------------------------------------------


def test_a_note_without_a_heading_is_known_by_its_ending(tmp_path: Path) -> None:
    words = "My dog is called Rex.\n\nI work as a nurse.\n"
    found = [(None, "My dog is called Rex."), (None, "I work as a nurse.")]
    for items in (read(written(tmp_path, "me.md", words)), list(read_bytes(words.encode(), name="me.md"))):
        assert [(context or None, text) for context, text in notes(items)] == found


def test_code_and_underlined_headings_in_notes(tmp_path: Path) -> None:
    words = "Garden\n======\n\nRoses.\n\n```sh\n# no heading\n\nls\n```\n\n---\n\nAfter.\n"
    assert notes(read(written(tmp_path, "me.md", words))) == [
        ("Garden", "Roses."), ("Garden", "```sh\n# no heading\n\nls\n```"), ("Garden", "After.")]  # fmt: skip


def test_a_rule_at_the_top_hides_nothing(tmp_path: Path) -> None:
    assert notes(read(written(tmp_path, "me.md", "---\n\nRoses.\n"))) == [("", "Roses.")]


def test_hidden_folders_and_broken_notes_stop_no_other(tmp_path: Path) -> None:
    written(tmp_path, "notes/.trash/old.md", "Deleted.")
    written(tmp_path, "notes/a.md", "Roses.")
    (tmp_path / "notes/b.md").write_bytes("Ünlesbar".encode("utf-16"))
    items = read(tmp_path / "notes")
    assert notes(items) == [("", "Roses.")]
    assert [(one.place, one.problem.reason) for one in items if one.problem is not None] == [
        ("b.md", "invalid_input:file:encoding")]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "looks"),
    [
        ("a.vtt", b"WEBVTT\n\n00:01.000 --> 00:03.000\n<v Ana>I live in Oslo.\n", "subtitles"),
        ("a.srt", b"1\n00:00:01,000 --> 00:00:03,000\nI live in Oslo.\n", "subtitles"),
        ("a.ics", b"BEGIN:VCALENDAR\nSUMMARY:Dentist\n", "calendar"),
        ("a.eml", b"From: ana@example.org\nSubject: Hi\n\nI live in Oslo.\n", "an e-mail"),
        ("a.pdf", b"%PDF-1.7\n1 0 obj\n", "a PDF"),
        ("a.html", b"<!doctype html>\n<p>I live in Oslo.\n", "a web page"),
        ("a.db", b"SQLite format 3\0" + bytes(200), "a database"),
        ("a.bin", bytes(range(256)) * 4, "no text"),
        ("a.txt", b"I live in Oslo and like tea\n", "(Name: text)"),
        ("a.zip", b"PK\x03\x04" + bytes(range(200)), "cut short"),
    ],
)
def test_a_file_of_unknown_form_is_told_what_it_looks_like(
    name: str, content: bytes, looks: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput) as refused:
        list(read_conversation(tmp_path / name))
    assert looks in (refused.value.hint or "")


def test_a_zip_of_something_else_names_what_is_in_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "letter.docx", "w") as made:
        made.writestr("word/document.xml", "<w:t>I live in Oslo</w:t>")
    with pytest.raises(InvalidInput, match=r"word/document\.xml; expected one of conversations\.json"):
        list(read_conversation(tmp_path / "letter.docx"))


def test_a_transcript_with_hours_is_read(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("[10:03] Ana: I live in Oslo.\n[10:04] Ben: Nice.\n[10:05] Ana: Yes.\n")
    items = list(read_conversation(tmp_path / "talk.txt"))
    assert [one.content.content for one in items if isinstance(one.content, Message)] == [
        "I live in Oslo.", "Nice.", "Yes."]  # fmt: skip
