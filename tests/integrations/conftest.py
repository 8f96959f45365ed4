"""What the adapters' tests share: an engine, and a scripted model over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from tests.scripted_model import Scripted, ScriptedModelServer

# CrewAI needs an older pydantic than the service and has an environment of its own (docs/adr/0012).
collect_ignore = [] if find_spec("crewai") else ["test_crewai_tasks.py"]


@pytest.fixture
def script() -> list[Scripted]:
    """What the model will say."""
    return []


@pytest.fixture
def server(script: list[Scripted]) -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer(lambda _: script.pop(0)) as running:
        yield running


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    """An engine that is not open yet."""
    one = MemoryEngine(store=SqliteStore(tmp_path / "memory.db"), embedder=WordEmbedder())
    yield one
    await one.close()


@pytest.fixture
def broken(tmp_path: Path) -> MemoryEngine:
    """An engine whose store cannot be opened: where its folder should be is a file."""
    (tmp_path / "file").touch()
    return MemoryEngine(store=SqliteStore(tmp_path / "file" / "memory.db"), embedder=WordEmbedder())
