"""Addresses to graphs of entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mnemic.bootstrap.first_use import AtFirstUse
from mnemic.bootstrap.record_stores import is_offered_store, postgres_dsn, sqlite_path
from mnemic.config import Settings
from mnemic.errors import InvalidConfig

if TYPE_CHECKING:
    from mnemic.ports.graph import GraphStore


def build_graph(settings: Settings) -> GraphStore:
    """Return the graph of entities: in the store, unless `settings.graph` names a server. Raises InvalidConfig."""
    if settings.graph is not None:
        return _served(settings.graph)
    if settings.store == "memory:" or is_offered_store(settings.store):
        from mnemic_stores.graph import InProcessGraph

        return InProcessGraph()
    return cast("GraphStore", AtFirstUse(lambda: _graph_of(settings.store)))


def _served(address: str) -> GraphStore:
    from mnemic.bootstrap.plugin_backends import backend

    build = None if postgres_dsn(address) is not None else backend("graphs", address)
    if build is None:
        raise InvalidConfig("graph", hint="use neo4j://user:password@host:port/database, bolt:// or a plug-in's")
    graph: GraphStore = build(address)
    return graph


def _graph_of(location: str) -> GraphStore:
    """Return the graph in the record store at `location`."""
    from mnemic.bootstrap.copies_and_replicas import plain, routed
    from mnemic.bootstrap.plugin_backends import backend

    if (build := backend("graphs", location)) is not None:
        graph: GraphStore = build(plain(location), **routed(location))
        return graph
    from mnemic_sqlite.graph import SqliteGraph

    return SqliteGraph(sqlite_path(location))


def keeps_graph(settings: Settings) -> bool:
    """Tell whether the store writes the graph together with the memories; else the outbox feeds it."""
    return settings.graph is None and settings.store != "memory:" and not is_offered_store(settings.store)
