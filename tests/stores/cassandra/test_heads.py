"""Heads of partitions: the version that a transaction reads, and the rows that belong to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from mnemic.errors import VersionConflict
from mnemic.ports import Transaction
from mnemic.ports.record_store import one_moment
from mnemic.stores.cassandra import CassandraStore
from mnemic.testing.record_store.fixtures import EMBEDDER, START, everything, memory, remember, scope
from mnemic.types import VectorSpace


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("asks", range(1, 3))
async def test_a_first_commit_between_two_reads_of_a_head_is_seen_whole(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch, asks: int
) -> None:
    late, early = new_store(), new_store()
    await late.open(EMBEDDER.space)
    await early.open(EMBEDDER.space)
    link, first = late._database.link, memory("tea", fingerprint="f1")
    ask, mine = link.ask, []

    async def overtaken(name: str, values: Sequence[Any], **how: Any) -> Any:
        found = await ask(name, values, **how)
        if name in ("small", "state") and "ada" in str(values):
            mine.append(name)
            if len(mine) == asks:
                await remember(early, first)
        return found

    monkeypatch.setattr(link, "ask", overtaken)
    # If the first commit comes after all reads of the head, the condition of the second refuses it.
    with pytest.raises(VersionConflict):
        await remember(late, memory("tea", fingerprint="f1"))
    assert await late.newest(everything(), limit=9) == [first]
    assert (await early.broken_audit("acme"))[1] is None
    await late.close()
    await early.close()


async def test_a_version_that_somebody_else_has_written_is_confirmed_once(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = new_store(), new_store()
    await writer.open(EMBEDDER.space)
    await reader.open(EMBEDDER.space)
    asked: dict[str, list[bool]] = {"writer": [], "reader": []}
    for name, store in (("writer", writer), ("reader", reader)):
        link = store._database.link

        async def noted(
            statement: str, values: Sequence[Any], *, ask: Any = link.ask, seen: list[bool] = asked[name], **how: Any
        ) -> Any:
            if statement == "small" and "ada" in str(values):
                seen.append(how.get("serial", False))
            return await ask(statement, values, **how)

        monkeypatch.setattr(link, "ask", noted)
    await remember(writer, memory("tea"))
    asked["writer"].clear()
    await remember(writer, memory("coffee"))
    assert asked["writer"] == [], "a process knows what it has written itself"
    for _ in range(2):
        assert await reader.count(everything()) == 2
    assert asked["reader"] == [True, False]
    await remember(writer, memory("milk"))
    for _ in range(2):
        assert await reader.count(everything()) == 3
    assert asked["reader"] == [True, False, False, True, False]
    await writer.close()
    await reader.close()


async def test_a_refused_writer_knows_the_version_that_has_refused_it(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, other = new_store(), new_store()
    await writer.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await remember(writer, memory("tea"))
    link = writer._database.link
    change, ask, late, seen = link.change, link.ask, [memory("coffee")], []

    async def overtaken(statements: Any, **how: Any) -> bool:
        while late:
            await remember(other, late.pop())
        return await change(statements, **how)

    async def noted(name: str, values: Sequence[Any], **how: Any) -> Any:
        if name == "small" and "ada" in str(values):
            seen.append(how.get("serial", False))
        return await ask(name, values, **how)

    monkeypatch.setattr(link, "change", overtaken)
    monkeypatch.setattr(link, "ask", noted)
    await remember(writer, memory("milk"))
    assert seen == [False], "asked once it was refused, and no more than that"
    assert await writer.count(everything()) == 3
    await writer.close()
    await other.close()


async def write(store: CassandraStore, text: str, seen: list[str | None], owner: str = "ada") -> None:
    """Write as the engine does, beside what the mark of an erasure says."""
    where = scope(owner)

    async def work(transaction: Transaction) -> None:
        assert await transaction.find_fingerprint(where, text) is None
        seen.append(await transaction.find_mark("acme", "subject/ada/erased"))
        await transaction.insert(memory(text, fingerprint=text, scope=where))

    await store.marks_and_duplicate("acme", "subject/ada/", where, text, request=None)
    await store.transact(work, scope=where)


async def mark(store: CassandraStore, value: str) -> None:
    await store.transact(lambda transaction: transaction.put_mark("acme", "subject/ada/erased", value))


async def opened(new_store: Callable[[], CassandraStore]) -> tuple[CassandraStore, CassandraStore, list[str | None]]:
    """Return two processes, of which the first knows a scope and its marks."""
    writer, other, seen = new_store(), new_store(), list[str | None]()
    await writer.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await write(writer, "before", seen)
    await write(writer, "known", seen)
    return writer, other, seen


async def test_an_erasure_between_the_check_of_a_write_and_its_commit_is_seen(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, other, seen = await opened(new_store)
    transact, erased = writer._database.transact, []

    async def overtaken(work: Any, **how: Any) -> Any:
        if not erased:
            erased.append(await mark(other, "yes"))
        return await transact(work, **how)

    monkeypatch.setattr(writer._database, "transact", overtaken)
    await write(writer, "after", seen)
    assert seen == [None, None, None, "yes"], "what it knew was refused, and it has read the mark"
    await writer.close()
    await other.close()


async def test_a_writer_that_was_first_at_its_scope_sees_an_erasure_that_has_returned(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It commits between the change of the mark and that of its scope's version, and goes on from there."""
    writer, other, seen = await opened(new_store)
    link = other._database.link
    change, first = link.change, []

    async def overtaken(statements: Any, **how: Any) -> bool:
        if "ada" in str(statements[0][1]) and not first:
            first.append(True)
            await write(writer, "meanwhile", seen)
        return await change(statements, **how)

    monkeypatch.setattr(link, "change", overtaken)
    await mark(other, "yes")
    assert first
    await write(writer, "after", seen)
    assert seen[-1] == "yes"
    await writer.close()
    await other.close()


async def test_a_writer_whose_announcement_has_ended_reads_the_marks_again(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, other, seen = await opened(new_store)
    ask = other._database.link.ask

    async def asked(name: str, values: Sequence[Any], **how: Any) -> Any:
        return [] if name == "announced" else await ask(name, values, **how)

    monkeypatch.setattr(other._database.link, "ask", asked)
    await mark(other, "yes")
    announced = writer._database.partitions._announced
    announced.update(dict.fromkeys(announced, -1000.0))
    await write(writer, "after", seen)
    assert seen[-1] == "yes"
    await writer.close()
    await other.close()


async def test_who_finds_a_mark_set_by_a_process_that_has_died_lets_every_writer_know(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, dying, seen = await opened(new_store)
    other = new_store()
    await other.open(EMBEDDER.space)
    link = dying._database.link
    ask = link.ask

    async def cut(name: str, values: Sequence[Any], **how: Any) -> Any:
        if name == "announced":
            raise Killed
        return await ask(name, values, **how)

    monkeypatch.setattr(link, "ask", cut)
    with pytest.raises(Killed):
        await mark(dying, "yes")
    found = await other.transact(lambda transaction: transaction.find_mark("acme", "subject/ada/erased"))
    assert found == "yes"
    await write(writer, "after", seen)
    assert seen[-1] == "yes"
    asked = list[str]()
    ask_again = other._database.link.ask

    async def noted(name: str, values: Sequence[Any], **how: Any) -> Any:
        asked.append(name)
        return await ask_again(name, values, **how)

    monkeypatch.setattr(other._database.link, "ask", noted)
    await other.transact(lambda transaction: transaction.find_mark("acme", "subject/ada/erased"))
    assert not {"announced", "known"} & {*asked}, "once is enough"
    for store in (writer, dying, other):
        await store.close()


async def test_a_write_to_a_known_scope_is_of_the_vector_space_that_another_process_has_switched_to(
    new_store: Callable[[], CassandraStore],
) -> None:
    writer, other, _ = await opened(new_store)
    space = VectorSpace(model="other", dimension=EMBEDDER.space.dimension)
    await other.begin_space(space)
    while waiting := await other.memories_without_vector(limit=9):
        await other.fill([(one, bytes(4 * space.dimension - 4) + b"\0\0\x80?") for one in waiting])
    assert await other.switch_space()
    assert await writer.transact(lambda transaction: transaction.space(), scope=scope()) == space
    await writer.close()
    await other.close()


async def test_a_call_of_one_moment_asks_once_and_sees_its_own_writes(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, other, seen = await opened(new_store)
    ask, asked = writer._database.link.ask, list[str]()

    async def noted(name: str, values: Sequence[Any], **how: Any) -> Any:
        asked.append(name)
        return await ask(name, values, **how)

    monkeypatch.setattr(writer._database.link, "ask", noted)
    with one_moment():
        for _ in range(3):
            assert await writer.count(everything()) == 2
        assert asked == ["small"]
        await write(writer, "mine", seen)
        assert await writer.count(everything()) == 3
        await remember(other, memory("theirs"))
        await write(writer, "after theirs", seen)
        assert await writer.count(everything()) == 5
    await remember(other, memory("later"))
    assert await writer.count(everything()) == 6
    await writer.close()
    await other.close()


async def test_marks_known_beside_one_scope_are_read_again_for_another_in_the_same_moment(
    new_store: Callable[[], CassandraStore],
) -> None:
    """Who has changed them did not find the other scope, which was announced later."""
    writer, other, seen = await opened(new_store)
    with one_moment():
        assert await writer.count(everything()) == 2
        await mark(other, "yes")
        await write(writer, "elsewhere", seen, "bob")
    assert seen[-1] == "yes"
    await writer.close()
    await other.close()


async def test_marks_that_are_written_between_the_questions_of_a_first_write_are_seen(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer without rows may be older than the version that is read beside it."""
    store, other, seen = new_store(), new_store(), list[str | None]()
    await store.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await other.secret("acme")
    link = store._database.link
    ask, answered = link.ask, asyncio.Event()

    async def overtaken(name: str, values: Sequence[Any], **how: Any) -> Any:
        if name == "scan" and not answered.is_set():
            found = await ask(name, values, **how)
            await mark(other, "yes")
            answered.set()
            return found
        if name == "small" and values[1] == "" and values[0].endswith("acme"):
            with suppress(TimeoutError):
                async with asyncio.timeout(2):
                    await answered.wait()
        return await ask(name, values, **how)

    monkeypatch.setattr(link, "ask", overtaken)
    await write(store, "tea", seen)
    assert answered.is_set()
    assert seen[-1] == "yes"
    await store.close()
    await other.close()


async def test_a_search_after_the_writes_of_another_process_reads_what_they_have_changed(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, other = new_store(), new_store()
    await reader.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    kept = [memory(f"Fact {number}", fingerprint=f"f{number}") for number in range(12)]
    await remember(other, *kept)
    assert await reader.count(everything()) == 12
    ask, asked = reader._database.link.ask, list[tuple[str, Any]]()

    async def noted(name: str, values: Sequence[Any], **how: Any) -> Any:
        found = await ask(name, values, **how)
        asked.append((name, len(found)))
        return found

    monkeypatch.setattr(reader._database.link, "ask", noted)
    new, changed = memory("tea"), kept[3].next_version(START, content="Fact three")
    await remember(other, new)
    await other.transact(lambda transaction: transaction.replace(changed))
    await other.transact(lambda transaction: transaction.remove(kept[5].memory_id, scope=scope()))
    there = {each.memory_id: each for each in await reader.newest(everything(), limit=99)}
    assert there == {each.memory_id: each for each in await other.newest(everything(), limit=99)}
    assert new.memory_id in there
    assert kept[5].memory_id not in there
    assert there[changed.memory_id].content == "Fact three"
    assert [each.content for each in await reader.versions(changed.memory_id, scopes=[scope()])] == [
        "Fact 3",
        "Fact three",
    ]
    assert ("get", 2) in asked, "the new memory and the changed one"
    assert max(found for name, found in asked if name == "scan") <= 1, "the earlier version, and no other memory"
    await remember(other, *(memory(f"More {number}") for number in range(9)))
    assert await reader.count(everything()) == 21, "too many to be listed"
    await reader.close()
    await other.close()
