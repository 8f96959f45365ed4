"""The table of the requests beyond adding, each with its handler."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mnemic import requests
from mnemic.dispatch import Handler
from mnemic.dispatch.handlers.administration import Consenting, Erasing, Expiring, Forgetting, Revealing, RotatingKeys
from mnemic.dispatch.handlers.messages import Recording
from mnemic.dispatch.handlers.review import Approving, Rejecting, Restoring, RollingBack, Undoing
from mnemic.dispatch.handlers.update import Deriving, Updating
from mnemic.policy.redaction import RedactionRules
from mnemic.write.limiter import Limiter
from mnemic.write.pipeline import MemoryWritePipeline

if TYPE_CHECKING:
    from mnemic.ports import SessionStore
    from mnemic.write.tokenisation import Vault

Table = dict[type[requests.Request[Any]], Handler]


def stating(pipeline: MemoryWritePipeline, limiter: Limiter) -> Table:
    """Return the handlers of requests that make a statement."""
    parts = pipeline, limiter
    restoring = Restoring(*parts)
    return {
        requests.Record: Recording(pipeline),
        requests.Derive: Deriving(*parts),
        requests.Update: Updating(*parts),
        requests.Approve: Approving(*parts),
        requests.Undo: Undoing(*parts),
        requests.Rollback: RollingBack(*parts),
        requests.Restore: restoring,
        requests.RestoreConsent: restoring,
    }


def stewarding(
    pipeline: MemoryWritePipeline,
    limiter: Limiter,
    sessions: SessionStore | None,
    vault: Vault | None,
    *,
    redaction: RedactionRules,
    forgotten: Callable[[], None],
) -> Table:
    """Return the handlers of requests that make no statement."""
    parts = pipeline, limiter
    erasing = Erasing(*parts, sessions, vault, forgotten)
    return {
        requests.Reject: Rejecting(limiter),
        requests.Forget: Forgetting(*parts),
        requests.Consent: Consenting(limiter),
        requests.Erase: erasing,
        requests.EraseKey: erasing,
        requests.Expire: Expiring(*parts),
        requests.RotateDataKeys: RotatingKeys(limiter, vault),
        requests.Reveal: Revealing(limiter, vault, redaction),
    }
