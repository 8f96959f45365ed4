"""The table of the requests beyond adding, each with its handler."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mnemic import requests
from mnemic.dispatch import Handler
from mnemic.dispatch.handlers.administration import (
    ConsentHandler,
    EraseHandler,
    ExpireHandler,
    ForgetHandler,
    RevealHandler,
    RotateKeysHandler,
)
from mnemic.dispatch.handlers.messages import RecordHandler
from mnemic.dispatch.handlers.review import ApproveHandler, RejectHandler, RestoreHandler, RollbackHandler, UndoHandler
from mnemic.dispatch.handlers.update import DeriveHandler, UpdateHandler
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
    restoring = RestoreHandler(*parts)
    return {
        requests.Record: RecordHandler(pipeline),
        requests.Derive: DeriveHandler(*parts),
        requests.Update: UpdateHandler(*parts),
        requests.Approve: ApproveHandler(*parts),
        requests.Undo: UndoHandler(*parts),
        requests.Rollback: RollbackHandler(*parts),
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
    erasing = EraseHandler(*parts, sessions, vault, forgotten)
    return {
        requests.Reject: RejectHandler(limiter),
        requests.Forget: ForgetHandler(*parts),
        requests.Consent: ConsentHandler(limiter),
        requests.Erase: erasing,
        requests.EraseKey: erasing,
        requests.Expire: ExpireHandler(*parts),
        requests.RotateDataKeys: RotateKeysHandler(limiter, vault),
        requests.Reveal: RevealHandler(limiter, vault, redaction),
    }
