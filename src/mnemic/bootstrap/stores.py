"""Stores by their addresses: memories, the graph of entities, conversations in progress, documents.

To add a store, implement `mnemic.ports.database_backend` in a separate package and register its scheme by an entry
point; `examples/plugin` is a package to begin with. `plugin_backends.EXTRAS` lists the known
schemes with their extras.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from mnemic.config import Settings
from mnemic.errors import InvalidConfig, NotSupported
from mnemic.plugins import is_offered, plugin, scheme_of
from mnemic.plugins.extras import brought_by
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.documents import SqliteDocuments
from mnemic.stores.sqlite.transaction import SqliteGraph

if TYPE_CHECKING:
    from mnemic.ports import Clock, DocumentStore, Keyring, RecordStore, SessionStore
    from mnemic.ports.further_stores import GraphStore
    from mnemic.ports.projections import Projection


if TYPE_CHECKING:
    pass

_SCHEMES_OF_POSTGRES = {"postgresql": "postgres", "postgres": "postgres"}
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "stores": {**_SCHEMES_OF_POSTGRES, "cassandra": "cassandra"},
    "document_stores": _SCHEMES_OF_POSTGRES,
    "backups": _SCHEMES_OF_POSTGRES,
    "graphs": {**_SCHEMES_OF_POSTGRES, "neo4j": "neo4j", "bolt": "neo4j"},
    "sessions": {"redis": "redis", "rediss": "redis"},
    "copies": {"azure-search": "azure"},
}
"""The schemes that packages of this repository offer in each group, and the extra that brings the package."""
BUILT_IN = frozenset({"sqlite", "jsonl"})
"""Schemes of the core, which are never looked up in packages."""


def backend(group: str, location: str) -> Any | None:
    """Load the plug-in in `mnemic.<group>` for the scheme of `location`; None if there is none.

    The schemes of this repository's packages are reserved for them, and a variant counts as its scheme: `neo4j+s://` as
    `neo4j`. Raises InvalidConfig: `invalid_config:store:<extra>` if such a package or its driver is not installed,
    `invalid_config:plugin:<scheme>` if another cannot be loaded.
    """
    scheme = scheme_of(location)
    if scheme is None or scheme in BUILT_IN:
        return None
    known = EXTRAS[group].get(scheme.partition("+")[0])
    if known is None:
        return plugin(group, scheme)
    try:
        found = plugin(group, scheme.partition("+")[0], package="mnemic")
    except InvalidConfig as broken:
        if not isinstance(broken.__cause__, ModuleNotFoundError):
            raise
        found = None
    if found is None:
        raise InvalidConfig(f"store:{known}", hint=f"install mnemic[{known}] for this address")
    return found


def offered_as(group: str, name: str) -> Callable[..., Any]:
    """Return the factory that a package offers as `name`. Raises InvalidConfig (`invalid_config:plugin:<name>`)."""
    factory: Callable[..., Any] | None = plugin(group, name)
    if factory is None:
        raise InvalidConfig(f"plugin:{name}", hint=f"no installed package offers it in mnemic.{group}")
    return factory


PARAMETER = "copy"
REPLICA = "replica"
_OWN = (PARAMETER, REPLICA)


def copies_of(location: str) -> tuple[str, ...]:
    """Return the addresses that `location` names as `?copy=...&copy=...`."""
    return _parameter_values(location, PARAMETER)


def replica_of(location: str) -> str | None:
    """Return the address that `location` names as `?replica=...`. Raises InvalidConfig (`invalid_config:replica`)."""
    found = _parameter_values(location, REPLICA)
    if len(found) > 1:
        raise InvalidConfig(REPLICA, hint="name one replica; its address may name several hosts")
    return found[0] if found else None


def plain(location: str) -> str:
    """Return `location` as the store itself understands it, without the additional targets."""
    if not any(_parameter_values(location, name) for name in _OWN):
        return location
    parts = urlsplit(location)
    query = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in query if name not in _OWN]
    return urlunsplit(parts._replace(query=urlencode(kept)))


def _parameter_values(location: str, parameter: str) -> tuple[str, ...]:
    query = urlsplit(location).query if "://" in location else ""
    return tuple(value for name, value in parse_qsl(query) if name == parameter)


def build_copies(location: str, *, dimension: int, sealed: bool) -> list[Projection]:
    """Build the consumers of the copies that `location` names: `azure-search://` a search index for vectors of
    `dimension`, another scheme a plug-in.

    Raises InvalidConfig (`invalid_config:copy`), also if the store is sealed: a copy would contain the sealed data in
    plain text.
    """
    urls = copies_of(location)
    if urls and sealed:
        raise InvalidConfig(PARAMETER, hint="a copy would expose in plain text what the store encrypts")
    return [_copy(url, dimension) for url in urls]


def _copy(url: str, dimension: int) -> Projection:
    build = backend("copies", url)
    if build is None:
        hint = "use azure-search://:KEY@SERVICE.search.windows.net/INDEX or a plug-in's"
        raise InvalidConfig(PARAMETER, hint=hint)
    copy: Projection = build(url, dimension=dimension)
    return copy


RESERVED_BYTES = 4 * 1024 * 1024
"""Disk space reserved next to the file, so that an erasure works on a full disk too: its batches need less."""
_POSTGRES = ("postgresql://", "postgres://")


def build_store(location: str, *, durability: str, keyring: Keyring | None = None, seals: bool = False) -> RecordStore:
    """Return the record store at `location`: a path, `sqlite:///path`, `postgresql://...`, a URL with a plug-in's
    scheme, or `memory:` for one that ends with the process. A `keyring` decrypts sealed data, and encrypts new data if
    it `seals`. Raises InvalidConfig.
    """
    if seals and keyring is None:
        raise InvalidConfig("seal", hint="sealing needs the master key: name its file in MNEMIC_KEY_FILE")
    settled: Literal["durable", "fast"] = "fast" if durability == "fast" else "durable"
    if location == "memory:":
        return InProcessStore()
    if (store := _plugin_store(location, settled, keyring, seals)) is not None:
        return store
    # Last: a path has no scheme, so it is the remaining case.
    path = sqlite_path(location)
    return SqliteStore(path, durability=settled, reserved_bytes=RESERVED_BYTES, keyring=keyring, seals=seals)


def _plugin_store(location: str, durability: str, keyring: Keyring | None, seals: bool) -> RecordStore | None:
    """Return the store of another package at this address; None for a path, and for a URL that is ours."""
    if "://" not in location:
        return None
    build = backend("stores", location)
    if build is None:
        return None
    # Only PostgreSQL has replicas; another package need not accept the argument.
    options = {} if postgres_dsn(location) is None else {"replica_dsn": _replica_dsn(location)}
    store: RecordStore = build(plain(location), durability=durability, keyring=keyring, seals=seals, **options)
    return store


def store_file(location: str) -> Path | None:
    """Return the file that `location` names, or None if it names no file. Raises InvalidConfig."""
    elsewhere = location == "memory:" or postgres_dsn(location) is not None or is_offered_store(location)
    return None if elsewhere else sqlite_path(location)


_SERVICE = "a store is a file or a database, postgresql://...; a service is called with mnemic_client.connect(URL)"
_BUILT_IN = ("sqlite", "postgresql", "postgres")


def is_offered_store(location: str) -> bool:
    """Return True if the scheme of `location` belongs to an installed package that is not part of this repository."""
    if "://" not in location:
        return False
    scheme = scheme_of(location)
    return scheme is not None and scheme not in _BUILT_IN and is_offered("stores", scheme)


def sqlite_path(location: str) -> Path:
    """Return the file that `location` names. Raises InvalidConfig (`invalid_config:store`) for other schemes."""
    if "://" not in location:
        return Path(location)
    parts = urlsplit(location)
    if parts.scheme != "sqlite" or parts.netloc or not parts.path.strip("/"):
        known = "use a path, sqlite:///path, postgresql://..., memory: or a plug-in's"
        raise InvalidConfig("store", hint=_SERVICE if parts.scheme in ("http", "https") else known)
    # As in SQLAlchemy: three slashes are a relative path, four an absolute one.
    return Path(unquote(parts.path.removeprefix("/")))


def postgres_dsn(location: str) -> str | None:
    """Return the address of the PostgreSQL database that `location` names, for a store; None for others."""
    if not location.startswith(_POSTGRES):
        return None
    return plain(location)


def _replica_dsn(location: str) -> str | None:
    named = replica_of(location)
    found = None if named is None else postgres_dsn(named)
    if found is None and named is not None:
        raise InvalidConfig("replica", hint="a replica is a PostgreSQL server: use postgresql://...")
    return found


def build_graph(settings: Settings) -> GraphStore:
    """Return the graph of entities: in the store, unless `settings.graph` names a server. Raises InvalidConfig."""
    if settings.graph is not None:
        return _served_graph(settings.graph)
    if settings.store == "memory:" or is_offered_store(settings.store):
        return InProcessGraph()
    # Opened on its first call: most programs never ask the graph.
    return cast("GraphStore", AtFirstUse(lambda: _graph_of(settings.store)))


def _served_graph(address: str) -> GraphStore:
    build = None if postgres_dsn(address) is not None else backend("graphs", address)
    if build is None:
        raise InvalidConfig("graph", hint="use neo4j://user:password@host:port/database, bolt:// or a plug-in's")
    graph: GraphStore = build(address)
    return graph


def _graph_of(location: str) -> GraphStore:
    """Return the graph in the record store at `location`."""
    if (build := backend("graphs", location)) is not None:
        graph: GraphStore = build(plain(location))
        return graph
    return SqliteGraph(sqlite_path(location))


def keeps_graph(settings: Settings) -> bool:
    """Return True if the store writes the graph together with the memories; else the outbox feeds it."""
    return settings.graph is None and settings.store != "memory:" and not is_offered_store(settings.store)


def build_sessions(location: str, clock: Clock) -> tuple[SessionStore, tuple[Projection, ...]]:
    """Return the session store: in this process (`memory:`), on Redis, or a plug-in's. Raises InvalidConfig."""
    if location == "memory:":
        return InProcessSessions(clock), ()
    build = backend("sessions", location)
    if build is None:
        raise InvalidConfig("redis", hint="an address begins with redis://, rediss://, or a plug-in's scheme")
    sessions, copies = build(location)
    return sessions, tuple(copies)


def build_documents(location: str) -> DocumentStore:
    """Return the documents in the store at `location`: a path, `sqlite:///path`, `postgresql://...` or a URL whose
    scheme a plug-in offers. Raises NotSupported for `memory:`.
    """
    if location == "memory:":
        raise NotSupported("documents:memory", hint="documents are kept; LangGraph has an InMemoryStore")
    if (build := backend("document_stores", location)) is not None:
        documents: DocumentStore = build(plain(location))
        return documents
    return SqliteDocuments(sqlite_path(location))


def build_keyring(settings: Settings) -> Keyring | None:
    """Return the data keys under the master key of `settings`; None if they name none. Raises InvalidConfig."""
    if settings.key_file is None:
        return None
    with brought_by("keys"):
        from mnemic.keys import KeyFolder
    return KeyFolder(key_folder(settings.key_file, settings), settings.key_file)


def key_folder(key_file: Path, settings: Settings) -> Path:
    """Return the folder of the data keys: the configured one, else the one next to the master key's file."""
    return settings.key_folder or key_file.with_name(f"{key_file.name}.d")


class AtFirstUse:
    """Any port with coroutines as its only methods, created by `make` on the first call of one of them."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None
        self._open = False

    async def open(self) -> None:
        """Open the port, now or once it is created."""
        self._open = True
        if self._made is not None:
            await self._made.open()

    async def close(self) -> None:
        """Release the port, if it was created."""
        self._open = False
        if self._made is not None:
            await self._made.close()

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        # Private names are asked for by copy and pickle, and must not create the backend.
        if name.startswith("_"):
            raise AttributeError(name)

        async def verb(*given: Any, **named: Any) -> Any:
            return await getattr(await self._ready(), name)(*given, **named)

        return verb

    async def _ready(self) -> Any:
        if self._made is None:
            made = self._make()
            if self._open:
                await made.open()
            first = self._made or made  # another call may have been faster
            if first is not made:
                await made.close()
            self._made = first
        return self._made
