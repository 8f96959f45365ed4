"""Extraction and consolidation by a real, very small language model on this machine (`make bench-model`).

First `mnemic eval extraction --model` on a sample, then the shortest conversations of LoCoMo's first development chat
drawn together with the model. A call may take five minutes where MNEMIC_MODEL_TIMEOUT_SECONDS says nothing else; what
fails is done by rules, and counted.
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
from mnemic.clock import SystemClock
from mnemic.config import Settings
from mnemic.evaluate.locomo import conversations
from mnemic.evaluate.progress import silent
from mnemic.evaluate.replay import Told, throwaway_engine
from mnemic.maintain.consolidate import ConsolidationRules
from mnemic.types import Actor, Message
from tests.model.local import LocalModel
from tests.processes import running

LONGEST = timedelta(minutes=5)


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extraction", type=Path, required=True, help="labelled texts")
    parser.add_argument("--locomo", type=Path, required=True, help="conversations")
    parser.add_argument("--texts", type=int, default=4, help="texts of each half")
    parser.add_argument("--sessions", type=int, default=3, help="conversations to draw together")
    return parser.parse_args()


def shortest(path: Path, most: int) -> list[Message]:
    """The messages of the shortest `most` conversations of the first chat."""
    messages = conversations(path)[0].messages
    length: Counter[str | None] = Counter()
    for message in messages:
        length[message.session] += len(message.content)
    chosen = sorted(length, key=lambda session: length[session])[:most]
    return [message for message in messages if message.session in chosen]


async def drawn_together(messages: list[Message], settings: Settings) -> dict[str, Any]:
    """What a consolidation of the messages reports, and what it took."""
    clock = SystemClock()
    completer = build_completer(settings, clock)
    assert completer is not None
    async with throwaway_engine(build_embedder(settings, clock), completer) as engine:
        told = Told(engine, Actor(user="chat"))
        await told.tell(messages, silent, "messages")
        began = time.perf_counter()
        report = await engine.consolidate(actor=told.actor, rules=ConsolidationRules(by="model", timeout=LONGEST))
    await completer.close()
    return {**report.as_dict(), "messages": told.messages, "seconds": round(time.perf_counter() - began, 1)}


def main() -> int:
    """The exit code of the evaluation; 0 where it went through."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server is stopped then, too
    asked = arguments()
    with running(LocalModel()) as model:
        os.environ |= {"MNEMIC_MODEL_URL": model.url, "MNEMIC_MODEL": model.name}
        os.environ.setdefault("MNEMIC_MODEL_TIMEOUT_SECONDS", str(LONGEST.seconds))
        command = ["eval", "extraction", "--data", str(asked.extraction), "--model", "--limit", str(asked.texts)]
        done = subprocess.run([sys.executable, "-m", "mnemic", *command], check=False)
        if done.returncode == 0 and asked.sessions:
            messages = shortest(asked.locomo, asked.sessions)
            print(json.dumps({"consolidation": asyncio.run(drawn_together(messages, Settings.load()))}, indent=2))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
