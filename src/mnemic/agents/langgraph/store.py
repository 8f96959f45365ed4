"""LangGraph's long-term store over mnemic's documents: one SQLite file, no extension, no server."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import logging
import math
import secrets
import threading
from array import array
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore

from mnemic.bootstrap import build_documents
from mnemic.errors import MnemicError
from mnemic.ports import DocumentStore
from mnemic.types import (
    Document,
    DocumentAnswer,
    DocumentOperation,
    FindDocuments,
    GetDocument,
    ListNamespaces,
    PutDocument,
    Vector,
)
from mnemic.write.prepare import Redactor, redact_value


@dataclass(slots=True)
class Batch:
    """A batch on its way: the operations, and the texts that must be embedded before it can be applied.

    `places[n]` is the number of the operation that the vector of `texts[n]` belongs to.
    """

    operations: list[DocumentOperation]
    documents: dict[int, list[str]] = field(default_factory=dict)
    queries: dict[int, str] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """The documents' texts, in the order in which `embedded` takes their vectors."""
        return [text for texts in self.documents.values() for text in texts]

    def set_vectors(self, vectors: Sequence[Sequence[float]], queries: Sequence[Sequence[float]], dims: int) -> None:
        """Put the vectors of `texts` and of `queries` into the operations. Raises ValueError for the wrong number of
        vectors or of dimensions; nothing has been written then.
        """
        if len(vectors) != len(self.texts) or len(queries) != len(self.queries):
            raise ValueError("the embedding function returned another number of vectors than it was given texts")
        left = iter(vectors)
        for place, texts in self.documents.items():
            packed = (_pack_unit_vector(next(left), dims) for _ in texts)
            put = self.operations[place]
            assert isinstance(put, PutDocument)
            self.operations[place] = replace(put, vectors=tuple(one for one in packed if one is not None))
        for place, vector in zip(self.queries, queries, strict=True):
            find = self.operations[place]
            assert isinstance(find, FindDocuments)
            self.operations[place] = replace(find, vector=_pack_unit_vector(vector, dims))


class Paths:
    """Texts of a value that are embedded: those at the configured fields, or at those a put names itself."""

    def __init__(self, index: IndexConfig | None) -> None:
        fields = (index or {}).get("fields") or ["$"]
        self._indexed = index is not None
        self._default = [_tokens(path) for path in fields]

    def texts(self, put: PutOp) -> list[str]:
        """Return the texts of one put to embed; none if it is a deletion or asks not to be indexed."""
        if not self._indexed or put.value is None or put.index is False:
            return []
        paths = self._default if put.index is None else [_tokens(path) for path in put.index]
        return [text for path in paths for text in get_text_at_path(put.value, path) if text]


def _tokens(path: str) -> list[str] | str:
    return path if path == "$" else tokenize_path(path)


def batch_of(ops: Iterable[Op], paths: Paths, *, semantic: bool) -> Batch:
    """Return the whole batch checked and translated. Raises InvalidNamespaceError, TypeError for a value that is not
    JSON, ValueError for an unknown operation.
    """
    batch = Batch(operations=[])
    for place, op in enumerate(ops):
        validate_op_namespace(op)
        batch.operations.append(_operation(op))
        if isinstance(op, PutOp) and (texts := paths.texts(op)):
            batch.documents[place] = texts
        if semantic and isinstance(op, SearchOp) and op.query:
            batch.queries[place] = op.query
    return batch


def _operation(op: Op) -> DocumentOperation:
    if isinstance(op, GetOp):
        return GetDocument(namespace=tuple(op.namespace), key=str(op.key), refresh=op.refresh_ttl)
    if isinstance(op, PutOp):
        value = None if op.value is None else json_text(op.value)
        ttl = None if op.ttl is None else timedelta(minutes=op.ttl)
        return PutDocument(namespace=tuple(op.namespace), key=str(op.key), value=value, ttl=ttl)
    if isinstance(op, SearchOp):
        return FindDocuments(
            prefix=tuple(op.namespace_prefix),
            conditions=op.filter or {},
            limit=op.limit,
            offset=op.offset,
            query=op.query or None,
            refresh=op.refresh_ttl,
        )
    if isinstance(op, ListNamespacesOp):
        matching = op.match_conditions or ()
        return ListNamespaces(
            prefixes=tuple(tuple(one.path) for one in matching if one.match_type == "prefix"),
            suffixes=tuple(tuple(one.path) for one in matching if one.match_type == "suffix"),
            max_depth=op.max_depth,
            limit=op.limit,
            offset=op.offset,
        )
    raise ValueError(f"Unknown operation type: {type(op)}")


def json_text(value: Any) -> str:
    """`value` as JSON. Raises TypeError for values that JSON cannot express, half surrogates and NaN included."""
    _check_names(value)
    try:
        text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise TypeError("the value is not JSON: it contains NaN, infinity, half a surrogate or itself") from error
    return text


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) and not isinstance(value, dict) else value


def _check_names(value: Any) -> None:
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise TypeError("the names of a value's fields must be texts")
        for inner in value.values():
            _check_names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_names(inner)


def result_of(op: Op, answer: DocumentAnswer) -> Result:
    """Return the answer to one operation as LangGraph spells it."""
    if isinstance(op, SearchOp):
        assert isinstance(answer, list)
        return [_search_item(document) for document in answer if isinstance(document, Document)]
    if isinstance(answer, Document):
        return Item(
            value=answer.value,
            key=answer.key,
            namespace=answer.namespace,
            created_at=answer.created_at,
            updated_at=answer.updated_at,
        )
    return [one for one in answer if isinstance(one, tuple)] if isinstance(answer, list) else None


def _search_item(document: Document) -> SearchItem:
    return SearchItem(
        namespace=document.namespace,
        key=document.key,
        value=document.value,
        created_at=document.created_at,
        updated_at=document.updated_at,
        score=document.score,
    )


def _pack_unit_vector(vector: Sequence[float], dims: int) -> Vector | None:
    """Return a vector of unit length; None for the zero vector, which points nowhere."""
    if len(vector) != dims:
        raise ValueError(
            f"the embedding function returned {len(vector)} dimensions, the index is configured for {dims}"
        )
    length = math.sqrt(math.fsum(value * value for value in vector))
    if not math.isfinite(length):
        raise ValueError("the embedding function returned a value that is not finite")
    return array("f", [value / length for value in vector]).tobytes() if length else None


_PLACE = ("redaction",)
_KEY = "secret"


class RedactedOperations:
    """Operations without personal data in stored values, queries and filters. Namespaces and keys are unchanged: the
    application finds its documents by them.

    The secret that the markers are derived from is a document of the tenant `<tenant>.redaction`, created at first use.
    """

    def __init__(self, documents: DocumentStore, tenant: str) -> None:
        self._documents = documents
        self._tenant = f"{tenant}.redaction"
        self._redactor = Redactor()
        self._secret: bytes | None = None

    def redact_operations(self, ops: list[Op]) -> list[Op]:
        """Return the operations, redacted, in the form in which they are executed."""
        secret = self._kept_secret()
        return [_redact_operation(op, lambda value: redact_value(value, self._redactor, secret)) for op in ops]

    def _kept_secret(self) -> bytes:
        """Of two who make one at once the later counts."""
        if self._secret is None:
            asked = GetDocument(namespace=_PLACE, key=_KEY)
            (kept,) = self._documents.apply(self._tenant, [asked])
            if kept is None:
                made = PutDocument(namespace=_PLACE, key=_KEY, value=f'{{"secret":"{secrets.token_hex(32)}"}}')
                self._documents.apply(self._tenant, [made])
                (kept,) = self._documents.apply(self._tenant, [asked])
            assert isinstance(kept, Document)
            self._secret = bytes.fromhex(kept.value["secret"])
        return self._secret


def _redact_operation(op: Op, redacted: Callable[[Any], Any]) -> Op:
    if isinstance(op, PutOp) and op.value is not None:
        return op._replace(value=redacted(op.value))
    if isinstance(op, SearchOp):
        return op._replace(query=op.query and redacted(op.query), filter=op.filter and redacted(op.filter))
    return op


logger = logging.getLogger(__name__)

DEFAULT_SWEEP_MINUTES = 5.0


class _Desk:
    """Work of both stores on a batch: translate, embed, apply."""

    def __init__(self, documents: DocumentStore, tenant: str, index: IndexConfig | None, *, redact: bool) -> None:
        self.documents = documents
        self._redacting = RedactedOperations(documents, tenant) if redact else None
        self.tenant = tenant
        self._index = index
        self._embeddings = ensure_embeddings(index.get("embed")) if index else None
        self._paths = Paths(index)

    def batch(self, ops: list[Op], ttl: TTLConfig | None) -> list[Result]:
        ops = ops if self._redacting is None else self._redacting.redact_operations(ops)
        batch = self._batch(ops)
        if self._index is not None and self._embeddings is not None:
            vectors = self._embeddings.embed_documents(batch.texts) if batch.documents else []
            queries = [self._embeddings.embed_query(query) for query in batch.queries.values()]
            batch.set_vectors(vectors, queries, self._index["dims"])
        return self._apply_operations(ops, batch, ttl)

    async def abatch(self, ops: list[Op], ttl: TTLConfig | None) -> list[Result]:
        ops = ops if self._redacting is None else await asyncio.to_thread(self._redacting.redact_operations, ops)
        batch = self._batch(ops)
        if self._index is not None and self._embeddings is not None:
            vectors = await self._embeddings.aembed_documents(batch.texts) if batch.documents else []
            queries = await asyncio.gather(*map(self._embeddings.aembed_query, batch.queries.values()))
            batch.set_vectors(vectors, queries, self._index["dims"])
        return await asyncio.to_thread(self._apply_operations, ops, batch, ttl)

    def _batch(self, ops: list[Op]) -> Batch:
        return batch_of(ops, self._paths, semantic=self._index is not None)

    def _apply_operations(self, ops: list[Op], batch: Batch, ttl: TTLConfig | None) -> list[Result]:
        hide = bool(ttl and ttl.get("omit_expired"))
        answers = self.documents.apply(self.tenant, batch.operations, hide_expired=hide)
        return [result_of(op, answer) for op, answer in zip(ops, answers, strict=True)]


class _Sweeper:
    """Thread that deletes expired documents periodically."""

    def __init__(self, desk: _Desk) -> None:
        self._desk = desk
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._future: concurrent.futures.Future[None] = concurrent.futures.Future()

    def start(self, minutes: float) -> concurrent.futures.Future[None]:
        if self._thread is None or not self._thread.is_alive():
            self._stop.clear()
            self._future = concurrent.futures.Future()
            self._future.add_done_callback(lambda future: self._stop.set() if future.cancelled() else None)
            self._thread = threading.Thread(target=self._run, args=(minutes * 60,), daemon=True, name="mnemic-sweep")
            self._thread.start()
        return self._future

    def stop(self, timeout: float | None = None) -> bool:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def _run(self, seconds: float) -> None:
        while not self._stop.wait(seconds):
            try:
                self._desk.documents.sweep(self._desk.tenant)
            except MnemicError as failure:
                logger.warning("reason=<%s> | sweep of expired documents failed", failure.reason)
        if not self._future.done():
            self._future.set_result(None)


class _OpenedStore(BaseStore):
    """Documents of one tenant as a LangGraph store, for both kinds of callers."""

    supports_ttl = True

    def __init__(
        self,
        location: str | Path | DocumentStore,
        *,
        tenant: str = "default",
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        redact: bool = False,
    ) -> None:
        super().__init__()
        self._desk = _Desk(_documents(location), tenant, index, redact=redact)
        self._sweeper = _Sweeper(self._desk)
        self.ttl_config = ttl


class MnemicStore(_OpenedStore):
    """A LangGraph `BaseStore` in a mnemic file, synchronous and asynchronous.

        with MnemicStore("memory.db") as store:
            graph = builder.compile(store=store, checkpointer=...)

    `tenant` separates applications in one file; namespaces and keys are the application's own. With an `index` a query
    is answered by cosine over the embedded fields (exactly), without one by BM25 over all texts of a document. `ttl`
    are minutes, with fractions. `location` may also be any `DocumentStore`. A batch is one transaction.

    LangGraph promises that a value is returned as it was put, so nothing is redacted by default. With `redact`,
    personal data and secrets in values, queries and filters are replaced before they are embedded or stored.
    """

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn_string: str, **options: Any) -> Iterator[Self]:
        """Yield the store in the file `conn_string`, closed at the end; spelled as in LangGraph's own stores."""
        with cls(conn_string, **options) as store:
            yield store

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute all operations in one transaction; reads see the state before it. Raises InvalidNamespaceError,
        TypeError or ValueError before anything is written, MnemicError if the file fails.
        """
        return self._desk.batch(list(ops), self.ttl_config)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, without blocking the event loop."""
        return await self._desk.abatch(list(ops), self.ttl_config)

    def setup(self) -> None:
        """Do nothing: opening the file migrates it."""

    def sweep_ttl(self) -> int:
        """Delete expired documents; return their number."""
        return self._desk.documents.sweep(self._desk.tenant)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> concurrent.futures.Future[None]:
        """Sweep in a separate thread from now on; cancelling the future, or `stop_ttl_sweeper`, ends it."""
        return self._sweeper.start(_interval(sweep_interval_minutes, self.ttl_config))

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """End the sweeping; False when its thread still runs after `timeout` seconds."""
        return self._sweeper.stop(timeout)

    def close(self) -> None:
        """Stop sweeping and close the file. May be called twice."""
        self._sweeper.stop()
        self._desk.documents.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncMnemicStore(_OpenedStore, AsyncBatchedBaseStore):
    """`MnemicStore` for one event loop: operations asked for in the same tick become one transaction.

    Constructed inside the loop. Synchronous calls from that loop raise `asyncio.InvalidStateError`, from other threads
    they are fine.
    """

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, conn_string: str, **options: Any) -> AsyncIterator[Self]:
        """Yield the store in the file `conn_string`, closed at the end; spelled as in LangGraph's own stores."""
        async with cls(conn_string, **options) as store:
            yield store

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """From another thread than the loop's: as `MnemicStore.batch`."""
        _refuse_loop(self._loop)
        return self._desk.batch(list(ops), self.ttl_config)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `MnemicStore.abatch`."""
        return await self._desk.abatch(list(ops), self.ttl_config)

    async def setup(self) -> None:
        """Do nothing: opening the file migrates it."""

    async def sweep_ttl(self) -> int:
        """Delete expired documents; return their number."""
        return await asyncio.to_thread(self._desk.documents.sweep, self._desk.tenant)

    async def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> asyncio.Future[None]:
        """Sweep in a separate thread from now on."""
        return asyncio.wrap_future(self._sweeper.start(_interval(sweep_interval_minutes, self.ttl_config)))

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109 - LangGraph's signature
        """End the sweeping; False when its thread still runs after `timeout` seconds."""
        return await asyncio.to_thread(self._sweeper.stop, timeout)

    async def aclose(self) -> None:
        """Stop sweeping and close the file. May be called twice."""
        await self.stop_ttl_sweeper()
        await asyncio.to_thread(self._desk.documents.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
        await self.aclose()


def _documents(location: str | Path | DocumentStore) -> DocumentStore:
    return build_documents(str(location)) if isinstance(location, str | Path) else location


def _interval(minutes: float | None, ttl: TTLConfig | None) -> float:
    return float(minutes or (ttl or {}).get("sweep_interval_minutes") or DEFAULT_SWEEP_MINUTES)


def _refuse_loop(loop: asyncio.AbstractEventLoop) -> None:
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        return
    if running is loop:
        raise asyncio.InvalidStateError("a synchronous call would block the event loop; await the method with the `a`")
