"""A picture, a sound or a file in a message is never lost in silence: that it was sent is remembered, by its hash."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest

from mnemic import AsyncMemoryManager, MemoryEngine
from mnemic.inject.attachments import MOST, attachment_note, split_attachments
from mnemic.inject.messages import user_text_of
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Status

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
