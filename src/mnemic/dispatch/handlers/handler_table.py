"""The table of the requests of the core beyond adding, each with its handler."""

from __future__ import annotations

from typing import Any

from mnemic import requests
from mnemic.dispatch import Handler
from mnemic.dispatch.handlers.forget import ForgetHandler
from mnemic.dispatch.handlers.messages import RecordHandler
from mnemic.dispatch.handlers.update import DeriveHandler, UpdateHandler
from mnemic.write.limiter import Limiter
from mnemic.write.pipeline import MemoryWritePipeline

Table = dict[type[requests.Request[Any]], Handler]


def table(pipeline: MemoryWritePipeline, limiter: Limiter) -> Table:
    """Return the handlers of requests that correct and forget, and of messages stored verbatim."""
    parts = pipeline, limiter
    return {
        requests.Record: RecordHandler(pipeline),
        requests.Derive: DeriveHandler(*parts),
        requests.Update: UpdateHandler(*parts),
        requests.Forget: ForgetHandler(*parts),
    }
