"""Tokenised values: sealed, shown to a role with a line in the audit, erased with their subject."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig, KeyFailed, MemoryNotFound, NotSupported, RevealDenied
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.policy.grant import Grant
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.stores.encryption import ERASED
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Level, Where

CANARY = "canary.jane@acme-mail.com"
SAID = f"My backup address is {CANARY}"
RULES = RedactionRules(actions={"EMAIL": "tokenise"}, reveal=frozenset({"privacy_officer"}))
ROLE = "privacy_officer"


def engine_on(folder: Path, *, store: str = "m.db", keyed: bool = True, seals: bool = False) -> MemoryEngine:
    if keyed and not (folder / "master.key").exists():
        MasterKeys.make(folder / "master.key")
    keyring = KeyFolder(folder / "keys", folder / "master.key") if keyed else None
    return MemoryEngine(
        store=SqliteStore(folder / store, keyring=keyring, seals=seals),
        embedder=WordEmbedder(),
        clock=ManualClock(),
        grant=Grant(levels=frozenset({"user", "workspace"})),
        redaction=RULES if keyed else None,
        keyring=keyring,
    )


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    async with engine_on(tmp_path) as engine:
        yield engine


async def add(engine: MemoryEngine, actor: Actor, content: str = SAID, **fields: object) -> str:
    receipt = await engine.add(content, actor=actor, **fields)  # type: ignore[arg-type]
    assert receipt.memory_id is not None
    return receipt.memory_id


def raw(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def test_what_was_said_comes_back_for_the_role(engine: MemoryEngine, ana: Actor) -> None:
    memory_id = await add(engine, ana)
    stored = await engine.get(memory_id, actor=ana)
    assert CANARY not in stored.content
    revealed = await engine.reveal(memory_id, actor=ana, role=ROLE)
    assert revealed.content == SAID
    assert list(revealed.values.values()) == [CANARY]
    assert revealed.unknown == ()
    assert CANARY not in repr(revealed)


async def test_every_look_is_in_the_audit_also_a_denied_one(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    memory_id = await add(engine, ana)
    await engine.reveal(memory_id, actor=ben, role=ROLE, whole_tenant=True)
    with pytest.raises(RevealDenied, match="reveal_denied:role"):
        await engine.reveal(memory_id, actor=ben, role="reader", whole_tenant=True)
    looks = [event for event in await engine.audit(actor=ana) if event.action.startswith("reveal")]
    assert [(event.action, event.actor, event.memory_id) for event in looks] == [
        ("revealed", "ben", memory_id),
        ("reveal_denied", "ben", memory_id),
    ]
    assert looks[0].detail["entities"] == {"EMAIL": 1}
    assert looks[0].detail["role"] == ROLE


async def test_without_the_word_of_the_program_only_ones_own(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    memory_id = await add(engine, ana)
    with pytest.raises(MemoryNotFound):
        await engine.reveal(memory_id, actor=ben, role=ROLE)


async def test_nothing_of_it_is_on_the_disk_in_the_audit_or_in_an_export(
    engine: MemoryEngine, ana: Actor, tmp_path: Path
) -> None:
    await add(engine, ana, data={"mail": CANARY})
    exported = [one async for one in engine.export(actor=ana)]
    assert CANARY not in json.dumps(exported)
    assert CANARY.encode() not in raw(tmp_path)
    assert "canary" not in json.dumps([event.detail for event in await engine.audit(actor=ana)], default=str)


async def test_what_was_replaced_for_good_is_unknown(engine: MemoryEngine, ana: Actor) -> None:
    memory_id = await add(engine, ana, f"{SAID}, my number is +44 20 7946 0958")
    revealed = await engine.reveal(memory_id, actor=ana, role=ROLE)
    assert CANARY in revealed.content
    assert len(revealed.unknown) == 1
    assert revealed.unknown[0].startswith("[PHONE#")


async def test_a_correction_and_a_shared_scope_keep_their_values(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    memory_id = await add(engine, ana, "We meet in room 4", level=Level.WORKSPACE)
    await engine.update(memory_id, f"Write to {CANARY} about room 4", actor=ben)
    revealed = await engine.reveal(memory_id, actor=ana, role=ROLE)
    assert revealed.content == f"Write to {CANARY} about room 4"


async def test_forgetting_takes_the_value_unless_something_else_names_it(engine: MemoryEngine, ana: Actor) -> None:
    first = await add(engine, ana)
    second = await add(engine, ana, f"The invoices of my landlord come from {CANARY} too")
    await engine.forget(first, actor=ana)
    assert (await engine.reveal(second, actor=ana, role=ROLE)).values
    await engine.forget(second, actor=ana)
    assert await engine.store.marks(ana.tenant, "vault/") == {}


async def test_maintenance_sweeps_what_nothing_names(engine: MemoryEngine, ana: Actor) -> None:
    memory_id = await add(engine, ana)
    assert (await engine.maintain(actor=ana)).swept == 0
    await engine.store.transact(lambda tx: tx.remove(memory_id, scope=ana.scope("user")))
    assert (await engine.maintain(actor=ana)).swept == 1
    assert await engine.store.marks(ana.tenant, "vault/") == {}


async def test_erasing_takes_values_and_key(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    await add(engine, ana)
    other = await add(engine, ben)
    receipt = await engine.erase("ana", actor=ben)
    assert receipt.complete
    assert (receipt.counts["vault"], receipt.counts["keys"]) == (1, 1)
    assert engine.vault is not None
    assert not engine.vault.keyring.holds(ana.scope("user"))
    assert (await engine.reveal(other, actor=ben, role=ROLE)).content == SAID


async def test_a_copy_made_before_the_erasure_shows_nothing_of_the_subject(
    engine: MemoryEngine, ana: Actor, ben: Actor, tmp_path: Path
) -> None:
    erased, kept = await add(engine, ana), await add(engine, ben)
    await engine.store.tidy()
    shutil.copyfile(tmp_path / "m.db", tmp_path / "copy.db")
    await engine.erase("ana", actor=ben)

    async with engine_on(tmp_path, store="copy.db") as copy:
        assert (await copy.reveal(kept, actor=ben, role=ROLE)).content == SAID
        with pytest.raises(KeyFailed, match="key_failed:destroyed"):
            await copy.reveal(erased, actor=ana, role=ROLE)
    assert CANARY.encode() not in raw(tmp_path)


async def test_with_sealed_memories_an_erasure_reaches_everything_in_a_copy(
    ana: Actor, ben: Actor, tmp_path: Path
) -> None:
    """Her statements in her own scope and in a shared one are erased; those of others there stay."""
    said, kept = "The zwieback-canary is in the tin", "The heron is on the roof"
    async with engine_on(tmp_path, seals=True) as engine:
        for level in (Level.USER, Level.WORKSPACE):
            await add(engine, ana, said, level=level)
        await add(engine, ben, kept, level=Level.WORKSPACE)
        await engine.store.tidy()
        shutil.copyfile(tmp_path / "m.db", tmp_path / "copy.db")
        assert (await engine.search("zwieback-canary", actor=ana)).hits
        receipt = await engine.erase("ana", actor=ben)
        assert receipt.complete
        assert receipt.counts["keys"] == 1
        assert not any((await engine.verify_erasure(receipt)).values())

    async with engine_on(tmp_path, store="copy.db", seals=True) as copy:
        scopes = ana.scopes(["user", "workspace"])
        held = await copy.store.newest(Where(scopes=scopes), limit=9)
        assert sorted(memory.content for memory in held) == [kept, ERASED, ERASED]
        assert kept in [hit.memory.content for hit in (await copy.search("heron roof", actor=ben)).hits]
        again = await copy.erase("ana", actor=ben)
        assert again.complete
        assert [memory.content for memory in await copy.store.newest(Where(scopes=scopes), limit=9)] == [kept]
    assert b"zwieback" not in raw(tmp_path)


async def test_a_subject_who_comes_back_gets_another_key(engine: MemoryEngine, ana: Actor) -> None:
    await add(engine, ana)
    await engine.erase("ana", actor=ana)
    again = await add(engine, ana)
    assert (await engine.reveal(again, actor=ana, role=ROLE)).content == SAID


async def test_a_sealed_value_is_bound_to_its_place(engine: MemoryEngine, ana: Actor) -> None:
    one = await add(engine, ana)
    two = await add(engine, ana, "Bills go to other.person@acme-mail.com")
    names = await engine.store.marks(ana.tenant, "vault/")
    first, second = names

    async def swap(tx: object) -> None:
        await tx.put_mark(ana.tenant, first, names[second])  # type: ignore[attr-defined]
        await tx.put_mark(ana.tenant, second, names[first])  # type: ignore[attr-defined]

    await engine.store.transact(swap)  # type: ignore[arg-type]
    for memory_id in (one, two):
        with pytest.raises(KeyFailed, match="key_failed:damaged"):
            await engine.reveal(memory_id, actor=ana, role=ROLE)


async def test_tokenising_needs_a_key(tmp_path: Path, ana: Actor) -> None:
    with pytest.raises(InvalidConfig, match=r"invalid_config:redaction\.entities"):
        MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder(), redaction=RULES)
    async with engine_on(tmp_path, keyed=False) as plain:
        memory_id = await add(plain, ana)
        with pytest.raises(NotSupported, match="not_supported:reveal"):
            await plain.reveal(memory_id, actor=ana, role=ROLE)


async def test_a_candidate_that_is_delivered_twice_is_sealed_once(engine: MemoryEngine, ana: Actor) -> None:
    await add(engine, ana)
    before = await engine.store.marks(ana.tenant, "vault/")
    receipt = await engine.add(Candidate(content=SAID), actor=ana)
    assert receipt.was_duplicate
    assert await engine.store.marks(ana.tenant, "vault/") == before
