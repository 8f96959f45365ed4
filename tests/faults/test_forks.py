"""Use after a fork: a clear error in the child, which may open anew; the parent goes on."""

from __future__ import annotations

import asyncio
import multiprocessing
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnemic import MemoryManager
from mnemic.engine import MemoryEngine
from mnemic.errors import StoreUnavailable
from mnemic.runtime.event_loop_thread import Portal
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.loop_thread import LoopThread
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.documents import SqliteDocuments
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, GetDocument
from tests.servers import PostgresServer

ADA = Actor(tenant="default", user="ana")
SECONDS = 60


def in_child(work: Callable[[], Any]) -> Any:
    """What `work` gives in a forked process, or the reason of its error. Fails where it hangs."""
    forked = multiprocessing.get_context("fork")
    answers = forked.Queue()

    def run() -> None:
        try:
            answers.put(work())
        except StoreUnavailable as error:
            answers.put(error.reason)
        except BaseException:  # noqa: BLE001 - the parent tells
            answers.put(traceback.format_exc())

    child = forked.Process(target=run)
    child.start()
    try:
        answer = answers.get(timeout=SECONDS)
        child.join(SECONDS)
        assert child.exitcode == 0, "the child does not end"
    finally:
        child.kill()  # one that hangs would keep this process from its end
        child.join()
    return answer


def test_a_manager_says_so(tmp_path: Path) -> None:
    path = str(tmp_path / "m.db")
    with MemoryManager("ana", store=path) as memory:
        memory.add("The parent says something.")

        def opened_anew() -> int:
            memory.close()
            with MemoryManager("ana", store=path) as own:
                own.add("The child says something.")
                return own.count()

        assert in_child(lambda: memory.add("The child says something.")) == "store_unavailable:forked"
        assert in_child(opened_anew) == 2
        assert memory.add("The parent goes on.").memory_id
        assert memory.count() == 3


def test_an_engine_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    engine = MemoryEngine(store=store, embedder=WordEmbedder())

    async def use() -> None:
        try:
            await engine.add("The child says something.", actor=ADA)
        finally:
            await store.close()

    with asyncio.Runner() as runner:
        runner.run(engine.open())
        runner.run(engine.add("The parent says something.", actor=ADA))
        assert in_child(lambda: asyncio.new_event_loop().run_until_complete(use())) == "store_unavailable:forked"
        runner.run(engine.add("The parent goes on.", actor=ADA))
        runner.run(engine.close())


def test_documents_say_so(tmp_path: Path) -> None:
    documents = SqliteDocuments(tmp_path / "m.db")

    def use() -> None:
        documents.close()
        documents.apply("acme", [GetDocument(namespace=("a",), key="k")])

    assert in_child(use) == "store_unavailable:forked"
    assert in_child(lambda: documents.sweep("acme")) == "store_unavailable:forked"
    assert documents.apply("acme", [GetDocument(namespace=("a",), key="k")]) == [None]
    documents.close()


def test_a_portal_is_let_go_of_in_the_child() -> None:
    portal = Portal()

    def use() -> bool:
        portal.close()
        return portal.closed

    assert in_child(use) is True
    assert not portal.forked
    portal.close()


def test_a_database_says_so(postgres: PostgresServer, tmp_path: Path) -> None:
    store = PostgresStore(postgres.database(tmp_path))

    def use() -> None:
        asyncio.new_event_loop().run_until_complete(store.secret("acme"))

    with asyncio.Runner() as runner:
        runner.run(store.open(WordEmbedder().space))
        assert in_child(use) == "store_unavailable:forked"
        assert runner.run(store.secret("acme"))
        runner.run(store.close())


@pytest.mark.parametrize("closed", [True, False])
def test_a_loop_thread_is_let_go_of_in_the_child(closed: bool) -> None:
    thread = LoopThread("mnemic-test")

    async def answer() -> int:
        return 1

    def use() -> int:
        if closed:
            thread.stop()
            return 0
        return thread.call(answer())

    assert in_child(use) == (0 if closed else "store_unavailable:forked")
    assert thread.call(answer()) == 1
    thread.stop()
