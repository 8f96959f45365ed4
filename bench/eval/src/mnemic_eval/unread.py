"""Recall of statements, changes and chats of our own, which nothing in mnemic was tuned on.

The sets are in `data/unread`, written without knowledge of how mnemic judges. To keep them so, only totals are
reported; `per_question` writes the single questions to a file.

- `near_far`: what people and teams told, and questions: `answered` (in other words), `near` (about the same thing, but
  another attribute, which nobody told), `far` (about nothing that was told). Figures: `auc_near` and `auc_far`, how
  often the first hit of an answered question has a higher relevance than that of a near, or far, one; `hit@1`,
  `hit@3`; `withheld`: what `context` would show lacks every answer, `withheld_first` although the search has one first;
  `near_shown` and `far_shown`: `context` shows something.
- `near_far_recorded`: the same, recorded as dated messages instead of added as statements.
- `newer`: a statement, and a later one that makes it old, among 15 others. `right_first`: the newer one is the first
  hit; `stale_before_new`: the older one precedes it, or the newer one is absent. `controls_right_first`: of two
  statements that are both true, the one that is asked for, the earlier, is the first hit.
- `newer_recorded`: the same, recorded as dated messages instead of added as statements.
- `tasks`: what two people told, captured, and tasks that have nothing to do with them, or depend on what they told.
  `needless_unrelated` and `needless_related`: entries of a context that the task does not need, a task, without orders
  about every answer; `needed_shown`: of those that it needs.
- `chats`: of two friends; `recall@k` as in `mnemic_eval.chats`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mnemic import AsyncMemoryManager, Settings, build_engine
from mnemic.errors import InvalidInput
from mnemic.types import Message, WriteReceipt
from mnemic_eval.conditions import conditions
from mnemic_eval.metrics import recall_at
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.samples import shares_of_true
from mnemic_eval.unknown_questions import auc

PACKAGED = Path(__file__).parent / "data" / "unread"
DEPTH = 10
Manager = Callable[[str], AsyncMemoryManager]
Item = dict[str, Any]


@dataclass(slots=True)
class Told:
    """The memory of one user, with the names of the statements that each memory came from."""

    memory: AsyncMemoryManager
    names: dict[str, set[str]] = field(default_factory=dict)

    def keep(self, name: str, receipt: WriteReceipt) -> None:
        """Note which memory has statement `name`: a merged one has those before it, too; a repetition has none, as its
        words are not stored; any other has it alone.
        """
        if receipt.memory_id is None or not receipt.stored or receipt.was_duplicate:
            return
        merged = (*receipt.superseded, receipt.memory_id) if receipt.was_merged else ()
        self.names[receipt.memory_id] = {name}.union(*(self.names.get(one, ()) for one in merged))

    def named(self, memory_ids: Sequence[str]) -> list[set[str]]:
        """Return the names of the statements behind each memory, in order."""
        return [self.names.get(one, set()) for one in memory_ids]

    async def find(self, question: str, now: datetime | None = None) -> tuple[list[set[str]], float]:
        """Return the statements found, best first, and the relevance of the first hit (0 if there is none, 1 if it has
        no relevance). Raises RuntimeError for a degraded search.
        """
        result = await self.memory.search(question, top_k=DEPTH, asked_at=now)
        if result.errors:
            raise RuntimeError(f"a degraded search is not measured: {sorted(result.errors)}")
        first = result.hits[0].relevance if result.hits else 0.0
        return self.named([hit.memory.memory_id for hit in result.hits]), 1.0 if first is None else first


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Measure each set in the folder `path`, or only its first `limit` people, histories and chats.

    Raises InvalidInput (`invalid_input:data:missing`) if there is none.
    """
    read = {file.stem: _read_items(file)[: options.limit] for file in sorted(path.glob("*.jsonl"))}
    if not read:
        raise InvalidInput("data:missing", hint="expected a folder with near_far, newer or chats.jsonl")
    rows = asyncio.run(_measure_sets(read, options))
    if options.per_question is not None:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        options.per_question.write_text("".join(lines), encoding="utf-8")
    named: dict[str, list[Item]] = {}
    for row in rows:
        named.setdefault(row["set"], []).append(row)
    return {
        **{name: _totals(of_set) for name, of_set in named.items()},
        "settings": conditions(seed=options.seed, set="unread", embedder=options.chosen_embedder().space.model),
    }


def _read_items(file: Path) -> list[Item]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


async def _measure_sets(read: Mapping[str, Sequence[Item]], options: EvalOptions) -> list[Item]:
    rows: list[Item] = []
    async with _managers() as open_manager:
        for name, items in read.items():
            for place, item in enumerate(items, start=1):
                user = f"{name}-{item['id']}"
                if name.startswith("near_far"):
                    for told, recorded in ((name, False), (f"{name}_recorded", True)):
                        manager = open_manager(f"{told}-{item['id']}")
                        rows += [{"set": told, **row} for row in await _ask_person(item, manager, recorded=recorded)]
                elif name.startswith("newer"):
                    for told, recorded in ((name, False), (f"{name}_recorded", True)):
                        manager = open_manager(f"{told}-{item['id']}")
                        rows.append({"set": told, **await _ask_history(item, manager, recorded=recorded)})
                elif name.startswith("tasks"):
                    rows += [{"set": name, **row} for row in await _give_tasks(item, open_manager(user))]
                else:
                    rows += [{"set": name, **row} for row in await _ask_chat(item, open_manager(user))]
                options.progress(name, place, len(items))
    return rows


@asynccontextmanager
async def _managers() -> AsyncIterator[Manager]:
    """Yield a function that opens the memory of a user by default settings; all in one file that is gone afterwards."""
    with TemporaryDirectory(prefix="mnemic-eval-") as folder:
        settings = Settings.load(store=str(Path(folder) / "eval.db"), durability="fast")
        async with build_engine(settings) as engine:
            yield lambda user: AsyncMemoryManager(user, settings=settings, engine=engine)


async def _ask_person(person: Item, manager: AsyncMemoryManager, *, recorded: bool) -> list[Item]:
    told, now = Told(manager), manager.engine.clock.now()
    said = person["statements"]
    if recorded:
        days = [2 * (len(said) - place) for place in range(len(said))]
        messages = [
            Message(
                role="user",
                content=one["text"],
                message_id=one["id"],
                session=f"{day // 8}",
                sent_at=now - timedelta(day),
            )
            for one, day in zip(said, days, strict=True)
        ]
        for message, receipt in zip(messages, await manager.record(messages), strict=True):
            told.keep(str(message.message_id), receipt)
    else:
        for one in said:
            told.keep(one["id"], await manager.add(one["text"]))
    rows = []
    for question in person["questions"]:
        wanted = set(question["answers"])
        found, relevance = await told.find(question["text"])
        shown = (await manager.context(question["text"])).memory_ids
        first, three = (any(names & wanted for names in found[:depth]) for depth in (1, 3))
        withheld = not any(names & wanted for names in told.named(shown))
        row = {"id": question["id"], "lang": person["lang"], "class": question["kind"], "relevance": relevance}
        if question["kind"] == "answered":
            row |= {"hit@1": first, "hit@3": three, "withheld": withheld, "withheld_first": withheld and first}
        else:
            row[f"{question['kind']}_shown"] = bool(shown)
        rows.append(row)
    return rows


async def _ask_history(history: Item, manager: AsyncMemoryManager, *, recorded: bool) -> Item:
    told, now = Told(manager), manager.engine.clock.now()
    if recorded:
        messages = [
            Message(role="user", content=one["text"], message_id=one["id"], sent_at=now - timedelta(one["days_ago"]))
            for one in history["told"]
        ]
        for message, receipt in zip(messages, await manager.record(messages), strict=True):
            told.keep(str(message.message_id), receipt)
    else:
        for one in history["told"]:
            told.keep(one["id"], await manager.add(one["text"]))
    found, _ = await told.find(history["question"], now)
    older, newer = history["older"], history["newer"]
    row = {"id": history["id"], "lang": history["lang"], "class": history["kind"]}
    if history["kind"] == "control":
        return row | {"controls_right_first": bool(found) and older in found[0]}
    places = [place for place, names in enumerate(found) if newer in names]
    stale = [place for place, names in enumerate(found) if older in names and newer not in names]
    right = bool(places) and places[0] == 0
    before = not places or (bool(stale) and stale[0] < places[0])
    words = {"right_first_few_shared_words": right} if history["few_words"] else {}
    return row | {"right_first": right, "stale_before_new": before} | words


async def _give_tasks(person: Item, manager: AsyncMemoryManager) -> list[Item]:
    told = Told(manager)
    for one in person["told"]:
        for receipt in (await manager.capture(one["text"])).receipts:
            told.keep(one["id"], receipt)
    rows = []
    for task in person["tasks"]:
        shown = told.named((await manager.context(task["text"])).memory_ids)
        needed = set(task["needed"])
        needless = sum(not names & {*needed, *person["always"]} for names in shown)
        row = {"id": task["id"], "lang": person["lang"], "class": task["kind"], f"needless_{task['kind']}": needless}
        if needed:
            row["needed_shown"] = len(needed.intersection(*[set().union(*shown)])) / len(needed)
        rows.append(row)
    return rows


async def _ask_chat(chat: Item, manager: AsyncMemoryManager) -> list[Item]:
    told = Told(manager)
    messages = [
        Message(
            role="user" if turn["speaker"] == chat["speakers"][0] else "participant",
            content=turn["text"],
            message_id=turn["id"],
            session=turn["day"],
            speaker=turn["speaker"],
            sent_at=datetime.fromisoformat(turn["day"]).astimezone(),
        )
        for turn in chat["turns"]
    ]
    for message, receipt in zip(messages, await manager.record(messages), strict=True):
        told.keep(str(message.message_id), receipt)
    rows = []
    for question in chat["questions"]:
        found, _ = await told.find(question["text"])
        ranked = list(dict.fromkeys(name for names in found for name in sorted(names)))
        recalls = {f"recall@{depth}": recall_at(ranked, question["answers"], depth) for depth in (5, 10)}
        rows.append({"id": question["id"], "lang": chat["lang"], "class": "chat", **recalls})
    return rows


def _totals(rows: Sequence[Item]) -> Item:
    """Return the figures of one set, and of each of its languages if it has several."""
    languages = sorted({row["lang"] for row in rows})
    parts = {name: dict(_figures([row for row in rows if row["lang"] == name])) for name in languages}
    others = {"not en": dict(_figures([row for row in rows if row["lang"] != "en"]))} if "en" in parts else {}
    return {**dict(_figures(rows)), **({**parts, **others} if len(languages) > 1 else {})}


def _figures(rows: Sequence[Item]) -> Iterator[tuple[str, Any]]:
    relevance = {
        kind: [row["relevance"] for row in rows if row["class"] == kind] for kind in ("answered", "near", "far")
    }
    for kind in ("near", "far"):
        if relevance["answered"] and relevance[kind]:
            yield f"auc_{kind}", round(auc(relevance["answered"], relevance[kind]), 4)
    taken = ("id", "lang", "class", "set", "relevance")
    outcomes: dict[str, list[bool]] = {}
    for row in rows:
        for name, value in row.items():
            if name not in taken:
                outcomes.setdefault(name, []).append(value)
    yield from shares_of_true(outcomes).items()
