"""Ports of the stores beside the record store: active conversations, documents of applications, graphs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from mnemic.types import DocumentAnswer, DocumentOperation, Fragment, Message, Neighbour, Node, Relation, Scope


class SessionStore(Protocol):
    """Store of active conversations, which are volatile and expire."""

    async def append(self, scope: Scope, message: Message, *, ttl: timedelta, keep: int) -> None:
        """Add a message, keep the newest `keep`, and let the session end `ttl` from now, in one atomic step."""

    async def tail(self, scope: Scope, *, limit: int) -> list[Message]:
        """Return the newest `limit` messages, oldest of them first; empty for 0."""

    async def fold(self, scope: Scope, folded: Sequence[Message], into: Message) -> bool:
        """Put `into` in the place of the session's oldest messages, in one atomic step, if they are `folded`; else
        change nothing and return False. The end of the session stays.
        """

    async def spoken_in(self, tenant: str, user: str | None) -> list[Scope]:
        """Return the open sessions that contain messages of the user; None: all of the tenant."""

    async def clear(self, scope: Scope) -> None:
        """End the session."""

    async def close(self) -> None:
        """Release everything. May be called twice."""


class DocumentStore(Protocol):
    """An application's own JSON documents, by tenant, namespace and key; see `mnemic.types.documents`.

    Its methods block, and may be called from any thread: its callers are frameworks with a synchronous and an
    asynchronous face, and both must end in the same code.
    """

    def apply(
        self, tenant: str, operations: Sequence[DocumentOperation], *, hide_expired: bool = False
    ) -> list[DocumentAnswer]:
        """Return one answer to each operation, in order, as of one moment: reads see the state before the batch, then
        all writes are committed in one transaction; the last write of a key wins. All or nothing.

        `created_at` stays when a document is replaced; no two `updated_at` of a tenant are equal. Raises InvalidInput
        for a negative limit or an unknown operator, before anything is written.
        """

    def sweep(self, tenant: str) -> int:
        """Delete the documents that have expired; return the number deleted."""

    def close(self) -> None:
        """Release everything. May be called twice."""


class GraphStore(Protocol):
    """Graph of named nodes and their relations, owned by scopes: a projection that can be rebuilt from the record
    store.

    Scopes share nothing, not even a name: two users who mention one restaurant have separate nodes. A node exists as
    long as a memory mentions it, a relation as long as its memory exists. Reads see the effect of every earlier `link`
    and `forget`. `at` None includes every relation, else those valid at that moment. Names are compared character by
    character; to make "ANA" equal to "Ana", give both the same `Node.node`.

    The store bounds the time of every method. Raises InvalidInput (`invalid_input:limit`, `:hops`, `:node`) for numbers
    out of range and for invalid node names, StoreUnavailable, and StoreBusy past that time.
    """

    async def open(self) -> None:
        """Prepare for use. Connecting and creating a missing schema are left to the first call, so that a graph that is
        unused or down delays no start. May be called twice.
        """

    async def close(self) -> None:
        """Release everything. May be called twice."""

    async def link(self, scope: Scope, fragments: Sequence[Fragment]) -> None:
        """Replace the fragment of each of these memories, all in one transaction. Idempotent."""

    async def forget(self, scope: Scope, memory_ids: Collection[str]) -> None:
        """Remove the fragments of these memories, and the nodes that no other memory mentions, in one transaction."""

    async def clear(self, tenant: str) -> None:
        """Remove everything of the tenant, before a rebuild from the record store."""

    async def nodes(
        self, scope: Scope, *, label: str | None = None, among: Collection[str] | None = None, limit: int = 50
    ) -> list[Node]:
        """Return at most `limit` (1 to 500) nodes, last seen first, ties by `node`; with `among` only those with these
        identities. Parts of episodes (`mnemic.types.graph.is_of_episode`) are listed only if their label or identity is
        requested.
        """

    async def neighbours(
        self, scope: Scope, node: str, *, hops: int = 1, at: datetime | None = None, limit: int = 50
    ) -> list[Neighbour]:
        """At most `limit` (1 to 500) nodes within `hops` (1 to 6) relations of `node`, nearest first, those as far away
        by last seen, then by `node`. Each is there once, with a shortest way to it; `node` itself is not.
        """

    async def path(
        self, scope: Scope, source: str, target: str, *, hops: int = 4, at: datetime | None = None
    ) -> tuple[Relation, ...] | None:
        """Return a shortest path of at most `hops` (1 to 6) relations, in either direction, from `source` to `target`;
        empty if they are one node, None if there is none. Of parallel relations the one of the newest memory is taken.
        """

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        """Return the number of nodes and relations that these memories still have, in any scope of the tenant."""
