"""LangGraph's long-term store over mnemic's documents: one SQLite file, no extension, no server."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from langgraph.store.base import BaseStore, IndexConfig, Op, PutOp, Result, SearchOp, TTLConfig, ensure_embeddings
from langgraph.store.base.batch import AsyncBatchedBaseStore

from mnemic.agents.langgraph.operations import Batch, Paths, batch_of, result_of
from mnemic.bootstrap import build_documents
from mnemic.errors import MnemicError
from mnemic.ports import DocumentStore
from mnemic.types import Document, GetDocument, PutDocument
from mnemic.write.redact import Redactor, redact_value

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
