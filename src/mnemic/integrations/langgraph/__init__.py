"""LangGraph: a `BaseStore` in a mnemic file."""

from __future__ import annotations

from mnemic.integrations.langgraph.store import AsyncMnemicStore, MnemicStore

__all__ = ["AsyncMnemicStore", "MnemicStore"]
