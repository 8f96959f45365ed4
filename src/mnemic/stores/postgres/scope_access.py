"""Scopes that a write transaction has entered, and its statements as steps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from mnemic.errors import StoreCorrupt
from mnemic.stores.codec import checked_marks
from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.group_state import GroupState
from mnemic.stores.postgres.rows import ScopeState, lock_of, lock_of_mark, place_of, storable
from mnemic.stores.postgres.statements import load
from mnemic.stores.transaction_work import Step
from mnemic.types import Scope, VectorSpace

_WRITING = load("writing")


class ScopeAccess:
    """A session inside BEGIN and COMMIT. The first access to a scope takes its lock. Inserts of a group wait until a
    statement could see them.
    """

    def __init__(self, session: Session, common: GroupState) -> None:
        self._session: Session | None = session
        self._common = common

    def end(self) -> None:
        """Refuse every further call: the transaction is over."""
        self._session = None

    async def look(self, scope: Scope, fingerprints: Sequence[str]) -> None:
        """Lock the scope and note which of these fingerprints no active memory in it has."""
        place = await self._lock(scope)
        asked = storable(fingerprints)
        rows = await self._rows("known_fingerprints", scope.tenant, place.scope_id, asked) if place is not None else []
        self._common.absent |= {(scope, one) for one in set(asked) - {row["fingerprint"] for row in rows}}

    async def _place(self, scope: Scope) -> ScopeState:
        """Return the scope, which gets its number with its first memory."""
        place = await self._lock(scope)
        if place is None:
            rows = await self._rows("make_scope", *place_of(scope))
            place = self._common.places[scope] = ScopeState(*rows[0])
        return place

    async def _lock(self, scope: Scope) -> ScopeState | None:
        """Return the scope in its state when this transaction first accessed and so locked it; None while it has no
        number.
        """
        if scope in self._common.places:
            await self._enter(scope.tenant)
        else:
            await self._begin(scope, "")
        return self._common.places[scope]

    async def _begin(self, scope: Scope, fingerprint: str) -> Any:
        """Lock the scope and read it: its row, with the active memory of that fingerprint."""
        await self._flush()
        name = self._common.likely_mark(scope)
        mark = None if name is None else (name, lock_of_mark(scope.tenant, name))
        enter = partial(self._open.enter_writing, *place_of(scope), fingerprint, lock=lock_of(scope), mark=mark)
        row = await Step(enter)
        if name is not None:
            found = [] if row["mark"] is None else [(row["mark"], row["mark_value"], row["mark_checksum"])]
            with suppress(StoreCorrupt):  # reported where the write asks for it
                self._common.marks[scope.tenant, name] = checked_marks(found).get(name)
        self._common.space = VectorSpace(model=row["model"], dimension=row["dimension"])
        self._common.places[scope] = (
            None if row["scope_id"] is None else ScopeState(*(row[name] for name in ScopeState._fields))
        )
        return row

    async def _flush(self) -> None:
        """Write the inserts that wait. Raises VersionConflict if an identifier or a fingerprint is taken."""
        if inserts := self._common.taken():
            ask = partial(self._open.fetch_each, _WRITING["insert"], [values for _, values in inserts])
            self._common.note_inserted([memory for memory, _ in inserts], await Step(ask))

    async def _enter(self, tenant: str) -> None:
        if self._common.waiting and tenant != self._common.waiting[0][0].memory.scope.tenant:
            await self._flush()
        await Step(partial(self._open.enter, tenant))

    async def _rows(self, name: str, *values: Any) -> list[Any]:
        return await self._ask(_WRITING[name], *values)

    async def _ask(self, statement: str, *values: Any) -> list[Any]:
        await self._flush()
        rows: list[Any] = await Step(partial(self._open.fetch, statement, *values))
        return rows

    async def _plain(self, name: str, *values: Any) -> list[Any]:
        """Return the rows of a statement that concerns no memory, so that inserts need not be written before it."""
        rows: list[Any] = await Step(partial(self._open.fetch, _WRITING[name], *values))
        return rows

    @property
    def _open(self) -> Session:
        if self._session is None:
            raise RuntimeError("the transaction is over")
        return self._session
