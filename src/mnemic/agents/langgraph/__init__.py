"""LangGraph: a `BaseStore` in a mnemic file, and the turn with memory as a graph.

`pip install "mnemic[langgraph]"`.
"""

from __future__ import annotations

from mnemic.plugins.extras import brought_by

with brought_by("langgraph"):
    from mnemic.agents.langgraph.graph import MemoryGraph, memory_graph
    from mnemic.agents.langgraph.store import AsyncMnemicStore, MnemicStore
    from mnemic.agents.langgraph.store_memory import StoreMemory

__all__ = ["AsyncMnemicStore", "MemoryGraph", "MnemicStore", "StoreMemory", "memory_graph"]
