"""Handlers of the requests that maintain and administer memories, one class for each request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mnemic import requests
from mnemic.dispatch.handlers.handler_table import Table
from mnemic.maintenance.handlers.administration import (
    ConsentHandler,
    EraseHandler,
    ExpireHandler,
    RevealHandler,
    RotateKeysHandler,
)
from mnemic.maintenance.handlers.review import (
    ApproveHandler,
    RejectHandler,
    RestoreHandler,
    RollbackHandler,
    UndoHandler,
)
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.write.limiter import Limiter
from mnemic.write.pipeline import MemoryWritePipeline

if TYPE_CHECKING:
    from mnemic.ports import SessionStore
    from mnemic.write.tokenisation import TokenVault


def table(
    pipeline: MemoryWritePipeline,
    limiter: Limiter,
    sessions: SessionStore | None,
    vault: TokenVault | None,
    *,
    redaction: RedactionRules,
    forgotten: Callable[[], None],
) -> Table:
    """Return the handler of each request. `forgotten` is called after an erasure."""
    parts = pipeline, limiter
    restoring = RestoreHandler(*parts)
    erasing = EraseHandler(*parts, sessions, vault, forgotten)
    return {
        requests.Approve: ApproveHandler(*parts),
        requests.Undo: UndoHandler(*parts),
        requests.Rollback: RollbackHandler(*parts),
        requests.Restore: restoring,
        requests.RestoreConsent: restoring,
        requests.Reject: RejectHandler(limiter),
        requests.Consent: ConsentHandler(limiter),
        requests.Erase: erasing,
        requests.EraseKey: erasing,
        requests.Expire: ExpireHandler(*parts),
        requests.RotateDataKeys: RotateKeysHandler(limiter, vault),
        requests.Reveal: RevealHandler(limiter, vault, redaction),
    }
