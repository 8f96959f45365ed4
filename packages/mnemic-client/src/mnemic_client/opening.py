"""Opening a client: a blocking or an awaitable one, with the same verbs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self

import httpx

from mnemic.maintenance.subject_export import Form
from mnemic.runtime.event_loop_thread import Portal, PortalOwner
from mnemic.runtime.sync_facade import Awaited, Blocking, async_mode, blocking
from mnemic.types import Actor
from mnemic_client.memory import MemoryClient
from mnemic_client.remote import Remote

FOR_USERS = ("reader", "writer")
"""Roles of the tokens that an application's users act by, unless it says otherwise."""


class AsyncClient(MemoryClient[Awaited]):
    """A client with awaitable verbs. Use it as an async context manager, or call `close`."""

    def __init__(self, remote: Remote) -> None:
        super().__init__(async_mode(), remote)
        self.persona, self.episodic, self.entity, self.structured, self.short_term = self.kinds_on(self.ground)

    def for_user(self, user: str, *, session: str | None = None, roles: Sequence[str] = FOR_USERS) -> AsyncClient:
        """Return a client for one of the application's users, given an application's key: it uses tokens of the user,
        which it fetches and renews. It shares the connections of this client and closes with it. `session` names the
        active conversation; the user gets those of `roles` that the application has.
        """
        return AsyncClient(self._remote.of(Actor(user=user, session=session), roles))

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        await self._remote.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class BlockingClient(MemoryClient[Blocking], PortalOwner):
    """A client with blocking verbs. Use it in `with`, or call `close`. Threads may share it."""

    def __init__(self, remote: Remote, within: BlockingClient | None = None) -> None:
        self._within = within
        self._portal = Portal() if within is None else within._portal
        super().__init__(blocking(self._portal.call), remote)
        self.persona, self.episodic, self.entity, self.structured, self.short_term = self.kinds_on(self.ground)

    def for_user(self, user: str, *, session: str | None = None, roles: Sequence[str] = FOR_USERS) -> BlockingClient:
        """Return a client for one of the application's users, given an application's key: it uses tokens of the user,
        which it fetches and renews. It shares the connections of this client and closes with it. `session` names the
        active conversation; the user gets those of `roles` that the application has.
        """
        return BlockingClient(self._remote.of(Actor(user=user, session=session), roles), self)

    def export(self, *, archive: bool = False) -> Iterator[str]:
        """Yield the user's own memories, as JSON lines; see `exported`."""
        return self._portal.iterate(self.exported(archive=archive))

    def export_subject(self, subject: str | None = None, *, form: Form = "json", values: bool = False) -> Iterator[str]:
        """Yield all data about the user, or for an operator about `subject`, as the chunks of one document."""
        return self._portal.iterate(self.exported_subject(subject, form=form, values=values))

    def watch(self, *, after: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each change with its id as it happens; see `changes`."""
        return self._portal.iterate(self.changes(after=after))

    def close(self) -> None:
        """Close the connections, and with them the clients of users. May be called twice."""
        if self._within is None:
            super().close()

    async def _release(self) -> None:
        await self._remote.close()


def connect(
    url: str,
    *,
    api_key: str | None = None,
    timeout: float = 30.0,
    attempts: int = 3,
    transport: httpx.AsyncBaseTransport | None = None,
    session: str | None = None,
) -> BlockingClient:
    """Return a client of the service at `url`, authenticated by `api_key` (a key or a token). `timeout` in seconds for
    one call; `attempts` of idempotent calls. `transport` replaces the network. `session` names the active conversation.
    """
    return BlockingClient(
        Remote(url, api_key, timeout=timeout, attempts=attempts, transport=transport, session=session)
    )


def connect_async(
    url: str,
    *,
    api_key: str | None = None,
    timeout: float = 30.0,
    attempts: int = 3,
    transport: httpx.AsyncBaseTransport | None = None,
    session: str | None = None,
) -> AsyncClient:
    """Return the memory for awaiting callers."""
    return AsyncClient(Remote(url, api_key, timeout=timeout, attempts=attempts, transport=transport, session=session))
