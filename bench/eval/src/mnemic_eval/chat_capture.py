"""Long chats between two people, captured in order: the memories stored, and the memories superseded.

PATH is the file or folder of LoCoMo, of REALTALK, or of talk in plain text (`mnemic_eval.chat_transcripts`). Each
speaker of a chat is a user, whose messages are captured in order, with those of the others as context, as an agent that
listens to the talk would. No label says what is worth keeping of such a chat, so the figures count, and a sample drawn
by the seed is written for a person to judge: of the stored memories, and all superseded or flagged ones with their
replacements.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.ports import Embedder
from mnemic.types import Actor, Message
from mnemic.types.trace import RunReport
from mnemic_eval import realtalk
from mnemic_eval.chat_transcripts import read_talk
from mnemic_eval.chats import Chat
from mnemic_eval.conditions import conditions
from mnemic_eval.locomo import conversations
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.progress import Progress
from mnemic_eval.replay import throwaway_engine

TURNS = 4_000
SAMPLE = 100
Line = dict[str, Any]


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Capture the first `limit` turns (4,000) under `path`: `turns`, `stored`, `outcomes`, `changes` and `settings`;
    `per_question` is a file for the sample, one JSON line each.

    Raises InvalidInput for data that is not there or has another shape.
    """
    made = options.chosen_embedder()
    turns = [(chat.name, message) for chat in _chats(path) for message in chat.messages][: options.limit or TURNS]
    result = asyncio.run(_capture_turns(turns, made, options.progress))
    stored = [one for one in result if one["stored"]]
    changes = [one for one in result if one["against"]]
    if options.per_question is not None:
        drawn = random.Random(options.seed).sample(stored, min(SAMPLE, len(stored)))  # noqa: S311
        lines = [{"set": "stored", **one} for one in drawn] + [{"set": "changes", **one} for one in changes]
        options.per_question.write_text(
            "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), encoding="utf-8"
        )
    return {
        "turns": len(turns),
        "stored": len(stored),
        "outcomes": dict(Counter(one["outcome"] for one in result)),
        "changes": len(changes),
        "settings": conditions(seed=options.seed, set="captured", embedder=made.space.model),
    }


def _chats(path: Path) -> Sequence[Chat]:
    """Return the chats under `path`. Raises InvalidInput of LoCoMo's reader if both cannot read it."""
    if path.suffix == ".txt" or (path.is_dir() and any(path.glob("*.txt"))):
        return read_talk(path)
    try:
        return conversations(path)
    except InvalidInput as refused:
        try:
            return realtalk.read_chats(path)
        except InvalidInput:
            raise refused from None


async def _capture_turns(turns: Sequence[tuple[str, Message]], embedder: Embedder, progress: Progress) -> list[Line]:
    found: list[Line] = []
    done = 0
    async with throwaway_engine(embedder) as engine:
        for chat, said in groupby(turns, key=itemgetter(0)):
            messages = [message for _, message in said]
            for speaker in dict.fromkeys(_name(one) for one in messages):
                found += await _heard(engine, messages, speaker, Actor(user=f"{chat}/{speaker}"))
            done += len(messages)
            progress("turns", done, len(turns))
    return found


def _name(message: Message) -> str:
    return (message.speaker or "user").casefold()


async def _heard(engine: MemoryEngine, messages: Sequence[Message], speaker: str, actor: Actor) -> list[Line]:
    """Capture a chat for one of its speakers: what the others say is there as context."""
    heard = [replace(one, role="user" if _name(one) == speaker else "participant", speaker=None) for one in messages]
    reports = await engine.capture_many(heard, actor=actor)
    lines: list[Line] = []
    for place, (message, report) in enumerate(zip(messages, reports, strict=True)):
        if report is not None:
            before = next((one.content for one in messages[:place][::-1] if _name(one) != speaker), "")
            lines += [
                {"message": message.content, "other": before, **one} for one in await _lines(engine, report, actor)
            ]
    return lines


async def _lines(engine: MemoryEngine, report: RunReport, actor: Actor) -> list[Line]:
    lines = []
    for receipt in report.receipts:
        against = [*receipt.superseded, *receipt.conflicts_with]
        olds = [(await engine.history(one, actor=actor))[-1].content for one in dict.fromkeys(against)]
        memory = await engine.get(receipt.memory_id, actor=actor) if receipt.memory_id and receipt.stored else None
        lines.append({
            "outcome": str(receipt.outcome),
            "stored": receipt.stored,
            "key": memory.key if memory else None,
            "content": memory.content if memory else None,
            "against": olds,
        })  # fmt: skip
    return lines
