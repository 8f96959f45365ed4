"""Reads without a transaction: their statements see one moment as long as no scope they name changes between them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import CodeType
from typing import Any, NoReturn, TypeVar

from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.statements import load

T = TypeVar("T")

_READING = load("reading")


class TransactionNeeded(Exception):
    """Signal that a read needs a transaction. Never leaves the store."""


class LooseSession(Session):
    """Statements outside a transaction, each of which names its tenant. Scopes are entered once; each further statement
    returns their counts of changes, too, which must be the same.
    """

    def __init__(self, alone: Session) -> None:
        self._alone = alone
        self._changes: dict[tuple[str, str], int] | None = None
        self.overtaken = False
        self.refused = False

    @property
    def asked(self) -> bool:
        """True if the database was asked anything."""
        return self._changes is not None

    async def enter(self, tenant: str, lock: int | None = None) -> None:
        """Refuse every other statement."""
        self._refuse()

    async def fetch(self, statement: str, *values: Any) -> list[Any]:
        """Refuse it: it does not name its tenant."""
        self._refuse()

    async def approximate(self, on: bool) -> None:
        """Refuse it."""
        self._refuse()

    async def enter_scopes(self, tenant: str, levels: Sequence[str], owners: Sequence[str]) -> list[Any]:
        """Return what `Session.enter_scopes` returns, once."""
        if self._changes is not None:
            self._refuse()
        rows = await self._alone.enter_scopes(tenant, levels, owners)
        self._changes = {(row["level"], row["owner"]): row["changes"] for row in rows}
        return rows

    async def get_many(
        self, tenant: str, levels: Sequence[str], owners: Sequence[str], memory_ids: Sequence[str]
    ) -> list[Any]:
        """Return the rows of the statement `get_many`."""
        given = (tenant, levels, owners, memory_ids, self._limit())
        rows = await self._alone.fetch(_READING["get_many_unchanged"], *given)
        changes = {(row["scope_level"], row["scope_owner"]): row["changes"] for row in rows}
        named = set(zip(levels, owners, strict=True))
        if self._changes is None:
            self._changes = changes
        if changes != {place: count for place, count in self._changes.items() if place in named}:
            self._refuse()
        return [row for row in rows if row["memory_id"] is not None]

    def _limit(self) -> str:
        return self._alone._limit()

    def _refuse(self) -> NoReturn:
        self.refused = True
        raise TransactionNeeded


class LooseReads:
    """Reads of a store that are tried without a transaction. Works whose first statement needs one are remembered."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._strict: set[CodeType] = set()

    async def read(self, work: Any, run: Callable[[Session], Awaitable[T]]) -> T:
        """Return the result of `run`, which reads for `work`. Raises TransactionNeeded."""
        code = getattr(work, "__code__", None)
        if code is None or code in self._strict:
            raise TransactionNeeded

        async def loose(alone: Session) -> T:
            session = LooseSession(alone)
            try:
                result = await run(session)
            except Exception:
                self._check_session(session, code)
                raise
            # `work` may have gone on without what was refused.
            self._check_session(session, code)
            return result

        return await self._connections.loosely(loose)

    def _check_session(self, session: LooseSession, code: CodeType) -> None:
        if session.refused:
            if not session.asked:
                self._strict.add(code)
            raise TransactionNeeded
