"""Sealed memories in PostgreSQL: a superuser reads no content in any table, and a copy loses it with the data key."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
from functools import partial
from pathlib import Path

import asyncpg
import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import KeyFailed, NotSupported, StoreFailed
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.maintenance.key_rotation import rotate_data_keys
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.runtime.clock import SystemClock
from mnemic.stores.codec import body_check
from mnemic.stores.encryption import ERASED, Sealer
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import change, everything, ids
from mnemic.types import Actor, Candidate, Memory, Origin, Source
from mnemic.write.tokenisation import TokenVault
from tests.servers import PostgresServer

CANARY = "zwieback-canary"
WORDS = ("heron", "walnut", "ferry", "quartz", "saddle", "lantern")
END_CLIENTS = (
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
)
"""Ends every other connection and waits until it has ended: one that is not yet waiting for its client, too."""
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'mnemic'"


def sealed(dsn: str, folder: Path) -> PostgresStore:
    if not (folder / "master.key").exists():
        MasterKeys.make(folder / "master.key")
    return PostgresStore(dsn, keyring=KeyFolder(folder / "keys", folder / "master.key"), seals=True)


def full() -> Memory:
    source = Source(origin=Origin.USER_STATED, quote=CANARY, ref=CANARY)
    return memory(f"The {CANARY} sleeps", context=f"about {CANARY}", data={"name": CANARY}, source=source)


async def everything_stored(dsn: str) -> str:
    """Every row of every table, as a superuser reads them."""
    connection = await asyncpg.connect(dsn)
    try:
        tables = [row["tablename"] for row in await connection.fetch(_TABLES)]
        assert {"memory", "memory_version", "term_posting"} <= set(tables)
        found = [await connection.fetch(f'SELECT one::text AS said FROM mnemic."{name}" one') for name in tables]
        return "\n".join(row["said"] for rows in found for row in rows)
    finally:
        await connection.close()


async def test_a_superuser_reads_no_content_in_any_table(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    store = sealed(dsn, tmp_path)
    await store.open(EMBEDDER.space)
    kept = full()
    await remember(store, kept)
    await change(store, kept.next_version(kept.updated_at, content=f"The {CANARY} wakes"))
    assert store.capabilities.sealed == {"content"}
    assert ids(await store.match(everything(), f'"{CANARY} wakes"', limit=5)) == [kept.memory_id]
    await store.close()
    stored = await everything_stored(dsn)
    assert kept.memory_id in stored
    assert [needle for needle in (CANARY, CANARY.encode().hex()) if needle in stored] == []


async def test_a_plain_database_is_sealed_while_it_is_used_and_goes_on_where_it_was_cut_off(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = postgres.database(tmp_path)
    plain, store = PostgresStore(dsn), sealed(dsn, tmp_path)
    await plain.open(EMBEDDER.space)
    await store.open(EMBEDDER.space)
    with pytest.raises(NotSupported, match="seal"):
        await plain.seal("acme")
    kept = [full() for _ in range(7)]
    kept = [replace(one, fingerprint=f"{number:064x}") for number, one in enumerate(kept)]
    await remember(plain, *kept)
    await change(plain, kept[0].next_version(kept[0].updated_at, content=f"The {CANARY} wakes"))
    monkeypatch.setattr("mnemic.stores.postgres.row_rewriting.BATCH", 3)
    opened: list[str] = []
    body = Sealer.body

    def cut_off(self: Sealer, memory: Memory) -> str:
        opened.append(memory.memory_id)
        if len(opened) == 5:
            postgres.sql(END_CLIENTS)
        return body(self, memory)

    monkeypatch.setattr(Sealer, "body", cut_off)
    with pytest.raises(StoreFailed):
        await store.seal("acme")
    await remember(store, memory("Written while some were plain"))
    assert await store.seal("acme") == 8 - 3
    assert await store.seal("acme") == 0
    found = await store.newest(everything(), limit=20)
    assert len(found) == 8
    assert [one.content for one in found if one.memory_id == kept[0].memory_id] == [f"The {CANARY} wakes"]
    assert [one.version for one in await store.versions(kept[0].memory_id, scopes=[scope()])] == [1, 2]
    await plain.close()
    await store.close()
    stored = await everything_stored(dsn)
    assert [needle for needle in (CANARY, CANARY.encode().hex()) if needle in stored] == []


async def test_a_copy_loses_its_content_with_the_data_key(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    store = sealed(dsn, tmp_path)
    await store.open(EMBEDDER.space)
    await remember(store, full())
    (whole,) = await store.newest(everything(), limit=5)
    assert CANARY in whole.content
    assert KeyFolder(tmp_path / "keys", tmp_path / "master.key").destroy(scope())
    (erased,) = await store.newest(everything(), limit=5)
    assert (erased.content, erased.context, dict(erased.data), erased.source.quote) == (ERASED, "", {}, None)
    await store.close()


async def test_without_the_key_nothing_is_shown_and_it_is_said(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    store = sealed(dsn, tmp_path)
    await store.open(EMBEDDER.space)
    await remember(store, full())
    await store.close()
    plain = PostgresStore(dsn)
    await plain.open(EMBEDDER.space)
    with pytest.raises(KeyFailed, match="key_failed:missing"):
        await plain.newest(everything(), limit=5)
    await plain.close()


def files_with(needle: str, folder: Path) -> set[str]:
    """The top folders of the server's data (`base`, `pg_wal`, ...) in which any file shows `needle`."""
    raw = needle.encode()
    found = set()
    for file in folder.rglob("*"):
        if file.is_file() and raw in file.read_bytes():
            found.add(file.relative_to(folder).parts[0])
    return found


async def said_and_erased(store: PostgresStore, canary: str, keyring: KeyFolder | None) -> bool:
    """Ana says it in every field, corrects it, and is erased; whether the receipt verifies."""
    ana, boss = Actor(user="ana"), Actor(user="boss")
    async with MemoryEngine(store=store, embedder=WordEmbedder(), keyring=keyring) as engine:
        source = Source(origin=Origin.USER_STATED, quote=f"{canary} it is", ref=canary)
        told = Candidate(content=f"The {canary} sleeps.", context=canary, data={"name": canary}, source=source)
        stored = await engine.add(told, actor=ana)
        await engine.update(str(stored.memory_id), f"The {canary} wakes.", actor=ana)
        receipt = await engine.erase("ana", actor=boss)
        return receipt.complete and not any((await engine.verify_erasure(receipt)).values())


async def test_no_byte_on_the_server_shows_what_was_sealed_and_erased(postgres: PostgresServer, tmp_path: Path) -> None:
    """S22: in plain, the tables are clean once they are written anew; the log is clean only of what was sealed."""
    dsn, data = postgres.database(tmp_path), postgres.folder / "data"
    assert await said_and_erased(PostgresStore(dsn), "plainerasedcanary", None)
    postgres.sql("VACUUM FULL", "CHECKPOINT")
    assert files_with("plainerasedcanary", data) == {"pg_wal"}
    (tmp_path / "sealed").mkdir()
    store = sealed(dsn, tmp_path / "sealed")
    keyring = KeyFolder(tmp_path / "sealed" / "keys", tmp_path / "sealed" / "master.key")
    assert await said_and_erased(store, "sealederasedcanary", keyring)
    assert files_with("sealederasedcanary", data) == set()


def header(keyring: KeyFolder, generation: int) -> str:
    """What every body sealed with this generation of the key begins with."""
    return base64.b64encode(b"\x01" + keyring.subject_name(scope()) + generation.to_bytes(4)).decode()


async def test_data_keys_change_while_others_write_and_the_old_one_opens_nothing(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = postgres.database(tmp_path)
    monkeypatch.setattr("mnemic.stores.postgres.row_rewriting.BATCH", 4)
    store, keyring = sealed(dsn, tmp_path), KeyFolder(tmp_path / "keys", tmp_path / "master.key")
    ada = Actor(tenant="acme", user="ada")
    rules = RedactionRules(actions={"EMAIL": "tokenise"}, reveal=frozenset({"officer"}))
    async with (
        MemoryEngine(store=store, embedder=WordEmbedder(), keyring=keyring, redaction=rules) as engine,
        MemoryEngine(store=sealed(dsn, tmp_path), embedder=WordEmbedder(), keyring=keyring, redaction=rules) as other,
    ):

        async def write(by: MemoryEngine, name: str) -> list[str]:
            added = [await by.add(f"{name} {word} writes to {word}@acme-mail.com", actor=ada) for word in WORDS]
            return [str(receipt.memory_id) for receipt in added]

        before = await write(engine, "before")
        assert header(keyring, 1) in await everything_stored(dsn)
        rotation, during = await asyncio.gather(engine.rotate_data_keys(actor=ada), write(other, "during"))
        assert (rotation.subjects, rotation.destroyed, rotation.resealed >= len(before)) == (1, 1, True)
        for memory_id in [*before, *during]:
            revealed = await other.reveal(memory_id, actor=ada, role="officer")
            assert ("@acme-mail.com" in revealed.content, revealed.unknown) == (True, ())
    stored = await everything_stored(dsn)
    assert header(keyring, 1) not in stored
    assert header(keyring, 2) in stored


async def test_a_transaction_that_sealed_and_has_not_written_is_waited_for(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = postgres.database(tmp_path)
    store, keyring = sealed(dsn, tmp_path), KeyFolder(tmp_path / "keys", tmp_path / "master.key")
    await store.open(EMBEDDER.space)
    kept = full()
    await remember(store, kept)
    late = Sealer(keyring, seals=True, vectors=False).body(kept.next_version(kept.updated_at, content="late"))
    writing = await asyncpg.connect(dsn)
    await writing.execute("BEGIN")
    looked: list[float] = []
    here = asyncio.get_running_loop()

    async def end() -> None:
        add = "INSERT INTO mnemic.memory_version SELECT tenant, memory_id, 2, author, fingerprint, $1, $2 FROM mnemic."
        await writing.execute(add + "memory_version", late, body_check("acme", "user", "ada", late))
        await writing.execute("COMMIT")

    async def ended(seconds: float) -> None:
        if not looked:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(end(), here))
        looked.append(seconds)

    monkeypatch.setattr("mnemic.stores.postgres.row_rewriting.sleep", ended)
    keyring.follow([keyring.subject_name(scope())])
    assert await store.reseal("acme", keyring.reseal_value) == 2
    assert looked, "another transaction of the server may be waited for, too"
    await writing.close()
    await store.close()
    assert header(keyring, 1) not in await everything_stored(dsn)


async def test_a_rotation_whose_connection_breaks_goes_on(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = postgres.database(tmp_path)
    monkeypatch.setattr("mnemic.stores.postgres.row_rewriting.BATCH", 2)
    store, keyring = sealed(dsn, tmp_path), KeyFolder(tmp_path / "keys", tmp_path / "master.key")
    await store.open(EMBEDDER.space)
    await remember(store, *(replace(full(), fingerprint=f"{number:064x}") for number in range(7)))
    rotate = partial(
        rotate_data_keys, store, SystemClock(), TokenVault(keyring), actor=Actor(tenant="acme", user="boss")
    )
    whole, count = KeyFolder.reseal_value, [0]

    def cut_off(self: KeyFolder, piece: bytes, bound: bytes) -> bytes | None:
        count[0] += 1
        if count[0] == 4:
            postgres.sql(END_CLIENTS)
        return whole(self, piece, bound)

    monkeypatch.setattr(KeyFolder, "reseal_value", cut_off)
    with pytest.raises(StoreFailed):
        await rotate()
    assert keyring.count().followed == 1
    assert {one.content for one in await store.newest(everything(), limit=9)} == {full().content}
    assert (await rotate()).resealed == 5
    await store.close()
    assert header(keyring, 1) not in await everything_stored(dsn)
