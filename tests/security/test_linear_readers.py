"""No reader of messages takes more than linear time in a message, nor holds the event loop for it: whole readers are
pumped, with repeated pieces and with ordinary texts that have no full stop.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from mnemic.agents.mcp import memory_server
from mnemic.cli.file_import import Intake
from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError
from mnemic.importers.conversation_files import read_bytes
from mnemic.kinds.entity import EntityMemory
from mnemic.runtime.sync_facade import async_mode
from mnemic.stores.sqlite import SqliteStore
from mnemic.structured.structured_memory import StructuredMemory
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Deadline, Vector
from tests.faults.scale import FULL

ANA = Actor(tenant="acme", user="ana")
SHORT, MORE = 8_192, 4
LONGEST_SECONDS = 1.0
"""Processor time that a reader may take for the longer text, the longest that a service takes."""
SLOW_SECONDS, GROWS = 0.6, 8.0
"""Processor time of the longer text below which nothing is compared; linear work grows by four, quadratic by 16."""
HELD_SECONDS = 0.05
"""Processor time for which a reader of the longer text may hold the loop."""
ORDINARY = {
    "list": "We packed tents; two lamps; bread, cheese; a map of Norway; ",
    "dashes": "the red boat - the blue boat - my cousin Ida - ",
    "page": '<div class="x"><p>I live in Oslo &amp; work at Acme.</p><br/></div>',
    "table": "| Ana | Oslo | nurse |\n",
    "json": '{"id":17,"name":"Ana","tags":["a","b"],"ok":true},',
    "no stop": "and then I went home and I cooked dinner and my sister called ",
    "letters": "abcdefghij",
    "bullets": "- I like tea\n",
    "chat": "Bob: I live in Oslo.\nEve - I like tea.\n",
    "rows": "Ana,Oslo,nurse,42\n",
    "numbers": "4821 is 4821 ",
    "escaped": "&lt;p&gt;I live in Oslo &amp; work at Acme.&lt;/p&gt;",
    "without spaces": "我住在奥斯陆，",
}
PIECES = ("&amp;", "- ", "I live in A, ", "--; ", "\n", "(", "“", "I am ", "A ", "my ", "and ", "if ", "> ", "no, ")
FEW = ("&amp;", "- ", "I live in A, ")
TEXTS = ORDINARY | {ascii(one): one for one in (PIECES if FULL else FEW)}


class Windowed(WordEmbedder):
    """Reads the beginning of a text, as models do."""

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        return await super().embed([text[:128] for text in texts], deadline=deadline)


SERVERS: dict[int, Any] = {}
Reader = Callable[[MemoryEngine, str], Awaitable[Any]]


async def capture(engine: MemoryEngine, text: str) -> None:
    await engine.capture(text, actor=ANA)


async def remember(engine: MemoryEngine, text: str) -> None:
    await engine.remember([{"role": "user", "content": text}], actor=ANA)


async def upload(engine: MemoryEngine, text: str) -> None:
    items = await asyncio.to_thread(lambda: list(read_bytes(text.encode(), "auto", "notes.md")))  # as the service does
    await Intake(engine=engine, actor=ANA).take(iter(items), lambda _: None)


async def add(engine: MemoryEngine, text: str) -> None:
    await engine.add(text[:8192], actor=ANA)


async def entities(engine: MemoryEngine, text: str) -> None:
    await EntityMemory(engine, ANA, async_mode()).extract(text[:8192])


async def search(engine: MemoryEngine, text: str) -> None:
    await engine.search(text, actor=ANA)


async def documents(engine: MemoryEngine, text: str) -> None:
    await StructuredMemory(engine, ANA, async_mode()).capture(text)


async def tool(engine: MemoryEngine, text: str) -> None:
    if id(engine) not in SERVERS:
        SERVERS.clear()
        SERVERS[id(engine)] = memory_server(engine, ANA)
    await SERVERS[id(engine)].call_tool("capture", {"message": text})


READERS: dict[str, Reader] = {
    one.__name__: one for one in (capture, remember, upload, add, entities, search, documents, tool)
}  # type: ignore[attr-defined]


async def spent(reader: Reader, piece: str, length: int) -> tuple[float, float]:
    """The processor time of the process for a text of this length, and the longest time for which the loop was held."""
    with TemporaryDirectory() as folder:
        return await _spent_in(SqliteStore(Path(folder) / "m.db"), reader, piece, length)


async def _spent_in(store: SqliteStore, reader: Reader, piece: str, length: int) -> tuple[float, float]:
    held, stop = 0.0, False

    async def watch() -> None:
        nonlocal held
        last = time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            held, last = max(held, now - last), now
            if stop:
                return

    async with MemoryEngine(store=store, embedder=Windowed()) as engine:
        for said in (
            "I live in Oslo.",
            "I moved to Rome; ich wohne dort.\nMy cat is old.",
        ):  # what is loaded at first use
            await reader(engine, said)
        began, watching = time.process_time(), asyncio.create_task(watch())
        await asyncio.sleep(0)
        with suppress(MnemicError):  # a text may be refused, in as little time
            await reader(engine, (piece * length)[:length])
        stop = True
        await watching
        return time.process_time() - began, held


ALONE = {"capture", "entities"}
"""Readers that share the least with the others: these are always tried with every text."""
ELSEWHERE = {"table", "no stop", "escaped", "without spaces"}
TRIED = [
    pytest.param(reader, piece, id=f"{name}-{text}")
    for name, reader in READERS.items()
    for text, piece in TEXTS.items()
    if FULL or name in ALONE or text in ELSEWHERE
]


@pytest.mark.parametrize(("reader", "piece"), TRIED)
async def test_a_long_text_takes_a_reader_time_that_grows_with_it_and_others_are_served_meanwhile(
    reader: Reader, piece: str
) -> None:
    grown = held = many = math.inf
    for _ in range(4):  # whoever else uses the processor can double a time, and does not do so each time
        few, _ = await spent(reader, piece, SHORT)
        longer, paused = await spent(reader, piece, MORE * SHORT)
        many, held = min(many, longer), min(held, paused)
        grown = min(grown, longer / few if longer > SLOW_SECONDS else 0.0)
        if grown <= GROWS and held <= HELD_SECONDS and many <= LONGEST_SECONDS:
            return
    pytest.fail(f"{many:.2f} s, {grown:.1f} times as long, held {held:.3f} s")


async def test_a_quadratic_reader_and_one_that_holds_the_loop_are_found() -> None:
    """The control: what the product had."""

    async def quadratic(_: MemoryEngine, text: str) -> None:
        for at in range(0, len(text), 4):
            text[:at].count("e")
            text[:at].casefold()

    few, _ = await spent(quadratic, "red ", 4 * SHORT)
    many, held = await spent(quadratic, "red ", 4 * MORE * SHORT)
    assert many / few > GROWS
    assert held > HELD_SECONDS
