"""What ends known statements, and what is understood of a second mention: four kinds of files of the truth set.

- `closing*.tsv`: a known statement, one said later, and `yes` if the first no longer holds, else `no`;
- `streams*.json`: series of statements about different things, all of which stay in force;
- `second*.tsv`: a known statement, a short message about it, a question, and the expressions of the new and old value;
- `safety*.tsv`: a language, a message, and an expression that a memory captured from it has to match.

Lines that start with # are ignored. Every line and every series is told for a user of its own, who has told `others`
before.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.types import Actor, Candidate, Kind, Origin, Source
from mnemic_eval.progress import Progress
from mnemic_eval.replay import live_memories
from mnemic_eval.samples import shares_of_true
from mnemic_eval.truth_match import is_stale, matches, memory_text

TOP = 3
SEARCHED = 10
SERIES_WAYS = ("add", "add_many", "a session each")
PLACES = ("same session", "other session")


class Pair(NamedTuple):
    """A known statement and one said later; `ends` if the known one no longer holds."""

    known: str
    later: str
    ends: bool


class Second(NamedTuple):
    """A known statement and a short message about it, with what a question has to find and what is out of date."""

    known: str
    said: str
    question: str
    must: str
    must_not: str


class Safety(NamedTuple):
    """A message of which a memory that matches `must` has to be kept."""

    language: str
    said: str
    must: str


class Family(NamedTuple):
    """Statements of one form about different things."""

    form: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Closing:
    """What the four kinds of files hold."""

    pairs: list[Pair] = field(default_factory=list)
    families: list[Family] = field(default_factory=list)
    seconds: list[Second] = field(default_factory=list)
    safety: list[Safety] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path, limit: int | None = None) -> Closing:
        """Read the files under `path`, of each kind the first `limit`.

        Raises InvalidInput for a line of another shape.
        """
        try:
            return cls(
                [Pair(known, later, _ends(word)) for known, later, word in _rows(path, "closing")][:limit],
                [
                    Family(form, tuple(form.format(*row) for row in zip(*values, strict=True)))
                    for file in _files(path, "streams", ".json")
                    for form, *values in json.loads(file.read_bytes())["families"]
                ][:limit],
                [Second(*row) for row in _rows(path, "second")][:limit],
                [Safety(*row) for row in _rows(path, "safety")][:limit],
            )
        except (ValueError, TypeError, KeyError, IndexError, re.error):
            raise InvalidInput("data:truth", hint="a line has another shape than expected") from None

    def __bool__(self) -> bool:
        return bool(self.pairs or self.families or self.seconds or self.safety)

    async def measure_kinds(
        self, engine: MemoryEngine, others: Sequence[str], progress: Progress
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the figures of each kind that has lines, and a row a line."""
        told = _Told(engine, others, progress)
        figures: dict[str, Any] = {}
        rows: list[dict[str, Any]] = []
        for name, given, measure in (
            ("closing", self.pairs, partial(_pairs, told, self.pairs)),
            ("series", self.families, partial(_series, told, self.families)),
            ("second", self.seconds, partial(_seconds, told, self.seconds)),
            ("safety", self.safety, partial(_safety, told, self.safety)),
        ):
            if given:
                figures[name], lines = await measure()
                rows += [{"set": name, **line} for line in lines]
        return figures, rows


@dataclass(frozen=True, slots=True)
class _Told:
    """The engine, and what every user has told before."""

    engine: MemoryEngine
    others: Sequence[str]
    progress: Progress

    async def user(self, name: str, session: str = "one") -> Actor:
        """Return a user who has told the others."""
        actor = Actor(user=name, session=session)
        for text in self.others:
            await self.engine.add(text, actor=actor)
        return actor


def _rows(path: Path, name: str) -> Iterator[list[str]]:
    for file in _files(path, name, ".tsv"):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                yield line.split("\t")


def _files(path: Path, name: str, suffix: str) -> list[Path]:
    every = [path] if path.is_file() else sorted(path.rglob(f"{name}*{suffix}"))
    return [one for one in every if one.name.startswith(name) and one.suffix == suffix]


def _ends(word: str) -> bool:
    return {"yes": True, "no": False}[word]


async def _pairs(told: _Told, pairs: Sequence[Pair]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    figures: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    for way, place in product(("add", "capture"), PLACES):
        closed: dict[bool, list[bool]] = {True: [], False: []}
        others_ended = 0
        for number, pair in enumerate(pairs):
            actor = await told.user(f"closing {way} {place} {number}")
            first = (await told.engine.add(pair.known, actor=actor)).memory_id
            before = {one.memory_id for one in await live_memories(told.engine, actor)}
            await getattr(told.engine, way)(pair.later, actor=_elsewhere(actor, place))
            ended = before - {one.memory_id for one in await live_memories(told.engine, actor)}
            closed[pair.ends].append(first in ended)
            others_ended += len(ended - {first})
            rows.append({"way": way, "place": place, **pair._asdict(), "closed": first in ended})
            told.progress(f"closing: {way}, {place}", number + 1, len(pairs))
        figures[f"{way}, {place}"] = {
            "changes": len(closed[True]),
            "changes_closed": sum(closed[True]),
            "remarks": len(closed[False]),
            "remarks_closed": sum(closed[False]),
            "others_ended": others_ended,
        }
    return figures, rows


async def _series(told: _Told, families: Sequence[Family]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    figures: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    for way in SERIES_WAYS:
        total = lost = 0
        for number, family in enumerate(families):
            actor = await told.user(f"series {way} {number}")
            before = len(await live_memories(told.engine, actor))
            if way == "add_many":
                await told.engine.add_many([_candidate(text) for text in family.statements], actor=actor)
            else:
                for step, text in enumerate(family.statements):
                    session = "one" if way == "add" else f"session {step}"
                    await told.engine.add(text, actor=Actor(user=actor.user, session=session))
            live = len(await live_memories(told.engine, actor)) - before
            total += len(family.statements)
            lost += max(0, len(family.statements) - live)
            rows.append({"way": way, "form": family.form, "statements": len(family.statements), "live": live})
            told.progress(f"series: {way}", number + 1, len(families))
        figures[way] = {"statements": total, "lost": lost}
    return figures, rows


async def _seconds(told: _Told, seconds: Sequence[Second]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    figures: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    for place in PLACES:
        seen: dict[str, list[bool]] = defaultdict(list)
        for number, second in enumerate(seconds):
            row = await _second(told, second, place, number)
            for name in ("kept", "right_first", "right_in_three", "stale_first", "old_closed"):
                seen[name].append(row[name])
            rows.append({"place": place, **second._asdict(), **row})
            told.progress(f"second: {place}", number + 1, len(seconds))
        figures[place] = shares_of_true(seen)
    return figures, rows


async def _second(told: _Told, second: Second, place: str, number: int) -> dict[str, Any]:
    actor = await told.user(f"second {place} {number}")
    others = {one.memory_id for one in await live_memories(told.engine, actor)}
    first = (await told.engine.add(second.known, actor=actor)).memory_id
    later = _elsewhere(actor, place)
    await told.engine.capture(second.said, actor=later)
    live = await live_memories(told.engine, actor)
    result = await told.engine.search(second.question, actor=later, top_k=SEARCHED)
    ask = {"must": [second.must], "must_not": [second.must_not]}
    top = [hit.memory for hit in result.hits][:TOP]
    right = [matches(second.must, memory_text(one)) and one.memory_id not in others for one in top]
    own = [one for one in live if one.memory_id not in others]
    return {
        "kept": any(matches(second.must, memory_text(one)) for one in own),
        "right_first": right[:1] == [True],
        "right_in_three": any(right),
        "stale_first": bool(top) and top[0].memory_id not in others and is_stale(memory_text(top[0]), ask),
        "old_closed": first not in {one.memory_id for one in live},
        "own": [memory_text(one) for one in own],
        "top": [memory_text(one) for one in top],
    }


async def _safety(told: _Told, lines: Sequence[Safety]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    languages: dict[str, list[bool]] = defaultdict(list)
    for number, line in enumerate(lines):
        actor = await told.user(f"safety {number}")
        others = {one.memory_id for one in await live_memories(told.engine, actor)}
        await told.engine.capture(line.said, actor=actor)
        own = [one for one in await live_memories(told.engine, actor) if one.memory_id not in others]
        kept = any(matches(line.must, memory_text(one)) for one in own)
        languages["all"].append(kept)
        languages[line.language].append(kept)
        rows.append({**line._asdict(), "kept": kept, "own": [memory_text(one) for one in own]})
        told.progress("safety", number + 1, len(lines))
    return shares_of_true(languages), rows


def _elsewhere(actor: Actor, place: str) -> Actor:
    return actor if place == "same session" else Actor(user=actor.user, session="two")


def _candidate(text: str) -> Candidate:
    return Candidate(content=text, kind=Kind.LONG_TERM, source=Source(origin=Origin.USER_STATED))
