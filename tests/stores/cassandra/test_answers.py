"""Answers cached for one version of a partition, and removed rows that no read walks over again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mnemic.stores.cassandra import CassandraStore
from mnemic.stores.cassandra.encoding import sortable_key
from mnemic.stores.cassandra.partitions import KEPT_SECONDS, Answers, Question
from mnemic.stores.cassandra.routing import Partition, of_tenant
from mnemic.testing.record_store.fixtures import EMBEDDER, START, memory, scope
from mnemic.types import AuditEvent, OutboxEntry
from mnemic.write.outbox import maintain_outbox

ACME = of_tenant("acme")


def counted(store: CassandraStore, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the statements that the store sends from here on."""
    link = store._database.link
    ask, asked = link.ask, []

    async def noted(name: str, values: Any, **how: Any) -> Any:
        asked.append(name)
        return await ask(name, values, **how)

    monkeypatch.setattr(link, "ask", noted)
    return asked


async def test_marks_of_a_tenant_are_read_once_for_each_version(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    await store.secret("acme")
    await store.transact(lambda transaction: transaction.put_mark("acme", "policy", "strict"))
    assert await store.marks("acme", "p") == {"policy": "strict"}
    asked = counted(store, monkeypatch)
    assert await store.marks("acme", "p") == {"policy": "strict"}
    assert asked == ["small"]
    assert await store.marks("acme", "q/") == {}
    assert asked[1:] == ["small", "scan", "state"]
    assert await store.marks("acme", "q/") == {}
    assert asked[4:] == ["small"], "an answer without rows is kept, too, once the version was confirmed"
    await store.close()


async def test_writes_without_a_reader_of_the_outbox_collect_no_journal(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    await store.transact(lambda transaction: transaction.enqueue(OutboxEntry.for_memory(memory("tea"))))
    asked = counted(store, monkeypatch)
    task = await maintain_outbox(store, fed=False, before=None)
    assert task is not None
    await task
    assert "noted" not in asked
    assert [entry.action for entry in await store.pending()] == ["upsert"], "whoever reads it still finds everything"
    await store.close()


async def test_a_mark_that_another_process_writes_is_seen_at_once(new_store: Callable[[], CassandraStore]) -> None:
    store, other = new_store(), new_store()
    await store.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await other.transact(lambda transaction: transaction.put_mark("acme", "policy", "strict"))
    for value in ("strict", "loose", None):
        await other.transact(lambda transaction, value=value: transaction.put_mark("acme", "policy", value))
        assert (await store.marks("acme", "p")).get("policy") == value
        assert (await store.marks("acme", "p")).get("policy") == value
        found = await store.transact(lambda transaction: transaction.find_mark("acme", "policy"))
        assert found == value
    await store.close()
    await other.close()


async def test_what_was_read_while_a_mark_was_removed_is_not_kept(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = new_store(), new_store()
    await store.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await other.transact(lambda transaction: transaction.put_mark("acme", "policy", "strict"))
    partitions, removed = store._database.partitions, []
    scan = partitions.scan

    async def overtaken(home: Partition, *values: Any, reverse: bool) -> list[Any]:
        if not removed:
            removed.append(True)
            await other.transact(lambda transaction: transaction.put_mark("acme", "policy", None))
        return await scan(home, *values, reverse=reverse)

    monkeypatch.setattr(partitions, "scan", overtaken)
    assert await store.marks("acme", "p") == {}
    kept = partitions.answers._known
    version = (await partitions.state(ACME))[0]
    assert {asked[1] for asked in kept} == {version}, "the empty answer was not of the version that was seen before it"
    await store.close()
    await other.close()


def _asked(number: int) -> Question:
    return ACME, number, ("mark",)


def test_an_answer_is_kept_for_a_time_and_not_longer_for_being_used() -> None:
    now = [0.0]
    answers = Answers(lambda: now[0])
    answers.keep({_asked(1): [(b"key", b"row")]})
    now[0] = KEPT_SECONDS - 1
    assert answers.find(_asked(1)) == [(b"key", b"row")]
    answers.keep({_asked(1): [(b"key", b"row")]})
    now[0] = KEPT_SECONDS + 1
    assert answers.find(_asked(1)) is None


def test_long_answers_are_not_kept_and_old_ones_go() -> None:
    answers = Answers(lambda: 0.0)
    answers.keep({_asked(0): [(b"key", bytes(5000))]})
    assert answers.find(_asked(0)) is None
    answers.keep({_asked(number): [] for number in range(5000)})
    assert answers.find(_asked(4999)) == []
    assert answers.find(_asked(1)) is None


def starts(store: CassandraStore, monkeypatch: pytest.MonkeyPatch, table: str) -> list[bytes]:
    """Return the keys at which the store's reads of a table begin from here on."""
    partitions, begun = store._database.partitions, []
    scan = partitions.scan

    async def noted(home: Partition, name: str, first: bytes, *values: Any, reverse: bool) -> list[Any]:
        if name == table:
            begun.append(first)
        return await scan(home, name, first, *values, reverse=reverse)

    monkeypatch.setattr(partitions, "scan", noted)
    return begun


async def test_reads_of_the_outbox_begin_behind_what_was_removed(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)

    async def enqueue(transaction: Any) -> None:
        for number in range(3):
            await transaction.enqueue(OutboxEntry(scope=scope(), action="created", memory_id=f"{number}", version=1))

    await store.transact(enqueue)
    first = await store.pending()
    await store.acknowledge([entry.sequence for entry in first[:2]])
    begun = starts(store, monkeypatch, "outbox")
    assert [entry.memory_id for entry in await store.pending()] == ["2"]
    await store.acknowledge([first[2].sequence])
    assert await store.pending() == []
    await store.transact(enqueue)
    assert [entry.memory_id for entry in await store.pending()] == ["0", "1", "2"]
    assert min(begun) > sortable_key((first[1].sequence,))
    await store.close()


async def test_reads_of_a_journal_begin_behind_what_was_collected(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    begun = starts(store, monkeypatch, "journal")
    for number in range(3):
        event = AuditEvent(tenant="acme", action="created", at=START, actor="ada", scope=scope())
        await store.transact(lambda transaction, event=event: transaction.append_audit(event))
        assert len(await store.audit("acme")) == number + 1
    assert begun == sorted(set(begun))
    assert len(begun) == 3
    await store.close()


async def test_a_write_to_a_known_scope_asks_one_question_before_its_commit(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    await store.transact(lambda transaction: transaction.put_mark("acme", "policy/a", "strict"))

    async def write(number: int) -> None:
        async def work(transaction: Any) -> None:
            assert await transaction.find_fingerprint(scope(), f"f{number}") is None
            assert await transaction.find_mark("acme", "policy/a") == "strict"
            assert await transaction.find_mark("acme", "policy/none") is None
            await transaction.insert(memory(f"Fact {number}"))

        marks, same = await store.marks_and_duplicate("acme", "policy/", scope(), f"f{number}", request=None)
        assert (marks, same) == ({"policy/a": "strict"}, None)
        await store.transact(work, scope=scope())

    await write(0)
    await write(1)
    asked = counted(store, monkeypatch)
    await write(2)
    assert asked == ["small"]
    await store.close()
