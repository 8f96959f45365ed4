"""mnemic: memory for AI agents that people can trust.

    from mnemic import MemoryManager

    with MemoryManager("ana") as memory:
        memory.capture("I am vegetarian and I prefer aisle seats.")
        for hit in memory.search("do I eat meat?").hits:
            print(hit.memory.content, hit.relevance)

Names load when they are first used, so that `import mnemic` costs nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING: bool = False  # `typing` costs a hook time; with an annotation jedi reads the names below
if TYPE_CHECKING:
    from typing import Any

    from mnemic.bootstrap import build_engine
    from mnemic.config import Settings
    from mnemic.dispatch.gateway import MemoryGateway
    from mnemic.engine import MemoryEngine
    from mnemic.errors import MnemicError
    from mnemic.facade.manager import AsyncMemoryManager, MemoryManager
    from mnemic.policy.budget import Budget
    from mnemic.policy.grant import Grant
    from mnemic.policy.key_rules import KeyRule, Policy
    from mnemic.types import (
        Actor,
        Candidate,
        Hit,
        Kind,
        Memory,
        Message,
        Outcome,
        Scope,
        SearchResult,
        WriteReceipt,
    )
    from mnemic.types.trace import RunReport
    from mnemic.write.pipeline import MemoryWritePipeline

_HOMES = {
    "Actor": "types",
    "AsyncMemoryManager": "facade.manager",
    "Budget": "policy.budget",
    "Candidate": "types",
    "Grant": "policy.grant",
    "Hit": "types",
    "KeyRule": "policy.key_rules",
    "Kind": "types",
    "Memory": "types",
    "MemoryEngine": "engine",
    "MemoryGateway": "dispatch.gateway",
    "MemoryManager": "facade.manager",
    "MemoryWritePipeline": "write.pipeline",
    "Message": "types",
    "MnemicError": "errors",
    "Outcome": "types",
    "Policy": "policy.key_rules",
    "RunReport": "types.trace",
    "Scope": "types",
    "SearchResult": "types",
    "Settings": "config",
    "WriteReceipt": "types",
    "build_engine": "bootstrap",
}

__all__ = [
    "Actor", "AsyncMemoryManager", "Budget", "Candidate", "Grant", "Hit", "KeyRule", "Kind", "Memory",
    "MemoryEngine", "MemoryGateway", "MemoryManager", "MemoryWritePipeline", "Message", "MnemicError",
    "Outcome", "Policy", "RunReport", "Scope", "SearchResult", "Settings", "WriteReceipt", "build_engine",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("mnemic")
    if name not in _HOMES:
        raise AttributeError(f"module 'mnemic' has no attribute {name!r}")
    return getattr(import_module(f"mnemic.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
