"""How each request that changes memory is handled: one class a request, called by the door alone (`mnemic.door`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mnemic import requests
from mnemic.door import Handler, Limiter
from mnemic.guard.redaction import RedactionRules
from mnemic.handlers.recording import Recording
from mnemic.handlers.reviewing import Approving, Rejecting, Restoring, RollingBack, Undoing
from mnemic.handlers.stewarding import Consenting, Erasing, Expiring, Forgetting, Revealing, RotatingKeys
from mnemic.handlers.writing import Adding, AddingMany, Deriving, Updating
from mnemic.ports import SessionStore
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.vault import Vault


def build_handlers(
    *,
    pipeline: MemoryWritePipeline,
    limiter: Limiter,
    sessions: SessionStore | None,
    vault: Vault | None,
    redaction: RedactionRules,
    forgotten: Callable[[], None],
) -> dict[type[requests.Request[Any]], Handler]:
    """The table of the requests that the door handles, each with its handler."""
    restoring = Restoring(pipeline, limiter)
    erasing = Erasing(pipeline, limiter, sessions, vault, forgotten)
    return {
        requests.Add: Adding(pipeline, limiter),
        requests.AddMany: AddingMany(pipeline, limiter),
        requests.Record: Recording(pipeline),
        requests.Derive: Deriving(pipeline, limiter),
        requests.Update: Updating(pipeline, limiter),
        requests.Approve: Approving(pipeline, limiter),
        requests.Reject: Rejecting(limiter),
        requests.Undo: Undoing(pipeline, limiter),
        requests.Rollback: RollingBack(pipeline, limiter),
        requests.Restore: restoring,
        requests.RestoreConsent: restoring,
        requests.Forget: Forgetting(pipeline, limiter),
        requests.Consent: Consenting(limiter),
        requests.Erase: erasing,
        requests.EraseKey: erasing,
        requests.Expire: Expiring(pipeline, limiter),
        requests.RotateDataKeys: RotatingKeys(limiter, vault),
        requests.Reveal: Revealing(limiter, vault, redaction),
    }
