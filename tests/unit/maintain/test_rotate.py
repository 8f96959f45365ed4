"""Data keys rotated while the store is used: nothing is ever lost, and in the end the old key opens nothing."""

from __future__ import annotations

import asyncio
import base64
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, KeyFailed, MemoryNotFound, NotSupported
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.policy.grant import Grant
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.stores.encryption import ERASED
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Deadline, Level, Scope, Vector

ANA, BEN = Actor(user="ana", workspace="office"), Actor(user="ben", workspace="office")
ROLE = "privacy_officer"
RULES = RedactionRules(actions={"EMAIL": "tokenise"}, reveal=frozenset({ROLE}))
FACTS = ("The parrot sleeps in the attic", "A red bicycle stands in the hall", "My mail is jane@acme-mail.com")


def own(actor: Actor) -> Scope:
    return actor.scope(Level.USER)


def keys(folder: Path) -> KeyFolder:
    if not (folder / "master.key").exists():
        MasterKeys.make(folder / "master.key")
    return KeyFolder(folder / "keys", folder / "master.key")


def engine_on(folder: Path, *, store: str = "m.db", embedder: WordEmbedder | None = None) -> MemoryEngine:
    keyring = keys(folder)
    return MemoryEngine(
        store=SqliteStore(folder / store, keyring=keyring, seals=True),
        embedder=embedder or WordEmbedder(),
        grant=Grant(levels=frozenset({"user", "workspace"})),
        redaction=RULES,
        keyring=keyring,
    )


async def told(folder: Path, *actors: Actor) -> dict[str, str]:
    """What each of the memories says that the actors add, correct and share, by memory_id."""
    async with engine_on(folder) as engine:
        for actor in actors:
            for fact in FACTS:
                memory_id = str((await engine.add(fact, actor=actor)).memory_id)
            await engine.add(f"{actor.user} keeps the office key", actor=actor, level=Level.WORKSPACE)
            await engine.update(memory_id, "My mail is jane@acme-mail.com or joe@acme-mail.com", actor=actor)
    return await said(folder, *actors)


async def said(folder: Path, *actors: Actor, store: str = "m.db") -> dict[str, str]:
    """Everything that can be read, by memory_id and version, with what stands behind the markers."""
    found = {}
    async with engine_on(folder, store=store) as engine:
        for actor in actors:
            for hit in [memory async for memory in engine.export(actor=actor)]:
                memory_id = hit["memory_id"]
                revealed = await engine.reveal(memory_id, actor=actor, role=ROLE)
                assert revealed.unknown == ()
                found[memory_id] = revealed.content
                with suppress(MemoryNotFound):  # it waits for review
                    for version in await engine.history(memory_id, actor=actor):
                        found[f"{memory_id}/{version.version}"] = version.content
    return found


def traces(folder: Path, actor: Actor, generation: int) -> list[str]:
    """The files of the store that hold a byte sealed with this generation of the actor's key."""
    header = b"\x01" + keys(folder).subject_name(own(actor)) + generation.to_bytes(4)
    needles = (header, base64.b64encode(header))
    files = [file for file in folder.glob("m.db*") if any(needle in file.read_bytes() for needle in needles)]
    return [file.name for file in files]


async def test_everything_is_sealed_anew_and_the_old_key_opens_nothing(tmp_path: Path) -> None:
    before = await told(tmp_path, ANA, BEN)
    assert len(before) > 10
    assert traces(tmp_path, ANA, 1) != []
    async with engine_on(tmp_path) as engine:
        rotation = await engine.rotate_data_keys(actor=ANA)
        assert (rotation.subjects, rotation.destroyed) == (2, 2)
        assert rotation.resealed >= 12
        (line,) = [event for event in await engine.audit(actor=ANA, limit=1000) if event.action == "keys_rotated"]
        assert line.detail["subjects"] == 2
        assert (await engine.search("parrot", actor=ANA)).hits[0].memory.content == FACTS[0]
    assert await said(tmp_path, ANA, BEN) == before
    for actor in (ANA, BEN):
        assert traces(tmp_path, actor, 1) == []
        assert traces(tmp_path, actor, 2) != []
    assert keys(tmp_path).count() == (2, 0, 0)


async def test_one_subject_alone(tmp_path: Path) -> None:
    before = await told(tmp_path, ANA, BEN)
    async with engine_on(tmp_path) as engine:
        assert (await engine.rotate_data_keys(actor=BEN, subject="ana")).subjects == 1
        assert (await engine.rotate_data_keys(actor=BEN, subject="nobody")).subjects == 0
        with pytest.raises(InvalidInput, match="subject"):
            await engine.rotate_data_keys(actor=BEN, subject="")
    assert (traces(tmp_path, ANA, 1), traces(tmp_path, BEN, 2)) == ([], [])
    assert await said(tmp_path, ANA, BEN) == before


async def test_a_copy_made_before_needs_the_keys_of_its_time(tmp_path: Path) -> None:
    before = await told(tmp_path, ANA)
    shutil.copy(tmp_path / "m.db", tmp_path / "copy.db")
    shutil.copytree(tmp_path / "keys", tmp_path / "then" / "keys")
    shutil.copy(tmp_path / "master.key", tmp_path / "then")
    async with engine_on(tmp_path) as engine:
        await engine.rotate_data_keys(actor=ANA)
    async with engine_on(tmp_path, store="copy.db") as engine:
        with pytest.raises(KeyFailed, match="key_failed:rotated"):
            await engine.list(actor=ANA)
    shutil.copy(tmp_path / "copy.db", tmp_path / "then" / "m.db")
    assert await said(tmp_path / "then", ANA) == before


@pytest.mark.parametrize(
    ("step", "times"),
    [
        ("follow", 0),
        ("_put", 1),
        ("reseal_value", 0),
        ("reseal_value", 9),
        ("reseal_value", 30),
        ("retire", 0),
        ("_put", 3),
    ],
)
async def test_cut_off_at_any_step_nothing_is_lost_and_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, times: int
) -> None:
    before = await told(tmp_path, ANA, BEN)
    whole, left = getattr(KeyFolder, step), [times]

    def cut_off(self: KeyFolder, *given: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyFailed("unreadable")
        return whole(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(KeyFolder, step, cut_off)
        async with engine_on(tmp_path) as engine:
            with pytest.raises(KeyFailed):
                await engine.rotate_data_keys(actor=ANA)
    assert await said(tmp_path, ANA, BEN) == before
    async with engine_on(tmp_path) as engine:
        await engine.rotate_data_keys(actor=ANA)
    assert (traces(tmp_path, ANA, 1), traces(tmp_path, BEN, 1)) == ([], [])
    assert keys(tmp_path).count() == (2, 0, 0)
    assert await said(tmp_path, ANA, BEN) == before


async def test_others_write_meanwhile(tmp_path: Path) -> None:
    await told(tmp_path, ANA)
    written: list[str] = []

    async def write(engine: MemoryEngine, rounds: int) -> None:
        for number in range(rounds):
            fact = f"Fact {number} of {id(engine)} is about mail{number}@acme-mail.com"
            written.append(str((await engine.add(fact, actor=ANA)).memory_id))

    async with engine_on(tmp_path) as one, engine_on(tmp_path) as other, engine_on(tmp_path) as rotating:
        await asyncio.gather(write(one, 12), write(other, 12), rotating.rotate_data_keys(actor=ANA))
        await write(one, 1)
    assert traces(tmp_path, ANA, 1) == []
    found = await said(tmp_path, ANA)
    assert set(written) <= set(found)
    assert all("acme-mail.com" in found[memory_id] for memory_id in written)


async def test_what_was_sealed_just_before_is_sealed_anew_as_it_is_committed(tmp_path: Path) -> None:
    await told(tmp_path, ANA)

    class Rotating(WordEmbedder):
        """Between the sealing of a value and its commit the key is another."""

        async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
            async with engine_on(tmp_path) as engine:
                await engine.rotate_data_keys(actor=ANA)
            return await super().embed(texts, deadline=deadline)

    async with engine_on(tmp_path, embedder=Rotating()) as engine:
        late = await engine.add("Write to late@acme-mail.com", actor=ANA)
        revealed = await engine.reveal(str(late.memory_id), actor=ANA, role=ROLE)
    assert revealed.content == "Write to late@acme-mail.com"
    assert traces(tmp_path, ANA, 1) == []


async def test_another_store_may_need_the_old_keys_still(tmp_path: Path) -> None:
    await told(tmp_path, ANA)
    shutil.copy(tmp_path / "m.db", tmp_path / "other.db")
    async with engine_on(tmp_path) as engine:
        assert (await engine.rotate_data_keys(actor=ANA, keep_old=True)).destroyed == 0
    assert traces(tmp_path, ANA, 1) == []
    assert keys(tmp_path).count().followed == 1
    assert ERASED not in (await said(tmp_path, ANA, store="other.db")).values()
    async with engine_on(tmp_path, store="other.db") as engine:
        rotation = await engine.rotate_data_keys(actor=ANA)
    assert rotation.destroyed == 1
    assert rotation.resealed > 0
    assert ERASED not in (await said(tmp_path, ANA)).values()
    assert keys(tmp_path).count() == (1, 0, 0)


async def test_who_is_erased_meanwhile_stays_erased(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await told(tmp_path, ANA, BEN)
    whole = KeyFolder.reseal_value

    def erased(self: KeyFolder, sealed: bytes, bound: bytes) -> bytes | None:
        with suppress(KeyFailed):
            keys(tmp_path).destroy(own(BEN))
        return whole(self, sealed, bound)

    monkeypatch.setattr(KeyFolder, "reseal_value", erased)
    async with engine_on(tmp_path) as engine:
        rotation = await engine.rotate_data_keys(actor=ANA)
    assert (rotation.subjects, rotation.destroyed) == (2, 1)
    assert keys(tmp_path).count() == (1, 1, 0)
    assert not keys(tmp_path).holds(own(BEN))


async def test_without_a_key_there_is_nothing_to_rotate(tmp_path: Path) -> None:
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        with pytest.raises(NotSupported, match="rotate"):
            await engine.rotate_data_keys(actor=ANA)
