"""Journals that were altered before they were collected: the check of the audit reports it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnemic.keys import KeyFolder, MasterKeys
from mnemic.ports import Keyring
from mnemic.stores.audit_chain import decode_event, encode_event, link
from mnemic.stores.cassandra import CassandraStore, journal
from mnemic.stores.cassandra.encoding import pack_row, sortable_key
from mnemic.stores.cassandra.routing import JOURNAL, LANE, NAMES, of_tenant
from mnemic.testing.record_store.fixtures import EMBEDDER, START
from mnemic.types import AuditEvent

_HOME = of_tenant("acme")
_LINES = 3


@pytest.fixture
def new_store(cassandra: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CassandraStore]:
    async def at_once(*_: float) -> None:
        return None

    monkeypatch.setattr(journal, "pause", at_once)
    prefix = secrets.token_hex(6)
    return lambda keyring=None: CassandraStore(f"{cassandra}&prefix={prefix}", keyring=keyring)


def keyring(folder: Path) -> Keyring:
    MasterKeys.make(folder / "master.key")
    return KeyFolder(folder / "keys", folder / "master.key")


async def written(store: CassandraStore) -> None:
    """Append lines that wait in the journal of the tenant."""
    await store.open(EMBEDDER.space)
    for number in range(_LINES):
        event = AuditEvent(tenant="acme", action="created", at=START, actor=f"user{number}")
        await store.transact(lambda transaction, event=event: transaction.append_audit(event))  # type: ignore[misc]


async def lines(store: CassandraStore) -> list[Any]:
    """Return the lines of the journal: number, time, sort, text and hash of each."""
    return [row[3:] for row in await store._database.read(lambda rows: rows.scan(JOURNAL, _HOME))]


async def put(store: CassandraStore, table: Any, key: tuple[Any, ...], row: tuple[Any, ...] | None) -> None:
    """Write a row of the tenant's partition, or remove it, past every check."""
    values = [(NAMES[table], sortable_key(key), None if row is None else pack_row(row))]
    await store._database.link.write(store._database.partitions.rows(_HOME, values))


@pytest.mark.parametrize("removed", [{1}, {2}, {3}, {2, 3}, {1, 2, 3}])
async def test_lines_that_are_missing_anywhere_are_reported(
    new_store: Callable[..., CassandraStore], removed: set[int]
) -> None:
    store = new_store()
    await written(store)
    for number in removed:
        await put(store, JOURNAL, (number,), None)
    count, broken, _ = await store.broken_audit("acme")
    assert broken is not None
    assert (await store.broken_audit("acme"))[1] == broken, "a second check reports it, too"
    assert count == _LINES - len(removed)
    await store.close()


async def test_a_journal_whose_end_was_removed_with_its_lines_breaks_at_the_next_line(
    new_store: Callable[..., CassandraStore],
) -> None:
    store = new_store()
    await written(store)
    await put(store, JOURNAL, (3,), None)
    event = AuditEvent(tenant="acme", action="created", at=START, actor="later")
    await store.transact(lambda transaction: transaction.append_audit(event))
    assert (await store.broken_audit("acme"))[:2] == (3, 3)
    await store.close()


async def test_a_line_that_was_altered_with_all_its_hashes_has_no_signature(
    new_store: Callable[..., CassandraStore], tmp_path: Path
) -> None:
    store = new_store(keyring(tmp_path))
    await written(store)
    previous = ""
    for number, at, what, text, hashed in await lines(store):
        event = encode_event(decode_event(text, "")).replace("user", "eve")
        previous = f"{link(previous, event)}:{hashed.partition(':')[2]}"
        await put(store, JOURNAL, (number,), (number, at, what, event, previous))
    await put(store, LANE, (), (_LINES, previous, 0, ""))
    assert (await store.broken_audit("acme"))[:2] == (_LINES, 1)
    await store.close()


async def test_lines_that_nobody_altered_are_signed_and_follow(
    new_store: Callable[..., CassandraStore], tmp_path: Path
) -> None:
    store = new_store(keyring(tmp_path))
    await written(store)
    assert all(":" in hashed for *_, hashed in await lines(store))
    assert (await store.broken_audit("acme"))[:2] == (_LINES, None)
    assert all(":" in line.hash for line in await store.audit("acme"))
    await store.close()


async def test_what_was_not_signed_in_its_journal_is_not_signed_by_its_collection(
    new_store: Callable[..., CassandraStore], tmp_path: Path
) -> None:
    store = new_store()
    await written(store)
    await store.close()
    store = new_store(keyring(tmp_path))
    await store.open(EMBEDDER.space)
    assert (await store.broken_audit("acme"))[:2] == (_LINES, None)
    assert [":" in line.hash for line in await store.audit("acme")] == [False] * _LINES
    await store.close()
