"""A TURN WITH MEMORY, STEP BY STEP: remember, answer, extract, validate, store, review - under any runner."""

from __future__ import annotations

from mnemic.agents.steps.memory_backend import GatewayMemory, KnownMemory, LongTerm, Recall
from mnemic.agents.steps.nodes import MemorySteps, Respond, Summarise
from mnemic.agents.steps.runner import EDGES, NODES, ROUTES, resume_turn, run_turn_with_memory, take
from mnemic.agents.steps.state import MemoryState, TurnRules, output_of

__all__ = [
    "EDGES",
    "NODES",
    "ROUTES",
    "GatewayMemory",
    "KnownMemory",
    "LongTerm",
    "MemoryState",
    "MemorySteps",
    "Recall",
    "Respond",
    "Summarise",
    "TurnRules",
    "output_of",
    "resume_turn",
    "run_turn_with_memory",
    "take",
]
