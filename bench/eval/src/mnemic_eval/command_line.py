"""Commands `mnemic eval` and `mnemic bench`: quality and speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from mnemic.cli.lazy_loading import Command
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Progress
from mnemic.plugins.extras import missing_extra
from mnemic_eval import beam, injection, locomo, longmemeval, model_answers, pii, preferences, truth, unread
from mnemic_eval.bench import BenchOptions, run
from mnemic_eval.outcome import SEED
from mnemic_eval.tables import bench_table, set_table

SETS: Mapping[str, Callable[..., dict[str, Any]]] = MappingProxyType(
    {
        "locomo": locomo.run,
        "longmemeval": longmemeval.run,
        "beam": beam.run,
        "pii": pii.run,
        "truth": truth.run,
        "injection": injection.run,
        "preferences": preferences.run,
        "answers": model_answers.run,
        "unread": unread.run,
    }
)
"""The measurement of each set: `run(path, **options)`, with the fields of `mnemic_eval.options.EvalOptions`."""
PACKAGED = MappingProxyType({"unread": unread.PACKAGED, "answers": model_answers.PACKAGED})
"""Data of the sets that are in this package."""
_ONLY_FOR = {"model": "answers", "others": "truth"}

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("eval", cls=Command)
@click.argument("name", metavar="SET", type=click.Choice(list(SETS)))
@click.option(
    "--data",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="The set's file or folder; unread and answers have their own.",
)
@click.option(
    "--per-question",
    "--per-line",
    "per_question",
    metavar="FILE",
    type=_FILE,
    help="Write one JSON line a question, or a line of the set, to this file.",
)
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    help="Only the first N conversations, questions or lines.",
)
@click.option("--vectors", metavar="FILE", type=_FILE, help="Keep embeddings here, for the next run.")
@click.option("--ablate", is_flag=True, help="Also measure the contribution of each list and signal of the ranking.")
@click.option("--model", is_flag=True, help="Answers: let the configured language model read, too.")
@click.option("--others", is_flag=True, help="Truth: every user has told 110 other things, and had other talks.")
@click.option("--seed", metavar="N", type=click.IntRange(0), help="Of the intervals and samples.")
@click.pass_obj
def eval_(
    given: Given,
    /,
    name: str,
    data: Path | None,
    limit: int | None,
    seed: int | None,
    model: bool,
    others: bool,
    **options: object,
) -> None:
    """Measure quality on SET: locomo, longmemeval, beam (search), pii (redaction), truth (statements that change over
    time), injection (choice of memories), preferences (shown where they matter), answers (of a language model, good
    and foolish ones), unread (statements, changes and chats of our own that nothing was tuned on; totals only).

    Every message of a set of conversations is written to a temporary file, and every question is searched. Nothing is
    downloaded: PATH is your copy of the set. Your own memories are not touched.
    """
    data = data or PACKAGED.get(name)
    if data is None:
        raise click.UsageError("--data is needed", ctx=click.get_current_context())
    for option, chosen in (("model", model), ("others", others)):
        if chosen and name != _ONLY_FOR[option]:
            raise click.UsageError(f"--{option} goes with {_ONLY_FOR[option]}", ctx=click.get_current_context())
        if chosen:
            options[option] = True
    progress, end = _progress_line()
    try:
        result = SETS[name](data, progress=progress, limit=limit, seed=SEED if seed is None else seed, **options)
    finally:
        end()
    given.show(result, lambda: set_table(result))


@click.command("bench", cls=Command)
@click.option("--rows", metavar="N", type=click.IntRange(20), help="Memories of the measured user; 10,000.")
@click.option(
    "--others", metavar="N", type=click.IntRange(0), help="Other users in the file, 1,000 memories each; 100."
)
@click.option("--repeats", metavar="N", type=click.IntRange(5, 2000), help="How often each call is timed; 200.")
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the file is made.",
)
@click.option("--server", "store", metavar="URL", help="A postgresql:// address: measure a new database there.")
@click.option(
    "--sessions", metavar="URL", help="A redis:// address: conversations and the hot set are there; fed by every write."
)
@click.option("--durability", type=click.Choice(["durable", "fast"]), help="Of the timed writes; durable.")
@click.option("--seed", metavar="N", type=click.IntRange(0), help="Of the texts.")
@click.option("--quick", is_flag=True, help="Small enough for a smoke test; its figures mean little.")
@click.option("--service", is_flag=True, help="Measure `mnemic serve` under load instead; --rows, --server, --seed.")
@click.pass_obj
def bench_(given: Given, /, *, quick: bool, service: bool, **asked: object) -> None:
    """Measure how fast it writes, searches and starts on this machine.

    Works in a temporary file or database. Takes a few minutes; --quick takes seconds.
    """
    if service:
        _bench_service(given, quick, asked)
        return
    from dataclasses import replace

    options = BenchOptions().quick() if quick else BenchOptions()
    options = replace(options, **{name: value for name, value in asked.items() if value is not None})  # type: ignore[arg-type]
    progress, end = _progress_line()
    try:
        result = run(options, progress=progress)
    finally:
        end()
    given.show(result, lambda: bench_table(result))


def _bench_service(given: Given, quick: bool, asked: dict[str, object]) -> None:
    from dataclasses import fields, replace

    try:
        from mnemic_eval.service_load import LoadOptions, load_table, run
    except ModuleNotFoundError as missing:
        raise missing_extra("server,client", setting="bench") from missing

    known = {field.name for field in fields(LoadOptions)}
    chosen = {name: value for name, value in asked.items() if value is not None and name in known}
    options = replace(LoadOptions(), **chosen)  # type: ignore[arg-type]
    progress, end = _progress_line()
    try:
        result = run(options.quick() if quick else options, progress=progress)
    finally:
        end()
    given.show(result, lambda: load_table(result))


def _progress_line() -> tuple[Callable[[str, int, int], None], Callable[[], None]]:
    """Return a progress callback that shows one line at a time, and a function that clears the last one."""
    current: dict[str, Progress] = {}

    def end() -> None:
        for line in current.values():
            line.end()
        current.clear()

    def progress(what: str, done: int, total: int) -> None:
        if what not in current:
            end()
            current[what] = Progress(what)
        current[what].show_progress(done, total)

    return progress, end
