"""Audit of issued tokens: an application acts for any user of its tenant, and that user can see it."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from datetime import date

from mnemic.errors import NotSupported, StoreFailed
from mnemic.ports import Clock, RecordStore
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.limiter import subject_token
from mnemic_server.credentials import Principal, Role

MOST = 10_000
"""Number of tokens that a process remembers as recorded today."""


class Issued:
    """Records once a day that an application's key has issued tokens for a user with the same roles: a token is renewed
    every few minutes, and a line for each would be most of the audit.
    """

    def __init__(self, store: RecordStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._recorded: OrderedDict[tuple[str, str | None, frozenset[Role]], date] = OrderedDict()

    async def note(self, opened: Principal) -> None:
        """Write a line about a token that is issued for `opened`, unless there is one of today. A store that cannot be
        written refuses no caller: the next token is recorded.
        """
        now, named = self._clock.now(), (opened.key_id, opened.user, opened.roles)
        if self._recorded.get(named) == now.date():
            return
        subject = await subject_token(self._store, opened.tenant, opened.user or opened.key_id)
        detail = {"key_id": opened.key_id, "roles": sorted(opened.roles), "subject": subject}
        line = Mutation(tenant=opened.tenant, action="token_issued", actor=opened.key_id, at=now, detail=detail)
        with suppress(StoreFailed, NotSupported):
            await apply(self._store, line)
            self._recorded[named] = now.date()
            self._recorded.move_to_end(named)
            while len(self._recorded) > MOST:
                self._recorded.popitem(last=False)
