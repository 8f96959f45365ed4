"""Truth over time: conversations with labelled updates, and single turns with the statements to keep.

PATH is a folder with `updates*.jsonl` (lines of {id, lang, kind, sessions, asks, now_true, no_longer, never_store,
not_users_word}), `turns*.jsonl` (lines of {id, lang, text, keep, why, tags}) and the files of
`mnemic_eval.truth_closing`, or one such file. Every line is another user. Each message of a conversation, whatever its
role, is captured at its time; then each ask is searched for, and again with the messages recorded, too
(`updates_with_record`). Each turn is captured alone.

With `others` a store is lived in: every user has told 110 other things before (the durable turns of the set, or
generated ones), and eight conversations of one language are those of one user, each asked about when it ends.

`score_ok`: each `must` is among the three best hits and no stale one is above the first good one. `stale`: it matches a
`must_not`, no `must`, and has no word of ending. `laundering`: memories of what was not the user's word. A statement of
a turn is kept if a memory has half of its content words and is not most of a long turn.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.records import open_file, records
from mnemic.ports import Embedder
from mnemic.types import Actor, Memory, Message
from mnemic_eval.conditions import conditions
from mnemic_eval.generated_statements import everyday_statements
from mnemic_eval.outcome import SEED
from mnemic_eval.progress import Progress, silent
from mnemic_eval.replay import chosen_embedder, live_memories, throwaway_engine
from mnemic_eval.samples import share
from mnemic_eval.truth_closing import Closing
from mnemic_eval.truth_match import (
    CLAIMED_FROM,
    KEPT_FROM,
    NEGATED,
    content_words,
    cover,
    is_right,
    is_stale,
    keeps,
    matches,
    memory_text,
)

TOP = 3
SEARCHED = 10
OTHERS, LONGEST_OTHER = 110, 120
CONVERSATIONS = 8
JUNK_FROM = 0.6
_FOREIGN = frozenset(
    {"third_person", "hypothetical", "pasted", "assistant_said", "tool_said", "quote", "joke", "denial"}
)
Line = Mapping[str, Any]


@dataclass(slots=True)
class _Played:
    """One conversation in the engine: each memory with its source message, and the queries."""

    row: Line
    born: dict[tuple[str, str], tuple[str, str, str]] = field(default_factory=dict)
    asks: list[dict[str, Any]] = field(default_factory=list)
    active: list[Memory] = field(default_factory=list)
    others_ended: int = 0

    @property
    def texts(self) -> set[str]:
        return {text for _, text in self.born}

    def laundered_memories(self) -> list[str]:
        """Memories of statements that the user did not make, or did not mean."""
        row = self.row
        found = []
        for (_, text), (role, _, _) in self.born.items():
            by_ask = row["kind"] in _FOREIGN and any(is_stale(text, ask) for ask in row["asks"])
            claimed = any(cover(claim, text) >= CLAIMED_FROM for claim in row["not_users_word"])
            true = any(cover(one, text) >= CLAIMED_FROM for one in row["now_true"])
            if role != "user" or by_ask or (claimed and not NEGATED.search(text) and not true):
                found.append(text)
        return found

    def junk(self) -> list[str]:
        """Memories of statements that must not be stored."""
        return [text for (_, text), origin in self.born.items() if self._is_junk(text, *origin)]

    def _is_junk(self, text: str, _: str, message: str, content: str) -> bool:
        words = content_words(content)
        if not words or any(cover(one, text) >= CLAIMED_FROM for one in self.row["now_true"]):
            return False
        return any(
            quote in message and len(words & content_words(quote)) / len(words) >= JUNK_FROM
            for quote in self.row["never_store"]
        )

    def kept_side_by_side(self) -> tuple[int, int, int]:
        """Values to keep side by side, those that were stored, and those lost of them."""
        wanted = [one for ask in self.row["asks"] for one in ask["must"]] if self.row["kind"] == "keep_both" else []
        stored = [one for one in wanted if any(matches(one, text) for text in self.texts)]
        lost = sum(not any(matches(one, memory_text(memory)) for memory in self.active) for one in stored)
        return len(wanted), len(stored), lost

    def true_kept(self) -> int:
        """Statements that are true at the end and are in a current memory."""
        texts = [memory_text(memory) for memory in self.active]
        return sum(any(cover(one, text) >= KEPT_FROM for text in texts) for one in self.row["now_true"])

    def unsupported_memories(self) -> list[str]:
        """Memories with a word that is not in their source message."""
        stated = [(content, message) for _, message, content in self.born.values()]
        return [content for content, message in stated if content_words(content) - content_words(message)]

    def as_dict(self) -> dict[str, Any]:
        """Return the conversation as one JSON line."""
        return {
            "id": self.row["id"],
            "kind": self.row["kind"],
            "language": self.row["lang"],
            "asks": self.asks,
            "stored": sorted(self.texts),
            "active": [memory_text(memory) for memory in self.active],
            "laundered": self.laundered_memories(),
            "junk": self.junk(),
            "unsupported": self.unsupported_memories(),
            "true_kept": [self.true_kept(), len(self.row["now_true"])],
        }


def run(
    path: str | Path,
    *,
    progress: Progress = silent,
    per_question: Path | None = None,
    limit: int | None = None,
    vectors: Path | None = None,
    embedder: Embedder | None = None,
    seed: int = SEED,
    others: bool = False,
    **_: object,
) -> dict[str, Any]:
    """Measure the lines under `path`, of each file the first `limit`: `updates`, `updates_with_record`, `turns`, the
    figures of `mnemic_eval.truth_closing`, and `settings`; `per_question` is a file for one JSON line a line.
    With `others` the store is lived in, and turns are not read.

    Raises InvalidInput for data that is not there or has another shape.
    """
    updates, turns = _read(Path(path), "updates"), _read(Path(path), "turns")
    closing = Closing.read(Path(path), limit)
    if not updates and not turns and not closing:
        raise InvalidInput("data:truth", hint="expected updates*.jsonl, turns*.jsonl, closing*.tsv or streams*.json")
    made = chosen_embedder(embedder, vectors)
    try:
        told = _others(turns) if others else []
        parts = _Parts(updates[:limit], [] if others else turns[:limit], closing, told)
        figures, result = asyncio.run(_measure_parts(parts, made, progress))
    except (KeyError, TypeError, AttributeError):
        raise InvalidInput("data:truth", hint="a line has another shape than expected") from None
    if per_question is not None:
        lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in result)
        per_question.write_text("".join(lines), encoding="utf-8")
    settings = conditions(seed=seed, set="truth", embedder=made.space.model, others=len(told))
    return {**figures, "settings": settings}


@dataclass(frozen=True, slots=True)
class _Parts:
    """The lines to measure, and what every user has told before."""

    updates: Sequence[Line]
    turns: Sequence[Line]
    closing: Closing
    others: Sequence[str]

    def people(self) -> list[list[Line]]:
        """Return the conversations of each user, the earliest first: one each, or several with `others`."""
        if not self.others:
            return [[row] for row in self.updates]
        languages: dict[str, list[Line]] = defaultdict(list)
        for row in self.updates:
            languages[row["lang"]].append(row)
        return [
            sorted(rows[first :: -(-len(rows) // CONVERSATIONS)], key=_began)
            for rows in languages.values()
            for first in range(-(-len(rows) // CONVERSATIONS))
        ]


def _began(row: Line) -> datetime:
    return datetime.fromisoformat(row["sessions"][0]["at"])


def _others(turns: Sequence[Line]) -> list[str]:
    """Return what every user of a store that is lived in has told before."""
    durable = [
        str(row["text"])
        for row in turns
        if row["why"] == "durable" and row["lang"] == "en" and len(row["text"]) < LONGEST_OTHER
    ]
    return (durable or everyday_statements(OTHERS))[:OTHERS]


def _read(path: Path, name: str) -> list[Line]:
    found: list[Line] = []
    for file in [path] if path.is_file() else sorted(path.rglob(f"{name}*.jsonl")):
        if not file.name.startswith(name):
            continue
        with open_file(file) as (stream, _):
            for record in records(stream):
                if record.problem is not None:
                    raise record.problem
                found.append(record.value)
    return found


async def _measure_parts(
    parts: _Parts, embedder: Embedder, progress: Progress
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    figures: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    async with throwaway_engine(embedder) as engine:
        for name, recorded in (("updates", False), ("updates_with_record", True)) if parts.updates else ():
            played: list[_Played] = []
            for number, person in enumerate(parts.people(), start=1):
                actor = Actor(user=f"{name}:{number}")
                told = {(await engine.add(text, actor=actor)).memory_id for text in parts.others}
                for row in person:
                    played.append(await _play(engine, row, recorded, actor, told))
                    progress(name, len(played), len(parts.updates))
            figures[name] = _updates(played)
            rows += [{"set": name, **one.as_dict()} for one in played]
        seen = []
        for place, row in enumerate(parts.turns, start=1):
            seen.append(await _turn(engine, row))
            progress("turns", place, len(parts.turns))
        if seen:
            figures["turns"] = _turns(seen)
            rows += seen
        closing, more = await parts.closing.measure_kinds(engine, parts.others, progress)
    return {**figures, **closing}, rows + more


async def _play(engine: MemoryEngine, row: Line, recorded: bool, actor: Actor, told: set[str | None]) -> _Played:
    played = _Played(row)
    kept = {one.memory_id for one in await live_memories(engine, actor)}
    others = kept & told
    known: dict[str, str] = {}
    for number, session in enumerate(row["sessions"]):
        said = _messages(session, f"{row['id']}:{number}")
        for message in said:
            await engine.capture(message, actor=actor)
            for memory in await live_memories(engine, actor):
                text = memory_text(memory)
                if memory.memory_id not in kept and known.get(memory.memory_id) != text:
                    played.born[memory.memory_id, text] = message.role, message.content, memory.content
                    known[memory.memory_id] = text
        if recorded:
            receipts = await engine.record(said, actor=actor)
            kept |= {one.memory_id for one in receipts if one.memory_id is not None}
    now = await live_memories(engine, actor)
    played.others_ended = len(others - {one.memory_id for one in now})
    played.active = [one for one in now if one.memory_id not in kept]
    for ask in row["asks"]:
        played.asks.append(await _ask(engine, actor, played, ask))
    return played


def _messages(session: Line, name: str) -> list[Message]:
    at = datetime.fromisoformat(session["at"])
    return [
        Message(role=one["role"], content=one["content"], sent_at=at + timedelta(minutes=minute), session=name)
        for minute, one in enumerate(session["messages"])
    ]


async def _ask(engine: MemoryEngine, actor: Actor, played: _Played, ask: Line) -> dict[str, Any]:
    at = datetime.fromisoformat(ask["at"])
    result = await engine.search(ask["q"], actor=actor, top_k=SEARCHED, as_of=at)
    top = [memory_text(hit.memory) for hit in result.hits][:TOP]
    good = [place for place, text in enumerate(top) if any(matches(one, text) for one in ask["must"])]
    bad = [place for place, text in enumerate(top) if is_stale(text, ask)]
    found = all(any(matches(one, text) for text in top) for one in ask["must"])
    above = bool(bad) and (not good or bad[0] < good[0])
    stored = any(is_stale(text, ask) for text in played.texts)
    still = any(is_stale(memory_text(one), ask) and not (one.valid_to and one.valid_to <= at) for one in played.active)
    row = played.row
    return {
        "q": ask["q"],
        "asks": bool(ask["must"]),
        "ok": found and not above,
        "found": found,
        "stale_first": bad[:1] == [0],
        "stale_above": above,
        "update": bool(ask["must_not"] and row["no_longer"]) and row["kind"] != "keep_both",
        "old": ("open" if still else "closed") if stored else "not_stored",
        "top": top,
    }


def _updates(played: Sequence[_Played]) -> dict[str, Any]:
    asks = [ask for one in played for ask in one.asks]
    both = [one.kept_side_by_side() for one in played]
    kinds: dict[str, list[bool]] = defaultdict(list)
    languages: dict[str, list[bool]] = defaultdict(list)
    for one in played:
        kinds[one.row["kind"]] += [ask["ok"] for ask in one.asks]
        languages[one.row["lang"]] += [ask["ok"] for ask in one.asks]
    return {
        "lines": len(played),
        "asks": len(asks),
        "stored_memories": sum(len(one.texts) for one in played),
        "score_ok": _rate(asks, "ok"),
        "score_ok_of_asks_with_must": _rate([ask for ask in asks if ask["asks"]], "ok"),
        "found_top3": _rate(asks, "found"),
        "stale_first_rate": _rate(asks, "stale_first"),
        "stale_above_rate": _rate(asks, "stale_above"),
        "updates": _closing_counts([ask for ask in asks if ask["update"]]),
        "keep_both": dict(zip(("values", "stored", "damaged"), map(sum, zip(*both, strict=True)), strict=True)),
        "laundering": {
            "lines": sum(bool(one.laundered_memories()) for one in played),
            "memories": sum(len(one.laundered_memories()) for one in played),
        },
        "unsupported": sum(len(one.unsupported_memories()) for one in played),
        "never_store_kept": {
            "quotes": sum(len(one.row["never_store"]) for one in played),
            "memories": sum(len(one.junk()) for one in played),
        },
        "others_ended": sum(one.others_ended for one in played),
        "now_true_kept": share(sum(one.true_kept() for one in played), sum(len(one.row["now_true"]) for one in played)),
        "by_kind": _count_groups(kinds),
        "by_language": _count_groups(languages),
    }


def _closing_counts(updates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    old = Counter(ask["old"] for ask in updates)
    return {
        "n": len(updates),
        "ok": _rate(updates, "ok"),
        "old_never_stored": old["not_stored"],
        "old_closed": old["closed"],
        "old_still_open": old["open"],
        "closed_old_rate_of_all": share(old["closed"], len(updates)),
        "closed_old_rate_of_stored": share(old["closed"], old["closed"] + old["open"]),
        "stale_first_rate": _rate(updates, "stale_first"),
    }


async def _turn(engine: MemoryEngine, row: Line) -> dict[str, Any]:
    actor = Actor(user=str(row["id"]))
    await engine.capture(Message(role="user", content=row["text"]), actor=actor)
    memories = await live_memories(engine, actor)
    wanted = [str(one["statement"]) for one in row["keep"]]
    return {
        "set": "turns",
        "id": row["id"],
        "language": row["lang"],
        "why": row["why"],
        "tags": list(row.get("tags", ())),
        "stored": [memory_text(one) for one in memories],
        "right": [any(is_right(one, statement, row["text"]) for statement in wanted) for one in memories],
        "kept": [any(keeps(memory_text(one), statement, row["text"]) for one in memories) for statement in wanted],
    }


def _turns(seen: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    right = [hit for one in seen for hit in one["right"]]
    kept = [hit for one in seen for hit in one["kept"]]
    none = [one for one in seen if not one["kept"]]
    tags: dict[str, list[bool]] = defaultdict(list)
    languages: dict[str, list[bool]] = defaultdict(list)
    for one in seen:
        languages[one["language"]] += one["kept"]
        for tag in one["tags"]:
            tags[tag] += one["kept"]
    precision, recall = share(sum(right), len(right)), share(sum(kept), len(kept))
    return {
        "turns": len(seen),
        "stored": len(right),
        "right": sum(right),
        "statements": len(kept),
        "statements_kept": sum(kept),
        "precision": precision,
        "recall": recall,
        "turns_that_keep_nothing_and_stored": share(sum(bool(one["stored"]) for one in none), len(none)),
        "rubbish_by_why": dict(Counter(one["why"] for one in none for _ in one["stored"])),
        "by_tag": _count_groups(tags),
        "by_language": _count_groups(languages),
    }


def _rate(asks: Sequence[Mapping[str, Any]], name: str) -> float | None:
    return share(sum(ask[name] for ask in asks), len(asks))


def _count_groups(groups: Mapping[str, Sequence[bool]]) -> dict[str, dict[str, Any]]:
    return {
        name: {"share": share(sum(hits), len(hits)), "n": len(hits)} for name, hits in sorted(groups.items()) if hits
    }
