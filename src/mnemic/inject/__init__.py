"""Context injection: memories for one model call, cut to the budget, formatted as data, inserted, logged, and checked
for use afterwards.
"""

from __future__ import annotations

from mnemic.inject.configuration import InjectionConfig, InjectionContext, RecallLog
from mnemic.inject.engine_injector import ActorMemories, account_for, injector_for
from mnemic.inject.entry import Entry, MemorySource
from mnemic.inject.injection import Injection, InjectionRun
from mnemic.inject.injector import Injector
from mnemic.inject.insert_text import Folded, Placement, fold
from mnemic.inject.text import TextInjector

__all__ = [
    "ActorMemories",
    "Entry",
    "Folded",
    "Injection",
    "InjectionConfig",
    "InjectionContext",
    "InjectionRun",
    "Injector",
    "MemorySource",
    "Placement",
    "RecallLog",
    "TextInjector",
    "account_for",
    "fold",
    "injector_for",
]
