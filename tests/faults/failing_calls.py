"""A store and an embedder of which one call fails: before anything was done, or after all of it was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, TypeVar

from mnemic.errors import EmbedderFailed, MnemicError, StoreUnavailable
from mnemic.ports import Embedder, RecordStore, Snapshot, Transaction
from mnemic.types import Deadline, Vector, VectorSpace

T = TypeVar("T")
Moment = Literal["before", "after"]


class NthCall:
    """Counts calls. The `nth` one (from 1) fails with `error`, `before` its work or `after` all of it.

    `failed` names the call that did.
    """

    def __init__(self, error: Callable[[], MnemicError]) -> None:
        self.calls = 0
        self.failed: str | None = None
        self._error = error
        self._nth = 0
        self._moment: Moment = "before"

    def fail(self, nth: int, moment: Moment = "before") -> None:
        """From now on, the `nth` call fails."""
        self.calls, self.failed, self._nth, self._moment = 0, None, nth, moment

    def heal(self) -> None:
        """Stop failing; `calls` is not reset."""
        self._nth = 0

    async def through(self, name: str, call: Callable[[], Awaitable[T]]) -> T:
        """Make the call. Raises `error` if it is the one to fail."""
        self.calls += 1
        hit = self.calls == self._nth
        if hit:
            self.failed = name
        if hit and self._moment == "before":
            raise self._error()
        answer = await call()
        if hit:
            raise self._error()
        return answer


class FailingStore:
    """A `RecordStore` in front of another. Every call of the port counts, also inside a transaction or a snapshot.

    `deaf`: the commit of this number from here on (from 1) is made, and fails all the same: it is not reported.
    """

    def __init__(self, inner: RecordStore, error: Callable[[], MnemicError] = StoreUnavailable) -> None:
        self.nth = NthCall(error)
        self.deaf = 0
        self._inner = inner
        self._error = error

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name in ("capabilities", "open", "close"):
            return found

        async def call(*given: Any, **named: Any) -> Any:
            return await self.nth.through(name, lambda: found(*given, **named))

        return call

    async def transact(self, work: Callable[[Transaction], Awaitable[T]], **named: Any) -> T:
        """Run `work` on a transaction whose calls count too. A failure after the commit is a commit whose confirmation
        is lost.
        """

        async def watch(transaction: Transaction) -> T:
            port: Any = _FailingPort(transaction, self.nth, "transaction")
            return await work(port)

        answer = await self.nth.through("transact", lambda: self._inner.transact(watch, **named))
        self.deaf -= 1
        if self.deaf == 0:
            raise self._error()
        return answer

    async def read(self, work: Callable[[Snapshot], Awaitable[T]]) -> T:
        """Run `work` on a snapshot whose calls count too."""

        async def watch(snapshot: Snapshot) -> T:
            port: Any = _FailingPort(snapshot, self.nth, "snapshot")
            return await work(port)

        return await self.nth.through("read", lambda: self._inner.read(watch))


class _FailingPort:
    def __init__(self, inner: Transaction | Snapshot, nth: NthCall, place: str) -> None:
        self._inner = inner
        self._nth = nth
        self._place = place

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)

        async def call(*given: Any, **named: Any) -> Any:
            return await self._nth.through(f"{self._place}.{name}", lambda: found(*given, **named))

        return call


class FailingEmbedder:
    """An `Embedder` in front of another."""

    def __init__(self, inner: Embedder) -> None:
        self.nth = NthCall(lambda: EmbedderFailed("unavailable"))
        self._inner = inner

    @property
    def space(self) -> VectorSpace:
        """Return the space of the inner embedder."""
        return self._inner.space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """Return the inner embedder's vectors, or EmbedderFailed."""
        return await self.nth.through("embed", lambda: self._inner.embed(texts, deadline=deadline))

    async def close(self) -> None:
        """Close the inner embedder."""
        await self._inner.close()
