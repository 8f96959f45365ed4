"""Opening a client: a blocking or an awaitable one, with the same verbs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace, TracebackType
from typing import Any, Self, cast

import httpx

from mnemic.engine import MemoryEngine
from mnemic.facade.verbs import MemoryVerbs
from mnemic.maintenance.subject_export import Form
from mnemic.runtime.event_loop_thread import Portal, PortalOwner
from mnemic.runtime.sync_facade import Awaited, Blocking, CallMode, M, async_mode, blocking, verb
from mnemic.types import Actor, Origin
from mnemic_client.engine import PART, RemoteEngine, ServiceKinds
from mnemic_client.remote import Remote
from mnemic_client.request_bodies import ImportState

FOR_USERS = ("reader", "writer")
"""Roles of the tokens that an application's users act by, unless it says otherwise."""


CALLER = cast(Actor, SimpleNamespace(user=None, session=None, channel=Origin.USER_STATED))
"""The actor of a client: the credential says who calls."""


class MemoryClient(MemoryVerbs[M]):
    """The memory of the credential's user at a service, with the verbs of a manager. Errors are the library's, and
    ServiceRefused for what the service itself refuses (`service_refused:unauthenticated`, `:role_required:...`,
    `:rate_limited`, `:unreachable`).
    """

    def __init__(self, call_mode: CallMode[M], remote: Remote) -> None:
        self._remote = remote
        self._service = RemoteEngine(remote, CALLER)
        kinds = ServiceKinds(self._service, CALLER, call_mode)
        super().__init__(call_mode, cast(MemoryEngine, self._service), CALLER, kinds)

    @verb
    async def import_all(
        self, import_id: str, memories: Iterable[Mapping[str, Any]], *, part: int = PART
    ) -> ImportState:
        """Import memories. After an interruption, another call with the same memories continues.

        Args:
            import_id: A name for this import.
            memories: In the form that `add` takes: `content`, `key`, ...
            part: So many are sent at a time, at most 500.

        Returns:
            How many were taken, and their outcomes.

        Raises:
            StoreFailed, EmbedderFailed: The memories from there on are not imported yet.
        """
        return await self._service.import_all(import_id, memories, part=part)


class AsyncClient(MemoryClient[Awaited]):
    """A client with awaitable verbs. Use it as an async context manager, or call `close`."""

    def __init__(self, remote: Remote) -> None:
        super().__init__(async_mode(), remote)

    def for_user(self, user: str, *, session: str | None = None, roles: Sequence[str] = FOR_USERS) -> AsyncClient:
        """Return a client for one of the application's users, given an application's key: it uses tokens of the user,
        which it fetches and renews. It shares the connections of this client and closes with it. `session` names the
        active conversation; the user gets those of `roles` that the application has.
        """
        return AsyncClient(self._remote.of(Actor(user=user, session=session), roles))

    def export(self, *, archive: bool = False) -> AsyncIterator[str]:
        """Yield the user's own memories, as JSON lines; as an `archive` with every version and the consents."""
        return self._service.export_lines(archive=archive)

    def export_subject(
        self, subject: str | None = None, *, form: Form = "json", values: bool = False
    ) -> AsyncIterator[str]:
        """Yield all data about the user, or for an operator about `subject`, as the chunks of one document."""
        return self._service.export_subject(subject, form=form, values=values)

    def changes(self, *, after: str | None = None) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield each change of the user's memories with its id, after `after` (default: from now on), until the service
        stops. Never contains content.
        """
        return self._service.change_lines(after=after)

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

    def for_user(self, user: str, *, session: str | None = None, roles: Sequence[str] = FOR_USERS) -> BlockingClient:
        """Return a client for one of the application's users, given an application's key: it uses tokens of the user,
        which it fetches and renews. It shares the connections of this client and closes with it. `session` names the
        active conversation; the user gets those of `roles` that the application has.
        """
        return BlockingClient(self._remote.of(Actor(user=user, session=session), roles), self)

    def export(self, *, archive: bool = False) -> Iterator[str]:
        """Yield the user's own memories, as JSON lines; as an `archive` with every version and the consents."""
        return self._portal.iterate(self._service.export_lines(archive=archive))

    def export_subject(self, subject: str | None = None, *, form: Form = "json", values: bool = False) -> Iterator[str]:
        """Yield all data about the user, or for an operator about `subject`, as the chunks of one document."""
        return self._portal.iterate(self._service.export_subject(subject, form=form, values=values))

    def changes(self, *, after: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each change of the user's memories with its id, after `after` (default: from now on), until the service
        stops. Never contains content.
        """
        return self._portal.iterate(self._service.change_lines(after=after))

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
