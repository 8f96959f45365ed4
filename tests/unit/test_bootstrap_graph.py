"""The graph of a store's own file is loaded and opened with its first verb."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.bootstrap import build_graph, build_store
from mnemic.config import Settings
from mnemic.errors import StoreUnavailable
from mnemic.testing.record_store import EMBEDDER, scope


async def test_the_graph_in_a_file_answers_between_open_and_close(tmp_path: Path) -> None:
    location = str(tmp_path / "m.db")
    store = build_store(location, durability="fast")
    await store.open(EMBEDDER.space)
    graph = build_graph(Settings(store=location))
    await graph.open()
    assert await graph.traces("acme", ["nobody"]) == 0
    assert await graph.neighbours(scope(), "ana") == []
    await graph.close()
    with pytest.raises(StoreUnavailable):
        await graph.traces("acme", ["nobody"])
    await graph.open()
    assert await graph.traces("acme", ["nobody"]) == 0
    await graph.close()
    await store.close()


async def test_a_graph_that_nobody_opened_does_not_answer(tmp_path: Path) -> None:
    graph = build_graph(Settings(store=str(tmp_path / "m.db")))
    await graph.close()
    with pytest.raises(StoreUnavailable):
        await graph.traces("acme", ["nobody"])


def test_it_has_no_private_names(tmp_path: Path) -> None:
    graph = build_graph(Settings(store=str(tmp_path / "m.db")))
    with pytest.raises(AttributeError):
        graph._opening  # type: ignore[attr-defined]  # noqa: B018
