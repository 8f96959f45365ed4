"""Extraction and consolidation by a real, very small language model on this machine (`make bench-model`).

First `mnemic eval extraction --model` on a sample, then the shortest conversations of LoCoMo's first development chat
drawn together with the model: a summary of each, profiles of the two who speak, reflections (of six conversations and
more). What fails or takes too long is done by rules, and counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from mnemic.bootstrap import build_completer, build_embedder
from mnemic.config import Settings
from mnemic.kinds.entity import EntityMemory
from mnemic.maintenance.consolidate import ConsolidationRules
from mnemic.runtime.clock import SystemClock
from mnemic.runtime.sync_facade import async_mode
from mnemic.types import Actor, Message
from mnemic.write.derived_memories import DERIVED
from mnemic_eval.locomo import conversations
from mnemic_eval.progress import silent
from mnemic_eval.replay import Replayed, throwaway_engine
from tests.model.local import LocalModel
from tests.processes import running


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extraction", type=Path, required=True, help="labelled texts")
    parser.add_argument("--locomo", type=Path, required=True, help="conversations")
    parser.add_argument("--texts", type=int, default=4, help="texts of each half; 0: none")
    parser.add_argument("--sessions", type=int, default=6, help="conversations to draw together; 0: none")
    parser.add_argument("--derived", type=int, default=11, help="summaries, profiles, reflections at most")
    parser.add_argument("--seconds", type=int, default=300, help="that one call may take")
    return parser.parse_args()


def shortest(path: Path, most: int) -> list[Message]:
    """The messages of the shortest `most` conversations of the first chat."""
    messages = conversations(path)[0].messages
    length: Counter[str | None] = Counter()
    for message in messages:
        length[message.session] += len(message.content)
    chosen = sorted(length, key=lambda session: length[session])[:most]
    return [message for message in messages if message.session in chosen]


async def drawn_together(messages: list[Message], settings: Settings, rules: ConsolidationRules) -> dict[str, Any]:
    """What a consolidation of the messages, and of who speaks in them, reports, and what it took."""
    clock = SystemClock()
    completer = build_completer(settings, clock)
    assert completer is not None
    async with throwaway_engine(build_embedder(settings, clock), completer) as engine:
        told = Replayed(engine, Actor(user="chat"))
        await told.tell(messages, silent, "messages")
        for name in sorted({message.speaker for message in messages if message.speaker}):
            await EntityMemory(engine, told.actor, async_mode()).mention(name, label="person")
        began = time.perf_counter()
        report = await engine.consolidate(actor=told.actor, rules=rules)
        derived = await engine.list(actor=told.actor, categories=sorted(DERIVED), limit=100)
    await completer.close()
    by = Counter(f"{one.category} by {one.data['by']}" for one in derived)
    took = round(time.perf_counter() - began, 1)
    return {**report.as_dict(), "written": dict(sorted(by.items())), "messages": told.messages, "seconds": took}


def extracted(path: Path, texts: int) -> int:
    """The exit code of the evaluation of extraction."""
    command = ["eval", "extraction", "--data", str(path), "--model", "--limit", str(texts)]
    return subprocess.run([sys.executable, "-m", "mnemic", *command], check=False).returncode


def main() -> int:
    """The exit code of the evaluation; 0 where it went through."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server is stopped then, too
    asked = arguments()
    rules = ConsolidationRules(by="model", timeout=timedelta(seconds=asked.seconds), most=asked.derived)
    with running(LocalModel()) as model:
        os.environ |= {"MNEMIC_MODEL_URL": model.url, "MNEMIC_MODEL": model.name}
        os.environ["MNEMIC_MODEL_TIMEOUT_SECONDS"] = str(asked.seconds)
        if asked.texts and (code := extracted(asked.extraction, asked.texts)):
            return code
        if asked.sessions:
            told = drawn_together(shortest(asked.locomo, asked.sessions), Settings.load(), rules)
            print(json.dumps({"consolidation": asyncio.run(told)}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
