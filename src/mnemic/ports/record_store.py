"""Port of the store of memories, its transactions and snapshots.

A further database is added below it: by the ten methods of `mnemic.ports.database_backend`, of which
`mnemic.stores.row_store_adapter` makes a record store, and an entry point (see `mnemic.bootstrap.stores`).
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from mnemic.ports.keyring import Reseal
from mnemic.ports.projections import Outbox
from mnemic.types import (
    AuditEvent,
    Deadline,
    Kind,
    Memory,
    OutboxEntry,
    Scope,
    Scored,
    Signals,
    Status,
    StoredAnswer,
    Usage,
    Vector,
    VectorSpace,
    Where,
)
from mnemic.types.store_reads import Capabilities, ScopeChanges

T = TypeVar("T")

MarkLock: TypeAlias = Literal["shared", "exclusive"]
"""Lock on a mark until the end of a transaction: many may share it, or one has it alone."""


class Reads(Protocol):
    """View of the store inside a transaction. It includes the earlier changes of the same transaction, except for
    `nearest`, which sees the state committed when the transaction began.

    All keys are qualified by the scope's tenant. Nothing outside the transaction may be awaited while it is open.
    """

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        """Return the current version in one of `scopes`, of any status, else None."""

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        """Return the active memory of `scope` with this fingerprint, or None."""

    async def find_pending(self, scope: Scope, fingerprint: str) -> Memory | None:
        """Return the oldest memory of `scope` with this fingerprint that waits for review, or None."""

    async def find_key(self, scope: Scope, key: str) -> list[Memory]:
        """Return the active memories of `scope` under `key`, oldest first."""

    async def nearest(self, scope: Scope, vector: Vector, *, limit: int, at_least: float) -> list[tuple[Memory, float]]:
        """Active memories of `scope` with cosine >= `at_least`, best first. Exact within `Capabilities.exact_up_to`."""

    async def find_request(self, tenant: str, idempotency_key: str) -> tuple[str, str] | None:
        """Return the digest and the receipt (JSON) of the request this key was used for, or None."""

    async def space(self) -> VectorSpace:
        """Return the store's vector space now."""

    async def find_mark(self, tenant: str, name: str, *, lock: MarkLock | None = None) -> str | None:
        """Return the text stored under `name`, or None. Marks are small: a consent, a tombstone, a clock reading.

        Of two transactions that ask with a `lock`, at least one of them `exclusive`, one is committed before the other
        reads, or is run again. So a write that relies on a mark shares it, and who changes the mark for such writes
        asks for it exclusively first.
        """

    async def usage(
        self, tenant: str, *, since: datetime, scope: Scope | None = None, settled: bool = True
    ) -> Mapping[Kind, Usage]:
        """Like `RecordStore.usage`, plus this transaction's changes. If `settled`, at least one of two concurrent
        writers sees both changes.
        """


class Transaction(Reads, Protocol):
    """One atomic change. Only `mnemic.unit_of_work` calls the methods that write."""

    async def insert(self, memory: Memory) -> None:
        """Add a new memory (version 1). Raises VersionConflict if its fingerprint is active or its id known."""

    async def replace(self, memory: Memory) -> None:
        """Store `memory` as the next version of itself; the old version remains in the history.

        Raises VersionConflict unless the stored version is `memory.version - 1`.
        """

    async def remove(self, memory_id: str, *, scope: Scope) -> bool:
        """Delete the memory and all its versions permanently, index entries included. False if it does not exist."""

    async def append_audit(self, event: AuditEvent) -> None:
        """Append to the tenant's hash-chained audit."""

    async def enqueue(self, entry: OutboxEntry) -> None:
        """Add an entry to the outbox for the projections, committed with the change itself."""

    async def remember_request(
        self, tenant: str, idempotency_key: str, digest: str, receipt: str, at: datetime
    ) -> None:
        """Store the receipt of a request, in the same transaction as its effect."""

    async def remove_requests(self, tenant: str, memory_ids: Collection[str], *, owner: str | None = None) -> int:
        """Delete stored answers that name one of these memories anywhere in their receipt, and those whose idempotency
        key is `owner`, a colon, and more without a colon; return the number deleted.
        """

    async def put_mark(self, tenant: str, name: str, value: str | None) -> None:
        """Store `value` under `name`, replacing the present value; None removes the mark."""


class Snapshot(Protocol):
    """Reads of a record store. Every read names its scopes; none reaches beyond them.

    Cost of every method depends on the memories of the scopes it names, not on those of others.
    """

    async def get_many(self, memory_ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        """Those of the memories that live in `scopes`, by id."""

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        """Return the active memory of `scope` with this fingerprint, or None."""

    async def versions(self, memory_id: str, *, scopes: Sequence[Scope]) -> list[Memory]:
        """All versions, oldest first; empty when it is not in `scopes`."""

    async def newest(
        self, where: Where, *, limit: int, before: str | None = None, facets: Sequence[frozenset[str]] = ()
    ) -> list[Memory]:
        """Return the memories that `where` accepts, most recently created first: by memory_id, as identifiers sort by
        creation.

        `before` is the memory_id that ended the previous page; it may have been removed since. `facets`
        (`mnemic.types.facets`) limits the result to memories that may have one of each set: all that have one, and
        possibly others; the cost depends on the size of the smallest set.
        """

    async def count(self, where: Where) -> int:
        """Return the number of memories that `where` accepts."""

    async def nearest(
        self, where: Where, vector: Vector, *, limit: int, space: VectorSpace | None = None
    ) -> list[Scored]:
        """By cosine, best first, never fewer than `min(limit, matching)`; exact within `Capabilities.exact_up_to`.

        With `space`, that of the vector, raises SpaceMismatch if the store has changed to another one.
        """

    async def match(self, where: Where, query: str, *, limit: int) -> list[Scored]:
        """By BM25 over content and context with the statistics of the named scopes alone, best first, only positive
        scores.
        """

    async def recent(self, where: Where, *, limit: int) -> list[Scored]:
        """By `happened_at`, newest first; the score is that time in seconds since 1970."""

    async def signals(self, where: Where, memory_ids: Sequence[str]) -> dict[str, Signals]:
        """Return the ranking facts of these memories in `where`'s scopes, by id. The messages of a session are numbered
        from 0 in the order in which they were stored.
        """

    async def speakers(self, where: Where) -> frozenset[str]:
        """Return the speakers in `where`'s scopes."""

    async def as_known_at(
        self, scopes: Sequence[Scope], known_at: datetime, *, live_at: datetime | None = None
    ) -> Snapshot:
        """Return a snapshot as of `known_at`: each memory of `scopes` in the newest version written by then, except
        those removed since or expired by `live_at`. A version whose words have changed since has no vector.
        """


class SecondSpace(Protocol):
    """A further vector space, filled while the present one is used, and then put in its place."""

    async def begin_space(self, space: VectorSpace) -> None:
        """Begin to fill `space`, or continue an interrupted run; a partly filled other space is dropped."""

    async def memories_without_vector(self, *, limit: int) -> list[Memory]:
        """Memories of every tenant and status that have no vector yet in the space being filled."""

    async def fill(self, filled: Sequence[tuple[Memory, Vector]]) -> int:
        """Store these vectors for memories still at that version; return the number. Raises InvalidInput (`space`)."""

    async def switch_space(self) -> bool:
        """Make the filled space the present one in one step; return False and change nothing while a memory lacks a
        vector in it. A client that opened the store in the old space still finds by words; its vectors are refused:
        SpaceMismatch.
        """

    async def clear_space(self) -> None:
        """Remove the remains of the previous space step by step; do nothing while another one is being filled."""


class Sealing(Protocol):
    """Encryption of stored rows with the data keys of their subjects."""

    async def seal(self, tenant: str) -> int:
        """Encrypt the parts of the tenant's memories, in all versions, that are still plain text; return the number of
        rows. After an interruption, call it again. Raises NotSupported (`seal`) if the store cannot seal or is not
        configured to.
        """

    async def reseal(self, tenant: str, anew: Reseal) -> int:
        """Replace every sealed piece of the tenant's memories, in all versions, by the result of `anew`; return their
        number. Waits for pending writes; a writer it does not see already uses the current keys. Other reads and
        writes continue meanwhile. After an interruption, call it again.
        """


class AuditLog(Protocol):
    """A tenant's hash-chained audit log, to be read and checked."""

    async def audit(
        self, tenant: str, *, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> list[AuditEvent]:
        """Return the tenant's audit log in order, after sequence `after`; with `before` the last `limit` lines before
        that sequence.
        """

    async def broken_audit(self, tenant: str) -> tuple[int, int | None, str]:
        """Return the number of lines of the tenant's audit; the sequence of the first that does not follow from the one
        before, or None; the hash of the last. Every line is checked, and one that cannot even be read counts as broken.
        """


class RecordStore(Snapshot, Outbox, AuditLog, SecondSpace, Sealing, Protocol):
    """The one source of truth. Each read is of the moment it is called; `read` makes several reads of one moment."""

    @property
    def capabilities(self) -> Capabilities:
        """Promises of this store."""

    async def open(self, space: VectorSpace | None) -> None:
        """Open and migrate; None takes the space that the store has. Raises StoreNewer, StoreCorrupt, StoreUnavailable,
        or SpaceMismatch for another vector space.
        """

    async def close(self) -> None:
        """Release everything. May be called twice."""

    async def transact(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        deadline: Deadline | None = None,
        scope: Scope | None = None,
    ) -> T:
        """Run `work` in one transaction; its result is returned only once the commit is durable. A write begins in
        `scope`. `work` may be run again after a lost race, so it has no other effect; it may await only the
        transaction. Raises StoreBusy past the deadline, StoreFull, CommitUnknown.
        """

    async def read(self, work: Callable[[Snapshot], Awaitable[T]]) -> T:
        """Run `work` on the store as of one moment; it sees no later commit. It may await only the snapshot."""

    async def secret(self, tenant: str) -> bytes:
        """32 random bytes of the tenant, made durably at first use: the key of its fingerprints and pseudonyms."""

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        """Return the current version, of any status, if it is in one of `scopes`."""

    async def scan(
        self,
        tenant: str,
        *,
        statuses: Collection[Status],
        expired_by: datetime | None = None,
        author: str | None = None,
        memory_ids: Collection[str] | None = None,
        scope: Scope | None = None,
        after: str | None = None,
        limit: int = 500,
    ) -> list[Memory]:
        """Return the memories of every scope of the tenant, or of `scope` alone, in the order of their memory_id, after
        `after`: for jobs, never for an actor's requests.

        `expired_by` keeps those whose `expires_at` is not later; `author` those of which this user wrote any version;
        `memory_ids` those with these identifiers.
        """

    async def usage(self, tenant: str, *, since: datetime, scope: Scope | None = None) -> Mapping[Kind, Usage]:
        """Return the current usage of the tenant, or of one scope, by kind, for every status, earlier versions
        excluded.

        `Usage.recent` counts the present memories that were created at `since` or later. The cost does not grow with
        the number of memories.
        """

    async def waiting(self, tenant: str) -> int:
        """Return the number of the tenant's memories that await review, without reading any."""

    async def marks(
        self, tenant: str, prefix: str, *, after: str | None = None, limit: int | None = None
    ) -> dict[str, str]:
        """Return the marks with this prefix in the order of their names, at most `limit`, after `after`."""

    async def requests(self, tenant: str, *, after: str | None = None, limit: int = 500) -> list[StoredAnswer]:
        """Return the tenant's requests with stored receipts, in the byte order of their idempotency keys, after
        `after`.
        """

    async def tidy(self, *, whole: bool = False) -> int:
        """Free unused space, empty the logs, and leave nothing readable of removed data; return the number of bytes
        freed.

        `whole` rewrites the whole store, which temporarily needs as much free space again. A store with a server that
        does this automatically does nothing and returns 0.
        """

    async def traces(self, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]) -> dict[str, int]:
        """Count by place how often these memories, by identifier or fingerprint, still occur anywhere outside the audit
        log.

        Places are named by the store (`memory`, `outbox`, ...); a store that owns its files also counts under `bytes`
        what a reader of the raw files would find. Places without a trace may be omitted.
        """


@runtime_checkable
class VectorPrefetch(Protocol):
    """Optional capability of a record store for which comparing many vectors at once is cheaper."""

    async def expect(self, scope: Scope, vectors: Sequence[Vector], *, at_least: float) -> None:
        """Prepare for `Transaction.nearest` with these vectors and this bound; its answers stay the same. Raises
        StoreFailed.
        """


@runtime_checkable
class ChangeFeed(Protocol):
    """Optional capability of a snapshot: report the changes of a scope, so that its data need not be read again."""

    async def changes_since(self, scope: Scope, seen: int) -> ScopeChanges:
        """Return the changes after the change `seen` (0: everything), for memories of every status."""


class Marks(Protocol):
    """Reads of a tenant's marks: of every record store, and of the snapshots of one that `reads_marks`."""

    async def marks(
        self, tenant: str, prefix: str, *, after: str | None = None, limit: int | None = None
    ) -> dict[str, str]:
        """Return the marks with this prefix in the order of their names, at most `limit`, after `after`."""


@runtime_checkable
class SecretBeforeWrite(Protocol):
    """Capability of a store that reads a tenant's secret and what a write to a scope begins with at once."""

    async def secret_before_write(self, scope: Scope) -> bytes:
        """Return the secret of the tenant of the scope, to which this task is about to write."""


@runtime_checkable
class GetBeforeChange(Protocol):
    """Capability of a store that reads a memory and what a change of it asks next in one call."""

    async def get_before_change(self, memory_id: str, *, scope: Scope, prefix: str) -> Memory | None:
        """Return the answer of `get` in a scope to which the caller is about to write, after a look at the tenant's
        marks with this prefix.
        """


class MarksAndDuplicate(Protocol):
    """Capability of a store that reads both of what a write asks before it embeds in one call, as of one moment."""

    async def marks_and_duplicate(
        self, tenant: str, prefix: str, scope: Scope, fingerprint: str, *, request: str | None
    ) -> tuple[dict[str, str], Memory | None]:
        """Return the answers of `marks` and of `find_fingerprint`. `request` is the idempotency key about which the
        transaction that writes will ask, for a store that reads it beforehand.
        """


class KnownDamage(Protocol):
    """Capability of a snapshot whose ranked lists name no memory with a damaged row."""

    async def known_damage(self, where: Where) -> bool:
        """Return True if a memory in the scopes of `where`, which it might accept, has a damaged row."""


@runtime_checkable
class VacuumStatus(Protocol):
    """Capability of a server whose files contain removed data until it has vacuumed them."""

    async def vacuum(self) -> datetime:
        """Ask the server to vacuum, if the store may; return the server's time before that."""

    async def count_unvacuumed(self, since: datetime) -> int:
        """Return the number of non-empty tables that the server has not vacuumed since then: these may still contain
        removed data. Returns all of them if that is unknown.
        """


@runtime_checkable
class TenantMigration(Protocol):
    """To a move of everything from or to another store."""

    async def tenants(self) -> list[str]:
        """Every tenant that the store can name, by name."""

    async def adopt(self, tenant: str, secret: bytes) -> None:
        """Take this for the secret of a tenant that has none yet. Raises InvalidInput (`move:not_empty`) where it has
        another.
        """


class Damage(NamedTuple):
    """One damaged row. `name` is the memory's identifier, with its version for an earlier one, or the row's number if
    even that is unreadable.
    """

    table: str
    name: str


@runtime_checkable
class DamageScan(Protocol):
    """Capability of a store with checksums of its rows."""

    async def find_damage(self, tenant: str) -> list[Damage]:
        """Return the first of the tenant's damaged rows; reads every row."""


@runtime_checkable
class SuppliedIdentifiers(Protocol):
    """Capability of a transaction: `insert` looks for an identifier in the memory's own scope only.

    That is enough for an identifier generated for the memory. An imported one is claimed first.
    """

    async def claim(self, memory: Memory) -> None:
        """Look for the identifier in the tenant's other scopes, and keep other transactions from claiming it there.
        Raises VersionConflict if one of them has it or claims it.
        """


@runtime_checkable
class BatchedTransactions(Protocol):
    """Optional capability of a record store for which many transactions that are handed over at once are cheaper."""

    async def transact_each(
        self,
        works: Sequence[Callable[[Transaction], Awaitable[T]]],
        *,
        deadline: Deadline | None = None,
        scopes: Sequence[Scope] | None = None,
    ) -> list[T | BaseException]:
        """Run each of `works`, which begins in its one of `scopes`, as `RecordStore.transact` does; those of one scope
        in order. Return the result of each or the error that it raises there. They may share a commit; one that fails
        does not affect the others.
        """


@runtime_checkable
class BatchedFingerprints(Protocol):
    """Optional capability of a snapshot for which looking for many fingerprints at once is cheaper."""

    async def find_fingerprints(self, scope: Scope, fingerprints: Sequence[str]) -> dict[str, Memory]:
        """Return the active memories of `scope` with these fingerprints, by fingerprint."""


_LONGEST = 2.0
"""Seconds for which a block counts: a background task that begins in one must not read the same for ever."""

_BEGAN: ContextVar[float | None] = ContextVar("mnemic_moment_began", default=None)


@contextmanager
def one_moment() -> Iterator[None]:
    """Let every read inside the block be as of any moment since its beginning; an outer block stays."""
    token = _BEGAN.set(_BEGAN.get() or time.monotonic())
    try:
        yield
    finally:
        _BEGAN.reset(token)


def moment_began() -> float | None:
    """Return the monotonic time at which the block began; None outside, where each read is as of its own moment."""
    began = _BEGAN.get()
    return None if began is None or time.monotonic() - began > _LONGEST else began
