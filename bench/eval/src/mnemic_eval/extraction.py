"""Texts with labelled memories: recall and precision of extraction.

PATH is a folder searched with everything under it for `dataset.jsonl` (lines of {id, text}) with `labels.jsonl` (lines
of {id, memories: [{type, content}]}) beside it, or both with a language between (`dataset.ko.jsonl`), or one such file;
a dataset without labels in its language is left out. Every text is a user's message to the rule extractor, under the
default policy; with a model, to the model, and to the rules where it fails (`mnemic_eval.model_metrics`).

A candidate and a labelled memory of one text match if they share half of the content words of the shorter (at least
two), or if their embeddings' cosine is 0.7 or more; best pairs first, each side once. The sets come without a rule of
their own for this. `recall` is the share of labelled memories that are matched, `precision` that of candidates.
Split: texts in the order of their id, alternately `dev` and `test`. `limit` texts of each half are drawn by the seed.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.records import open_file, records
from mnemic.language.text.analyse import terms
from mnemic.ports import Embedder
from mnemic_eval.conditions import conditions
from mnemic_eval.model_metrics import Modelled, model_reader
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.outcome import SPLITS
from mnemic_eval.progress import Progress
from mnemic_eval.samples import drawn, share, shares_of_true
from mnemic_eval.single_extraction import Reader

SAME_WORDS = 0.5
SAME_COSINE = 0.7
FEWEST_WORDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One text: its half, its language, and the memories in it as (type, content)."""

    split: str
    language: str
    text: str = field(repr=False)
    memories: tuple[tuple[str, str], ...] = field(repr=False)


@dataclass(slots=True)
class _Seen:
    """Observations in one half."""

    recalled: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    languages: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    right: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    texts: int = 0
    model: Modelled | None = None

    def figures(self) -> dict[str, Any]:
        found = [hit for hits in self.recalled.values() for hit in hits]
        right = [hit for hits in self.right.values() for hit in hits]
        return {
            "recall": share(sum(found), len(found)),
            "precision": share(sum(right), len(right)),
            **(self.model.figures(len(found)) if self.model else {}),
            "by_source": {
                "type": shares_of_true(self.recalled),
                "language": shares_of_true(self.languages),
                "precision": shares_of_true(self.right),
                **(self.model.parts() if self.model else {}),
            },
            "memories": len(found),
            "candidates": len(right),
            "texts": self.texts,
        }


def labelled_texts(path: Path) -> list[Labelled]:
    """Return the labelled texts under `path`. Raises InvalidInput (`invalid_input:data:extraction`)."""
    found: list[Labelled] = []
    for file in [path] if path.is_file() else sorted(path.rglob("dataset*.jsonl")):
        labels = file.with_name(file.name.replace("dataset", "labels"))
        if labels.is_file():
            try:
                found += _texts(file, labels)
            except (AttributeError, KeyError, TypeError):
                raise InvalidInput("data:extraction", hint="a file has another shape than expected") from None
    if not found:
        raise InvalidInput("data:extraction", hint="expected dataset.jsonl and labels.jsonl with memories")
    return found


def _texts(file: Path, labels: Path) -> Iterator[Labelled]:
    known = {entry["id"]: entry["memories"] for entry in _lines(labels) if "memories" in entry}
    texts = sorted((entry for entry in _lines(file) if entry["id"] in known), key=lambda entry: str(entry["id"]))
    language = file.name.removeprefix("dataset").removesuffix(".jsonl").strip(".") or "en"
    for place, entry in enumerate(texts):
        yield Labelled(
            split=SPLITS[place % 2],
            language=language,
            text=str(entry["text"]),
            memories=tuple((str(one["type"]), str(one["content"])) for one in known[entry["id"]]),
        )


def _lines(file: Path) -> Iterator[Mapping[str, Any]]:
    with open_file(file) as (stream, _):
        for record in records(stream):
            if record.problem is not None:
                raise record.problem
            yield record.value


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Measure the texts under `path`: `dev`, `test` and `settings`. With `model` the language model of the settings
    reads, or `completer`.

    Raises InvalidInput for data that is not there or has another shape, InvalidConfig (`invalid_config:model`) if no
    model is configured.
    """
    texts = labelled_texts(path)
    halves = {split: [one for one in texts if one.split == split] for split in SPLITS}
    chosen = [one for half in halves.values() for one in drawn(half, options.limit or len(half), options.seed)]
    reader = model_reader(options.completer) if options.model or options.completer else Reader()
    made = options.chosen_embedder()
    seen = asyncio.run(_measure_texts(chosen, made, reader, options.progress))
    taken = {"model": Modelled.took([half.model for half in seen.values() if half.model])} if reader.model else {}
    measured = {split: half.figures() for split, half in seen.items()}
    return {**measured, "settings": conditions(seed=options.seed, set="extraction", embedder=made.space.model, **taken)}


async def _measure_texts(
    texts: Sequence[Labelled], embedder: Embedder, reader: Reader, progress: Progress
) -> dict[str, _Seen]:
    halves = {split: _Seen(model=Modelled(reader.model) if reader.model else None) for split in SPLITS}
    try:
        for place, text in enumerate(texts, start=1):
            await _look(text, embedder, reader, halves[text.split])
            progress("texts", place, len(texts))
    finally:
        await embedder.close()
        await reader.close()
    return halves


async def _look(text: Labelled, embedder: Embedder, reader: Reader, seen: _Seen) -> None:
    read = seen.model.read(reader, text.text) if seen.model else reader.read(text.text)
    candidates = [
        f"{candidate.key.replace('_', ' ')}: {candidate.content}" if candidate.key else candidate.content
        for candidate in (await read).candidates
    ]
    pairs = await matches(candidates, [content for _, content in text.memories], embedder)
    found, right = {label for _, label in pairs}, {candidate for candidate, _ in pairs}
    for place, (kind, _) in enumerate(text.memories):
        seen.recalled[kind].append(place in found)
        seen.languages[text.language].append(place in found)
    seen.right[text.language] += [place in right for place in range(len(candidates))]
    seen.texts += 1
    if seen.model:
        seen.model.count_matches(len(pairs), len(candidates))


async def matches(said: Sequence[str], wanted: Sequence[str], embedder: Embedder) -> list[tuple[int, int]]:
    """Return the pairs of indexes in `said` and `wanted` that match by the rule of this module, each index once."""
    if not said or not wanted:
        return []
    vectors = np.stack([np.frombuffer(one, np.float32) for one in await embedder.embed([*said, *wanted])])
    cosines = vectors[: len(said)] @ vectors[len(said) :].T
    scored = [
        (max(float(cosines[left, right]), _shared_part(one, other) + SAME_COSINE - SAME_WORDS), left, right)
        for left, one in enumerate(said)
        for right, other in enumerate(wanted)
    ]
    pairs: list[tuple[int, int]] = []
    for score, left, right in sorted(scored, reverse=True):
        free = all(left != taken and right != also for taken, also in pairs)
        if score >= SAME_COSINE and free:
            pairs.append((left, right))
    return pairs


def _shared_part(one: str, other: str) -> float:
    left, right = set(terms(one)), set(terms(other))
    both = len(left & right)
    return both / min(len(left), len(right)) if both >= FEWEST_WORDS else 0.0
