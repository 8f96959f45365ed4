"""The text that is put into a model's input: how it is inserted, counted and escaped, and what files become."""

from __future__ import annotations

import asyncio
import base64
import copy
import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import AsyncMemoryManager, MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.inject import InjectionContext, TextInjector
from mnemic.inject.attachments import MOST, attachment_note, split_attachments
from mnemic.inject.messages import default_query, fold, is_user_turn, role_of, user_text_of
from mnemic.inject.token_count import estimated_tokens
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Status
from tests.unit.inject.shapes import ANTHROPIC, BEDROCK, OPENAI, RESPONSES, SHAPES, texts

ASK, TOOL = BEDROCK["ask"], BEDROCK["tool"]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
async def test_the_text_is_in_one_call_only(shape: dict[str, Any]) -> None:
    before = copy.deepcopy(shape["ask"])
    injector = TextInjector(lambda context: f"<n>{len(context.messages)}</n>")
    done = await injector.inject(shape["ask"])
    assert f"<n>{len(before)}</n>" in texts(done.messages[-1])
    assert shape["ask"] == before
    assert injector.counts == {"injected": 1}


async def test_it_may_be_written_asynchronously_and_see_the_state() -> None:
    async def render(context: InjectionContext) -> str:
        return str(context.state)

    assert (await TextInjector(render, placement="append").inject(ASK, state="the state")).trailing == 1
    assert (await TextInjector(render).inject(ASK, state="the state")).text == "the state"


async def test_nothing_is_injected_where_there_is_nothing() -> None:
    for nothing in (None, "", " \n"):
        done = await TextInjector(lambda context, nothing=nothing: nothing).inject(ASK)
        assert (done.messages, done.injected, done.degraded, done.reason) == (ASK, False, False, "empty_block")
    assert (await TextInjector(lambda context: "x").inject(TOOL)).reason == "not_triggered"
    only: Any = [{"role": "assistant", "content": [{"text": "hi"}]}]
    assert (await TextInjector(lambda context: "x", trigger="everyTurn").inject(only)).reason == "no_user_message"


async def test_what_goes_wrong_is_told() -> None:
    async def never(context: InjectionContext) -> str:
        await asyncio.Event().wait()
        return ""

    broken: Any = [{"role": "user"}]
    wrong = TextInjector(lambda context: 1 / 0)  # type: ignore[arg-type,return-value]
    assert (await wrong.inject(ASK)).reason == "render:ZeroDivisionError"
    assert (await TextInjector(never, timeout=timedelta(milliseconds=10)).inject(ASK)).reason == "render:timeout"
    done = await TextInjector(lambda context: "x", trigger="everyTurn").inject(broken)
    assert (done.messages, done.degraded, done.reason) == (broken, True, "messages:invalid_input:message")
    assert wrong.counts == {"degraded:render:ZeroDivisionError": 1}


COUNTED = [
    ("I prefer aisle seats and morning flights.", 8),
    ("My sister Hana lives in Sapporo and is allergic to peanuts.", 15),
    ("Order 7781-AB-99 of 2026-03-12, 1,299.00 EUR, tracking 1Z999AA10123456784.", 36),
    ("Orders: 48213377, 48213378, 48213379, 48213380, 48213381, 48213382, 48213383.", 37),
    ("5c96fb17-42f4-15c7-d3ed-68d41b3fb630", 24),
    ("389f2f770409cac3bed20c573d4be14812eec8ec", 21),
    ("bf:09:b1:30:d8:5b", 12),
    ("2024-01-14T19:09:00+02:00, 10.7.2030, 7 Mar 2026, 18:28", 36),
    ("$892.05, €5.616,75, 3,707.50 USD, -45.9%", 25),
    ("https://example.com/a/b?order=8271&ref=Zk3", 17),
    ("Ich wohne seit März in Köln und fahre mit dem Fahrrad zur Arbeit.", 22),
    ("Je préfère les sièges côté couloir.", 12),
    ("Я живу в Санкт-Петербурге и не ем мясо.", 26),
    ("أنا أعيش في القاهرة وأحب القهوة.", 24),
    ("मैं दिल्ली में रहता हूँ और शाकाहारी हूँ।", 43),
    ("私は大阪に住んでいて、窓側の席が好きです。", 25),
    ("我住在上海，对花生过敏。", 15),
    ("저는 부산에 살고 채식주의자입니다.", 19),
    ("😀👍🏽🎉👨‍👩‍👧‍👦 ok", 30),
    ('{"key": "seat", "value": "aisle", "scope": "user", "confidence": 0.8}', 27),
    ("snake_case_name and CamelCaseName, NASA, HTTPServerError", 13),
    ("[\"`|<%<'!|:*]:},=.#%,[|+@*/&}~='[~|;[<", 29),
    ("   indented\n\n\n  lines\t\twith tabs", 9),
]
"""Texts, and the tokens that OpenAI's vocabularies make of them; of the two, the larger figure."""


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_no_text_costs_more_than_its_estimate(text: str, tokens: int) -> None:
    assert tokens <= estimated_tokens(text) <= 3 * tokens


def test_prose_is_not_priced_like_random_letters() -> None:
    assert estimated_tokens("the information about the weather in the mountains") <= 12
    assert estimated_tokens("xqvbk zzkqw jxvqp") >= 12


def test_nothing_costs_nothing() -> None:
    assert estimated_tokens("") == 0
    assert estimated_tokens(" ") == 0


@pytest.mark.parametrize(("text", "least"), [("٣٤٥", 3), ("龘", 3), ("的", 1), ("\ud800", 3), ("ᚠ", 3)])
def test_what_is_rare_costs_up_to_its_bytes(text: str, least: int) -> None:
    assert estimated_tokens(text) >= least


each_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


@dataclass(frozen=True)
class Said:
    """A message object of a framework."""

    type: str
    content: Any


@each_shape
def test_auto_goes_in_front_of_a_user_ask(shape: dict[str, Any]) -> None:
    folded = fold(shape["ask"], "<m/>")
    said = texts(folded.messages[-1])
    assert said.startswith("<m/>")
    assert said.endswith("my seat?")
    assert (folded.front, folded.trailing) == (True, 0)


@each_shape
def test_append_goes_behind_it_and_counts_as_trailing(shape: dict[str, Any]) -> None:
    folded = fold(shape["ask"], "<m/>", placement="append")
    assert texts(folded.messages[-1]).startswith("my seat?")
    assert texts(folded.messages[-1]).endswith("\n\n<m/>")
    assert (folded.front, folded.trailing) == (False, 1)


@each_shape
def test_both_placements_go_behind_a_tool_result(shape: dict[str, Any]) -> None:
    for placement in ("auto", "append"):
        folded = fold(shape["tool"], "<m/>", placement=placement)
        assert folded.at is not None
        assert texts(folded.messages[folded.at]).endswith("<m/>")
        first = folded.messages[folded.at]["content"][0]
        assert "<m/>" not in str(first)


@each_shape
@pytest.mark.parametrize("turn", ["ask", "tool"])
def test_only_one_message_is_new_and_none_is_changed(shape: dict[str, Any], turn: str) -> None:
    given_messages = shape[turn]
    before = copy.deepcopy(given_messages)
    folded = fold(given_messages, "<m/>")
    assert given_messages == before
    same = [new is old for new, old in zip(folded.messages, given_messages, strict=True)]
    assert same.count(False) == 1
    assert same.index(False) == folded.at


def test_the_block_has_the_style_of_its_neighbours() -> None:
    assert fold(BEDROCK["tool"], "x").messages[-1]["content"][-1] == {"text": "x"}
    assert fold(ANTHROPIC["tool"], "x").messages[-1]["content"][-1] == {"type": "text", "text": "x"}
    assert fold(RESPONSES["ask"], "x").messages[-1]["content"][0] == {"type": "input_text", "text": "x\n\n"}
    assert fold(OPENAI["ask"], "x").messages[-1]["content"] == "x\n\nmy seat?"
    bare = [{"role": "user", "content": [{"image": {}}]}]
    assert fold(bare, "x").messages[0]["content"] == [{"text": "x"}, {"image": {}}]


def test_a_message_object_is_replaced_by_another() -> None:
    said = Said("human", ["my seat?"])
    folded = fold([said, Said("tool", "ok")], "x")
    assert said.content == ["my seat?"]
    assert folded.messages[0] == Said("human", ["my seat?", {"type": "text", "text": "\n\nx"}])
    assert folded.trailing == 0


def test_without_a_user_message_the_given_list_comes_back() -> None:
    given_messages = [{"role": "assistant", "content": [{"text": "hi"}]}]
    folded = fold(given_messages, "x")
    assert folded.messages is given_messages
    assert (folded.at, folded.trailing) == (None, 0)


def test_no_separator_in_front_of_text_that_brings_its_own() -> None:
    messages = [{"role": "user", "content": [{"text": "q"}]}]
    assert fold(messages, "\nx", placement="append").messages[0]["content"][-1] == {"text": "\nx"}
    assert fold(messages, "x", separator="").messages[0]["content"][0] == {"text": "x"}


@pytest.mark.parametrize("broken", [{"role": "user"}, {"content": "x"}, 7, {"role": "user", "content": 5}])
def test_what_is_no_message_is_refused_with_its_reason(broken: Any) -> None:
    with pytest.raises(InvalidInput, match="invalid_input:message"):
        fold([broken], "x")


def test_an_object_that_cannot_be_replaced_is_refused() -> None:
    class Fixed:
        type = "human"
        content = "q"

    with pytest.raises(InvalidInput):
        fold([Fixed()], "x")


def test_whose_turn_it_is() -> None:
    for shape in SHAPES.values():
        assert is_user_turn(shape["ask"])
        assert not is_user_turn(shape["tool"])
    assert not is_user_turn([])
    assert role_of({"role": "developer"}) == "system"


def test_the_adaptive_query() -> None:
    for shape in (BEDROCK, ANTHROPIC, RESPONSES):
        assert default_query(shape["ask"]) == "my seat?"
    thinking = [*BEDROCK["tool"]]
    thinking[1] = {"role": "assistant", "content": [{"text": "I look it up"}, *thinking[1]["content"]]}
    assert default_query(thinking) == "I look it up"
    assert default_query(BEDROCK["tool"]) == "my seat?"
    assert default_query([]) is None


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=20)), max_size=6),
    st.text(min_size=1, max_size=20),
    st.sampled_from(["auto", "append"]),
)
def test_everything_but_the_text_is_kept(said: list[tuple[str, str]], text: str, placement: Any) -> None:
    messages = [{"role": role, "content": [{"text": words}]} for role, words in said]
    before = copy.deepcopy(messages)
    folded = fold(messages, text, placement=placement)
    assert messages == before
    if folded.at is None:
        assert all(role != "user" for role, _ in said)
        return
    kept = [block for block in folded.messages[folded.at]["content"] if block in before[folded.at]["content"]]
    assert before[folded.at]["content"][0] in kept
    assert len(folded.messages[folded.at]["content"]) == 2
    assert [m for i, m in enumerate(folded.messages) if i != folded.at] == [
        m for i, m in enumerate(before) if i != folded.at
    ]


BYTES = b"\x89PNG\r\n\x1a\n"
DATA, DIGEST = base64.b64encode(BYTES).decode(), hashlib.sha256(BYTES).hexdigest()[:32]
PNG = f"[attached image: image/png, sha256 {DIGEST}]"
BLOCKS: dict[str, tuple[dict[str, Any], str]] = {
    "openai image": ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}, PNG),
    "openai image by address": (
        {"type": "image_url", "image_url": {"url": "https://ana:key@example.org/a.png?token=s3cret#x"}},
        "[attached image: https://example.org/a.png]",
    ),
    "openai responses image": ({"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"}, PNG),
    "openai file": (
        {"type": "file", "file": {"filename": "lease.pdf", "file_data": f"data:application/pdf;base64,{DATA}"}},
        f"[attached file: lease.pdf, application/pdf, sha256 {DIGEST}]",
    ),
    "openai file by id": ({"type": "file", "file": {"file_id": "file-9"}}, "[attached file: file-9]"),
    "openai audio": (
        {"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}},
        f"[attached recording: wav, sha256 {DIGEST}]",
    ),
    "anthropic image": (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
        PNG,
    ),
    "anthropic document": (
        {"type": "document", "title": "Lease", "source": {"type": "url", "url": "https://example.org/lease.pdf"}},
        "[attached file: Lease, https://example.org/lease.pdf]",
    ),
    "gemini": ({"inline_data": {"mime_type": "image/png", "data": DATA}}, PNG),
    "langchain": ({"type": "image", "base64": DATA, "mime_type": "image/png"}, PNG),
    "bedrock": (
        {"image": {"format": "png", "source": {"bytes": BYTES}}},
        f"[attached image: png, sha256 {DIGEST}]",
    ),
    "a name that looks like a note": (
        {"type": "file", "file": {"filename": "a]\n[attached image", "file_id": "1"}},
        "[attached file: a attached image, 1]",
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_of_each_protocol_is_a_line_without_its_bytes(name: str) -> None:
    block, note = BLOCKS[name]
    assert attachment_note(block) == note
    assert DATA not in note
    text, [attached] = split_attachments(f"Look at this.\n{note}")
    assert (text, attached.digest) == ("Look at this.", DIGEST if "sha256" in note else None)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": "image"},
        {"type": "tool_use", "name": "image", "input": {"url": "x"}},
        {"type": "tool_result", "content": [{"type": "image", "source": {"data": DATA}}]},
        {"type": "thinking", "thinking": "an image"},
        {"cachePoint": {"type": "default"}},
        "a text",
    ],
)
def test_other_blocks_are_none(block: Any) -> None:
    assert attachment_note(block) is None


def content(words: str | None = "This is my new dog Rex.", *blocks: dict[str, Any]) -> list[dict[str, Any]]:
    blocks = blocks or (BLOCKS["openai image"][0],)
    return [*([{"type": "text", "text": words}] if words else []), *blocks]


@pytest.fixture
async def memory() -> Any:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    async with AsyncMemoryManager("ana", engine=engine) as opened:
        yield opened


async def test_a_picture_is_remembered_with_the_words_it_came_with(memory: AsyncMemoryManager) -> None:
    for _ in range(2):  # a second delivery adds nothing
        await memory.remember([{"role": "user", "content": content()}])
    [sent] = [one for one in await memory.list() if one.category == "attachment"]
    assert sent.content == f'Sent an image (image/png, sha256 {DIGEST}): "This is my new dog Rex."'
    assert (sent.source.ref, sent.status) == (f"sha256:{DIGEST}", Status.ACTIVE)


async def test_a_file_without_a_word_is_remembered_as_sent(memory: AsyncMemoryManager) -> None:
    receipts = await memory.remember([{"role": "user", "content": content(None, BLOCKS["openai file"][0])}])
    assert len(receipts) == 1
    assert (await memory.list())[0].content == f"Sent a file (lease.pdf, application/pdf, sha256 {DIGEST})"


async def test_what_is_said_beside_a_picture_is_read_as_ever(memory: AsyncMemoryManager) -> None:
    await memory.remember([{"role": "user", "content": content("I'm allergic to peanuts.")}])
    assert {one.content.split(" (")[0] for one in await memory.list()} == {"I'm allergic to peanuts.", "Sent an image"}


async def test_a_recorded_message_and_a_captured_batch_say_that_a_file_was_there(memory: AsyncMemoryManager) -> None:
    await memory.record([{"role": "user", "content": content()}])
    [recorded] = await memory.list()
    assert recorded.content == f"This is my new dog Rex.\n{PNG}"
    [report] = await memory.capture_many([{"role": "user", "content": content("Hello!")}])
    assert report is not None
    assert len(report.receipts) == 1


async def test_a_picture_of_an_assistant_is_not_said_to_be_sent_by_the_user(memory: AsyncMemoryManager) -> None:
    await memory.remember([{"role": "assistant", "content": content("Here is a dog.")}])
    assert await memory.list() == []


def test_a_message_of_a_framework_is_read_the_same_way() -> None:
    message = {"role": "user", "content": content("Look!", BLOCKS["bedrock"][0])}
    assert user_text_of(message) == f"Look!\n{BLOCKS['bedrock'][1]}"


def test_very_many_files_are_counted() -> None:
    many = content("All of them.", *(BLOCKS["openai file by id"][0] for _ in range(MOST + 5)))
    text, attached = split_attachments(user_text_of({"role": "user", "content": many}))
    assert (text, len(attached), attached[-1].known) == ("All of them.", MOST, "and 6 more files")
