"""Handlers of the requests that change memory: one class a request, called by the door alone (`mnemic.door`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mnemic import requests
from mnemic.door import Handler
from mnemic.door.handlers.writing import Adding, AddingMany
from mnemic.guard.redaction import RedactionRules
from mnemic.write.limiter import Limiter
from mnemic.write.pipeline import MemoryWritePipeline

if TYPE_CHECKING:
    from mnemic.ports import SessionStore
    from mnemic.write.vault import Vault


class Handlers(dict[type[requests.Request[Any]], Handler]):
    """The table of the requests that the door handles, each with its handler. Adding is there from the start; the
    others are loaded with the first request that is none.
    """

    def __init__(
        self,
        *,
        pipeline: MemoryWritePipeline,
        limiter: Limiter,
        sessions: SessionStore | None,
        vault: Vault | None,
        redaction: RedactionRules,
        forgotten: Callable[[], None],
    ) -> None:
        super().__init__()
        self[requests.Add] = Adding(pipeline, limiter)
        self[requests.AddMany] = AddingMany(pipeline, limiter)
        self._pipeline, self._limiter, self._sessions = pipeline, limiter, sessions
        self._vault, self._redaction, self._forgotten = vault, redaction, forgotten
        self._complete = False

    def __missing__(self, request: type[requests.Request[Any]]) -> Handler:
        """Return the handler of a request beyond adding. Raises KeyError for what is no request of the door's."""
        if self._complete:
            raise KeyError(request)
        self.update(self._stating() | self._stewarding())
        self._complete = True
        return self[request]

    def _stating(self) -> dict[type[requests.Request[Any]], Handler]:
        """Return the requests after which a statement holds that did not before."""
        from mnemic.door.handlers.recording import Recording
        from mnemic.door.handlers.reviewing import Approving, Restoring, RollingBack, Undoing
        from mnemic.door.handlers.revising import Deriving, Updating

        parts = self._pipeline, self._limiter
        restoring = Restoring(*parts)
        return {
            requests.Record: Recording(self._pipeline),
            requests.Derive: Deriving(*parts),
            requests.Update: Updating(*parts),
            requests.Approve: Approving(*parts),
            requests.Undo: Undoing(*parts),
            requests.Rollback: RollingBack(*parts),
            requests.Restore: restoring,
            requests.RestoreConsent: restoring,
        }

    def _stewarding(self) -> dict[type[requests.Request[Any]], Handler]:
        """Return the requests after which nothing new holds."""
        from mnemic.door.handlers.reviewing import Rejecting
        from mnemic.door.handlers.stewarding import Consenting, Erasing, Expiring, Forgetting, Revealing, RotatingKeys

        parts = self._pipeline, self._limiter
        erasing = Erasing(*parts, self._sessions, self._vault, self._forgotten)
        return {
            requests.Reject: Rejecting(self._limiter),
            requests.Forget: Forgetting(*parts),
            requests.Consent: Consenting(self._limiter),
            requests.Erase: erasing,
            requests.EraseKey: erasing,
            requests.Expire: Expiring(*parts),
            requests.RotateDataKeys: RotatingKeys(self._limiter, self._vault),
            requests.Reveal: Revealing(self._limiter, self._vault, self._redaction),
        }
