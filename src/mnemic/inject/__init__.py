"""Context injection: memories for one model call, cut to the budget, formatted as data, inserted, logged, and checked
for use afterwards.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnemic.inject.configuration import InjectionConfig, InjectionContext, RecallLog
    from mnemic.inject.engine_injector import ActorMemories, account_for, injector_for
    from mnemic.inject.injection_result import Injection, InjectionRun
    from mnemic.inject.injector import Injector
    from mnemic.inject.insert_text import InsertedText, Placement, fold
    from mnemic.inject.memory_source import MemorySource, SourceEntry
    from mnemic.inject.text_injection import TextInjector

_HOMES = {
    "ActorMemories": "engine_injector",
    "Injection": "injection_result",
    "InjectionConfig": "configuration",
    "InjectionContext": "configuration",
    "InjectionRun": "injection_result",
    "Injector": "injector",
    "InsertedText": "insert_text",
    "MemorySource": "memory_source",
    "Placement": "insert_text",
    "RecallLog": "configuration",
    "SourceEntry": "memory_source",
    "TextInjector": "text_injection",
    "account_for": "engine_injector",
    "fold": "insert_text",
    "injector_for": "engine_injector",
}
"""Modules of the names: a search needs one module of this package, and not the others."""

__all__ = [
    "ActorMemories",
    "Injection",
    "InjectionConfig",
    "InjectionContext",
    "InjectionRun",
    "Injector",
    "InsertedText",
    "MemorySource",
    "Placement",
    "RecallLog",
    "SourceEntry",
    "TextInjector",
    "account_for",
    "fold",
    "injector_for",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
