"""run: one memory-augmented turn."""

from __future__ import annotations

from typing import Any

import click

from mnemic import requests
from mnemic.cli.doctor import model_asked
from mnemic.cli.failures import Exit, complain, exit_code_of_run
from mnemic.cli.lazy_loading import Command
from mnemic.cli.option_values import json_file, options_of, text_or_stdin
from mnemic.cli.result_texts import report_dict, report_text
from mnemic.cli.shared_options import Given


@click.command("run", cls=Command)
@options_of(
    requests.Run,
    message={"metavar": "TEXT", "help": 'Something the user said, to remember from; "-" is standard input.'},
    goal={"metavar": "TEXT", "help": "What to answer."},
    context={"metavar": "FILE.json", "help": "Data of the application: a JSON object. Never stored."},
    idempotency_key={"help": "A second call with the same key writes nothing more."},
)
@click.option("--preference-bias/--no-preference-bias", default=None, help="Boost the policy's preference keys.")
@click.pass_obj
def run_(
    given: Given,
    /,
    message: str | None,
    goal: str | None,
    context: str | None,
    preference_bias: bool | None,
    **options: Any,
) -> int:
    r"""Run one turn: remember from a message, answer a goal from memory, audit the memories that the answer used.

    Give --message, --goal or both. The report names what was written, blocked, retrieved, cited and verified.

    \b
      mnemic run --message "Write in English and keep it concise." --policy policy.toml
      mnemic run --goal "Draft the incident update." --context incident.json --json
    """
    if message is None and goal is None:
        raise click.UsageError("give --message, --goal or both", ctx=click.get_current_context())
    said = None if message is None else text_or_stdin(message)
    known = {} if context is None else json_file(context)

    report = given.with_engine(
        lambda engine, actor: engine.run(actor=actor, message=said, goal=goal, context=known, **options),
        creates=True,
        preference_bias=preference_bias,
    )
    given.show(report_dict(report), lambda: report_text(report, given.settings().model_prices))
    if report.status == "ok":
        return Exit.OK
    place = model_asked(given.settings(), report.stop_reason)
    complain(report.stop_reason, f"the run stopped in phase {report.phase}{f'; {place}' if place else ''}")
    return exit_code_of_run(report.stop_reason)
