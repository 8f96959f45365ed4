"""After a removal no byte of the memory is left in the file or its log."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from mnemic.stores.audit_chain import first_broken
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import START, change, day, everything
from mnemic.types import AuditEvent, Source

CANARY = "Zyxwvutsrq9876543210canary"


def bytes_on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


async def test_no_byte_of_a_removed_memory_stays_on_disk(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    await store.open(EMBEDDER.space)
    await remember(store, *(memory(f"bystander {number}") for number in range(50)))
    planted = memory(
        f"{CANARY} content",
        key=f"{CANARY}-key",
        category=f"{CANARY}-category",
        context=f"{CANARY} context",
        data={CANARY: CANARY},
        source=Source(ref=CANARY, session=CANARY, speaker=CANARY, quote=CANARY),
        fingerprint=f"{CANARY}-fingerprint",
    )
    await remember(store, planted)
    await change(store, planted.next_version(day(1), content="harmless", vector=EMBEDDER.vector("harmless")))
    await store.match(everything(), CANARY, limit=5)
    assert CANARY.encode() in bytes_on_disk(tmp_path)
    assert await store.transact(lambda transaction: transaction.remove(planted.memory_id, scope=scope()))
    found = bytes_on_disk(tmp_path)
    assert CANARY.encode() not in found
    assert CANARY.lower().encode() not in found.lower()
    for text in (planted.content, "harmless"):
        assert EMBEDDER.vector(text) not in found
    assert planted.memory_id.encode() not in found
    await store.close()
    assert CANARY.encode() not in bytes_on_disk(tmp_path)


async def test_what_a_reader_delays_is_made_good_at_the_next_write(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    await store.open(EMBEDDER.space)
    planted = memory(CANARY)
    await remember(store, planted)
    reader = apsw.Connection(str(tmp_path / "m.db"))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memory").fetchall()
    await store.transact(lambda transaction: transaction.remove(planted.memory_id, scope=scope()))
    assert CANARY.encode() in bytes_on_disk(tmp_path)
    reader.close()
    await remember(store, memory("next"))
    assert CANARY.encode() not in bytes_on_disk(tmp_path)
    await store.close()


async def test_words_are_not_stored_as_words_in_the_search_entries(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    await store.open(EMBEDDER.space)
    await remember(store, memory("lagoon"))
    await store.close()
    connection = apsw.Connection(str(tmp_path / "m.db"))
    rows = connection.execute("SELECT * FROM memory_search").fetchall()
    assert rows
    for row in rows:
        assert all(b"lagoon" not in (value if isinstance(value, bytes) else str(value).encode()) for value in row)
    connection.close()


@pytest.mark.parametrize("sql", ["UPDATE audit SET event = '{}'", "DELETE FROM audit"])
async def test_the_audit_refuses_to_be_changed_and_shows_it_when_forced(tmp_path: Path, sql: str) -> None:
    store = SqliteStore(tmp_path / "m.db")
    await store.open(EMBEDDER.space)

    async def work(transaction):  # type: ignore[no-untyped-def]
        for _ in range(3):
            await transaction.append_audit(AuditEvent(tenant="acme", action="created", at=START, actor="ada"))

    await store.transact(work)
    connection = apsw.Connection(str(tmp_path / "m.db"))
    with pytest.raises(apsw.ConstraintError):
        connection.execute(sql)
    connection.execute("DROP TRIGGER audit_is_never_changed")
    connection.execute("UPDATE audit SET event = replace(event, '\"ada\"', '\"adb\"') WHERE sequence = 2")
    connection.close()
    assert first_broken(await store.audit("acme")) == 2
    await store.close()
