"""With a language model that can read it, a picture, a recording or a file becomes a memory of what is in it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mnemic import AsyncMemoryManager, MemoryManager
from mnemic.config import Settings
from mnemic.errors import InvalidInput
from mnemic.types import FILE_BYTES, MAX_FILE_BYTES, Candidate, Origin, Source, Trust
from tests.scripted_model import Fault, ModelRequest, Reply, Scripted, ScriptedModelServer
from tests.service import run

PNG, WAV, PDF = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, b"RIFF$\x00\x00\x00WAVE", b"%PDF-1.7"
SHOWS = "A brown dog with a red collar; the tag says Rex."
MODELS = {"openai": "gpt-4.1-mini", "anthropic": "anthropic:claude-sonnet-5"}


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def image(content: bytes = PNG) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64(content)}"}}


def said(words: str, *parts: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [*([{"type": "text", "text": words}] if words else []), *parts]}


def is_description(request: ModelRequest) -> bool:
    return request.system.startswith("A user sent a file")


def describing(request: ModelRequest) -> Scripted:
    """Describe a file; find nothing in the words."""
    return {"shows": SHOWS} if is_description(request) else {"items": []}


def holds(folder: Path, content: bytes) -> bool:
    return any(content in path.read_bytes() for path in folder.glob("a.db*"))


@asynccontextmanager
async def asked(
    script: Any = describing, *, model: str = "openai", store: str = "memory:", **settings: Any
) -> AsyncIterator[tuple[AsyncMemoryManager, ScriptedModelServer]]:
    with ScriptedModelServer(script) as server:
        url = server.base_url if model == "openai" else server.base_url.removesuffix("/v1")
        given = Settings(store=store, model=MODELS[model], model_url=url, api_key="key", **settings)
        async with AsyncMemoryManager("ana", settings=given) as memory:
            yield memory, server


def descriptions(server: ScriptedModelServer) -> list[ModelRequest]:
    return [one for one in server.requests if is_description(one)]


@pytest.mark.parametrize("verb", ["capture", "remember"])
@pytest.mark.parametrize("model", MODELS)
async def test_a_picture_becomes_a_memory_of_what_it_shows(model: str, verb: str) -> None:
    async with asked(model=model) as (memory, server):
        message = said("This is my new dog.", image())
        await (memory.capture(message) if verb == "capture" else memory.remember([message]))
        (kept,) = [one for one in await memory.list() if one.category == "attachment"]
        found = await memory.search("which collar does the dog have?")
    (sent,) = descriptions(server)
    assert b64(PNG) in json.dumps(sent.body["messages"])
    assert kept.content == f'Sent an image (image/png, sha256 {digest(PNG)}): "This is my new dog."\nIt shows: {SHOWS}'
    assert (kept.source.ref, kept.source.origin) == (f"sha256:{digest(PNG)}", Origin.AGENT_INFERRED)
    assert kept.memory_id in [hit.id for hit in found]
    assert FILE_BYTES not in kept.data


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (image(), {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64(PNG)}"}}),
        (
            {"type": "input_audio", "input_audio": {"data": b64(WAV), "format": "wav"}},
            {"type": "input_audio", "input_audio": {"data": b64(WAV), "format": "wav"}},
        ),
        (
            {"type": "document", "title": "Lease", "source": {"media_type": "application/pdf", "data": b64(PDF)}},
            {"type": "file", "file": {"filename": "Lease", "file_data": f"data:application/pdf;base64,{b64(PDF)}"}},
        ),
    ],
    ids=["image", "recording", "document"],
)
async def test_each_kind_is_sent_in_the_part_that_openais_protocol_has_for_it(
    block: dict[str, Any], part: dict[str, Any]
) -> None:
    async with asked() as (memory, server):
        await memory.capture(said("", block))
        (kept,) = await memory.list()
    assert descriptions(server)[0].body["messages"][-1]["content"][0] == part
    assert kept.content.endswith(SHOWS)


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        (image(), "image"),
        ({"type": "file", "file": {"file_data": f"data:application/pdf;base64,{b64(PDF)}"}}, "document"),
    ],
)
async def test_a_part_in_anthropics_protocol(block: dict[str, Any], kind: str) -> None:
    async with asked(model="anthropic") as (memory, server):
        await memory.capture(said("", block))
    part = descriptions(server)[0].body["messages"][-1]["content"][0]
    assert (part["type"], part["source"]["type"]) == (kind, "base64")


async def test_the_text_of_a_file_is_read_without_what_redaction_removes() -> None:
    note = b"Rent 900 a month. Pay to GB33BUKB20201555555555."
    block = {"type": "file", "file": {"filename": "lease.txt", "file_data": f"data:text/plain;base64,{b64(note)}"}}
    async with asked() as (memory, server):
        await memory.capture(said("My lease, IBAN DE89370400440532013000.", block))
    (sent,) = descriptions(server)
    assert "Rent 900 a month" in sent.user
    assert "GB33BUKB" not in sent.user
    assert "DE893704" not in sent.user


@pytest.mark.parametrize(
    "answer",
    [
        Reply.status(400),
        Reply.status(500),
        Reply.broken(Fault.RESET),
        Reply.broken(Fault.CONTENT_FILTER),
        "I cannot look at pictures.",
        {"shows": 7},
        {"shows": ""},
        {"else": "x"},
    ],
)
@pytest.mark.parametrize("model", MODELS)
async def test_a_model_that_refuses_or_fails_leaves_the_note(model: str, answer: Scripted) -> None:
    def script(request: ModelRequest) -> Scripted:
        return answer if is_description(request) else {"items": []}

    async with asked(script, model=model) as (memory, _):
        report = await memory.capture(said("This is Rex.", image()))
        (kept,) = [one for one in await memory.list() if one.category == "attachment"]
    assert kept.content == f'Sent an image (image/png, sha256 {digest(PNG)}): "This is Rex."'
    assert kept.source.origin is Origin.USER_STATED
    assert (answer == {"shows": ""}) != any(one.startswith("extract:model: llm_") for one in report.errors)


async def test_a_model_that_takes_no_pictures_is_sent_one_once() -> None:
    def script(request: ModelRequest) -> Scripted:
        return Reply.status(400) if is_description(request) else {"items": []}

    async with asked(script) as (memory, server):
        await memory.capture(said("This is Rex.", image()))
        refused = len(descriptions(server))
        await memory.capture(said("And this is Mia.", image(b"other")))
        assert len(descriptions(server)) == refused
        assert len(await memory.list()) == 2


async def test_a_picture_that_is_sent_again_is_not_described_again() -> None:
    async with asked() as (memory, server):
        for words in ("This is Rex.", "This is Rex.", "Rex at the vet."):
            await memory.capture(said(words, image()))
        kept = [one.content for one in await memory.list()]
    assert len(descriptions(server)) == 1
    assert len(kept) == 2
    assert all(SHOWS in one for one in kept)


async def test_without_the_wish_no_model_sees_a_file() -> None:
    async with asked(files="note") as (memory, server):
        await memory.capture(said("This is Rex.", image()))
        (kept,) = [one for one in await memory.list() if one.category == "attachment"]
    assert descriptions(server) == []
    assert "It shows" not in kept.content


async def test_a_function_that_gets_texts_only_invents_no_picture(tmp_path: Path) -> None:
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return json.dumps({"shows": "A cat.", "items": []})

    async with AsyncMemoryManager("ana", store=tmp_path / "a.db", model=model) as memory:
        await memory.capture(said("This is Rex.", image()))
        contents = [one.content for one in await memory.list()]
    assert any("Sent an image" in one for one in contents)
    assert not any("cat" in one for one in [*contents, *(one for one in prompts if "A user sent a file" in one)])


async def test_the_words_of_a_picture_count_less_than_the_users() -> None:
    async with asked() as (memory, _):
        await memory.capture(said("Look.", image()))
        (kept,) = await memory.list()
        assert kept.trust is Trust.MEDIUM


async def test_kept_bytes_are_exported_and_erased_and_forgotten_with_their_memory(tmp_path: Path) -> None:
    async with asked(store=str(tmp_path / "a.db"), files="keep") as (memory, _):
        await memory.capture(said("This is Rex.", image()))
        (listed,) = [one for one in await memory.list() if one.category == "attachment"]
        kept = await memory.get(listed.memory_id)
        assert base64.b64decode(kept.data[FILE_BYTES]) == PNG  # type: ignore[arg-type]
        assert kept.data["media"] == "image/png"
        whole = "".join([chunk async for chunk in memory.export_subject()])
        assert b64(PNG) in whole
        assert [one["data"][FILE_BYTES] async for one in memory.export() if one["category"] == "attachment"]
        receipt = await memory.privacy.erase()
        assert set((await memory.privacy.verify(receipt)).values()) == {0}
    assert not holds(tmp_path, b64(PNG).encode())


async def test_lists_and_searches_leave_the_bytes_of_a_file_where_they_are(tmp_path: Path) -> None:
    async with asked(store=str(tmp_path / "a.db"), files="keep") as (memory, _):
        await memory.capture(said("This is Rex.", image()))
        (listed,) = [one for one in await memory.list() if one.category == "attachment"]
        (found,) = [hit.memory for hit in await memory.search("brown dog") if hit.memory.category == "attachment"]
        for shown in (listed, found):
            assert FILE_BYTES not in shown.data
            assert shown.data["shows"] == SHOWS
        await memory.add("I have a file.", data={FILE_BYTES: "mine"})
        assert any(one.data.get(FILE_BYTES) == "mine" for one in await memory.list())


async def test_data_corrected_as_a_list_shows_it_costs_no_bytes(tmp_path: Path) -> None:
    large = bytes(range(256)) * 500
    async with asked(store=str(tmp_path / "a.db"), files="keep") as (memory, _):
        await memory.capture(said("This is Rex.", image(large)))
        (listed,) = [one for one in await memory.list() if one.category == "attachment"]
        await memory.update(listed.memory_id, "Sent a picture of Rex")
        await memory.update(listed.memory_id, data={**listed.data, "album": "dogs"})
        kept = await memory.get(listed.memory_id)
        assert (kept.content, kept.data["album"], kept.data["shows"]) == ("Sent a picture of Rex", "dogs", SHOWS)
        assert kept.data[FILE_BYTES] == b64(large)
        await memory.update(listed.memory_id, data={**listed.data, FILE_BYTES: None})
        assert (await memory.get(listed.memory_id)).data[FILE_BYTES] is None


async def test_sealed_bytes_come_back_whole_and_are_nowhere_in_clear(tmp_path: Path) -> None:
    key = tmp_path / "master.key"
    key.write_text(b64(bytes(range(32))) + "\n", encoding="ascii")
    key.chmod(0o600)
    sealing = {"store": str(tmp_path / "a.db"), "files": "keep", "key_file": str(key), "seal": True}
    async with asked(**sealing) as (memory, _):
        await memory.capture(said("This is Rex.", image()))
        (listed,) = [one for one in await memory.list() if one.category == "attachment"]
        kept = await memory.get(listed.memory_id)
        assert base64.b64decode(kept.data[FILE_BYTES]) == PNG  # type: ignore[arg-type]
    for secret in (b64(PNG).encode(), b64(PNG)[1000:1040].encode(), PNG, SHOWS.encode()):
        assert not holds(tmp_path, secret)


async def test_a_note_that_a_failure_left_goes_once_the_file_is_described() -> None:
    works = False

    def script(request: ModelRequest) -> Scripted:
        return describing(request) if works else Reply.status(500) if is_description(request) else {"items": []}

    async with asked(script) as (memory, _):
        await memory.capture(said("This is Rex.", image()))
        await memory.capture(said("This is Mia.", image(b"\x89PNG other")))
        works = True
        await memory.capture(said("Look at Rex.", image()))
        kept = sorted(one.content for one in await memory.list() if one.category == "attachment")
        assert len(kept) == 2
        assert SHOWS in kept[0] or SHOWS in kept[1]
        assert any("This is Mia." in one for one in kept)
        assert not any("This is Rex." in one for one in kept)


async def test_a_file_too_large_to_keep_is_reported_and_its_note_kept() -> None:
    async with asked(files="keep") as (memory, _):
        report = await memory.capture(said("This is Rex.", image(b"x" * (MAX_FILE_BYTES + 1))))
        (kept,) = [one for one in await memory.list() if one.category == "attachment"]
    assert FILE_BYTES not in kept.data
    assert "too_long" in [one.reason for one in report.skipped]


async def test_without_a_model_bytes_are_kept_if_asked(tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / "a.db"), files="keep")
    async with AsyncMemoryManager("ana", settings=settings) as memory:
        await memory.capture(said("This is Rex.", image()))
        (listed,) = [one for one in await memory.list() if one.category == "attachment"]
        kept = await memory.get(listed.memory_id)
        assert base64.b64decode(kept.data[FILE_BYTES]) == PNG  # type: ignore[arg-type]


CARD = "4111111111111111"
"""A card number, which is in base64 as well as any other text of its length."""


async def test_only_the_bytes_that_the_source_names_pass_as_a_file(tmp_path: Path) -> None:
    def sent(content: str, ref: str | None) -> Candidate:
        source = Source(origin=Origin.IMPORT, ref=ref)
        return Candidate(content="Sent a file", category="attachment", data={FILE_BYTES: content}, source=source)

    named = f"sha256:{digest(PNG)}"
    async with AsyncMemoryManager("ana", store=tmp_path / "a.db") as memory:
        for ref in (None, "m1", named, f"sha256:{digest(CARD.encode())}"):
            receipt = await memory.add(sent(CARD, ref))
            assert receipt.memory_id is not None
            assert CARD not in str(await memory.get(receipt.memory_id))
            await memory.forget(receipt.memory_id)
        for ref in (None, f"sha256:{digest(WAV)}"):
            with pytest.raises(InvalidInput):  # longer than data may be
                await memory.add(sent(b64(bytes(range(256)) * 160), ref))
        with pytest.raises(InvalidInput):
            await memory.add(sent(b64(b"x" * (MAX_FILE_BYTES + 1)), f"sha256:{digest(b'x' * (MAX_FILE_BYTES + 1))}"))
        receipt = await memory.add(sent(b64(PNG), named))
        assert receipt.memory_id is not None
        await memory.update(receipt.memory_id, "Sent a picture of Rex")
        assert (await memory.get(receipt.memory_id)).data[FILE_BYTES] == b64(PNG)
    assert not holds(tmp_path, CARD.encode())


@pytest.mark.parametrize("archive", [(), ("--all",)])
def test_kept_bytes_stay_in_an_export_that_is_imported_and_a_number_in_their_place_does_not(
    archive: tuple[str, ...], tmp_path: Path
) -> None:
    for name in ("from", "whole", "changed"):
        (tmp_path / name).mkdir()
    with MemoryManager("ana", settings=Settings(store=str(tmp_path / "from/s.db"), files="keep")) as memory:
        memory.capture(said("This is Rex.", image()))
    exported = run(tmp_path / "from", "export", "--user", "ana", *archive).stdout
    for name, text in {"whole": exported, "changed": exported.replace(b64(PNG), CARD)}.items():
        (tmp_path / name / "x.jsonl").write_text(text)
        done = run(tmp_path / name, "import", str(tmp_path / name / "x.jsonl"), "--user", "ana")
        assert done.returncode == 0, done.stderr
    with MemoryManager("ana", store=tmp_path / "whole/s.db") as memory:
        (kept,) = [one for one in memory.list() if one.category == "attachment"]
        assert memory.get(kept.memory_id).data[FILE_BYTES] == b64(PNG)
    assert CARD.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "changed").glob("s.db*"))


@pytest.mark.parametrize("wrong", [[], 7, {"content": "x"}, {"role": "user", "content": []}])
async def test_what_is_no_message_is_refused(wrong: Any, tmp_path: Path) -> None:
    async with AsyncMemoryManager("ana", store=tmp_path / "a.db") as memory:
        with pytest.raises(InvalidInput):
            await memory.capture(wrong)
