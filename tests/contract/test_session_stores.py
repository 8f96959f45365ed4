"""Every session store of mnemic keeps the contract it ships."""

from __future__ import annotations

from mnemic.ports import SessionStore
from mnemic.stores.session import InProcessSessions
from mnemic.testing.clock import ManualClock
from mnemic.testing.session_store import SessionStoreContract


class TestInProcessSessions(SessionStoreContract):
    def new_store(self, clock: ManualClock) -> SessionStore:
        return InProcessSessions(clock)
