"""Documents in the SQLite file, beyond the contract: names of namespaces, one file with the memories, erasure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.bootstrap import build_documents
from mnemic.errors import NotSupported
from mnemic.stores.relational.documents import namespace_of, path_of
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.documents import SqliteDocuments
from mnemic.testing.clock import ManualClock
from mnemic.testing.document_store import got, put
from mnemic.testing.record_store import EMBEDDER


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def documents(path: Path, clock: ManualClock) -> Iterator[SqliteDocuments]:
    store = SqliteDocuments(path, clock=clock)
    yield store
    store.close()


@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4), st.lists(st.text(min_size=1, max_size=5)))
def test_a_path_begins_like_another_only_where_the_namespace_does(one: list[str], two: list[str]) -> None:
    assert namespace_of(path_of(tuple(one))) == tuple(one)
    assert path_of(tuple(one)).startswith(path_of(tuple(two))) == (one[: len(two)] == two)


async def test_documents_and_memories_share_a_file(documents: SqliteDocuments, path: Path) -> None:
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    documents.apply("t", [put("k")])
    assert got(documents, "k") is not None
    await store.close()


def test_a_deleted_value_leaves_no_byte(documents: SqliteDocuments, path: Path) -> None:
    documents.apply("t", [put("k", '{"v":"canary-7f3a9c"}')])
    documents.apply("t", [put("k", None)])
    for file in path.parent.iterdir():
        assert b"canary-7f3a9c" not in file.read_bytes()


def test_documents_of_a_location(tmp_path: Path) -> None:
    store = build_documents(str(tmp_path / "m.db"))
    store.apply("t", [put("k")])
    store.close()
    with pytest.raises(NotSupported, match="not_supported:documents"):
        build_documents("memory:")
