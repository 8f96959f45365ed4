"""Scopes that have outgrown the exact search move into the indexes, a few memories at a time: the approximate one of
vectors, and the postings.
"""

from __future__ import annotations

import logging
from functools import partial

from mnemic.errors import MnemicError
from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.loop_thread import Tasks
from mnemic.stores.postgres.rows import lock_of, place_of
from mnemic.stores.postgres.statements import load
from mnemic.types import Scope

_WRITING = load("writing")
_log = logging.getLogger("mnemic.stores.postgres")
_BATCH = 100


class Promotions:
    """Moves scopes in the background. A write into the approximate index costs more than a row, and postings are half
    the size of a memory, so small scopes have neither.

    Until the last memory has moved, searches of the scope stay exact; a move that fails or is interrupted continues at
    the next search.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.moves = Tasks()

    def start(self, scope: Scope) -> None:
        """Start to move `scope`, unless it is being moved."""
        self.moves.start(self._move(scope), key=scope)

    async def _move(self, scope: Scope) -> None:
        last: str | None = ""
        try:
            while last is not None:
                last = await self._connections.write(partial(_move_batch, scope, last))
            await self._connections.write(partial(_move_rest, scope))
        except MnemicError as error:
            _log.warning("a scope was not moved into the vector index: %s", error.reason)


async def _move_batch(scope: Scope, after: str, session: Session) -> str | None:
    await session.enter(scope.tenant, lock_of(scope))
    found = await session.fetch(_WRITING["scope"], *place_of(scope))
    rows = await session.fetch(_WRITING["promote"], scope.tenant, found[0]["scope_id"], after, _BATCH)
    last: str | None = rows[0]["last"]
    return last


async def _move_rest(scope: Scope, session: Session) -> None:
    await session.enter(scope.tenant, lock_of(scope))
    found = await session.fetch(_WRITING["scope"], *place_of(scope))
    await session.fetch(_WRITING["promote_rest"], scope.tenant, found[0]["scope_id"])
