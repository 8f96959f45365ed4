"""Stated preferences: the share that is in the context of a request that depends on them.

PATH is a file of JSON lines, or a JSON list, of {preference, question}: a statement as a user says it, and a request
whose answer has to follow it (the field names of PrefEval). Each statement is captured for a separate user, among
`others` of the file that are about something else; then the context of the request is built as for a model call.
`in_context` and `standing`: see `mnemic_eval.pinned`. Split: every other line is `test`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.records import open_file, records
from mnemic.ports import Embedder
from mnemic.types import Actor, Message
from mnemic_eval.conditions import conditions
from mnemic_eval.dataset_files import find_file, load_json
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.outcome import SPLITS, Asked, report, write_lines
from mnemic_eval.pinned import FIGURES, Wish, follow_wishes
from mnemic_eval.progress import Progress
from mnemic_eval.replay import Replayed, throwaway_engine

FILES = ("preferences*.json*", "*.jsonl", "*.json")
OTHERS = 9
"""Number of statements of other lines that the same user makes."""


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Measure the first `limit` lines of PATH. Returns what `locomo.run` does.

    Raises InvalidInput (`invalid_input:data:preferences`) for a file of another shape.
    """
    lines = statements(path)[: options.limit]
    made = options.chosen_embedder()
    asked = asyncio.run(_measure_lines(lines, made, options.progress))
    if options.per_question is not None:
        write_lines(asked, options.per_question)
    settings = conditions(seed=options.seed, set="preferences", embedder=made.space.model, others=OTHERS)
    return report(asked, FIGURES, settings, seed=options.seed)


def statements(path: Path) -> list[tuple[str, str]]:
    """Return the statements and requests of the file at `path`. Raises InvalidInput."""
    file = find_file(path, FILES)
    if file.suffix == ".json":
        lines = load_json(file)
    else:
        with open_file(file) as (stream, _):
            lines = [record.value for record in records(stream)]
    if not isinstance(lines, list) or not lines or not all(map(_is_line, lines)):
        raise InvalidInput("data:preferences", hint="lines of {preference, question}")
    return [(line["preference"], line["question"]) for line in lines]


def _is_line(line: object) -> bool:
    return isinstance(line, Mapping) and all(
        isinstance(line.get(name), str) and line[name].strip() for name in ("preference", "question")
    )


async def _measure_lines(lines: Sequence[tuple[str, str]], embedder: Embedder, progress: Progress) -> list[Asked]:
    asked: list[Asked] = []
    async with throwaway_engine(embedder) as engine:
        for place, (stated, request) in enumerate(lines):
            conversation = Replayed(engine, Actor(user=f"user-{place}"))
            step = max(1, len(lines) // (OTHERS + 1))
            places = dict.fromkeys((place + step * number) % len(lines) for number in range(OTHERS + 1))
            said = [Message(role="user", content=lines[one][0], message_id=f"m{one}") for one in places]
            wish = Wish(
                question_id=str(place),
                question=request,
                category="preference",
                wanted=stated,
                evidence=frozenset({f"m{place}"}),
            )
            asked += await follow_wishes(conversation, said, [wish], SPLITS[place % 2])
            progress("statements", place + 1, len(lines))
    return asked
