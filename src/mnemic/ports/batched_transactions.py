"""Many transactions in one call, as a load sends them to a store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from mnemic.ports.record_store import Transaction
from mnemic.types import Deadline

T = TypeVar("T")


@runtime_checkable
class BatchedTransactions(Protocol):
    """Optional capability of a record store for which many transactions that are handed over at once are cheaper."""

    async def transact_each(
        self, works: Sequence[Callable[[Transaction], Awaitable[T]]], *, deadline: Deadline | None = None
    ) -> list[T | BaseException]:
        """Run each of `works` as `RecordStore.transact` does, in order, and return its result or the error that it
        raises there. They may share a commit; one that fails does not affect the others.
        """
