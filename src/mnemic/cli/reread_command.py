"""reread: recorded messages read again, by today's rules or another model."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.cli.failures import Exit
from mnemic.cli.lazy_loading import Command
from mnemic.cli.option_values import MOMENT
from mnemic.cli.result_texts import count_text
from mnemic.cli.shared_options import Given

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.maintenance.reread import Difference, RereadReport
    from mnemic.types import Actor

_MARKS = {"added": "+", "relabelled": "~", "ended": "-", "reopened": "^"}


@click.command("reread", cls=Command)
@click.option("--model", metavar="NAME", help="Read with this language model, not the configured one.")
@click.option("--since", metavar="TIME", type=MOMENT, help="Only messages said from then on.")
@click.option("--limit", "-n", type=click.IntRange(1), metavar="N", help="Read at most N messages in this call.")
@click.option(
    "--progress", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Keep what was read here."
)
@click.option("--dry-run", is_flag=True, help="Show the differences and the cost; change nothing.")
@click.option("--undo", metavar="RUN", help="Take back what this run changed.")
@click.pass_obj
def reread_(
    given: Given,
    /,
    model: str | None,
    since: datetime | None,
    limit: int | None,
    progress: Path | None,
    dry_run: bool,
    undo: str | None,
) -> int:
    r"""Read the recorded messages again, with today's rules or another model, and change what is remembered.

    Each line is a memory that would be added (+), labelled otherwise (~), ended (-) or reopened (^). What you have
    added, corrected, approved or forgotten stays as it is. With --progress a reading that was stopped is continued.

    \b
      mnemic reread --dry-run
      mnemic reread --model gpt-4.1-mini --since 2026-01-01 --progress reading.db --limit 500 --dry-run
      mnemic reread --undo RUN
    """
    if undo is not None:
        done = given.with_engine(lambda engine, actor: engine.undo_reread(undo, actor=actor))
        given.show({"undone": undo, "memories": done}, lambda: f"{count_text(done)} as before")
        return Exit.OK

    async def work(engine: MemoryEngine, actor: Actor) -> RereadReport:
        return await engine.reread(actor=actor, since=since, limit=limit, progress=progress, dry_run=dry_run)

    other: dict[str, Any] = {} if model is None else {"model": model}
    report = given.with_engine(work, **other)
    given.show(report.to_dict(), lambda: _text(report, dry_run=dry_run))
    return Exit.MODEL if report.left and report.errors else Exit.OK


def _text(report: RereadReport, *, dry_run: bool) -> str:
    lines = [_line(one) for one in report.differences]
    cost = report.cost
    spent = f", {cost.calls} calls, {cost.input_tokens + cost.output_tokens} tokens" if cost.calls else ""
    lines.append(f"{report.messages} messages read{spent}")
    if report.left:
        lines.append(f"{report.left} are left: call it again with the same --progress; until then nothing is changed")
    if report.protected:
        lines.append(f"{report.protected} left as you corrected them")
    if report.run_id is not None:
        lines.append(f"changed; mnemic reread --undo {report.run_id} takes it back")
    elif report.differences and dry_run:
        lines.append("nothing was changed (--dry-run)")
    elif not report.differences and not report.left:
        lines.append("no difference")
    return "\n".join([*lines, *report.errors])


def _line(one: Difference) -> str:
    labels = ", ".join(filter(None, (one.key, one.category)))
    by = "" if one.by is None else f"  (by: {one.by})"
    return f"{_MARKS[one.change]} {one.content}{f'  [{labels}]' if labels else ''}{by}"
