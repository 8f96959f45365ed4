"""Commits that are cut off, get no answer, or are overtaken by another process: the state that they leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cassandra import OperationTimedOut

from mnemic.errors import StoreBusy, StoreUnavailable
from mnemic.ports import Transaction
from mnemic.stores.cassandra import CassandraStore, journal
from mnemic.stores.cassandra.routing import Partition
from mnemic.testing.record_store.fixtures import EMBEDDER, START, everything, memory, remember, scope
from mnemic.types import AuditEvent, Memory


class Killed(BaseException):
    """The process ends here."""


def both(ada: Memory, bob: Memory) -> Any:
    async def work(transaction: Transaction) -> None:
        for each in (ada, bob):
            await transaction.insert(each)
            event = AuditEvent(tenant="acme", action="created", at=START, actor="ada", memory_id=each.memory_id)
            await transaction.append_audit(event)

    return work


async def test_a_change_over_two_scopes_that_is_cut_off_anywhere_is_whole_or_absent(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = []
    for cut in range(12):
        tag = f"u{cut}"
        ada, bob = memory("tea", scope=scope(f"ada{tag}")), memory("tea", scope=scope(f"bob{tag}"))
        dying = new_store()
        await dying.open(EMBEDDER.space)
        link, left = dying._database.link, [cut]
        answer = link._answer

        async def cut_off(statement: Any, *, answer: Any = answer, left: list[int] = left) -> Any:
            if statement_changes(statement):
                if left[0] == 0:
                    raise Killed
                left[0] -= 1
            return await answer(statement)

        monkeypatch.setattr(link, "_answer", cut_off)
        try:
            await dying.transact(both(ada, bob))
            ended = True
        except Killed:
            ended = False
        monkeypatch.undo()
        await dying.close()
        store = new_store()
        await store.open(EMBEDDER.space)
        found = [await store.count(everything(each.scope)) for each in (ada, bob)]
        assert found in ([0, 0], [1, 1])
        lines = [line.memory_id for line in await store.audit("acme")]
        assert [lines.count(each.memory_id) for each in (ada, bob)] == found
        assert (await store.broken_audit("acme"))[1] is None
        await remember(store, memory("coffee", scope=ada.scope), memory("coffee", scope=bob.scope))
        await store._database.partitions.sweep(age=0.0)
        assert await store._database.link.ask("left", ()) == []
        await store.close()
        outcomes.append((ended, found[0]))
        if ended:
            break
    assert (False, 0) in outcomes, "never cut off before the decision"
    assert (False, 1) in outcomes, "never cut off after the decision"
    assert outcomes[-1] == (True, 1)


@pytest.mark.parametrize("lacking", [1, 9])
async def test_a_committed_change_is_made_though_answers_lack_its_decision(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch, lacking: int
) -> None:
    """While nodes join or leave, a majority may lack a decision for a moment."""
    dying = new_store()
    await dying.open(EMBEDDER.space)

    async def cut(*_: Any) -> None:
        raise Killed

    monkeypatch.setattr(dying._database.partitions, "make", cut)
    ada, bob = memory("tea", scope=scope("ada")), memory("tea", scope=scope("bob"))
    with pytest.raises(Killed):
        await dying.transact(both(ada, bob))
    await dying.close()
    store = new_store()
    await store.open(EMBEDDER.space)
    partitions, left = store._database.partitions, [lacking]
    decision = partitions.decision

    async def without(change: str) -> str | None:
        if left[0]:
            left[0] -= 1
            return None
        return await decision(change)

    monkeypatch.setattr(partitions, "decision", without)
    assert [await store.count(everything(each.scope)) for each in (ada, bob)] == [1, 1]
    assert len(await store.audit("acme")) == 2
    assert (await store.broken_audit("acme"))[1] is None
    await partitions.sweep(age=0.0)
    await store.close()


@pytest.mark.parametrize("failing", ["make", "forget"])
async def test_a_committed_change_is_no_error_for_its_caller_though_it_cannot_be_completed_yet(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """An error would let a caller without a key write it a second time."""
    store = new_store()
    await store.open(EMBEDDER.space)
    partitions = store._database.partitions

    async def busy(*_: Any) -> None:
        raise StoreBusy

    with monkeypatch.context() as patch:
        patch.setattr(partitions, failing, busy)
        ada, bob = memory("tea", scope=scope("ada")), memory("tea", scope=scope("bob"))
        await store.transact(both(ada, bob))
    assert [await store.count(everything(each.scope)) for each in (ada, bob)] == [1, 1]
    await partitions.sweep(age=0.0)
    assert (await store.broken_audit("acme"))[1] is None
    await store.close()


async def test_a_hold_of_a_change_that_nobody_knows_is_let_go(new_store: Callable[[], CassandraStore]) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    await remember(store, memory("tea"))
    home = Partition("acme", "user", "ada")
    partitions = store._database.partitions
    version = (await partitions.state(home))[0]
    assert await store._database.link.change([("hold", ("gone", *partitions.key(home), version, None))], settled=None)
    await remember(store, memory("coffee"))
    assert await store.count(everything()) == 2
    await partitions.forget("gone")
    await store.close()


def statement_changes(statement: Any) -> bool:
    """Distinguish a lightweight transaction from reads and plain writes."""
    if hasattr(statement, "_statements_and_parameters"):
        return True
    text = statement.prepared_statement.query_string
    return " IF " in text


async def test_a_commit_whose_answer_is_lost_is_made_once(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    link = store._database.link
    answer, lost = link._answer, []

    async def deaf(statement: Any) -> Any:
        found = await answer(statement)
        if statement_changes(statement) and len(lost) < 3:
            lost.append(statement)
            raise OperationTimedOut
        return found

    monkeypatch.setattr(link, "_answer", deaf)
    for number in range(3):
        await remember(store, memory(f"tea {number}", fingerprint=f"f{number}"))
    assert len(lost) == 3
    assert await store.count(everything()) == 3
    await store.close()


async def test_a_commit_that_never_arrived_is_made_again(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    link = store._database.link
    answer, lost = link._answer, []

    async def cut(statement: Any) -> Any:
        if statement_changes(statement) and not lost:
            lost.append(statement)
            raise OperationTimedOut
        return await answer(statement)

    monkeypatch.setattr(link, "_answer", cut)
    await remember(store, memory("tea", fingerprint="f"))
    assert len(lost) == 1
    assert await store.count(everything()) == 1
    await store.close()


@pytest.mark.parametrize("scopes", [1, 2])
@pytest.mark.parametrize("late", range(8))
async def test_a_change_that_arrives_after_it_was_looked_up_is_made_once(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch, scopes: int, late: int
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    link = store._database.link
    answer, sent, delayed = link._answer, [], []

    async def arrive_late(statement: Any) -> Any:
        if statement_changes(statement):
            sent.append(statement)
            if len(sent) == late + 1:
                delayed.append(statement)
                raise OperationTimedOut
            if delayed:
                await answer(delayed.pop())
        return await answer(statement)

    monkeypatch.setattr(link, "_answer", arrive_late)
    ada, bob = memory("tea", scope=scope("ada")), memory("tea", scope=scope("bob"))
    if scopes == 2:
        await store.transact(both(ada, bob))
    else:
        await store.transact(lambda transaction: one(transaction, ada))
    monkeypatch.undo()
    for statement in delayed:
        await answer(statement)
    written = [ada, bob][:scopes]
    assert [await store.count(everything(each.scope)) for each in written] == [1] * scopes
    lines = [line.memory_id for line in await store.audit("acme")]
    assert sorted(lines) == sorted(each.memory_id for each in written)
    assert (await store.broken_audit("acme"))[1] is None
    await store.close()


async def one(transaction: Transaction, memory: Memory) -> None:
    await transaction.insert(memory)
    event = AuditEvent(tenant="acme", action="created", at=START, actor="ada", memory_id=memory.memory_id)
    await transaction.append_audit(event)


async def test_a_writer_that_has_missed_a_mark_is_refused_and_reads_it(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, other = new_store(), new_store()
    await writer.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await remember(writer, memory("before"))
    link = writer._database.link
    change, seen = link.change, []

    async def work(transaction: Transaction) -> None:
        seen.append(await transaction.find_mark("acme", "erased:ada"))
        await transaction.insert(memory("tea" if seen[-1] is None else "nothing of hers"))

    async def overtaken(statements: Any, **how: Any) -> bool:
        if len(seen) == 1:
            await other.transact(lambda transaction: transaction.put_mark("acme", "erased:ada", "yes"))
        return await change(statements, **how)

    monkeypatch.setattr(link, "change", overtaken)
    await writer.transact(work)
    assert seen == [None, "yes"]
    kept = [each.content for each in await other.newest(everything(), limit=9)]
    assert kept == ["nothing of hers", "before"]
    await writer.close()
    await other.close()


async def test_who_collects_does_not_wait_for_those_who_go_on_writing(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)

    async def write() -> None:
        event = AuditEvent(tenant="acme", action="created", at=START, actor="ada", scope=scope())
        await store.transact(lambda transaction: transaction.append_audit(event))

    await write()
    partitions = store._database.partitions
    noted, passes = partitions.partitions_to_collect, []

    async def and_another(tenant: str | None) -> Any:
        passes.append(tenant)
        assert len(passes) < 9, "it would never end"
        found = await noted(tenant)
        await write()
        return found

    monkeypatch.setattr(partitions, "partitions_to_collect", and_another)
    assert len(await store.audit("acme")) >= 1
    assert passes == ["acme"]
    await store.close()


def noted(name: str, memory_id: str | None = None) -> AuditEvent:
    return AuditEvent(tenant="acme", action="created", at=START, actor=name, scope=scope(name), memory_id=memory_id)


async def test_what_is_written_while_it_is_collected_is_collected_the_next_time(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    await store.transact(lambda transaction: transaction.append_audit(noted("ada")))
    transact, overtaken = store._database.transact, []

    async def then_another(work: Any, *, deadline: Any = None) -> Any:
        found = await transact(work, deadline=deadline)
        if not overtaken:
            overtaken.append(True)
            await store.transact(lambda transaction: transaction.append_audit(noted("ada", "later")))
        return found

    monkeypatch.setattr(store._database, "transact", then_another)
    assert [line.memory_id for line in await store.audit("acme")] == [None]
    monkeypatch.undo()
    assert [line.memory_id for line in await store.audit("acme")] == [None, "later"]
    assert (await store.broken_audit("acme"))[1] is None
    await store.close()


async def test_a_collection_that_ends_half_way_is_taken_up_again(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    for name in ("ada", "bob", "ada"):
        await store.transact(lambda transaction, name=name: transaction.append_audit(noted(name)))

    async def cut(rows: Any, waiting: Any) -> bool:
        raise Killed

    monkeypatch.setattr(journal, "_empty_journal", cut)
    with pytest.raises(Killed):
        await store.audit("acme")
    monkeypatch.undo()
    await store.transact(lambda transaction: transaction.append_audit(noted("eve")))
    assert [line.actor for line in await store.audit("acme")] == ["ada", "bob", "ada", "eve"]
    assert await store.broken_audit("acme") == (4, None, (await store.audit("acme"))[-1].hash)
    await store.close()


async def test_a_line_of_a_new_partition_is_found_though_it_was_announced_before(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    link = store._database.link
    change, looked = link.change, []

    async def overtaken(statements: Any, **how: Any) -> bool:
        if not looked:
            looked.append(True)
            assert await store.audit("acme") == []
        return await change(statements, **how)

    monkeypatch.setattr(link, "change", overtaken)
    await store.transact(lambda transaction: transaction.append_audit(noted("ada")))
    assert [line.actor for line in await store.audit("acme")] == ["ada"]
    await store.close()


@pytest.mark.parametrize("lacking", [2, 100])
async def test_a_line_that_an_answer_lacks_for_a_moment_does_not_break_the_audit(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch, lacking: int
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    for _ in range(3):
        await store.transact(lambda transaction: transaction.append_audit(noted("ada")))
    partitions = store._database.partitions
    scan, left = partitions.scan, [lacking]

    async def without_the_second(home: Any, name: str, *values: Any, reverse: bool) -> list[Any]:
        rows = await scan(home, name, *values, reverse=reverse)
        if name == "journal" and left[0]:
            left[0] -= 1
            return [rows[0], *rows[2:]]
        return rows

    async def at_once(*_: float) -> None:
        return None

    monkeypatch.setattr(partitions, "scan", without_the_second)
    monkeypatch.setattr(journal, "pause", at_once)
    lines, broken, _ = await store.broken_audit("acme")
    assert (lines, broken) == ((3, None) if lacking == 2 else (2, 2)), "a line that is gone for good breaks the chain"
    await store.close()


@pytest.mark.parametrize("away", [False, True])
async def test_lines_after_a_gap_wait_until_every_replica_was_asked(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch, away: bool
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    for name in ("first", "second", "third"):
        await store.transact(lambda transaction, name=name: transaction.append_audit(noted("ada", name)))
    partitions = store._database.partitions
    scan, ask, lacking = partitions.scan, store._database.link.ask, [True]

    async def without_the_second(home: Any, name: str, *values: Any, reverse: bool) -> list[Any]:
        rows = await scan(home, name, *values, reverse=reverse)
        return [rows[0], *rows[2:]] if name == "journal" and lacking[0] else rows

    async def asked(name: str, values: Any, **how: Any) -> Any:
        if how.get("of_all"):
            lacking[0] = away
            if away:
                raise StoreUnavailable("cassandra")
        return await ask(name, values, **how)

    async def at_once(*_: float) -> None:
        return None

    monkeypatch.setattr(partitions, "scan", without_the_second)
    monkeypatch.setattr(store._database.link, "ask", asked)
    monkeypatch.setattr(journal, "pause", at_once)
    assert [line.memory_id for line in await store.audit("acme")] == (
        ["first"] if away else ["first", "second", "third"]
    )
    lacking[0] = away = False
    assert [line.memory_id for line in await store.audit("acme")] == ["first", "second", "third"]
    assert (await store.broken_audit("acme"))[:2] == (3, None)
    await store.close()


async def test_a_line_of_the_audit_that_an_answer_lacks_breaks_no_chain(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    for name in ("ada", "bob", "eve"):
        await store.transact(lambda transaction, name=name: transaction.append_audit(noted(name)))
    assert len(await store.audit("acme")) == 3
    partitions, lacking = store._database.partitions, [True]
    scan, repair = partitions.scan, partitions.repair

    async def without_the_second(home: Any, name: str, *values: Any, reverse: bool) -> list[Any]:
        rows = await scan(home, name, *values, reverse=reverse)
        return [rows[0], *rows[2:]] if name == "audit" and lacking[0] else rows

    async def repaired(home: Any, name: str) -> bool:
        lacking[0] = False
        return await repair(home, name)

    monkeypatch.setattr(partitions, "scan", without_the_second)
    monkeypatch.setattr(partitions, "repair", repaired)
    assert (await store.broken_audit("acme"))[:2] == (3, None)
    await store.close()


async def test_a_change_whose_last_step_was_refused_is_kept_until_it_is_made(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While nodes join or leave, a condition may be judged by replicas that lack the row which meets it."""
    store = new_store()
    await store.open(EMBEDDER.space)
    link = store._database.link
    change, refused = link.change, []

    async def refuses(statements: Any, **how: Any) -> bool:
        if statements[0][0] == "finish" and not refused:
            refused.append(statements[0][1])
            return False
        return await change(statements, **how)

    monkeypatch.setattr(link, "change", refuses)
    ada, bob = memory("tea", scope=scope("ada")), memory("tea", scope=scope("bob"))
    await store.transact(both(ada, bob))
    assert refused
    assert [await store.count(everything(each.scope)) for each in (ada, bob)] == [1, 1]
    assert (await store.broken_audit("acme"))[:2] == (2, None)
    await store._database.partitions.sweep(age=0.0)
    await store.close()
