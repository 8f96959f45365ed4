"""The table from each request that changes memory to its handler. Only the dispatcher calls the handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mnemic import requests
from mnemic.dispatch import Handler
from mnemic.dispatch.handlers.add import AddHandler, AddManyHandler, RecordHandler
from mnemic.dispatch.handlers.update import DeriveHandler, ForgetHandler, UpdateHandler
from mnemic.maintenance.handlers.administration import (
    ConsentHandler,
    EraseHandler,
    ExpireHandler,
    RateHandler,
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
from mnemic.ports import SessionStore
from mnemic.write.limiter import Limiter
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.tokenisation import TokenVault

HandlerTable = dict[type[requests.Request[Any]], Handler]


def handler_table(
    pipeline: MemoryWritePipeline,
    limiter: Limiter,
    *,
    sessions: SessionStore | None,
    vault: TokenVault | None,
    redaction: RedactionRules,
    on_erased: Callable[[], None],
) -> HandlerTable:
    """Return the handler of each request that changes memory. `on_erased` is called after an erasure."""
    parts = pipeline, limiter
    adding, updating, restoring = AddHandler(*parts), UpdateHandler(*parts), RestoreHandler(*parts)
    erasing = EraseHandler(*parts, sessions, vault, on_erased)
    return {
        requests.NewMemory: adding,
        requests.Add: adding,
        requests.AddMany: AddManyHandler(*parts),
        requests.Record: RecordHandler(pipeline),
        requests.Derive: DeriveHandler(*parts),
        requests.Correction: updating,
        requests.Update: updating,
        requests.Forget: ForgetHandler(*parts),
        requests.Approve: ApproveHandler(*parts),
        requests.Reject: RejectHandler(limiter),
        requests.Undo: UndoHandler(*parts),
        requests.Rollback: RollbackHandler(*parts),
        requests.Restore: restoring,
        requests.RestoreConsent: restoring,
        requests.Consent: ConsentHandler(limiter),
        requests.Rate: RateHandler(limiter),
        requests.Expire: ExpireHandler(*parts),
        requests.Erase: erasing,
        requests.EraseKey: erasing,
        requests.RotateDataKeys: RotateKeysHandler(limiter, vault),
        requests.Reveal: RevealHandler(limiter, vault, redaction),
    }
