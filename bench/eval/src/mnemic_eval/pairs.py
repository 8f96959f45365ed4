"""Pairs of consecutive statements: are opposites kept apart, and duplicates merged?

Each pair is the whole memory of a separate user. The first statement is added, then the second, by the engine's `add`
with its own rules and embedder; the outcome of the second is the answer. Merged: `merged`, `refreshed` or `superseded`
(the first statement is no longer live unchanged). Flagged: `pending_review` or `superseded`.

PATH is a file, or a folder searched with everything under it. Files are known by what their first line names:

- `sentence`, `negated`: opposites (CANNOT);
- `premise`, `hypothesis`, `label`: opposites where the label is `1` or `contradiction`, paraphrases where it is `0`;
- `sentence_a`, `sentence_b`, `relatedness_score`, `entailment_judgment` (SICK 2014): contradictions, and
  duplicates where entailment comes with a score of at least 4.5, and neutral pairs (reported, no aim);
- `quality`, `#1 string`, `#2 string` (MSRP): duplicates where the quality is 1;
- a JSON list of [tier, {first_statement, second_statement}, {id: text}] (BEAM): contradictions, where both statements
  are there and differ. A statement made in several messages is their texts, joined.

Split: by the checksum (CRC-32) of the first sentence, so that pairs made from one sentence stay in one half. Sample:
`limit` pairs of each source and class in each half (300), drawn by the seed.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.ports import Embedder
from mnemic.types import Actor, Candidate, Origin, Outcome, Source
from mnemic_eval.conditions import conditions
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.outcome import SPLITS
from mnemic_eval.progress import Progress
from mnemic_eval.replay import CHUNK, chosen_embedder, throwaway_engine
from mnemic_eval.samples import drawn, files, half, json_list, share, shares_of_true, table
from mnemic_eval.vectors import KeptEmbedder

LIMIT = 300
DUPLICATE_FROM = 4.5
OPPOSITE, CONTRADICTION, DUPLICATE, PARAPHRASE = "opposite", "contradiction", "duplicate", "paraphrase"
NEUTRAL = "neutral"
_MERGED = {Outcome.MERGED, Outcome.REFRESHED}
_FLAGGED = {Outcome.PENDING_REVIEW, Outcome.SUPERSEDED}
"""Outcomes that count as a finding: a contradiction waits, or replaces what it contradicts."""
FIGURES = {
    "opposite_merged": ({OPPOSITE, CONTRADICTION}, _MERGED),
    "duplicates_merged": ({DUPLICATE}, _MERGED),
    "contradictions_flagged": ({CONTRADICTION}, _FLAGGED),
    "paraphrases_flagged": ({DUPLICATE, PARAPHRASE}, _FLAGGED),
    "neutral_flagged": ({NEUTRAL}, _FLAGGED),
    "neutral_merged": ({NEUTRAL}, _MERGED),
}
"""Each figure: the classes of pairs it is a share of, and the outcomes that count."""


class Pair(NamedTuple):
    """Two statements, where they come from, and what one is to the other."""

    source: str
    relation: str
    first: str
    second: str


def pairs(path: Path) -> list[Pair]:
    """Every pair at `path` that tells something, once. Raises InvalidInput (`invalid_input:data:...`)."""
    found: dict[Pair, None] = {}
    for file in files(path, (".tsv", ".txt", ".csv", ".json")):
        read = _beam(json_list(file)) if file.suffix == ".json" else _table(file)
        found |= dict.fromkeys(pair for pair in read if pair.first.strip() and pair.second.strip())
    if not found:
        raise InvalidInput("data:pairs", hint="no file there contains pairs in a known format")
    return list(found)


def _table(file: Path) -> Iterator[Pair]:
    for row in table(file):
        if "sentence" in row and "negated" in row:
            yield Pair("cannot", OPPOSITE, row["sentence"], row["negated"])
        elif {"premise", "hypothesis", "label"} <= row.keys():
            relation = {"1": OPPOSITE, "contradiction": OPPOSITE, "0": PARAPHRASE}.get(row["label"].strip())
            if relation:
                yield Pair("cannot", relation, row["premise"], row["hypothesis"])
        elif {"sentence_a", "sentence_b", "relatedness_score", "entailment_judgment"} <= row.keys():
            yield from _sick(row)
        elif {"quality", "#1 string", "#2 string"} <= row.keys() and row["quality"] == "1":
            yield Pair("msrp", DUPLICATE, row["#1 string"], row["#2 string"])


def _sick(row: Mapping[str, str]) -> Iterator[Pair]:
    judged = row["entailment_judgment"].strip()
    if judged == "CONTRADICTION":
        yield Pair("sick", CONTRADICTION, row["sentence_a"], row["sentence_b"])
    elif judged == "ENTAILMENT" and float(row["relatedness_score"]) >= DUPLICATE_FROM:
        yield Pair("sick", DUPLICATE, row["sentence_a"], row["sentence_b"])
    elif judged == "NEUTRAL":
        yield Pair("sick", NEUTRAL, row["sentence_a"], row["sentence_b"])


def _beam(entries: Iterable[Any]) -> Iterator[Pair]:
    for entry in entries:
        match entry:
            case [_, {"first_statement": list(first), "second_statement": list(second)}, dict(texts)]:
                one, other = (" ".join(texts.get(str(place), "") for place in side).strip() for side in (first, second))
                if one != other:
                    yield Pair("beam", CONTRADICTION, one, other)


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Measure the pairs at `path`: `dev` and `test` with the four figures as fractions, `by_source`, and `settings`.

    Raises InvalidInput for data that is not there or in no known format.
    """
    chosen = _sample(pairs(path), options.limit or LIMIT, options.seed)
    with TemporaryDirectory(prefix="mnemic-pairs-") as folder:
        made = chosen_embedder(options.embedder, options.vectors or Path(folder) / "vectors")
        outcomes = asyncio.run(
            _replayed_pairs([pair for split in SPLITS for pair in chosen[split]], made, options.progress)
        )
    answered = iter(outcomes)
    halves = {split: _figures([(pair, next(answered)) for pair in chosen[split]]) for split in SPLITS}
    settings = conditions(seed=options.seed, set="pairs", embedder=made.space.model, limit=options.limit or LIMIT)
    return {**halves, "settings": settings}


def _sample(found: Sequence[Pair], limit: int, seed: int) -> dict[str, list[Pair]]:
    groups: dict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    for pair in found:
        groups[half(pair.first), pair.source, pair.relation].append(pair)
    chosen: dict[str, list[Pair]] = {split: [] for split in SPLITS}
    for (split, _, _), group in sorted(groups.items()):
        chosen[split] += drawn(group, limit, seed)
    return chosen


async def _replayed_pairs(chosen: Sequence[Pair], embedder: Embedder, progress: Progress) -> list[Outcome]:
    outcomes: list[Outcome] = []
    async with throwaway_engine(embedder) as engine:
        for start in range(0, len(chosen), CHUNK):
            chunk = chosen[start : start + CHUNK]
            if isinstance(embedder, KeptEmbedder):
                # One call for many texts; the writes then find their vectors kept.
                await embedder.embed([text for pair in chunk for text in (pair.first, pair.second)])
            for place, pair in enumerate(chunk, start=start):
                outcomes.append(await _second(engine, pair, Actor(user=f"pair-{place}")))
            progress("pairs", len(outcomes), len(chosen))
    return outcomes


async def _second(engine: MemoryEngine, pair: Pair, actor: Actor) -> Outcome:
    said = [Candidate(content=text, source=Source(origin=Origin.USER_STATED)) for text in (pair.first, pair.second)]
    await engine.add(said[0], actor=actor)
    return (await engine.add(said[1], actor=actor)).outcome


def _figures(answered: Sequence[tuple[Pair, Outcome]]) -> dict[str, Any]:
    sources: dict[str, dict[str, list[bool]]] = {name: defaultdict(list) for name in FIGURES}
    for pair, outcome in answered:
        for name, (relations, counting) in FIGURES.items():
            if pair.relation in relations:
                sources[name][f"{pair.source}: {pair.relation}"].append(outcome in counting)
    seen = {name: [one for part in parts.values() for one in part] for name, parts in sources.items()}
    return {
        **{name: share(sum(one), len(one)) for name, one in seen.items()},
        "pairs": len(answered),
        "by_source": {name: shares_of_true(parts) for name, parts in sources.items()},
    }
