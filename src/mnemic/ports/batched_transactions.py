"""Many transactions in one call, as a load sends them to a store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from mnemic.ports.record_store import Transaction
from mnemic.types import Deadline, Memory, Scope

T = TypeVar("T")


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
