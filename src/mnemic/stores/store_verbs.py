"""What stores have alike: how the `work` of a transaction or a snapshot is run, in a file (`run_through`) or across the
network (`drive`), and the reads that ask one question of one moment.

`work` is driven by hand: each of its queries is passed up to the driver, awaited there, and the result passed back
down. Any other await is refused, so neither a model nor an embedder can be called while a transaction is open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence
    from datetime import datetime

    from mnemic.ports import Snapshot
    from mnemic.types import Memory, Scope, Scored, Signals, Status, Vector, VectorSpace, Where


P = TypeVar("P")
T = TypeVar("T")


class Step(Generic[T]):
    """One query of the database. Awaiting it hands it to `drive`, the only caller that runs `ask`."""

    __slots__ = ("ask",)

    def __init__(self, ask: Callable[[], Awaitable[T]]) -> None:
        self.ask = ask

    def __await__(self) -> Generator[Step[T], T, T]:
        return (yield self)


class Driven(Generic[T]):
    """`work(port)`, which is run from one query to the next. Close it in the end."""

    __slots__ = ("_asked", "_error", "_result", "_steps")

    def __init__(self, work: Callable[[P], Awaitable[T]], port: P) -> None:
        self._steps: Any = work(port).__await__()
        self._asked: Step[Any] | None = None
        self._error: Exception | None = None
        self._result: Any = None

    def begin(self) -> Step[Any] | None:
        """Run as far as the first query, and return it; None if it ended before. `finish` reports an error."""
        try:
            self._go_on(None)
        except Exception as error:  # noqa: BLE001 - `finish` raises it
            self._error = error
        return self._asked

    async def finish(self) -> T:
        """Return the result of the work, after `begin`. Raises RuntimeError when it awaits anything but steps."""
        if self._error is not None:
            raise self._error
        while self._asked is not None:
            answer, failure = None, None
            try:
                answer = await self._asked.ask()
            except Exception as error:  # noqa: BLE001 - it belongs to `work`, which asked
                failure = error
            self._go_on(answer, failure)
        result: T = self._result
        return result

    def _go_on(self, answer: Any, failure: Exception | None = None) -> None:
        self._asked = None
        try:
            asked = self._steps.send(answer) if failure is None else self._steps.throw(failure)
        except StopIteration as stop:
            self._result = stop.value
            return
        if not isinstance(asked, Step):
            raise RuntimeError("a transaction may await nothing but itself")
        self._asked = asked

    def close(self) -> None:
        """End the work if it has not ended."""
        close = getattr(self._steps, "close", None)
        if close is not None:
            close()


async def drive(work: Callable[[P], Awaitable[T]], port: P) -> T:
    """Return the result of `work(port)`. Raises RuntimeError, with `work` closed, when it awaits anything but steps."""
    driven = Driven(work, port)
    try:
        driven.begin()
        return await driven.finish()
    finally:
        driven.close()


def run_through(work: Callable[[P], Awaitable[T]], port: P) -> T:
    """Return the result of `work(port)`. Raises RuntimeError, with `work` closed, when it awaits anything else."""
    steps = work(port).__await__()
    try:
        next(steps)
    except StopIteration as stop:
        result: T = stop.value
        return result
    close = getattr(steps, "close", None)
    if close is not None:
        close()
    raise RuntimeError("a transaction may await nothing but itself")


class Scan(NamedTuple):
    """Arguments of the port's `scan`."""

    tenant: str
    statuses: frozenset[Status]
    expired_by: datetime | None
    author: str | None
    memory_ids: Collection[str] | None
    scope: Scope | None
    after: str | None
    limit: int


class SingleReads(ABC):
    """The part of the port's `RecordStore` that asks one question of one moment, for a store that has `read`."""

    @abstractmethod
    async def read(self, work: Callable[[Snapshot], Awaitable[T]]) -> T: ...

    @abstractmethod
    async def _scan(self, wanted: Scan) -> list[Memory]: ...

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
        wanted = Scan(tenant, frozenset(statuses), expired_by, author, memory_ids, scope, after, max(0, limit))
        return await self._scan(wanted)

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        return (await self.get_many([memory_id], scopes=scopes)).get(memory_id)

    async def get_many(self, memory_ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        return await self.read(lambda moment: moment.get_many(memory_ids, scopes=scopes))

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        return await self.read(lambda moment: moment.find_fingerprint(scope, fingerprint))

    async def versions(self, memory_id: str, *, scopes: Sequence[Scope]) -> list[Memory]:
        return await self.read(lambda moment: moment.versions(memory_id, scopes=scopes))

    async def newest(
        self, where: Where, *, limit: int, before: str | None = None, facets: Sequence[frozenset[str]] = ()
    ) -> list[Memory]:
        return await self.read(lambda moment: moment.newest(where, limit=limit, before=before, facets=facets))

    async def count(self, where: Where) -> int:
        return await self.read(lambda moment: moment.count(where))

    async def nearest(
        self, where: Where, vector: Vector, *, limit: int, space: VectorSpace | None = None
    ) -> list[Scored]:
        return await self.read(lambda moment: moment.nearest(where, vector, limit=limit, space=space))

    async def match(self, where: Where, query: str, *, limit: int) -> list[Scored]:
        return await self.read(lambda moment: moment.match(where, query, limit=limit))

    async def recent(self, where: Where, *, limit: int) -> list[Scored]:
        return await self.read(lambda moment: moment.recent(where, limit=limit))

    async def signals(self, where: Where, memory_ids: Sequence[str]) -> dict[str, Signals]:
        return await self.read(lambda moment: moment.signals(where, memory_ids))

    async def speakers(self, where: Where) -> frozenset[str]:
        return await self.read(lambda moment: moment.speakers(where))

    async def as_known_at(
        self, scopes: Sequence[Scope], known_at: datetime, *, live_at: datetime | None = None
    ) -> Snapshot:
        return await self.read(lambda moment: moment.as_known_at(scopes, known_at, live_at=live_at))
