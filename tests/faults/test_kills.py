"""Writers and readers that are killed, also while an image of an index is written: what they had acknowledged is there,
what they had not is there in full or not at all.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.maintenance.background_capture import BackgroundCapture, waiting
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.stores import scope_index
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.index_files import files_beside
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Actor, Kind, Where
from tests.faults.aftermath import examine
from tests.faults.kill import run_kills
from tests.faults.oracle import statement
from tests.faults.scale import FULL, size
from tests.scripted_model import Fault, ModelRequest, Reply, ScriptedModelServer

KILLS = size(25, 1000)
COMMANDS = size(2, 30)


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, say: Callable[[str], None]) -> None:
    report = run_kills(tmp_path, KILLS, seed=1)
    say(f"kill -9, engine: {report}")

    assert report.kills == KILLS
    assert report.acknowledged > KILLS
    assert report.searched > 0
    assert (report.lost, report.partial, report.corrupt) == (0, 0, 0)
    assert (report.doubled, report.not_found, report.errors) == (0, 0, 0)


def test_what_a_command_reported_survives_its_kill(tmp_path: Path, say: Callable[[str], None]) -> None:
    choice, path = random.Random(1), tmp_path / "memory.db"
    began = time.monotonic()
    told = {statement(choice)}
    assert reported(adding(path, next(iter(told))).communicate()[0])
    seconds = time.monotonic() - began
    present = 0
    for _ in range(COMMANDS):
        content = statement(choice)
        process = adding(path, content)
        with suppress(subprocess.TimeoutExpired):
            # Most of a command's time is its start; what it is killed in should be its work.
            process.wait(seconds * choice.uniform(0.6, 1.1))
        process.send_signal(signal.SIGKILL)
        if reported(process.communicate()[0]):
            told.add(content)
        found = examine(path)
        contents = {one.content for one in found.memories.values()}
        present += content in contents
        assert found.whole
        assert told <= contents
    say(f"kill -9, command line: {COMMANDS} kills: {len(told) - 1} reported, 0 lost; {present} present")
    assert not FULL or 1 < len(told) <= COMMANDS


def adding(path: Path, content: str) -> subprocess.Popen[bytes]:
    """`mnemic add`, begun."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
    command = [sys.executable, "-m", "mnemic", "--store", str(path), "--user", "ana", "--json", "add", content]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=path.parent)


def reported(answer: bytes) -> bool:
    """Whether the command said, in full, that the memory is stored."""
    if not answer.endswith(b"}\n"):
        return False
    assert json.loads(answer)["outcome"] == "created"
    return True


CHILD = textwrap.dedent(
    """
    import asyncio, os, signal, sys
    from mnemic.stores import scope_index
    from mnemic.stores.sqlite import SqliteStore, index_files, transaction
    from mnemic.types import Where
    from mnemic.testing.record_store import EMBEDDER, memory, remember, scope

    scope_index.EXACT_UP_TO = 5
    path, act, at = sys.argv[1], sys.argv[2], int(sys.argv[3])

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    class Dying:
        def __init__(self, file):
            self.file, self.left = file, at
        def write(self, data):
            part = bytes(data)[: self.left]
            self.file.write(part)
            self.left -= len(part)
            if len(part) < len(data):
                self.file.flush()
                die()

    whole, drop = index_files.write_image, index_files.drop

    def killed_while_written(index, file, mark):
        whole(index, Dying(file), mark)
        file.flush()
        die()  # all of it is there, its mark is not committed

    def killed_once_removed(connection, scope_id):
        drop(connection, scope_id)
        die()

    async def main():
        if act == "write":
            index_files.write_image = killed_while_written
        store = SqliteStore(path)
        await store.open(EMBEDDER.space)
        if act == "remove":
            transaction.drop = killed_once_removed
            gone = (await store.newest(Where(scopes=(scope(),)), limit=1))[0]
            await store.transact(lambda tx: tx.remove(gone.memory_id, scope=scope()))
        await store.match(Where(scopes=(scope(),)), "bystander", limit=99)
        await store.tidy()
        await store.close()

    asyncio.run(main())
    """
)
EVERYTHING = Where(scopes=(scope(),))


def killed(path: Path, act: str, at: int = 0) -> None:
    child = subprocess.run([sys.executable, "-c", CHILD, str(path), act, str(at)], timeout=120, capture_output=True)
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()[-2000:]


async def found(path: Path) -> list[str]:
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    scored = await store.match(EVERYTHING, "bystander", limit=99)
    await store.tidy()
    await store.close()
    return sorted(one.memory_id for one in scored)


@pytest.fixture
async def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Identifiers of twenty memories in a file that has no image."""
    memories = [memory(f"bystander {number}") for number in range(20)]
    store = SqliteStore(tmp_path / "m.db")
    await store.open(EMBEDDER.space)
    await remember(store, *memories)
    await store.close()
    monkeypatch.setattr(scope_index, "EXACT_UP_TO", 5)
    return sorted(one.memory_id for one in memories)


@pytest.mark.parametrize("at", [0, 1, 500, 4_000, 1 << 30])
async def test_one_killed_while_it_writes_an_image(tmp_path: Path, told: list[str], at: int) -> None:
    path = tmp_path / "m.db"
    killed(path, "write", at)
    assert len(list(files_beside(path))) == 1

    assert await found(path) == told  # the image that this process wrote in its place serves the next one
    [image] = files_beside(path)
    at_first = image.read_bytes()
    assert await found(path) == told
    assert image.read_bytes() == at_first


async def test_one_killed_while_it_removes_a_memory(tmp_path: Path, told: list[str]) -> None:
    path = tmp_path / "m.db"
    assert await found(path) == told
    assert len(list(files_beside(path))) == 1

    killed(path, "remove")

    assert list(files_beside(path)) == []
    assert await found(path) == told, "the removal was not committed"
    assert len(list(files_beside(path))) == 1


ANA = Actor(user="ana", session="s1")
TOLD = [
    "I sail a red dinghy on the fjord.",
    "My brother Ole bakes rye bread.",
    "I always take the aisle on night trains.",
    "We rent a cabin near Voss.",
]
CHAT = textwrap.dedent(
    """
    import asyncio, sys
    from mnemic.engine import MemoryEngine
    from mnemic.extract.layered_extractor import LayeredExtractor
    from mnemic.extract.model_extractor import ModelExtractor
    from mnemic.stores.sqlite import SqliteStore
    from mnemic.types import Actor, Message
    from mnemic.maintenance.background_capture import BackgroundCapture
    from mnemic.models.openai_completer import OpenAICompleter
    from mnemic.testing.embedder import WordEmbedder

    async def main(path, url, gathering):
        completer = OpenAICompleter("scripted", base_url=url, api_key="test", timeout=60)
        extractor = LayeredExtractor(ModelExtractor(completer))
        async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder(), extractor=extractor) as engine:
            later = BackgroundCapture(engine, gathering_seconds=float(gathering))
            while line := await asyncio.to_thread(sys.stdin.readline):
                message = Message(role="user", content=line.strip(), session="s1")
                await later.put(message, actor=Actor(user="ana", session="s1"))
                print("put", flush=True)

    asyncio.run(main(*sys.argv[1:]))
    """
)


class Model:
    """Proposes each readable turn as it was said; the first call may hang until its caller is killed."""

    def __init__(self, *, hangs: bool) -> None:
        self.hangs, self.asked, self.calls = hangs, threading.Event(), 0

    def __call__(self, request: ModelRequest) -> Reply:
        self.calls += 1
        self.asked.set()
        if self.hangs:
            self.hangs = False
            return Reply.broken(Fault.HANG)
        shown = json.loads(request.user)
        turns = shown.get("turns") or [{"number": 0, "content": shown["user_message"]}]
        own = [one for one in turns if one["number"] in shown.get("readable", [0])]
        items = [
            {"turn": one["number"], "op": "add", "key": None, "value": one["content"], "quote": one["content"]}
            for one in own
        ]
        return Reply(content=json.dumps({"items": items}))


@pytest.mark.parametrize("turns", [1, 2, 4])
@pytest.mark.parametrize("in_call", [False, True], ids=["while it waits", "while the model answers"])
def test_every_turn_put_before_a_kill_is_read_after_it(tmp_path: Path, turns: int, in_call: bool) -> None:
    model = Model(hangs=in_call)
    with ScriptedModelServer(model) as server:
        _killed_chat(tmp_path / "m.db", server.base_url, TOLD[:turns], model if in_call else None)
        model.calls = 0
        read, kept, left = asyncio.run(_read_after(tmp_path / "m.db", server.base_url))
    assert (read, left, model.calls) == (turns, 0, 1)
    assert kept == sorted(TOLD[:turns])


def _killed_chat(path: Path, url: str, said: list[str], model: Model | None) -> None:
    """Put `said` in a process of its own and kill it; with a `model` only once that has been asked."""
    gathering = "0" if model is not None else "3600"
    command = [sys.executable, "-c", CHAT, str(path), url, gathering]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as chat:
        assert chat.stdin is not None
        assert chat.stdout is not None
        for text in said:
            chat.stdin.write(text + "\n")
            chat.stdin.flush()
            assert chat.stdout.readline() == "put\n"
        if model is not None:
            assert model.asked.wait(60)
        chat.kill()


async def _read_after(path: Path, url: str) -> tuple[int, list[str], int]:
    """Read the queue as the next process does, once the lease of the killed reader has run out."""
    completer = OpenAICompleter("scripted", base_url=url, api_key="test")
    clock = ManualClock(datetime.now(UTC) + timedelta(minutes=6))
    extractor = LayeredExtractor(ModelExtractor(completer))
    async with MemoryEngine(
        store=SqliteStore(path), embedder=WordEmbedder(), clock=clock, extractor=extractor
    ) as engine:
        read = await BackgroundCapture(engine).read()
        kept = sorted(one.content for one in await engine.list(actor=ANA, kinds=[Kind.LONG_TERM]))
        left = len(await waiting(engine.store, "default"))
    await completer.close()
    return read, kept, left
