"""Contract of every document store, as one pytest class: subclass it and define `new_store`."""

# ruff: noqa: D102

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from mnemic.errors import InvalidInput, StoreUnavailable
from mnemic.ports import DocumentStore
from mnemic.testing.clock import ManualClock
from mnemic.types import Document, FindDocuments, GetDocument, ListNamespaces, PutDocument

HOUR = timedelta(hours=1)


def put(key: str, value: str | None = '{"v":1}', *, namespace: tuple[str, ...] = ("a",), **more: object) -> PutDocument:
    """Return a put into the namespace `a`; a value of None deletes."""
    return PutDocument(namespace=namespace, key=key, value=value, **more)  # type: ignore[arg-type]


def got(documents: DocumentStore, key: str, *, tenant: str = "t", hide: bool = False) -> Document | None:
    """Return the document under `key` in the namespace `a`."""
    answer = documents.apply(tenant, [GetDocument(namespace=("a",), key=key)], hide_expired=hide)[0]
    assert answer is None or isinstance(answer, Document)
    return answer


def keys(documents: DocumentStore, **wanted: object) -> list[str]:
    """Return the keys that a search of tenant `t` finds, in its order."""
    answer = documents.apply("t", [FindDocuments(**wanted)])[0]  # type: ignore[arg-type]
    assert isinstance(answer, list)
    return [one.key for one in answer if isinstance(one, Document)]


class DocumentStoreContract:
    """Checks everything that `mnemic.ports.DocumentStore` promises. `new_store` makes a store that uses `clock`."""

    def new_store(self, clock: ManualClock) -> DocumentStore:
        """Return the store under test, empty."""
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> ManualClock:
        """Return the clock by which documents expire."""
        return ManualClock()

    @pytest.fixture
    def documents(self, clock: ManualClock) -> Iterator[DocumentStore]:
        """Yield a store that is closed afterwards."""
        store = self.new_store(clock)
        yield store
        store.close()

    def test_reads_of_a_batch_see_what_was_before_it(self, documents: DocumentStore) -> None:
        documents.apply("t", [put("k")])
        answers = documents.apply(
            "t", [put("k", '{"v":2}'), GetDocument(namespace=("a",), key="k"), put("k", '{"v":3}'), put("new")]
        )
        assert isinstance(answers[1], Document)
        assert answers[1].value == {"v": 1}
        assert got(documents, "k").value == {"v": 3}  # type: ignore[union-attr]

    def test_a_batch_that_fails_changes_nothing(self, documents: DocumentStore) -> None:
        documents.apply("t", [put("k")])
        with pytest.raises(InvalidInput, match="invalid_input:limit"):
            documents.apply("t", [put("k", None), FindDocuments(limit=-1)])
        with pytest.raises(InvalidInput, match="invalid_input:operator"):
            documents.apply("t", [put("k", None), FindDocuments(conditions={"v": {"$in": []}})])
        with pytest.raises(InvalidInput, match="invalid_input:surrogate"):
            documents.apply("t", [put("k", None), put("bad", '{"v":"\ud800"}')])
        assert got(documents, "k") is not None
        assert got(documents, "bad") is None

    def test_times_are_kept_and_never_come_twice(self, documents: DocumentStore, clock: ManualClock) -> None:
        documents.apply("t", [put("one"), put("two")])
        first = got(documents, "one")
        documents.apply("t", [put("one")])
        second, other = got(documents, "one"), got(documents, "two")
        assert first is not None
        assert second is not None
        assert other is not None
        assert second.created_at == first.created_at
        assert first.updated_at < other.updated_at < second.updated_at
        assert keys(documents) == ["one", "two"]

    def test_a_document_expires_and_reading_renews_it(self, documents: DocumentStore, clock: ManualClock) -> None:
        documents.apply("t", [put("k", ttl=HOUR), put("forever")])
        clock.advance(HOUR * 0.9)
        assert got(documents, "k") is not None
        clock.advance(HOUR * 0.9)
        assert keys(documents, refresh=False) == ["forever", "k"]
        clock.advance(HOUR * 0.2)
        assert got(documents, "k", hide=True) is None
        assert documents.apply("t", [ListNamespaces()], hide_expired=True) == [[("a",)]]
        assert documents.sweep("other") == 0
        assert documents.sweep("t") == 1
        assert keys(documents) == ["forever"]

    def test_a_read_in_a_writing_batch_renews_as_well(self, documents: DocumentStore, clock: ManualClock) -> None:
        documents.apply("t", [put("k", ttl=HOUR)])
        clock.advance(HOUR * 0.9)
        documents.apply("t", [GetDocument(namespace=("a",), key="k"), put("other")])
        clock.advance(HOUR * 0.9)
        assert got(documents, "k", hide=True) is not None

    def test_tenants_share_nothing(self, documents: DocumentStore) -> None:
        documents.apply("t", [put("k", '{"who":"t"}')])
        documents.apply("u", [put("k", '{"who":"u"}')])
        assert got(documents, "k", tenant="t").value == {"who": "t"}  # type: ignore[union-attr]
        documents.apply("u", [put("k", None)])
        assert got(documents, "k", tenant="t") is not None
        assert documents.apply("u", [FindDocuments(), ListNamespaces()]) == [[], []]
        with pytest.raises(InvalidInput):
            documents.apply("", [FindDocuments()])

    def test_a_prefix_is_whole_segments(self, documents: DocumentStore) -> None:
        for number, namespace in enumerate([("a",), ("a", "b"), ("ab",), ("a/b",), ("a~",), ("a", "b", "c")]):
            documents.apply("t", [put(str(number), namespace=namespace)])
        assert sorted(keys(documents, prefix=("a",))) == ["0", "1", "5"]
        assert sorted(keys(documents, prefix=("a", "b"))) == ["1", "5"]
        assert keys(documents, prefix=("a/b",)) == ["3"]
        assert len(keys(documents)) == 6

    def test_pages_of_a_query_hold_every_document_once(self, documents: DocumentStore) -> None:
        vectors = [(array("f", [1, 0]).tobytes(),), (), (array("f", [0.6, 0.8]).tobytes(),)]
        documents.apply("t", [put(str(n), '{"t":"tea"}', vectors=vectors[n % 3]) for n in range(30)])
        query = array("f", [0, 1]).tobytes()
        pages = [keys(documents, vector=query, limit=10, offset=offset) for offset in (0, 10, 20)]
        assert len({key for page in pages for key in page}) == 30
        assert all(int(key) % 3 == 2 for key in pages[0])
        assert all(int(key) % 3 == 1 for key in pages[2])

    def test_without_vectors_words_decide(self, documents: DocumentStore) -> None:
        documents.apply("t", [put("a", '{"t":"green tea"}'), put("b", '{"t":"coffee"}'), put("c", '{"t":"tea tea"}')])
        found = documents.apply("t", [FindDocuments(query="green tea")])[0]
        assert isinstance(found, list)
        assert [(one.key, one.score is None) for one in found if isinstance(one, Document)] == [
            ("a", False),
            ("c", False),
            ("b", True),
        ]

    def test_a_new_value_drops_the_old_vectors(self, documents: DocumentStore) -> None:
        vector = array("f", [1, 0]).tobytes()
        documents.apply("t", [put("k", vectors=(vector,))])
        documents.apply("t", [put("k")])
        found = documents.apply("t", [FindDocuments(vector=vector)])[0]
        assert isinstance(found, list)
        assert isinstance(found[0], Document)
        assert found[0].score is None

    def test_threads_lose_nothing(self, documents: DocumentStore) -> None:
        gate = threading.Barrier(4)

        def write(thread: int) -> None:
            gate.wait(timeout=30)
            for number in range(10):
                documents.apply("t", [put(f"{thread}-{number}"), FindDocuments(limit=1)])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))
        assert len(keys(documents, limit=100)) == 40

    def test_a_closed_store_says_so(self, documents: DocumentStore) -> None:
        documents.close()
        documents.close()
        with pytest.raises(StoreUnavailable):
            documents.apply("t", [FindDocuments()])
        with pytest.raises(StoreUnavailable):
            documents.apply("t", [put("k")])
