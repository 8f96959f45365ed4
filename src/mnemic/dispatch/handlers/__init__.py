"""Handlers of the requests that change memory, one class for each request; only `mnemic.dispatch` calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mnemic import requests
from mnemic.dispatch import Handler
from mnemic.dispatch.handlers.add import AddHandler, AddManyHandler
from mnemic.dispatch.handlers.handler_table import table
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.write.limiter import Limiter
from mnemic.write.pipeline import MemoryWritePipeline

if TYPE_CHECKING:
    from mnemic.ports import SessionStore
    from mnemic.write.tokenisation import TokenVault


class Handlers(dict[type[requests.Request[Any]], Handler]):
    """Handlers by request class. All but those of adding are loaded with the first request that needs them."""

    def __init__(
        self,
        *,
        pipeline: MemoryWritePipeline,
        limiter: Limiter,
        sessions: SessionStore | None,
        vault: TokenVault | None,
        redaction: RedactionRules,
        forgotten: Callable[[], None],
    ) -> None:
        super().__init__()
        self[requests.Add] = AddHandler(pipeline, limiter)
        self[requests.AddMany] = AddManyHandler(pipeline, limiter)
        self._parts = pipeline, limiter
        self._stores, self._redaction, self._forgotten = (sessions, vault), redaction, forgotten
        self._further = [self._maintenance, self._corrections]  # taken from the end

    def __missing__(self, request: type[requests.Request[Any]]) -> Handler:
        """Return the handler of a request other than `Add`. Raises KeyError for a request that is not dispatched."""
        while request not in self:
            if not self._further:
                raise KeyError(request)
            self._further.pop()()
        return self[request]

    def _corrections(self) -> None:
        self.update(table(*self._parts))

    def _maintenance(self) -> None:
        from mnemic.maintenance.handlers import table

        self.update(table(*self._parts, *self._stores, redaction=self._redaction, forgotten=self._forgotten))
