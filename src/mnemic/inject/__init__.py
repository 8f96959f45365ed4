"""Context injection: memories for one model call, cut to the budget, formatted as data, inserted, logged, and checked
for use afterwards.
"""

from __future__ import annotations

from mnemic.inject.configuration import InjectionConfig, InjectionContext, RecallLog
from mnemic.inject.engine_injector import ActorMemories, account_for, injector_for
from mnemic.inject.injection_result import Injection, InjectionRun
from mnemic.inject.injector import Injector
from mnemic.inject.memory_source import MemorySource, SourceEntry
from mnemic.inject.messages import InsertedText, Placement, fold
from mnemic.inject.text_injection import TextInjector

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
