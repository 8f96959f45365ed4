"""A chat whose process is killed with turns in the queue of background capture: the next process reads every turn."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.maintenance.background_capture import BackgroundCapture, waiting
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Kind
from tests.scripted_model import Fault, ModelRequest, Reply, ScriptedModelServer

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
