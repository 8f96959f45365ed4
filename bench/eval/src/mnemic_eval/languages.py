"""Memories in other languages: are they found by questions in their language, and by questions in English?

PATH is a folder searched with everything under it for `dataset.<language>.jsonl`: a text in each line, {id, text}, the
same texts in each language. The texts of a language are the memories of one user. Forty of them have questions in
`data/questions.tsv` of this package, in English and in each language, written from the English text alone; ids are
those of the public set MemPalace/mempalace, benchmarks/model_eval/datasets (MIT). `found@k` is 1 where the text is
among the first k hits; `bm25@5` the same of the keyword list alone, `vector@5` of the vectors alone; `abstained`: the
search says that it knows nothing. Categories: `de` asks in German, `de en` in English. Split: every other question is
`test`.
"""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.ports import Embedder
from mnemic.types import Actor, Candidate, Level, Source, Where
from mnemic_eval.ablation import variants
from mnemic_eval.conditions import conditions
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.outcome import SPLITS, Asked, report, write_lines
from mnemic_eval.progress import Progress
from mnemic_eval.replay import throwaway_engine

ENGLISH = "en"
FIGURES = ("found@1", "found@5", "found@10", "bm25@5", "vector@5", "abstained")
DEPTH = 10
_ALONE = {"bm25@5": "keyword alone", "vector@5": "vector alone"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A question about the text `wanted`, in a language."""

    wanted: str
    language: str
    split: str
    text: str = field(repr=False)


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Ask the first `limit` questions of each language. Returns what `locomo.run` does.

    Raises InvalidInput (`invalid_input:data:languages`) for a folder without such files.
    """
    texts, questions = read_texts(path), list(read_questions())
    if options.limit is not None:
        questions = [one for one in questions if int(one.wanted.rpartition("_")[2]) <= options.limit]
    made = options.chosen_embedder()
    asked = asyncio.run(_measure_languages(texts, questions, made, options.progress))
    if options.per_question is not None:
        write_lines(asked, options.per_question)
    fields = {language: len(found) for language, found in texts.items()}
    settings = conditions(seed=options.seed, set="languages", embedder=made.space.model, memories=fields)
    return report(asked, FIGURES, settings, seed=options.seed)


def read_questions() -> Iterator[Asking]:
    """Return the questions of the package."""
    lines = files("mnemic_eval").joinpath("data/questions.tsv").read_text(encoding="utf-8").splitlines()
    for place, line in enumerate(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)):
        wanted = line.pop("id")
        for language, text in line.items():
            yield Asking(wanted=wanted, language=language, split=SPLITS[place % 2], text=text)


def read_texts(path: Path) -> dict[str, dict[str, str]]:
    """Return the texts of each language that has questions, by id. Raises InvalidInput."""
    languages = dict.fromkeys(one.language for one in read_questions() if one.language != ENGLISH)
    found = {language: texts_in(path, language) for language in languages}
    if not all(found.values()):
        missing = ", ".join(language for language, texts in found.items() if not texts)
        raise InvalidInput("data:languages", hint=f"expected dataset.<language>.jsonl of {missing}")
    return found


def texts_in(path: Path, language: str) -> dict[str, str]:
    """Return the texts of one language by id; those in English are in files without a language. Raises
    InvalidInput.
    """
    texts: dict[str, str] = {}
    name = "dataset.jsonl" if language == ENGLISH else f"dataset.{language}.jsonl"
    try:
        for file in sorted(path.rglob(name)):
            for line in file.read_text(encoding="utf-8").splitlines():
                one: Mapping[str, str] = json.loads(line)
                texts[one["id"]] = one["text"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidInput("data:languages", hint="a file has lines other than {id, text}") from None
    return texts


async def _measure_languages(
    texts: Mapping[str, Mapping[str, str]], questions: Sequence[Asking], embedder: Embedder, progress: Progress
) -> list[Asked]:
    asked: list[Asked] = []
    async with throwaway_engine(embedder) as engine:
        for place, (language, memories) in enumerate(texts.items()):
            asking = [one for one in questions if one.language in (language, ENGLISH)]
            asked += await _answers(engine, language, memories, asking)
            progress("languages", place + 1, len(texts))
    return asked


async def _answers(
    engine: MemoryEngine, language: str, texts: Mapping[str, str], questions: Sequence[Asking]
) -> list[Asked]:
    actor = Actor(user=f"user-{language}")
    candidates = [Candidate(content=text, source=Source(ref=name)) for name, text in texts.items()]
    receipts = await engine.add_many(candidates, actor=actor)
    names = {one.memory_id: name for one, name in zip(receipts, texts, strict=True) if one.memory_id is not None}
    where = Where(scopes=(actor.scope(Level.USER),), live_at=engine.clock.now())
    alone = {figure: variants(engine)[name] for figure, name in _ALONE.items()}
    asked = []
    for one in questions:
        result = await engine.search(one.text, actor=actor, top_k=DEPTH)
        ranked = tuple(names.get(hit.memory.memory_id, "") for hit in result.hits)
        figures = {f"found@{depth}": float(one.wanted in ranked[:depth]) for depth in (1, 5, 10)}
        for figure, searcher in alone.items():
            hits = (await searcher.search(one.text, where, top_k=5)).hits
            figures[figure] = float(one.wanted in [names.get(hit.memory.memory_id) for hit in hits])
        figures["abstained"] = float(bool(result.abstains))
        category = language if one.language == language else f"{language} {one.language}"
        asked.append(
            Asked(
                question_id=f"{category} {one.wanted}",
                category=category,
                split=one.split,
                figures=figures,
                question=one.text,
                wanted=(one.wanted,),
                ranked=ranked,
            )
        )
    return asked
