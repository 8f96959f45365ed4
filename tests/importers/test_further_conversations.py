"""Exports of Gemini, WhatsApp and Slack, notes in Markdown, and memories of Letta, Graphiti and LangMem."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic.bootstrap import build_engine
from mnemic.cli import cli
from mnemic.cli.file_import import Intake, Summary
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.importers.conversation_files import read_conversation
from mnemic.importers.file_readers.item import Item
from mnemic.maintenance.archive import ArchivedMemory
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Memory, Message, Status

GOLDEN = Path(__file__).parent / "golden"


def read(path: Path, **given: Any) -> list[Item]:
    return list(read_conversation(path, **given))


def written(folder: Path, name: str, told: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(told if isinstance(told, str) else json.dumps(told), encoding="utf-8")
    return path


def messages(items: list[Item]) -> list[Message]:
    return [item.content for item in items if isinstance(item.content, Message)]


def memories(items: list[Item]) -> list[Memory]:
    return [item.content.versions[-1] for item in items if isinstance(item.content, ArchivedMemory)]


def left_out(items: list[Item]) -> list[str]:
    return [item.skipped for item in items if item.skipped is not None]


def problems(items: list[Item]) -> list[str]:
    return [item.problem.reason for item in items if item.problem is not None]


# -- WhatsApp ----------------------------------------------------------------------------------------------------------

MARCH = datetime(2024, 3, 12, 21, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "sent_at"),
    [
        ("12/03/2024, 21:15 - Ana: Hello", MARCH),
        ("12.03.24, 21:15 - Ana: Hello", MARCH),
        ("12/03/2024 21:15 - Ana: Hello", MARCH),
        ("3/12/24, 9:15 PM - Ana: Hello", MARCH),
        ("3/12/24, 9:15\u202fPM - Ana: Hello", MARCH),
        ("2024-03-12, 21:15 - Ana: Hello", MARCH),
        ("[12/03/2024, 21:15:42] Ana: Hello", MARCH.replace(second=42)),
        ("\u200e[12.03.24, 21:15:42] Ana: Hello", MARCH.replace(second=42)),
        ("[3/12/24, 9:15:42\u202fPM] Ana: Hello", MARCH.replace(second=42)),
        ("12-03-2024, 21:15 - Ana: Hello", MARCH),
        ("12/03/2024, 9:15 p. m. - Ana: Hello", MARCH),
    ],
)
def test_whatsapp_in_the_spellings_of_its_locales(tmp_path: Path, line: str, sent_at: datetime) -> None:
    (said,) = messages(read(written(tmp_path, "chat.txt", line + "\n")))
    assert (said.content, said.speaker, said.sent_at, said.role) == ("Hello", "Ana", sent_at, "participant")


def test_whatsapp_tells_day_and_month_apart_by_the_whole_file(tmp_path: Path) -> None:
    for lines, month in (
        ("3/4/24, 10:00 - A: x\n3/25/24, 10:00 - A: y\n", 3),
        ("3/4/24, 10:00 - A: x\n25/4/24, 10:00 - A: y\n", 4),
    ):
        first, _ = messages(read(written(tmp_path, "chat.txt", lines)))
        assert first.sent_at is not None
        assert first.sent_at.month == month


def test_whatsapp_keeps_long_messages_whole_and_knows_the_user(tmp_path: Path) -> None:
    chat = (
        "12/03/2024, 21:15 - Messages and calls are end-to-end encrypted.\n"
        "12/03/2024, 21:15 - Ben King: First line\n\n12 apples\n"
        "12/03/2024, 21:16 - Ana: <Media omitted>\n"
        "12/03/2024, 21:17 - Ana: image omitted\n"
        "31/02/2024, 21:17 - Ana: When?\n"
        "13/03/2024, 12:05 AM - Ana: Soon: now\n"
    )
    items = read(written(tmp_path, "WhatsApp Chat with Ben King.txt", chat))
    assert [(one.role, one.speaker, one.content) for one in messages(items)] == [
        ("participant", "Ben King", "First line\n\n12 apples"),
        ("user", "Ana", "Soon: now"),
    ]
    assert messages(items)[1].sent_at == datetime(2024, 3, 13, 0, 5, tzinfo=UTC)
    assert left_out(items) == ["system_message", "media", "media"]
    assert problems(items) == ["invalid_input:message:date"]


def test_what_whatsapp_writes_itself_is_nobodys_message(tmp_path: Path) -> None:
    chat = (
        "[8/15/23, 9:12:33 AM] Ben: \u200eMessages and calls are end-to-end encrypted. No one can read them.\n"
        "[8/15/23, 9:12:43 AM] Ben: \u200eSie haben dieses Foto gel\u00f6scht.\n"
        "[8/15/23, 9:12:44 AM] ~\u202fBen: You deleted this message.\n"
        "[8/15/23, 9:12:45 AM] ~ Ana: Hello <This message was edited>\n"
        "\u200e[8/15/23, 9:12:48 AM] Ben: \u200e<attached: 00000012-PHOTO.jpg>\n"
        "[8/15/23, 9:12:49 AM] Ben: IMG-20230815-WA0001.jpg (file attached)\n"
        "[8/15/23, 9:12:50 AM] Ben: You deleted the wrong file.\n"
    )
    items = read(written(tmp_path, "_chat.txt", chat))
    assert [(one.speaker, one.content) for one in messages(items)] == [
        ("Ana", "Hello"),
        ("Ben", "You deleted the wrong file."),
    ]
    assert left_out(items) == ["system_message", "system_message", "system_message", "media", "media"]


# -- Slack -------------------------------------------------------------------------------------------------------------

USERS = [
    {"id": "U1", "name": "ana", "profile": {"display_name": "Ana"}},
    {"id": "U2", "name": "ben", "profile": {"display_name": ""}, "real_name": "Ben King"},
    {"id": "U3"},
    "nobody",
]
DAY = [
    {
        "type": "message",
        "user": "U1",
        "text": "Hi <@U2>, see <https://a.b|this> &amp; <#C1|plans> <!here>",
        "ts": "1710278100.000100",
    },
    {"type": "message", "subtype": "channel_join", "user": "U2", "text": "joined", "ts": "1710278101.000100"},
    {"type": "message", "user": "U2", "text": "Yes.", "ts": "1710278102.5", "thread_ts": "1710278100.000100"},
    {"type": "message", "user": "U9", "text": "x", "ts": "soon"},
    {
        "type": "message",
        "bot_id": "B1",
        "subtype": "bot_message",
        "username": "bot",
        "text": "beep",
        "ts": "1710278103",
    },
    {
        "type": "message",
        "user": "U8",
        "user_profile": {"real_name": "Eve"},
        "text": "<https://c.d>",
        "ts": "1710278104",
    },
]


def slack(folder: Path) -> Path:
    written(folder, "users.json", USERS)
    written(folder, "channels.json", [{"id": "C1", "name": "general"}])
    written(folder, "general/2024-03-12.json", DAY)
    return folder


@pytest.mark.parametrize("zipped", [False, True])
def test_slack_as_a_folder_and_as_a_zip(tmp_path: Path, zipped: bool) -> None:
    place = slack(tmp_path / "export")
    if zipped:
        with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
            for one in place.rglob("*.json"):
                archive.write(one, one.relative_to(place))
        place = tmp_path / "export.zip"
    items = read(place)
    assert [(one.speaker, one.content, one.session) for one in messages(items)] == [
        ("Ana", "Hi @Ben King, see this & #plans @here", "general"),
        ("Ben King", "Yes.", "general:1710278100.000100"),
        ("bot", "beep", "general"),
        ("Eve", "https://c.d", "general"),
    ]
    assert messages(items)[0].message_id == "general:1710278100.000100"
    assert (left_out(items), problems(items)) == (["system_message"], ["invalid_input:message:ts"])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I moved to Oslo :wave: all", "I moved to Oslo 👋 all"),
        ("Deployed :tada::rocket:", "Deployed 🎉🚀"),
        ("Yes :thumbsup::skin-tone-2:", "Yes 👍"),
        ("(:+1:) :100:", "(👍) 💯"),
        ("I have a :blob-wave: boat :house:.", "I have a boat."),
        ("At 10:30:45 and 1:100:5, http://a:8080/x:y:z, key:value:more", None),
    ],
)
def test_codes_of_emoji_in_slack_are_no_words(tmp_path: Path, said: str, kept: str | None) -> None:
    day = [{"type": "message", "user": "U1", "text": said, "ts": "1710278100.0001"}]
    assert [one.content for one in messages(read(written(tmp_path, "general.json", day)))] == [kept or said]


def test_one_file_of_slack(tmp_path: Path) -> None:
    items = read(written(tmp_path, "general.json", DAY[:1]))
    assert [one.speaker for one in messages(items)] == ["U1"]


# -- Gemini ------------------------------------------------------------------------------------------------------------


def test_gemini(tmp_path: Path) -> None:
    told = [
        {
            "header": "Gemini Apps",
            "title": "Prompted Where is Oslo?",
            "time": "2024-03-12T10:00:00.000Z",
            "products": ["Gemini Apps"],
            "safeHtmlItem": [{"html": "<p>In <b>Norway</b>.</p><script>x()</script><ul><li>south</li></ul>"}],
        },
        {
            "header": "Gemini-Apps",
            "title": "Eingegebener Prompt: Hallo",
            "time": "2024-03-13T10:00:00Z",
            "products": ["Gemini Apps"],
        },
        {
            "header": "Gemini Apps",
            "title": "Prompted Hello",
            "time": "2024-03-11T10:00:00Z",
            "products": ["Gemini Apps"],
        },
        {"header": "Gemini Apps", "title": "Used an extension", "time": "2024-03-11T09:00:00Z"},
        {"header": "Gemini Apps", "title": 7, "time": "2024-03-10T09:00:00Z"},
        {"title": "x"},
    ]
    items = read(written(tmp_path, "MyActivity.json", told))
    assert [(one.role, one.content, one.session) for one in messages(items)] == [
        ("user", "Hello", "gemini-2024-03-11"),
        ("user", "Where is Oslo?", "gemini-2024-03-12"),
        ("assistant", "In Norway.\nsouth", "gemini-2024-03-12"),
        ("user", "Hallo", "gemini-2024-03-13"),
    ]
    assert (left_out(items), problems(items)) == (["system_message"] * 2, ["invalid_input:conversation:shape"])


# -- memories ----------------------------------------------------------------------------------------------------------


def test_letta_in_both_forms(tmp_path: Path) -> None:
    envelope = json.dumps({"type": "user_message", "message": "I live in Oslo.", "time": "..."})
    said = [
        {"role": "system", "content": "..."},
        {"role": "user", "content": [{"type": "text", "text": envelope}], "created_at": "2024-03-12T10:00:00Z"},
        {"role": "user", "content": json.dumps({"type": "heartbeat", "reason": "x"})},
        {"role": "user", "content": "{not json"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"function": {"name": "send_message", "arguments": "bad"}},
            {"function": {"name": "send_message", "arguments": json.dumps({"message": "Noted."})}},
        ]},
        {"role": "tool", "content": "ok"},
    ]  # fmt: skip
    blocks = [
        {"label": "persona", "value": "I am kind."},
        {"label": "human", "value": "Ana lives in Oslo.", "id": "block-1"},
        {"label": "notes", "value": " "},
        {"value": 7},
    ]
    for told in (
        {"agent_type": "memgpt_agent", "name": "guide", "core_memory": blocks, "messages": said},
        {"agents": [{"name": "guide", "messages": said}, 7], "blocks": blocks},
    ):
        items = read(written(tmp_path, "guide.af", told))
        kept = [one.content for one in items if isinstance(one.content, Candidate)]
        assert [(one.content, one.data) for one in kept] == [
            ("Ana lives in Oslo.", {"letta": {"label": "human", "id": "block-1"}})
        ]
        assert [(one.role, one.content, one.session) for one in messages(items)] == [
            ("user", "I live in Oslo.", "guide"),
            ("user", "{not json", "guide"),
            ("assistant", "Noted.", "guide"),
        ]
        assert left_out(items) == ["persona", "empty", "system_message", "empty", "tool"]
        assert problems(items) == ["invalid_input:memory:block"]


EDGE = {
    "uuid": "0197f3c2-6f0e-7d21-9a52-0a4f6e8d1c3b",
    "name": "LIVES_IN",
    "fact": "Ana lives in Oslo.",
    "group_id": "ana",
    "created_at": "2024-03-12T10:00:00Z",
    "valid_at": "2020-01-01T00:00:00Z",
    "invalid_at": "2023-01-01T00:00:00Z",
    "attributes": {"sure": True},
}


def test_graphiti_keeps_when_a_fact_was_true(tmp_path: Path) -> None:
    now = {**EDGE, "uuid": "e-2", "fact": "Ana lives in Bergen.", "invalid_at": None, "attributes": None}
    items = read(
        written(tmp_path, "graph.json", {"edges": [EDGE, now, {**EDGE, "fact": " "}, {**EDGE, "created_at": None}]})
    )
    then, today = memories(items)
    assert (then.memory_id, then.status) == (EDGE["uuid"], Status.SUPERSEDED)
    assert then.valid_to == datetime(2023, 1, 1, tzinfo=UTC)
    assert then.data["sure"] is True
    assert then.data["graphiti"]["name"] == "LIVES_IN"
    assert (today.status, today.valid_from) == (Status.ACTIVE, datetime(2020, 1, 1, tzinfo=UTC))
    assert problems(items) == ["invalid_input:memory:fact", "invalid_input:memory:created_at"]
    lines = json.dumps(EDGE) + "\n" + json.dumps({**now, "group_id": ""}) + "\nbad\n"
    assert [one.conversation for one in read(written(tmp_path, "edges.jsonl", lines))] == ["ana", "edges", "edges"]


def test_edges_of_the_real_graphiti() -> None:
    """`EntityEdge.model_dump_json()` of graphiti-core 0.31.2, an edge a line."""
    items = read(GOLDEN / "graphiti-core-0.31.2.jsonl")
    then, today, tea = memories(items)
    assert [one.content for one in (then, today, tea)] == [
        "Ana lives in Oslo.",
        "Ana lives in Bergen.",
        "Ana likes tea, José told.",
    ]
    assert [one.status for one in (then, today, tea)] == [Status.SUPERSEDED, Status.ACTIVE, Status.ACTIVE]
    assert (then.valid_from, then.valid_to) == (datetime(2020, 1, 1, tzinfo=UTC), datetime(2025, 2, 1, tzinfo=UTC))
    assert (today.created_at, today.data["sure"]) == (datetime(2025, 3, 2, 12, tzinfo=UTC), True)
    assert {one.memory_id[-1] for one in (then, today, tea)} == {"1", "2", "3"}
    assert problems(items) == []


def test_edges_of_the_real_client_of_zep() -> None:
    """`Edge.json()` of zep-cloud 4.0.1, an edge a line: 20 facts of one user, every fifth no longer true."""
    items = read(GOLDEN / "zep-cloud-4.0.1.jsonl")
    facts = memories(items)
    assert {one.conversation for one in items} == {"5f7c8ec7-0000-4000-8000-000000000385"}
    assert [one.memory_id for one in facts] == [f"5f7c8ec7-0000-4000-8000-{number:012x}" for number in range(20)]
    assert [number for number, one in enumerate(facts) if one.status is Status.SUPERSEDED] == [0, 5, 10, 15]
    ended, true = facts[5], facts[6]
    assert (ended.valid_from, ended.valid_to) == (datetime(2024, 1, 6, tzinfo=UTC), datetime(2025, 2, 1, tzinfo=UTC))
    assert (true.created_at, true.valid_to) == (datetime(2025, 3, 7, 12, tzinfo=UTC), None)
    assert (true.data["pier"], true.data["graphiti"]["target_node_name"]) == (6, "boat 6")
    assert problems(items) == []


def test_memories_of_the_real_tools_of_langmem() -> None:
    """Items that the tools of langmem 0.0.30 wrote for two users: 65 created, ten corrected, three deleted."""
    items = read(GOLDEN / "langmem-0.0.30.jsonl")
    told = [json.loads(line) for line in (GOLDEN / "langmem-0.0.30.jsonl").read_text(encoding="utf-8").splitlines()]
    found = {one.memory_id: one for one in memories(items)}
    assert len(found) == len(told) == 62
    for item in told:
        memory = found[item["key"]]
        assert memory.content == item["value"]["content"]
        assert memory.created_at == datetime.fromisoformat(item["created_at"])
        assert memory.updated_at == datetime.fromisoformat(item["updated_at"])
    assert Counter(one.conversation for one in items) == {"memories/ana": 57, "memories/ben": 5}
    assert problems(items) == []


def test_items_of_the_real_store_of_langgraph(tmp_path: Path) -> None:
    store = pytest.importorskip("langgraph.store.memory").InMemoryStore()
    for number in range(3):
        store.put(("memories", "ana"), f"k{number}", {"kind": "Memory", "content": {"content": f"Fact {number}."}})
    told = [item.dict() for item in store.search(("memories", "ana"))]
    items = read(written(tmp_path, "store.json", json.loads(json.dumps(told, default=str))))
    assert sorted(one.content for one in memories(items)) == ["Fact 0.", "Fact 1.", "Fact 2."]
    assert problems(items) == []
    made = {str(one["key"]): datetime.fromisoformat(str(one["created_at"])) for one in told}
    assert {one.data["langmem"]["key"]: one.created_at for one in memories(items)} == made


def test_langmem_items_of_a_store(tmp_path: Path) -> None:
    at = {"created_at": "2024-03-12T10:00:00Z", "updated_at": "2024-03-13T10:00:00Z"}
    told = [
        {
            "namespace": ["memories", "ana"],
            "key": EDGE["uuid"],
            "value": {"kind": "Memory", "content": {"content": "Oslo."}},
            **at,
        },
        {"namespace": ["memories", "ana"], "key": "k", "value": {"text": "Tea.", "topic": "drinks"}, **at},
        {"namespace": ["memories", "ana"], "key": "p", "value": {"kind": "Profile", "content": {"name": "Ana"}}, **at},
        {"namespace": [], "key": "e", "value": {}, **at},
        {"namespace": [], "key": 7, "value": {}, **at},
        7,
    ]
    items = read(written(tmp_path, "store.json", told))
    first, second, third = memories(items)
    assert (first.memory_id, first.content, first.updated_at.day) == (EDGE["uuid"], "Oslo.", 13)
    assert first.data["langmem"] == {"key": EDGE["uuid"], "namespace": "memories/ana", "kind": "Memory"}
    assert (second.content, second.data["topic"]) == ("Tea.", "drinks")
    assert third.content == '{"name": "Ana"}'
    assert items[0].conversation == "memories/ana"
    assert problems(items) == ["invalid_input:memory:value", "invalid_input:memory:key", "invalid_input:memory"]


def test_notes_in_markdown(tmp_path: Path) -> None:
    note = "---\ntags: x\n---\n# Trip\nFly to Oslo.\nStay a week.\n\n- pack\n\n## Food\nNo gluten.\n***\n\n***\n"
    items = read(written(tmp_path, "trip.md", note))
    kept = [one.content for one in items if isinstance(one.content, Candidate)]
    assert [(one.content, one.context) for one in kept] == [
        ("Fly to Oslo.\nStay a week.", "Trip"),
        ("- pack", "Trip"),
        ("No gluten.\n***", "Trip > Food"),
    ]
    assert kept[0].data == {"note": "trip", "heading": "Trip"}
    assert left_out(items) == ["empty"]
    written(tmp_path / "vault", "a/one.md", "Just words.")
    written(tmp_path / "vault", "two.md", "# Two\nMore.")
    both = [one.content for one in read(tmp_path / "vault") if isinstance(one.content, Candidate)]
    assert [(one.content, one.data["note"]) for one in both] == [("Just words.", "a/one"), ("More.", "two")]
    plain = written(tmp_path, "plain.txt", "Just words.")
    assert len(read(plain, file_format="markdown")) == 1


@pytest.mark.parametrize("first", ["kitchen", "boat"])
async def test_the_budget_of_one_note_does_not_answer_for_another(tmp_path: Path, first: str) -> None:
    pages = {
        "kitchen": "# Kitchen renovation\n## Budget\n12,000 euros, agreed with Ola.",
        "boat": "# Boat repair\n## Budget\n4,500 euros, agreed with Per.",
    }
    for name, page in pages.items():
        written(tmp_path / "notes", f"{'a' if name == first else 'b'}.md", page)
    async with build_engine(Settings(store="memory:")) as engine:
        await Intake(engine=engine, actor=Actor(user="ana")).take(iter(read(tmp_path / "notes")), lambda _: None)
        for topic, figure in (("boat repair", "4,500"), ("kitchen renovation", "12,000")):
            found = await engine.search(f"What is the budget of the {topic}?", actor=Actor(user="ana"))
            assert (found.hits[0].memory.content[: len(figure)], found.abstains) == (figure, False)


# -- folders and zips --------------------------------------------------------------------------------------------------


def test_the_zip_of_another_product_needs_no_unpacking(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "I live in Oslo."}]
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("data/conversations.json", json.dumps(chat))
        archive.writestr("data/user.json", "{}")
    assert [one.content for one in messages(read(tmp_path / "export.zip"))] == ["I live in Oslo."]


def test_a_folder_without_an_export_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as wrong:
        read(tmp_path)
    assert wrong.value.reason == "invalid_input:file:directory"
    (tmp_path / "note.md").write_bytes(b"# A\n\xff\n")
    with pytest.raises(InvalidInput) as wrong:
        read(tmp_path)
    assert wrong.value.reason == "invalid_input:file:encoding"


def test_a_long_note_is_kept_whole(tmp_path: Path) -> None:
    note = "\n".join(f"Line {number} of a long list of things to take along." for number in range(600))
    kept = [one.content.content for one in read(written(tmp_path, "n.md", f"# A\n{note}\n")) if one.content is not None]  # type: ignore[union-attr]
    assert len(kept) > 1
    assert "\n".join(kept) == note


@pytest.mark.parametrize("spelled", ["indented", "string of JSON"])
def test_an_agent_file_as_letta_gives_it_out(tmp_path: Path, spelled: str) -> None:
    long = "\n\n".join(f"Paragraph {number} about the user. " + "x" * 900 for number in range(12))
    tags = ["tool-0", "tool-1"]
    file = {
        "agents": [{"name": "a", "tool_ids": tags, "messages": []}],
        "blocks": [{"label": "persona", "value": "I am."}, {"label": "human", "value": long}],
    }
    told = json.dumps(file, indent=2)
    items = read(written(tmp_path, "a.af", told if spelled == "indented" else json.dumps(told)))
    kept = [one.content.content for one in items if isinstance(one.content, Candidate)]
    assert "\n\n".join(kept) == long
    assert left_out(items) == ["persona"]


# -- into a memory -----------------------------------------------------------------------------------------------------


async def test_facts_of_the_past_answer_questions_about_it(tmp_path: Path) -> None:
    then = {**EDGE, "uuid": "0197f3c2-6f0e-7d21-9a52-0a4f6e8d1c3c"}
    now = {**EDGE, "fact": "Ana lives in Bergen.", "invalid_at": None, "valid_at": "2023-01-01T00:00:00Z"}
    path = written(tmp_path, "graph.json", {"edges": [then, now]})
    ana = Actor(user="ana")
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock()) as engine:
        for taken in ((2, 0), (0, 2)):  # the second time nothing changes
            summary = Summary()
            intake = Intake(engine=engine, actor=ana, summary=summary)
            await intake.take(read_conversation(path), lambda _: None)
            assert (summary.recorded, summary.refreshed, summary.failed) == (*taken, [])
        (kept,) = await engine.list(actor=ana)
        assert (kept.content, kept.memory_id) == ("Ana lives in Bergen.", now["uuid"])
        (before,) = await engine.list(actor=ana, as_of=datetime(2021, 1, 1, tzinfo=UTC))
        assert before.content == "Ana lives in Oslo."


def test_a_rehearsal_takes_nothing_in(tmp_path: Path) -> None:
    chat = written(
        tmp_path,
        "chat.txt",
        "12/03/2024, 21:15 - Ana: Hello\n31/02/2024, 21:15 - Ana: x\n12/03/2024, 21:16 - Group made\n",
    )
    store = tmp_path / "memories.db"
    told = CliRunner().invoke(cli, ["--json", "--store", str(store), "import", "--dry-run", str(chat)])
    shown = json.loads(told.stdout)
    assert (shown["messages"], shown["memories"], shown["skipped"]) == (1, 0, {"system_message": 1})
    assert shown["failed"] == [{"place": "line 2", "reason": "invalid_input:message:date"}]
    assert not store.exists()
    assert "messages" in CliRunner().invoke(cli, ["import", "--dry-run", str(chat)]).stdout
