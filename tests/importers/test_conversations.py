"""Reading conversations: every format, detected from its content, and every defect of a file."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import plugins
from mnemic.errors import InvalidInput
from mnemic.importers.conversation_files import formats, read_conversation
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.retrieve.export import FORMAT
from mnemic.types import Candidate, Kind, Message, Origin
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


LOCOMO = {
    "sample_id": "conv-1",
    "qa": [],
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_10_date_time": "12:05 am on 1 January, 2024",
        "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "Happy new year!"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {"speaker": "Ana", "dia_id": "D2:1", "text": "Look at this.", "blip_caption": "a dog in a boat"},
            {"speaker": "Ben", "dia_id": "D2:2", "text": ""},
        ],
    },
}
LONGMEMEVAL = {
    "question_id": "q7",
    "question": "Where?",
    "haystack_dates": ["2023/05/20 (Sat) 02:21"],
    "haystack_session_ids": ["s1"],
    "haystack_sessions": [[{"role": "user", "content": "I moved to Bergen.", "has_answer": True}]],
}
BEAM = {
    "chat": "100K/7",
    "messages": [
        {"id": 0, "role": "user", "time": "March-15-2024", "batch": 1, "content": "I grow kale."},
        {"id": 1, "role": "assistant", "time": None, "batch": 1, "content": "Since when?"},
        {"id": 2, "role": "user", "time": "April-02-2024", "batch": 2, "content": "Now it is chard."},
    ],
    "questions": {},
}
REALTALK = {
    "name": {"speaker_1": "Ana Roy", "speaker_2": "Ben"},
    "session_2": [{"clean_text": "Back again.", "speaker": "Ben", "date_time": "30.12.2023, 08:05", "dia_id": "D2:1"}],
    "session_1_date_time": "29.12.2023, 19:00:00",
    "session_1": [
        {"clean_text": "Hello", "speaker": "Ana Roy", "date_time": "29.12.2023, 19:00:41", "dia_id": "D1:1"},
        {"clean_text": "", "speaker": "Ben", "blip_caption": "a red door", "dia_id": "D1:2"},
        {"clean_text": " ", "speaker": "Ben", "dia_id": "D1:3"},
    ],
    "qa": [],
}
CHAT = [
    {
        "role": "user",
        "content": "Hello",
        "timestamp": "2026-03-04T09:30:00Z",
        "speaker": "Ana",
        "id": "m1",
        "session": "s1",
    },
    {"role": "assistant", "content": "Hi", "timestamp": 1772616660},
    {"role": "system", "content": "You are kind."},
    {"role": "tool", "content": "rain, 4 degrees"},
    {"role": "user", "content": "  "},
]
EXPORTED = {
    "format": FORMAT,
    "content": "oslo",
    "key": "home_city",
    "kind": "long_term",
    "status": "active",
    "source": {"origin": "user_stated"},
    "occurred_at": "2026-03-04T09:30:00+00:00",
}


def write(folder: Path, data: bytes | str, name: str = "talk") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def lines(values: list[Any]) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def read(path: Path, **options: Any) -> list[Item]:
    return list(read_conversation(path, **options))


def messages(items: list[Item]) -> list[Message]:
    return [item.content for item in items if isinstance(item.content, Message)]


def test_chat_lines(tmp_path: Path) -> None:
    items = read(write(tmp_path, lines(CHAT)))
    user, assistant, tool = messages(items)

    assert [item.skipped for item in items] == [None, None, "system_message", None, "empty"]
    assert [item.place for item in items] == [f"line {number}" for number in range(1, 6)]
    assert (user.content, user.speaker, user.message_id, user.session) == ("Hello", "Ana", "m1", "s1")
    assert user.sent_at == datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
    assert assistant.sent_at == datetime(2026, 3, 4, 9, 31, tzinfo=UTC)
    assert assistant.session == "talk"
    origins = [message.origin for message in (user, assistant, tool)]
    assert origins == [Origin.IMPORT, Origin.AGENT_INFERRED, Origin.TOOL_OUTPUT]


@pytest.mark.parametrize("indent", [None, 2], ids=["one line", "pretty"])
def test_a_list_of_messages_in_one_document(tmp_path: Path, indent: int | None) -> None:
    assert [message.content for message in messages(read(write(tmp_path, json.dumps(CHAT, indent=indent))))] == [
        "Hello",
        "Hi",
        "rain, 4 degrees",
    ]


def test_openai_messages_with_parts(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "a cat"},
    ]
    talk = {"messages": [{"role": "user", "content": parts}, {"role": "assistant", "content": None}]}
    for data in (json.dumps(talk), json.dumps(talk, indent=1), lines([talk, talk])):
        items = read(write(tmp_path, data))
        assert messages(items)[0].content == "Look:\na cat"
        assert items[1].skipped == "empty"
    assert [item.conversation for item in items] == ["talk", "talk", "talk-2", "talk-2"]


@pytest.mark.parametrize("wrapped", [True, False], ids=["list", "single"])
def test_locomo(tmp_path: Path, wrapped: bool) -> None:
    items = read(write(tmp_path, json.dumps([LOCOMO] if wrapped else LOCOMO)), file_format="locomo")
    ana, ben = messages(items)

    assert ana.content == "Look at this. [shares a picture: a dog in a boat]"
    assert (ana.role, ben.role) == ("user", "participant")
    assert (ana.message_id, ana.session, ana.speaker) == ("D2:1", "conv-1:session_2", "Ana")
    assert ana.sent_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert ben.sent_at == datetime(2024, 1, 1, 0, 5, tzinfo=UTC)
    assert [item.skipped for item in items] == [None, "empty", None]


@pytest.mark.parametrize("lines_of_values", ['    "a"\n', "    {}\n", '    {"role": "x"}\n', "    3\n"])
def test_an_indented_document_with_values_on_lines_of_their_own_is_one(tmp_path: Path, lines_of_values: str) -> None:
    text = '{\n  "messages": [{"role": "user", "content": "Hello"}],\n  "tags": [\n' + lines_of_values + "  ]\n}\n"
    (said,) = messages(read(write(tmp_path, text)))
    assert said.content == "Hello"


def test_a_line_larger_than_the_limit_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("mnemic.importers.file_readers.records"), "MAX_LINE_BYTES", 200)
    large = {"role": "user", "content": "a" * 2_000}  # ten times as much
    items = read(write(tmp_path, lines([large, {"role": "user", "content": "I live in Oslo."}])))
    assert [one.problem.reason if one.problem else None for one in items] == ["invalid_input:file:too_large", None]


def test_what_never_ends_is_refused_after_its_first_megabytes(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as zeros:
        read(Path("/dev/zero"))
    assert zeros.value.reason == "invalid_input:file:too_large"
    endless = tmp_path / "talk.txt"
    endless.write_bytes(b"y" * (17 * 1024 * 1024))
    for name in ("auto", "markdown", "transcript", "chat"):
        with pytest.raises(InvalidInput) as one:
            list(read_conversation(endless, name))
        assert one.value.reason == "invalid_input:file:too_large"


def test_a_document_of_very_many_messages(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": f"Message {number}."} for number in range(21_000)]
    path = tmp_path / "long.json"
    path.write_text(json.dumps([LONGMEMEVAL | {"haystack_sessions": [turns]}]))
    assert sum(1 for item in read_conversation(path, "longmemeval") if item.content is not None) == 21_000


def test_longmemeval(tmp_path: Path) -> None:
    (item,) = read(write(tmp_path, json.dumps([LONGMEMEVAL])), file_format="longmemeval")
    (message,) = messages([item])

    assert item.conversation == "q7"
    assert (message.content, message.session, message.message_id) == ("I moved to Bergen.", "s1", "s1:1")
    assert message.sent_at == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)


def test_beam(tmp_path: Path) -> None:
    found = read(write(tmp_path, lines([BEAM])), file_format="beam")

    assert [message.message_id for message in messages(found)] == ["0", "1", "2"]
    assert [message.role for message in messages(found)] == ["user", "assistant", "user"]
    assert {message.session for message in messages(found)} == {"100K/7:1", "100K/7:2"}
    march, april = datetime(2024, 3, 15, tzinfo=UTC), datetime(2024, 4, 2, tzinfo=UTC)
    assert [message.sent_at for message in messages(found)] == [march, march, april]


def test_realtalk(tmp_path: Path) -> None:
    found = read(write(tmp_path, json.dumps(REALTALK, indent=1)), file_format="realtalk")

    assert [message.message_id for message in messages(found)] == ["D1:1", "D1:2", "D2:1"]
    assert [message.role for message in messages(found)] == ["user", "participant", "participant"]
    assert messages(found)[1].content == "[shares a picture: a red door]"
    assert [message.sent_at for message in messages(found)] == [
        datetime(2023, 12, 29, 19, 0, 41, tzinfo=UTC),
        datetime(2023, 12, 29, 19, 0, tzinfo=UTC),
        datetime(2023, 12, 30, 8, 5, tzinfo=UTC),
    ]
    assert [item.skipped for item in found if item.content is None] == ["empty"]


def test_an_export_gives_candidates_of_what_was_active(tmp_path: Path) -> None:
    items = read(write(tmp_path, lines([EXPORTED, {**EXPORTED, "status": "superseded"}])))
    candidate = items[0].content

    assert isinstance(candidate, Candidate)
    assert (candidate.content, candidate.key, candidate.kind) == ("oslo", "home_city", Kind.LONG_TERM)
    assert candidate.source.origin is Origin.IMPORT
    assert items[1].skipped == "status_superseded"


def test_gzip_is_told_from_the_bytes(tmp_path: Path) -> None:
    path = write(tmp_path, gzip.compress(lines(CHAT).encode()), "talk.txt")
    assert read(path) == read(write(tmp_path, lines(CHAT), "talk.json"))


def test_a_byte_order_mark_and_blank_lines_do_no_harm(tmp_path: Path) -> None:
    items = read(write(tmp_path, b"\xef\xbb\xbf\n\n" + lines(CHAT).encode()))
    assert items[0].place == "line 3"


def test_one_conversation_of_several(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps([LOCOMO, {**LOCOMO, "sample_id": "conv-2"}]))
    assert {item.conversation for item in read(path, file_format="locomo", conversation="conv-2")} == {"conv-2"}
    with pytest.raises(InvalidInput, match="conversation") as caught:
        read(path, file_format="locomo", conversation="conv-3")
    assert caught.value.hint == "the file has conv-1, conv-2"


def test_a_chat_without_names_takes_the_given_one(tmp_path: Path) -> None:
    assert {item.conversation for item in read(write(tmp_path, lines(CHAT)), conversation="mine")} == {"mine"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{not json", "invalid_input:file:json"),
        ('{"role": "user", "content": NaN}', "invalid_input:file:json"),
        ('{"role": "user", "role": "user", "content": "x"}', "invalid_input:file:json"),
        ('{"role": "pope", "content": "x"}', "invalid_input:message:role"),
        ('{"role": 3, "content": "x"}', "invalid_input:message:role"),
        ('{"role": "user", "content": 3}', "invalid_input:message:content"),
        ('{"role": "user", "content": [{"type": "text", "text": 3}]}', "invalid_input:message:content"),
        ('{"role": [], "content": "x"}', "invalid_input:message:role"),
        ('{"role": "user", "content": "x", "timestamp": "yesterday"}', "invalid_input:message:timestamp"),
        ('{"role": "user", "content": "x", "timestamp": true}', "invalid_input:message:timestamp"),
        ('{"role": "user", "content": "x", "timestamp": 1e300}', "invalid_input:message:timestamp"),
        ('{"role": "user", "content": "x", "speaker": []}', "invalid_input:message:speaker"),
        ('["user", "x"]', "invalid_input:message"),
    ],
)
def test_a_bad_line_is_named_and_stops_no_other(tmp_path: Path, line: str, reason: str) -> None:
    items = read(write(tmp_path, lines(CHAT[:1]) + line + "\n" + lines(CHAT[1:2])))

    assert [message.content for message in messages(items)] == ["Hello", "Hi"]
    assert items[1].place == "line 2"
    assert items[1].problem is not None
    assert items[1].problem.reason == reason


def test_a_bad_first_line_does_not_hide_the_format(tmp_path: Path) -> None:
    items = read(write(tmp_path, "{oops\n" + lines(CHAT[:2])))
    assert [item.problem is None for item in items] == [False, True, True]


def test_a_line_in_another_encoding(tmp_path: Path) -> None:
    bad = b'{"role": "user", "content": "caf\xe9"}\n'
    items = read(write(tmp_path, lines(CHAT[:1]).encode() + bad))
    assert items[1].problem is not None
    assert items[1].problem.hint == "line 2: not UTF-8"


@pytest.mark.parametrize(
    ("data", "reason", "hint"),
    [
        (b"", "file:empty", "is empty"),
        (b" \n\n", "file:empty", "is empty"),
        (b"[]", "file:empty", "no conversation"),
        (b"plain prose\n", "file:json", "line 1"),
        (b'[\n{"role": "user",\n', "file:json", "line 3"),
        (b'\n{\n "a": 1,\n', "file:json", "line 4"),
        (b'[{"role": "user", "content": "caf\xe9"}]', "file:encoding", "line 1"),
        ('{"role": "user"}'.encode("utf-16"), "file:encoding", "UTF-16"),
        (b'{"a": 1}\n{"b": 2}\n', "file:format", "line 1"),
        (b"[" * 100 + b"]" * 100, "file:json", "levels"),
        (gzip.compress(lines(CHAT).encode())[:-20], "file:gzip", "damaged"),
        (b"\x1f\x8bnot gzip at all", "file:gzip", "damaged"),
        (bytes(range(256)), "file:json", "line 1"),
    ],
)
def test_a_file_that_is_no_conversation(tmp_path: Path, data: bytes, reason: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(write(tmp_path, data))
    assert caught.value.reason == f"invalid_input:{reason}"
    assert hint in str(caught.value.hint)


def test_no_file(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "absent", "missing"), (tmp_path, "directory"), (Path("a\0b"), "unreadable")):
        with pytest.raises(InvalidInput) as caught:
            read(path)
        assert caught.value.reason == f"invalid_input:file:{reason}"


def test_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="invalid_input:format"):
        read(write(tmp_path, lines(CHAT)), file_format="xlsx")


@pytest.mark.parametrize("file_format", ["locomo", "longmemeval", "beam", "realtalk", "mnemic"])
def test_a_format_that_is_forced_and_wrong_is_a_problem_in_each_place(tmp_path: Path, file_format: str) -> None:
    items = read(write(tmp_path, lines(CHAT[:2])), file_format=file_format)
    assert all(item.problem is not None for item in items)
    assert len(items) == 2


def test_lines_are_read_lazily(tmp_path: Path) -> None:
    found = read_conversation(write(tmp_path, lines(CHAT * 100) + "{bad"))
    assert next(found).content is not None


@pytest.mark.parametrize(
    "text", ["25:00 pm on 8 May, 2023", "1:56 pm on 8 Mai, 2023", "2023/13/20 (Sat) 02:21", "", "NaN"]
)
def test_a_moment_that_is_none(text: str) -> None:
    with pytest.raises(InvalidInput, match="invalid_input:when"):
        moment(text, "when")


def test_a_day_in_many_spellings() -> None:
    EXAMPLES.assert_right(
        lambda text: moment(text, "when") == datetime(2026, 3, 4, tzinfo=UTC), "a_day_in_many_spellings"
    )


@given(st.datetimes(timezones=st.timezones(), min_value=datetime(1900, 1, 2), max_value=datetime(2200, 1, 1)))  # noqa: DTZ001
def test_iso_times_come_back_as_they_were(when: datetime) -> None:
    # The written time counts: a local time that a clock change skipped is restored as the moment it spells.
    assert moment(when.isoformat(), "when") == datetime.fromisoformat(when.isoformat())


def test_types_that_are_no_words_do_no_harm(tmp_path: Path) -> None:
    (part,) = read(write(tmp_path, lines([{"role": "user", "content": [{"type": [], "text": "x"}]}])))
    turn = {**LONGMEMEVAL, "haystack_sessions": [[{"role": [], "content": "x"}]]}
    (spoken,) = read(write(tmp_path, json.dumps([turn])), file_format="longmemeval")
    assert part.skipped == "empty"
    assert spoken.problem is not None


@given(st.binary(max_size=200))
def test_whatever_the_bytes_only_typed_errors_come_out(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz"
    path.write_bytes(data)
    try:
        items = read(path)
    except InvalidInput:
        return
    assert all((item.content is None) != (item.problem is None and item.skipped is None) for item in items)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["role", "content", "messages", "conversation", "session_1", "haystack_sessions", "format"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    )
)
def test_whatever_the_json_only_typed_errors_come_out(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.json"
    path.write_text(json.dumps(value))
    for file_format in formats():
        with suppress(InvalidInput):
            assert all(item.place for item in read(path, file_format=file_format))


def test_a_chat_with_a_strange_name_does_not_stop_the_next(tmp_path: Path) -> None:
    said = [{"id": 1, "role": "user", "batch": 1, "content": "I moved to Bergen."}]
    chats = [{"chat": ["x"], "messages": said}, {"chat": "fine", "messages": said}]
    first, second = read(write(tmp_path, lines(chats)), file_format="beam")
    assert first.problem is not None
    assert isinstance(second.content, Message)


def test_speakers_with_strange_names_are_all_users(tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps({**REALTALK, "name": {"speaker_1": ["x"]}}), encoding="utf-8")
    messages = [item.content for item in read(tmp_path / "chat.json", file_format="realtalk")]
    assert {one.role for one in messages if isinstance(one, Message)} == {"user"}


def test_a_strangers_importer_takes_no_file_that_does_not_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = Importer(items=lambda found, name: iter(()), recognises=lambda value: True)
    offered = SimpleNamespace(name="stranger", value="stranger:IMPORTER", module="stranger", load=lambda: taken)
    monkeypatch.setattr(plugins, "_entry_points", lambda name="stranger", **_: [offered] * (name == "stranger"))
    path = write(tmp_path, lines(CHAT))
    assert len(messages(read(path))) == 3
    assert read(path, file_format="stranger") == []
