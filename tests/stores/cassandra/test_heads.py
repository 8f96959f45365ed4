"""Heads of partitions: the version that a transaction reads, and the rows that belong to it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from mnemic.errors import VersionConflict
from mnemic.stores.cassandra import CassandraStore
from mnemic.testing.record_store.fixtures import EMBEDDER, everything, memory, remember


@pytest.fixture
def new_store(cassandra: str) -> Callable[[], CassandraStore]:
    prefix = secrets.token_hex(6)
    return lambda: CassandraStore(f"{cassandra}&prefix={prefix}")


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
    assert asked["writer"] == [False], "a process knows that its own commits are stored"
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
    assert seen == [False, False]
    assert await writer.count(everything()) == 3
    await writer.close()
    await other.close()
