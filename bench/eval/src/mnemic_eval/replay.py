"""Conversations replayed into a real engine and queried, by the calls that a program makes, in a temporary file."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mnemic.bootstrap import build_embedder, build_reranker, build_store
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.extract import Extractor
from mnemic.extract.messages import in_parts, message_candidates
from mnemic.policy.budget import Budget
from mnemic.ports import Completer, Embedder
from mnemic.runtime.clock import SystemClock
from mnemic.types import Actor, Memory, Message, SearchResult
from mnemic_eval.metrics import percentiles
from mnemic_eval.progress import Progress
from mnemic_eval.vectors import KeptEmbedder

CHUNK = 256
PAGE = 50


@asynccontextmanager
async def throwaway_engine(
    embedder: Embedder,
    completer: Completer | None = None,
    *,
    extractor: Extractor | None = None,
    budget: Budget | None = None,
) -> AsyncIterator[MemoryEngine]:
    """Yield an open engine with default rules, and the reranker that the settings name, on a SQLite file that is gone
    afterwards. Nothing in it is worth an fsync.
    """
    with TemporaryDirectory(prefix="mnemic-eval-") as folder:
        store = build_store(str(Path(folder) / "eval.db"), durability="fast")
        reranker = build_reranker(Settings.load(), SystemClock())
        async with MemoryEngine(
            store=store, embedder=embedder, completer=completer, extractor=extractor, reranker=reranker, budget=budget
        ) as engine:
            yield engine


async def live_memories(engine: MemoryEngine, actor: Actor) -> list[Memory]:
    """Return every memory of `actor` that is in force, the newest first."""
    found: list[Memory] = []
    while True:
        page = await engine.list(actor=actor, limit=PAGE, before=found[-1].memory_id if found else None)
        found += page
        if len(page) < PAGE:
            return found


def chosen_embedder(given: Embedder | None, vectors: Path | None) -> Embedder:
    """Return `given`, or else the embedder of the settings; with `vectors`, its results are cached in that file."""
    embedder = given or build_embedder(Settings.load(), SystemClock())
    return KeptEmbedder(embedder, vectors) if vectors else embedder


@dataclass(slots=True)
class Replayed:
    """One conversation in the engine: the message of each memory, and the results of the searches so far."""

    engine: MemoryEngine
    actor: Actor
    messages: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    search_seconds: list[float] = field(default_factory=list)
    _refs: dict[str, list[str]] = field(default_factory=dict)

    async def tell(self, messages: Sequence[Message], progress: Progress, what: str) -> None:
        """Record `messages`, each with a message_id; one that is too long for a memory is split, as the engine does."""
        candidates = message_candidates([part for message in messages for part in in_parts(message)])
        self.messages += len(candidates)
        for start in range(0, len(candidates), CHUNK):
            chunk = candidates[start : start + CHUNK]
            receipts = await self.engine.add_many(chunk, actor=self.actor)
            for candidate, receipt in zip(chunk, receipts, strict=True):
                if receipt.memory_id is None or not receipt.stored:
                    self.refused[receipt.reason or "unknown"] += 1
                    continue
                inherited = [ref for old in receipt.superseded for ref in self._refs.pop(old, ())]
                self._refs.setdefault(receipt.memory_id, []).extend([*inherited, str(candidate.source.ref)])
            progress(what, start + len(chunk), len(candidates))

    async def ask(self, question: str, *, top_k: int, asked_at: datetime | None = None) -> tuple[str, ...]:
        """Return the ids of the messages found for `question`, asked at the given time, best first."""
        began = time.perf_counter()
        result = await self.engine.search(question, actor=self.actor, top_k=top_k, asked_at=asked_at)
        self.search_seconds.append(time.perf_counter() - began)
        if result.errors:
            raise RuntimeError(f"a degraded search is not measured: {sorted(result.errors)}")
        return self.refs(result)

    def refs(self, result: SearchResult) -> tuple[str, ...]:
        """Return the messages of the hits, best first, each once. A hit without a message (derived by consolidation)
        keeps its rank under its own id.
        """
        ids = [hit.memory.memory_id for hit in result.hits]
        return tuple(dict.fromkeys(ref for memory_id in ids for ref in self._refs.get(memory_id, [memory_id])))


def facts(conversation: Sequence[Replayed]) -> dict[str, Any]:
    """Return the number of messages added, those refused and the reasons, and the duration of the searches, embedding
    included.
    """
    seconds = [second for one in conversation for second in one.search_seconds]
    return {
        "messages": sum(one.messages for one in conversation),
        "refused": dict(sum((one.refused for one in conversation), Counter())),
        "search": percentiles([1000 * second for second in seconds]) if seconds else {},
    }
