"""Requests of the engine to a graph: names, relations, walks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from mnemic.types import Deadline, Fragment, Neighbour, Node, Relation, Scope


class GraphStore(Protocol):
    """Named nodes and the relations between them, owned by scopes: a projection, rebuildable from the record store.

    Nothing is shared between scopes, whatever the names: two users who speak of one restaurant have a node each. A node
    is there as long as a memory speaks of it, a relation as long as its memory does. Reads see what every `link` and
    `forget` before them has done. `at` None takes every relation, else those that hold at that moment. Names are told
    apart character by character; whoever wants "ANA" to be "Ana" gives them one `Node.node`.

    Every method ends before its `deadline`. Raises InvalidInput (`invalid_input:limit`, `:hops`, `:node`) for numbers
    out of range and for what no node can be called, StoreUnavailable, and StoreBusy past the deadline.
    """

    async def open(self) -> None:
        """Get ready. Connecting, and making the schema where it is missing, wait for the first call, so that nobody
        waits for a graph that is not asked, or is down. May be called twice.
        """

    async def close(self) -> None:
        """Release everything. May be called twice."""

    async def link(self, scope: Scope, fragments: Sequence[Fragment], *, deadline: Deadline | None = None) -> None:
        """From now on each of these memories holds exactly its fragment, whatever it held before: all of them in one
        transaction. Doing it twice changes nothing.
        """

    async def forget(self, scope: Scope, memory_ids: Collection[str], *, deadline: Deadline | None = None) -> None:
        """Remove what these memories hold, and the nodes that no other memory speaks of, in one transaction."""

    async def clear(self, tenant: str, *, deadline: Deadline | None = None) -> None:
        """Remove everything of the tenant, before a rebuild from the record store."""

    async def nodes(
        self,
        scope: Scope,
        *,
        label: str | None = None,
        among: Collection[str] | None = None,
        limit: int = 50,
        deadline: Deadline | None = None,
    ) -> list[Node]:
        """At most `limit` (1 to 500) nodes, last seen first, equals by `node`; with `among` only those of these
        identities. The parts of episodes (`mnemic.types.graph.is_of_episode`) are listed only where their label or they
        themselves are asked for.
        """

    async def neighbours(
        self,
        scope: Scope,
        node: str,
        *,
        hops: int = 1,
        at: datetime | None = None,
        limit: int = 50,
        deadline: Deadline | None = None,
    ) -> list[Neighbour]:
        """At most `limit` (1 to 500) nodes within `hops` (1 to 6) relations of `node`, nearest first, those as far away
        by last seen, then by `node`. Each is there once, with a shortest way to it; `node` itself is not.
        """

    async def path(
        self,
        scope: Scope,
        source: str,
        target: str,
        *,
        hops: int = 4,
        at: datetime | None = None,
        deadline: Deadline | None = None,
    ) -> tuple[Relation, ...] | None:
        """Return a shortest way of at most `hops` (1 to 6) relations, in either direction, from `source` to `target`;
        empty where they are one node, None where there is none. Of parallel relations the one of the newest memory is
        taken.
        """

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        """Return the number of nodes and relations that these memories still have, in any scope of the tenant."""
