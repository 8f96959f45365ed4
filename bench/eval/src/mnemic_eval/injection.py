"""Mixed work: what is injected into requests that need a memory, and into those that need none.

PATH is LoCoMo's file or folder: its messages fill a user's scope, as an imported chat does. Beside them the user has
twelve facts that this module makes up (`FACTS`), each with a request that needs it; preferences and the like are
captured as such (`CATEGORIES`). The other requests need nothing: coding, small talk, world knowledge, a tool's result
to continue with. Scopes have 5 to 5,000 memories; those of one half that need more messages than its chats have are
filled up with the other half's.

`precision`: of all entries injected, the share that the request needs. `recall`: the share of requests that need a fact
and have it. `needless`: entries on a request that needs none, on average; `within_three`: the share of these requests
with three at most, `most_needless`: the most entries that one of them was given. Split: `dev` is filled with the chats
of the first half and has every other request, `test` the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mnemic.engine import MemoryEngine
from mnemic.inject import injector_for
from mnemic.ports import Embedder
from mnemic.types import Actor, Candidate, Message
from mnemic_eval import locomo
from mnemic_eval.conditions import conditions
from mnemic_eval.dataset_files import Unread
from mnemic_eval.metrics import CONFIDENCE, interval
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.outcome import SPLITS
from mnemic_eval.pinned import PATIENT
from mnemic_eval.progress import Progress
from mnemic_eval.replay import Replayed, throwaway_engine

SIZES = (5, 50, 500, 5_000)
MAX_UNNEEDED = 3
ALSO = {"diet": "allergy", "allergy": "diet"}
"""Another fact that the answer to the request for one depends on."""
RESAMPLES = 1_000

CATEGORIES = {
    "diet": "preference",
    "seat": "preference",
    "author": "preference",
    "allergy": "constraint",
    "employer": "identity",
}
"""The category under which an extractor keeps a fact: it is judged by whether the request could depend on it."""
FACTS: Sequence[tuple[str, str, str]] = (
    ("dog", "The user's dog is called Pickle", "What is my dog's name again?"),
    ("sister", "The user's sister Marta lives in Lisbon", "Which city does my sister live in?"),
    ("diet", "The user is vegetarian", "Suggest a recipe for dinner tonight."),
    ("seat", "The user prefers aisle seats", "Book me a flight to Denver."),
    ("employer", "The user works at Northwind Analytics", "Draft a line about where I work for my profile."),
    ("allergy", "The user is allergic to peanuts", "Plan the snacks for my birthday party."),
    ("car", "The user drives a 2014 Volvo estate", "Which tyres fit my car?"),
    ("deadline", "The user's thesis is due on 14 June", "When is my thesis due?"),
    ("author", "The user's favourite author is Ursula Le Guin", "Recommend me a novel for the holidays."),
    ("doctor", "The user's dentist is Dr Okafor in Mill Road", "Who is my dentist?"),
    ("gym", "The user climbs every Thursday evening", "Which evening do I go climbing?"),
    ("child", "The user's daughter Noor plays the cello", "What instrument does Noor play?"),
)
NEEDLESS: Sequence[tuple[str, str]] = (
    ("coding", "Fix this Python bug: IndexError: list index out of range in line 12 of parse.py"),
    ("coding", "Write a SQL query that counts orders by month."),
    ("coding", "Why does this regular expression not match a trailing newline?"),
    ("coding", "Refactor this function so that it takes an iterator instead of a list."),
    ("small talk", "Good morning!"),
    ("small talk", "Thanks, that was helpful."),
    ("small talk", "Haha, never mind."),
    ("small talk", "How are you today?"),
    ("world", "Explain quantum chromodynamics in two sentences."),
    ("world", "Who wrote The Tempest?"),
    ("world", "How far is the moon from the earth?"),
    ("world", "Translate 'the window is open' into German."),
    ("tool result", '{"status": 200, "items": 14, "next": null}'),
    ("tool result", "Traceback (most recent call last): KeyError: 'total' in invoice.py, line 88"),
    ("tool result", "3 files changed, 41 insertions(+), 7 deletions(-)"),
    ("tool result", "temperature 11 C, wind 14 km/h north-west, humidity 81 %"),
    ("coding", "Turn this callback into a promise."),
    ("coding", "What is the time complexity of binary search?"),
    ("coding", "Add logging to the upload handler and keep the tests green."),
    ("coding", "error: cannot borrow `items` as mutable because it is also borrowed as immutable"),
    ("coding", "Rename the variable tmp to buffer in utils.c."),
    ("coding", "How do I centre a div?"),
    ("small talk", "Ok, got it, thanks!"),
    ("small talk", "Hello again, nice to see you."),
    ("small talk", "That's a good one."),
    ("small talk", "Sleep well!"),
    ("small talk", "You are fast today."),
    ("small talk", "Hm, let me think for a moment."),
    ("world", "When was the printing press invented?"),
    ("world", "Why is the sky blue?"),
    ("world", "Summarise the causes of the First World War."),
    ("world", "What is the boiling point of ethanol?"),
    ("world", "List the moons of Jupiter by size."),
    ("world", "How does a heat pump work?"),
    ("tool result", "total 16 -rw-r--r-- 1 root root 512 notes.txt"),
    ("tool result", "Process finished with exit code 137 (out of memory)"),
    ("tool result", '[{"id": 7, "title": "Quarterly report", "pages": 12}]'),
    ("tool result", "SELECT 3 rows returned in 0.02 s"),
    ("tool result", "ERROR 1064 (42000): You have an error in your SQL syntax near 'FROM'"),
    ("tool result", "Downloading model.bin: 100% 1.2G/1.2G [00:41<00:00, 29.3MB/s]"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One request of a user with so many memories, the entries it was given, those of them that it needs, and whether
    it had the fact that it asks for.
    """

    size: int
    kind: str
    split: str
    needed: bool
    entries: int = 0
    right: int = 0
    had: bool = False


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Measure with the first `limit` chats under `path`: `dev`, `test` and `settings`. Raises InvalidInput."""
    unread = Unread()
    chats = locomo.conversations(path, unread)[: options.limit]
    half = (len(chats) + 1) // 2
    halves = [[message for chat in part for message in chat.messages] for part in (chats[:half], chats[half:])]
    filling = {split: [*own, *other] for split, own, other in zip(SPLITS, halves, halves[::-1], strict=True)}
    made = options.chosen_embedder()
    done = asyncio.run(_measure_work(filling, options.sizes or SIZES, made, options.progress))
    settings = conditions(seed=options.seed, set="injection", embedder=made.space.model, unread=dict(unread))
    return {
        **{split: _half([one for one in done if one.split == split], options.seed) for split in SPLITS},
        "settings": settings,
    }


async def _measure_work(
    filling: dict[str, list[Message]], sizes: Sequence[int], embedder: Embedder, progress: Progress
) -> list[Work]:
    done: list[Work] = []
    async with throwaway_engine(embedder) as engine:
        for split, messages in filling.items():
            for size in sizes:
                actor = Actor(user=f"{split}-{size}")
                conversation = Replayed(engine, actor)
                facts = FACTS[: min(size, len(FACTS))]
                await conversation.tell(messages[: size - len(facts)], progress, f"{split}, {size} memories")
                stated = [
                    Candidate(content=text, key=f"fact_{name}", category=CATEGORIES.get(name))
                    for name, text, _ in facts
                ]
                receipts = await engine.add_many(stated, actor=actor)
                ids = {name: receipt.memory_id for (name, _, _), receipt in zip(facts, receipts, strict=True)}
                offset = SPLITS.index(split)
                for name, _, request in facts[offset::2]:
                    wanted = [ids[one] for one in (name, ALSO.get(name)) if one in ids]
                    done.append(await _ask_request(engine, actor, request, wanted, Work(
                        size=size, kind="person", split=split, needed=True)))  # fmt: skip
                for kind, request in NEEDLESS[offset::2]:
                    done.append(await _ask_request(engine, actor, request, (), Work(
                        size=size, kind=kind, split=split, needed=False)))  # fmt: skip
    return done


async def _ask_request(
    engine: MemoryEngine, actor: Actor, request: str, wanted: Sequence[str | None], work: Work
) -> Work:
    injection = await injector_for(engine, actor, PATIENT).inject([{"role": "user", "content": request}])
    ids = [entry.hit.memory.memory_id for entry in injection.entries if entry.hit is not None]
    return Work(
        size=work.size,
        kind=work.kind,
        split=work.split,
        needed=work.needed,
        entries=len(injection.entries),
        right=len(set(wanted) & set(ids)),
        had=bool(wanted) and wanted[0] in ids,
    )


def _half(done: Sequence[Work], seed: int) -> dict[str, Any]:
    by_size = {str(size): _figures([one for one in done if one.size == size], seed) for size in _sizes(done)}
    needless = [one for one in done if not one.needed]
    by_kind = {
        kind: {str(size): _counts([one for one in needless if (one.kind, one.size) == (kind, size)])
               for size in _sizes(needless)}
        for kind in dict.fromkeys(one.kind for one in needless)
    }  # fmt: skip
    return {
        **_figures(done, seed),
        "sizes": by_size,
        "entries_by_kind": {kind: _mean(one.entries for one in needless if one.kind == kind) for kind in by_kind},
        "needless_by_kind": by_kind,
        "most_needless": max((one.entries for one in needless), default=0),
        "requests": len(done),
    }


def _counts(done: Sequence[Work]) -> dict[str, Any]:
    """Return the mean and the greatest number of entries."""
    return {"mean": _mean(one.entries for one in done), "most": max((one.entries for one in done), default=0)}


def _sizes(done: Sequence[Work]) -> list[int]:
    return sorted({one.size for one in done})


def _figures(done: Sequence[Work], seed: int) -> dict[str, Any]:
    needing = [float(one.had) for one in done if one.needed]
    needless = [float(one.entries) for one in done if not one.needed]
    within = [float(entries <= MAX_UNNEEDED) for entries in needless]
    named = {"recall": needing, "needless": needless, "within_three": within}
    bounds = {name: interval(values, seed) if values else None for name, values in named.items()}
    return {
        "precision": _precision(done),
        **{name: _mean(values) for name, values in named.items()},
        "ci95": {"precision": _precision_interval(done, seed), **bounds},
    }


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return round(sum(known) / len(known), 4) if known else None


def _precision(done: Sequence[Work]) -> float | None:
    """Return the share of injected entries that are needed; None if nothing was injected."""
    entries = sum(one.entries for one in done)
    return round(sum(one.right for one in done) / entries, 4) if entries else None


def _precision_interval(done: Sequence[Work], seed: int) -> list[float] | None:
    """Return the 95 % percentile bootstrap interval of a ratio of sums, with requests as the resampled unit."""
    random = np.random.default_rng(seed)
    pairs = np.asarray([(one.right, one.entries) for one in done], np.float64).reshape(-1, 2)
    if not pairs[:, 1].sum():
        return None
    drawn = [pairs[random.integers(0, len(pairs), len(pairs))].sum(axis=0) for _ in range(RESAMPLES)]
    tail = (1 - CONFIDENCE) / 2
    ratios = [right / entries for right, entries in drawn if entries]
    return [round(float(bound), 4) for bound in np.quantile(ratios, [tail, 1 - tail])]
