"""Lines of an archive are sealed with the key that signs the audit: lines changed outside are refused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.maintenance.archive import ArchivedMemory, read_line
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Origin, Outcome, Source, Trust

ANA = Actor(user="ana")
Line = dict[str, Any]


@pytest.fixture
def keyring(tmp_path: Path) -> KeyFolder:
    MasterKeys.make(tmp_path / "master.key")
    return KeyFolder(tmp_path / "keys", tmp_path / "master.key")


def made(keyring: KeyFolder | None = None) -> MemoryEngine:
    return MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), keyring=keyring)


@pytest.fixture
async def target(keyring: KeyFolder) -> AsyncIterator[MemoryEngine]:
    """Another store, with the same key folder."""
    async with made(keyring) as engine:
        yield engine


async def lines_of(keyring: KeyFolder | None) -> list[Line]:
    async with made(keyring) as engine:
        web = Source(origin=Origin.WEB)
        await engine.add(Candidate(content="The pier is closed – for “now”.", source=web, data={"n": 1.5}), actor=ANA)
        await engine.grant_consent("diet", actor=ANA)
        return [json.loads(json.dumps(line)) async for line in engine.export(actor=ANA, archive=True)]


def changed(line: Line) -> Line:
    """The line with a better origin than the memory had."""
    told = json.loads(json.dumps(line))
    told["versions"][-1]["source"]["origin"] = "user_stated"
    told["versions"][-1]["trust"] = "high"
    return dict(told)


async def test_what_the_key_has_sealed_is_believed(keyring: KeyFolder, target: MemoryEngine) -> None:
    lines = await lines_of(keyring)
    assert all("seal" in line for line in lines)
    receipts = [await target.restore(read_line(line), actor=ANA, own=True) for line in lines]
    assert {one.outcome for one in receipts} == {Outcome.CREATED}
    (memory,) = await target.list(actor=ANA)
    assert memory.source.origin is Origin.WEB
    assert await target.consents(actor=ANA) == {"diet": True}


@pytest.mark.parametrize("how", ["changed", "stripped", "swapped", "not text"])
async def test_what_was_changed_outside_is_refused_as_ones_own(
    keyring: KeyFolder, target: MemoryEngine, how: str
) -> None:
    memory, consent = await lines_of(keyring)
    forged = changed(memory)
    if how == "stripped":
        del forged["seal"]
    elif how == "swapped":
        forged["seal"] = consent["seal"]
    elif how == "not text":
        forged["seal"] = 7
    with pytest.raises(InvalidInput) as told:
        await target.restore(read_line(forged), actor=ANA, own=True)
    assert told.value.reason == "invalid_input:archive:seal"
    assert await target.list(actor=ANA) == []
    # Without `own` it counts as imported, whatever origin it states.
    receipt = await target.restore(read_line(forged), actor=ANA)
    assert receipt.outcome is Outcome.CREATED
    (kept,) = await target.list(actor=ANA)
    assert (kept.source.origin, kept.trust < Trust.HIGH) == (Origin.IMPORT, True)


async def test_a_forged_consent_is_refused_too(keyring: KeyFolder, target: MemoryEngine) -> None:
    _, consent = await lines_of(keyring)
    consent["consent"]["key"] = "health"
    with pytest.raises(InvalidInput, match="archive:seal"):
        await target.restore(read_line(consent), actor=ANA, own=True)
    assert await target.consents(actor=ANA) == {}


async def test_an_archive_of_another_key_is_refused_as_ones_own(tmp_path: Path, target: MemoryEngine) -> None:
    MasterKeys.make(tmp_path / "other.key")
    lines = await lines_of(KeyFolder(tmp_path / "others", tmp_path / "other.key"))
    with pytest.raises(InvalidInput, match="archive:seal"):
        await target.restore(read_line(lines[0]), actor=ANA, own=True)


async def test_without_a_key_nothing_is_sealed_and_ones_word_counts() -> None:
    lines = await lines_of(None)
    assert not any("seal" in line for line in lines)
    async with made() as engine:
        archived = read_line(lines[0])
        assert isinstance(archived, ArchivedMemory)
        assert (await engine.restore(archived, actor=ANA, own=True)).outcome is Outcome.CREATED
