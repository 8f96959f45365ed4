"""Opening a client: one that waits, or one that is awaited; the verbs are the same."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import httpx

from mnemic.engine.administration_verbs import Form
from mnemic.runtime.portal import Portal, PortalOwner
from mnemic.runtime.sync_facade import Awaited, Blocking, awaited, blocking
from mnemic_client.memory import MemoryClient
from mnemic_client.remote import Remote


class AsyncClient(MemoryClient[Awaited]):
    """A client whose verbs are awaited. Use it as an async context manager, or call `close`."""

    def __init__(self, remote: Remote) -> None:
        super().__init__(awaited(), remote)
        self.persona, self.episodic, self.entity, self.structured, self.short_term = self.kinds_on(self.ground)

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
    """A client whose verbs wait for their result. Use it in `with`, or call `close`. Threads may share it."""

    def __init__(self, remote: Remote) -> None:
        self._portal = Portal()
        super().__init__(blocking(self._portal.call), remote)
        self.persona, self.episodic, self.entity, self.structured, self.short_term = self.kinds_on(self.ground)

    def export(self, *, archive: bool = False) -> Iterator[str]:
        """Everything held about oneself, as JSON lines; see `exported`."""
        return self._portal.iterate(self.exported(archive=archive))

    def export_subject(self, subject: str | None = None, *, form: Form = "json", values: bool = False) -> Iterator[str]:
        """Everything held about oneself, or as an operator about `subject`, as the chunks of one document."""
        return self._portal.iterate(self.exported_subject(subject, form=form, values=values))

    def watch(self, *, after: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each change with its id, as it comes; see `changes`."""
        return self._portal.iterate(self.changes(after=after))

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
    """Return a client of the service at `url`, as whom `api_key` (a key, or a token) stands for. `timeout` in seconds
    for one call; `attempts` of calls that change nothing when they come twice. `transport` takes the place of the
    network. `session` names the conversation in progress.
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
    """Return the same, to be awaited."""
    return AsyncClient(Remote(url, api_key, timeout=timeout, attempts=attempts, transport=transport, session=session))
