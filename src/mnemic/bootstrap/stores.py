"""Addresses to stores: records, documents, conversations in progress, the graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import unquote, urlsplit

from mnemic.bootstrap.backends import backend
from mnemic.bootstrap.copies import plain, replica_of
from mnemic.config import Settings
from mnemic.errors import InvalidConfig, NotSupported
from mnemic.plugins import is_offered, scheme_of
from mnemic.stores.session import InProcessSessions

if TYPE_CHECKING:
    from mnemic.ports import Clock, DocumentStore, Keyring, RecordStore, SessionStore
    from mnemic.ports.graph import GraphStore
    from mnemic.ports.projections import Projection

RESERVED_BYTES = 4 * 1024 * 1024
"""Room kept beside the file, so that an erasure works on a full disk too: its batches need less."""
_POSTGRES = ("postgresql://", "postgres://")


def build_store(location: str, *, durability: str, keyring: Keyring | None = None, seals: bool = False) -> RecordStore:
    """Return the record store at `location`: a path, `sqlite:///path`, `postgresql://...`, a URL whose scheme a plug-in
    offers, or `memory:` for one that ends with the process. With a `keyring` it opens what is sealed, and where it
    `seals` it seals what is written. Raises InvalidConfig.
    """
    if seals and keyring is None:
        raise InvalidConfig("seal", hint="sealing needs the master key: name its file in MNEMIC_KEY_FILE")
    settled: Literal["durable", "fast"] = "fast" if durability == "fast" else "durable"
    if location == "memory:":
        from mnemic.stores.inprocess import InProcessStore

        return InProcessStore()
    if (build := backend("stores", location)) is not None:
        options = {} if postgres_dsn(location) is None else {"replica_dsn": _replica_dsn(location)}
        store: RecordStore = build(plain(location), durability=settled, keyring=keyring, seals=seals, **options)
        return store
    from mnemic.stores.sqlite import SqliteStore

    path = sqlite_path(location)
    return SqliteStore(path, durability=settled, reserved_bytes=RESERVED_BYTES, keyring=keyring, seals=seals)


def build_documents(location: str) -> DocumentStore:
    """Return the documents in the store at `location`: a path, `sqlite:///path`, `postgresql://...` or a URL whose
    scheme a plug-in offers. Raises NotSupported for `memory:`.
    """
    if location == "memory:":
        raise NotSupported("documents:memory", hint="documents are kept; LangGraph has an InMemoryStore")
    if (build := backend("document_stores", location)) is not None:
        documents: DocumentStore = build(plain(location))
        return documents
    from mnemic.stores.sqlite.documents import SqliteDocuments

    return SqliteDocuments(sqlite_path(location))


def build_sessions(location: str, clock: Clock) -> tuple[SessionStore, tuple[Projection, ...]]:
    """Conversations in progress in this process (`memory:`), on Redis and with the hot set, or where a plug-in keeps
    them. Raises InvalidConfig.
    """
    if location == "memory:":
        return InProcessSessions(clock), ()
    build = backend("sessions", location)
    if build is None:
        raise InvalidConfig("redis", hint="an address begins with redis://, rediss://, or a plug-in's scheme")
    sessions, copies = build(location)
    return sessions, tuple(copies)


def build_graph(settings: Settings) -> GraphStore:
    """Return the graph of entities: in the store, unless `settings.graph` names a server. Raises InvalidConfig."""
    if settings.graph is not None:
        build = None if postgres_dsn(settings.graph) is not None else backend("graphs", settings.graph)
        if build is None:
            raise InvalidConfig("graph", hint="use neo4j://user:password@host:port/database, bolt:// or a plug-in's")
        graph: GraphStore = build(settings.graph)
        return graph
    if settings.store == "memory:" or _is_offered(settings.store):
        from mnemic.stores.graph import InProcessGraph

        return InProcessGraph()
    return cast("GraphStore", _AtFirstUse(lambda: _graph_of(settings.store)))


def _graph_of(location: str) -> GraphStore:
    """Return the graph in the record store at `location`."""
    if (build := backend("graphs", location)) is not None:
        graph: GraphStore = build(plain(location))
        return graph
    from mnemic.stores.sqlite.graph import SqliteGraph

    return SqliteGraph(sqlite_path(location))


class _AtFirstUse:
    """A `GraphStore` that is loaded and opened with its first verb: the store itself writes the graph with the
    memories, and most programs never walk it.
    """

    def __init__(self, make: Callable[[], GraphStore]) -> None:
        self._make = make
        self._graph: GraphStore | None = None
        self._open = False

    async def open(self) -> None:
        self._open = True
        if self._graph is not None:
            await self._graph.open()

    async def close(self) -> None:
        self._open = False
        if self._graph is not None:
            await self._graph.close()

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def verb(*given: Any, **named: Any) -> Any:
            if self._graph is None:
                graph = self._make()
                if self._open:
                    await graph.open()
                self._graph = self._graph or graph
            return await getattr(self._graph, name)(*given, **named)

        if name.startswith("_"):
            raise AttributeError(name)
        return verb


def keeps_graph(settings: Settings) -> bool:
    """Tell whether the store writes the graph together with the memories; else the outbox feeds it."""
    return settings.graph is None and settings.store != "memory:" and not _is_offered(settings.store)


def store_file(location: str) -> Path | None:
    """Return the file that `location` names, or None where it names no file. Raises InvalidConfig."""
    elsewhere = location == "memory:" or postgres_dsn(location) is not None or _is_offered(location)
    return None if elsewhere else sqlite_path(location)


_OWN = ("sqlite", "postgresql", "postgres")


def _is_offered(location: str) -> bool:
    """Return True if the scheme of `location` is one that a package offers and that is none of ours."""
    scheme = scheme_of(location)
    return scheme is not None and scheme not in _OWN and is_offered("stores", scheme)


def sqlite_path(location: str) -> Path:
    """Return the file that `location` names. Raises InvalidConfig (`invalid_config:store`) for other schemes."""
    if "://" not in location:
        return Path(location)
    parts = urlsplit(location)
    if parts.scheme != "sqlite" or parts.netloc or not parts.path.strip("/"):
        raise InvalidConfig("store", hint="use a path, sqlite:///path, postgresql://..., memory: or a plug-in's")
    return Path(unquote(parts.path.removeprefix("/")))


def postgres_dsn(location: str) -> str | None:
    """Return the address of the PostgreSQL database that `location` names, for a store; None for others."""
    return plain(location) if location.startswith(_POSTGRES) else None


def _replica_dsn(location: str) -> str | None:
    named = replica_of(location)
    found = None if named is None else postgres_dsn(named)
    if found is None and named is not None:
        raise InvalidConfig("replica", hint="a replica is a PostgreSQL server: use postgresql://...")
    return found
