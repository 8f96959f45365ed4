"""What LangGraph's own tests leave open: the engine's answers where its stores disagree."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp

from mnemic.agents.langgraph import AsyncMnemicStore, MnemicStore

NS = ("users", "ada")


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(text.count("a")), float(text.count("b")), 0.0] for text in texts]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MnemicStore]:
    with MnemicStore(tmp_path / "m.db") as one:
        yield one


def test_a_new_value_keeps_when_it_was_created(store: MnemicStore) -> None:
    store.put(NS, "k", {"v": 1})
    first = store.get(NS, "k")
    store.put(NS, "k", {"v": 2})
    second = store.get(NS, "k")
    assert first is not None
    assert second is not None
    assert first.created_at == second.created_at
    assert second.updated_at > first.updated_at
    assert second.updated_at.tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    [
        {"v": {1}},
        {"v": datetime(2026, 1, 1, tzinfo=UTC)},
        {"v": float("nan")},
        {"v": "\ud800"},
        {1: "v"},
        {"v": [{2: 3}]},
    ],
)
def test_what_is_no_json_is_refused_before_anything_is_written(store: MnemicStore, value: Any) -> None:
    with pytest.raises(TypeError):
        store.batch([PutOp(NS, "good", {"v": 1}), PutOp(NS, "bad", value)])
    assert store.search(NS) == []


def test_a_bad_label_stops_the_whole_batch(store: MnemicStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(NS, "good", {"v": 1}), PutOp(("a.b",), "bad", {"v": 1})])
    assert store.search(()) == []


def test_what_is_returned_can_be_changed_without_harm(store: MnemicStore) -> None:
    store.put(NS, "k", {"v": [1]})
    store.get(NS, "k").value["v"].append(2)  # type: ignore[union-attr]
    assert store.get(NS, "k").value == {"v": [1]}  # type: ignore[union-attr]


def test_reading_makes_no_namespace_and_deleting_leaves_none(store: MnemicStore) -> None:
    assert store.get(("ghost",), "k") is None
    store.put(("gone",), "k", {"v": 1})
    store.delete(("gone",), "k")
    assert store.list_namespaces() == []


def test_a_list_will_do_for_a_namespace_and_a_number_for_a_key(store: MnemicStore) -> None:
    store.put(["users", "ada"], 5, {"v": 1})  # type: ignore[arg-type]
    assert [item.key for item in store.search(["users"])] == ["5"]  # type: ignore[arg-type]


def test_without_an_index_a_query_goes_by_words(store: MnemicStore) -> None:
    store.put(NS, "seat", {"text": "prefers an aisle seat"})
    store.put(NS, "food", {"text": "eats no meat"})
    found = store.search(NS, query="which seat?")
    assert [item.key for item in found] == ["seat", "food"]
    assert found[0].score is not None
    assert found[1].score is None


def test_the_index_fields_count_and_old_vectors_go(tmp_path: Path) -> None:
    with MnemicStore(tmp_path / "m.db", index={"dims": 3, "embed": lengths, "fields": ["t"]}) as store:
        store.put(NS, "one", {"t": "aaa", "other": "bbb"})
        store.put(NS, "two", {"t": "bbb"})
        assert [(i.key, i.score) for i in store.search(NS, query="a")] == [("one", 1.0), ("two", 0.0)]
        store.put(NS, "one", {"t": "aaa"}, index=False)
        assert [(i.key, i.score) for i in store.search(NS, query="a")] == [("two", 0.0), ("one", None)]
        store.put(NS, "two", {"t": "bbb", "u": "aaa"}, index=["u"])
        assert store.search(NS, query="a")[0].score == 1.0
        store.batch([PutOp(NS, "x", {"t": "ab"}), PutOp(NS, "y", {"t": "ab"})])
        assert len([i for i in store.search(NS, query="ab") if i.score and i.score > 0.99]) == 2


@pytest.mark.parametrize(
    "embed", [lambda texts: [], lambda texts: [[1.0]] * len(texts), lambda texts: [[float("nan"), 0, 0]] * len(texts)]
)
def test_an_embedding_function_that_errs_leaves_nothing(tmp_path: Path, embed: Any) -> None:
    with MnemicStore(tmp_path / "m.db", index={"dims": 3, "embed": embed}) as store:
        with pytest.raises(ValueError, match="embedding function"):
            store.batch([PutOp(NS, "k", {"t": "a"}, index=False), PutOp(NS, "bad", {"t": "a"})])
        assert store.search(NS) == []


def test_tenants_in_one_file(tmp_path: Path) -> None:
    with MnemicStore(tmp_path / "m.db") as one, MnemicStore(tmp_path / "m.db", tenant="other") as other:
        one.put(NS, "k", {"v": 1})
        assert other.search(()) == []
        assert other.list_namespaces() == []


def test_limits(store: MnemicStore) -> None:
    store.put(NS, "k", {"v": 1})
    assert store.search(NS, limit=0) == []
    with pytest.raises(ValueError, match="limit"):
        store.search(NS, limit=-1)
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(NS, filter={"v": {"$in": [1]}})
    with pytest.raises(ValueError, match="Unknown operation"):
        store.batch([object()])  # type: ignore[list-item]


def test_the_sweeper_starts_once_and_stops(tmp_path: Path) -> None:
    with MnemicStore.from_conn_string(str(tmp_path / "m.db"), ttl={"default_ttl": 1}) as store:
        store.setup()
        future = store.start_ttl_sweeper()
        assert store.start_ttl_sweeper() is future
        assert store.stop_ttl_sweeper()
        assert future.result(timeout=10) is None
        assert store.sweep_ttl() == 0


async def test_both_faces_see_the_same(tmp_path: Path) -> None:
    store = MnemicStore(tmp_path / "m.db")
    await store.aput(NS, "k", {"v": 1})
    assert store.get(NS, "k") == await store.aget(NS, "k")
    assert (await store.abatch([GetOp(NS, "k"), SearchOp(NS)]))[0] is not None
    store.close()


async def test_the_asynchronous_store_batches_a_tick(tmp_path: Path) -> None:
    index: Any = {"dims": 3, "embed": lengths}
    async with AsyncMnemicStore.from_conn_string(str(tmp_path / "m.db"), index=index) as store:
        await store.setup()
        await asyncio.gather(*(store.aput(NS, str(n), {"t": "a" * n}) for n in range(1, 6)))
        assert len(await store.asearch(NS, query="a")) == 5
        assert await store.sweep_ttl() == 0
        with pytest.raises(asyncio.InvalidStateError):
            store.get(NS, "1")
        with pytest.raises(asyncio.InvalidStateError):
            store.batch([GetOp(NS, "1")])
        assert (await asyncio.to_thread(store.batch, [GetOp(NS, "1")]))[0] is not None


ADDRESS = "jane.roe@acme-mail.com"


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_redaction_is_the_applications_word(tmp_path: Path, asynchronous: bool) -> None:
    embedded: list[str] = []

    def seen(texts: list[str]) -> list[list[float]]:
        embedded.extend(texts)
        return lengths(texts)

    value = {"text": f"write to {ADDRESS}", "to": [ADDRESS, 7], ADDRESS: {"n": 3}}
    with MnemicStore(tmp_path / "m.db", index={"dims": 3, "embed": seen}, redact=True) as store:
        if asynchronous:
            await store.aput(NS, "k", value)
        else:
            store.put(NS, "k", value)
        kept = store.get(NS, "k")
        assert kept is not None
        assert (ADDRESS in str(kept.value), kept.value["to"][1]) == (False, 7)
        assert "[EMAIL#" in kept.value["text"]
        assert [one.key for one in store.search(NS, filter={"to": [ADDRESS, 7]})] == ["k"]
        assert store.search(NS, query=f"who is {ADDRESS}?")[0].key == "k"
        assert [text for text in embedded if ADDRESS in text] == []
        assert store.list_namespaces() == [NS]
    with MnemicStore(tmp_path / "m.db", redact=True) as again:
        again.put(NS, "other", {"to": ADDRESS})
        other = again.get(NS, "other")
        assert other is not None
        assert other.value["to"] == kept.value["to"][0]  # one person in every process
    assert ADDRESS.encode() not in (tmp_path / "m.db").read_bytes()
    with MnemicStore(tmp_path / "m.db") as plain:
        plain.put(NS, "plain", {"to": ADDRESS})
        as_put = plain.get(NS, "plain")
        assert as_put is not None
        assert as_put.value == {"to": ADDRESS}
