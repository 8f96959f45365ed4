"""Commands that write memories, run a turn, and read recorded messages again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from mnemic import requests
from mnemic.cli.doctor import model_asked
from mnemic.cli.lazy_loading import Command
from mnemic.cli.option_values import KIND, LEVEL, MOMENT, json_file, json_object, options_of, text_or_stdin
from mnemic.cli.result_texts import (
    capture_text,
    cost_text,
    count_text,
    label,
    list_text,
    memory_dict,
    receipt_dict,
    receipt_text,
    report_dict,
    report_text,
    written_words,
)
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, ask_confirmation, at_terminal, complain, exit_code_of_run, hint_of, note
from mnemic.errors import MemoryNotFound
from mnemic.maintenance.background_capture import OF_MODEL
from mnemic.policy.expiry_rule import ttl_of
from mnemic.types import Message
from mnemic.types.json_forms import to_json
from mnemic.types.ratings import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.engine import MemoryEngine
    from mnemic.maintenance.reread import Difference, RereadReport
    from mnemic.types import Actor, Memory, WriteReceipt
    from mnemic.types.trace import RunReport


if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.types import Actor, MemoryRequest

    Call: TypeAlias = Callable[[Callable[[MemoryEngine, Actor], Awaitable[Any]]], Any]


def carried_out(call: Call, request: MemoryRequest, *, yes: bool = False) -> dict[str, Any] | None:
    """Carry out a request about memory; return JSON data; None if it was not confirmed. A request that only lists
    memories changes nothing and needs no confirmation.
    """
    if request.kind != "show" and not yes:
        known = call(lambda engine, actor: engine.carry_out(replace(request, kind="show"), actor=actor))
        for memory in known.memories:
            note(f"  {label(memory, 100)}{'' if memory.status == 'active' else f'  ({memory.status})'}")
        if request.things:
            named = ", ".join(request.things)
            note(f"these are about {len(request.things)} things: {named}; `mnemic forget ID` takes one")
        if not at_terminal() or not ask_confirmation(
            _QUESTIONS[request.kind].format(count_text(len(request.memory_ids)))
        ):
            return None
    done = call(lambda engine, actor: engine.carry_out(request, actor=actor))
    memories = [memory_dict(one) for one in done.memories]
    return {"forgotten": list(done.forgotten), "erasure": done.erasure and dict(done.erasure), "memories": memories}


_QUESTIONS = {
    "forget": "Delete {} permanently?",
    "wrong": "Delete {} permanently?",
    "forget_all": "Erase everything about you permanently, {}?",
}


def outcome(request: MemoryRequest, done: dict[str, Any] | None, *, unconfirmed: str = "") -> str:
    """Describe the outcome of a request about memory; `unconfirmed` is added if it was not confirmed."""
    if done is None:
        return f"not confirmed: nothing was done ({request.kind.replace('_', ' ')}){unconfirmed}"
    if done["erasure"] is not None:
        return f"erased  {count_text(len(request.memory_ids))}"
    if request.kind == "show":
        return "\n".join(f"  {one['memory_id']}  {one['content']}" for one in done["memories"]) or "nothing is known"
    return f"forgotten  {count_text(len(done['forgotten']))}"


@click.command("add", cls=Command)
@click.argument("content")
@options_of(
    requests.NewMemory,
    kind={"type": KIND, "default": "long_term", "show_default": True, "help": "The kind of memory."},
    key={"help": "Key to store CONTENT under, such as home_city, seat or diet."},
    level={"type": LEVEL, "default": "user", "show_default": True, "help": "Whose memory it is."},
    ttl={"metavar": "TIME", "help": "Lifetime: 12h, 30d, 2w, 10y or never; the policy may shorten it."},
    idempotency_key={"help": "A second call with the same key changes nothing."},
)
@click.pass_obj
def add_(given: Given, /, content: str, **options: Any) -> int:
    r"""Remember one thing. CONTENT "-" reads it from standard input.

    \b
      mnemic add "The cat is called Miso."
      mnemic add aisle --key seat
    """
    content = text_or_stdin(content)
    receipt = given.with_engine(lambda engine, actor: _add(engine, actor, content, options), creates=True)
    given.show(receipt_dict(receipt), lambda: receipt_text(receipt, content))
    return Exit.OK if receipt.stored else Exit.REFUSED


async def _add(engine: MemoryEngine, actor: Actor, content: str, options: dict[str, Any]) -> WriteReceipt:
    data: str | None = options.pop("data")
    ttl = ttl_of(options.pop("ttl"))
    return await engine.add(content, actor=actor, data=json_object(data, "data"), ttl=ttl, **options)


@click.command("capture", cls=Command)
@click.argument("message")
@click.option("--sent-at", type=MOMENT, help="Time of the message. [default: now]")
@click.option("--idempotency-key", help="A second call with the same key changes nothing.")
@click.option("--yes", "-y", is_flag=True, help="Carry out the changes that the message requests; do not ask.")
@click.pass_obj
def capture_(given: Given, message: str, sent_at: datetime | None, idempotency_key: str | None, yes: bool) -> int:
    r"""Remember the lasting facts in a message. MESSAGE "-" reads standard input.

    \b
      mnemic capture "I am vegetarian and I live in Oslo."
      mnemic capture "Forget what I told you about my sister."

    What a message asks of memory (forget, show, that something is wrong) is carried out once you have confirmed it: at
    a terminal you are asked.
    """
    text = text_or_stdin(message)

    async def work(engine: MemoryEngine, actor: Actor) -> tuple[RunReport, dict[str, str]]:
        said = Message(role="user", content=text, session=actor.session, sent_at=sent_at)
        captured = await engine.capture(said, actor=actor, idempotency_key=idempotency_key)
        return captured, await written_words(captured, engine, actor)

    report, contents = given.with_engine(work, creates=True)
    done = [carried_out(given.with_engine, request, yes=yes) for request in report.asked]
    report_data = report_dict(report) | ({"carried_out": done} if done else {})
    given.show(
        report_data,
        lambda: "\n".join(
            filter(
                None,
                [
                    capture_text(report, said=text, contents=contents),
                    *_outcomes(report, done),
                    cost_text(report.cost, given.settings().model_prices),
                ],
            )
        ),
    )
    if report.status == "ok":
        for reason in (one.removeprefix(OF_MODEL) for one in report.errors if one.startswith(OF_MODEL)):
            hint = hint_of(reason, model_asked(given.settings(), reason))
            complain(f"degraded:{reason}", "; ".join(filter(None, ["only the rules read it", hint])))
        return Exit.OK
    complain(report.stop_reason, model_asked(given.settings(), report.stop_reason))
    return exit_code_of_run(report.stop_reason)


def _outcomes(report: RunReport, done: Sequence[dict[str, Any] | None]) -> list[str]:
    """Return a line for each request about memory."""
    hint = "; --yes carries it out"
    return [outcome(request, one, unconfirmed=hint) for request, one in zip(report.asked, done, strict=True)]


@click.command("update", cls=Command)
@click.argument("memory_id")
@click.argument("content", required=False)
@options_of(
    requests.Update,
    without=("content", "origin"),
    key={"help": 'The key that the content is a value of; "" removes the key.'},
    category={"help": 'A category to group memories by; "" removes it.'},
    context={"help": "New context: words that searches use too."},
    ttl={"metavar": "TIME", "help": "How long it is kept from now: 12h, 30d, 2w, 10y or never."},
    expected_version={"type": click.IntRange(min=1)},
)
@click.pass_obj
def update_(given: Given, /, memory_id: str, content: str | None, **options: Any) -> int:
    r"""Correct a memory; its old version stays in the history. CONTENT "-" reads standard input; without it the text
    stays as it is.

    \b
      mnemic update ID "The cat is called Misa."
      mnemic update ID --category pets --ttl never
    """
    text = None if content is None else text_or_stdin(content)
    data = json_object(options.pop("data"), "data")

    async def work(engine: MemoryEngine, actor: Actor) -> WriteReceipt:
        try:
            return await engine.update(memory_id, text, actor=actor, data=data, **options)
        except MemoryNotFound:
            await _find_memory(engine, actor, memory_id, f'add "..." --key {memory_id}')
            raise

    receipt = given.with_engine(work)
    given.show(receipt_dict(receipt), lambda: receipt_text(receipt, text or ""))
    return Exit.OK if receipt.stored else Exit.REFUSED


@click.command("undo", cls=Command)
@click.argument("memory_id")
@click.pass_obj
def undo_(given: Given, memory_id: str) -> None:
    """Undo a merge, a new value or an approval. The replaced memories become active again."""
    receipt = given.with_engine(lambda engine, actor: engine.undo(memory_id, actor=actor))
    given.show(to_json(receipt), lambda: f"undone  {memory_id}  (active again: {', '.join(receipt.restored)})")


@click.command("rollback", cls=Command)
@click.argument("memory_id")
@click.argument("version", type=click.IntRange(min=1))
@click.pass_obj
def rollback_(given: Given, memory_id: str, version: int) -> int:
    """Restore the content of VERSION as the memory's next version; `mnemic history` lists the versions."""
    receipt = given.with_engine(lambda engine, actor: engine.rollback(memory_id, version, actor=actor))
    given.show(receipt_dict(receipt), lambda: receipt_text(receipt, f"version {version}"))
    return Exit.OK


@click.command("rate", cls=Command)
@click.argument("memory_id")
@click.argument("verdict", type=click.Choice(VERDICTS))
@click.pass_obj
def rate_(given: Given, memory_id: str, verdict: str) -> None:
    r"""Say that a memory is useful or wrong to the user: it moves up or down in their searches. `none` withdraws it.

    \b
      mnemic rate MEMORY_ID wrong
      mnemic ratings
    """
    rating = given.with_engine(lambda engine, actor: engine.rate(memory_id, verdict, actor=actor))
    shown = "withdrawn" if rating is None else rating.verdict
    given.show({"rating": None if rating is None else to_json(rating)}, lambda: f"{shown}  {memory_id}")


_UNNAMED = "Which memories? Give their identifiers (mnemic list shows them), or options such as --key or --until."
_NAMED_TWICE = "Give identifiers or options, not both."


@click.command("forget", cls=Command)
@click.argument("memory_ids", nargs=-1, metavar="[MEMORY_ID]...")
@options_of(
    requests.ForgetMatching,
    limit={"type": click.IntRange(1, 1000)},
    dry_run={"help": "Only show what would be deleted."},
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_obj
def forget_(given: Given, /, memory_ids: tuple[str, ...], yes: bool, limit: int, dry_run: bool, **bounds: Any) -> int:
    r"""Delete memories permanently, with all their versions: those named, or those that meet every option. The audit
    log records the deletion without content.

    \b
      mnemic forget 0197f3c2-6f0e-7d21-9a52-0a4f6e8d1c3b
      mnemic forget --where '{"project": "apollo"}' --dry-run
      mnemic forget --until 2024-01-01 --dry-run
    """
    bounds["where"] = json_object(bounds["where"], "where") or None
    only = {name: list(value) or None if isinstance(value, tuple) else value for name, value in bounds.items()}
    if any(value is not None for value in only.values()) == bool(memory_ids):
        raise click.UsageError(_UNNAMED if not memory_ids else _NAMED_TWICE)
    found = [] if memory_ids and yes and not dry_run else _meant(given, memory_ids, only, limit)
    if dry_run or not (found or memory_ids):
        fields = {"forgotten": [], "would_forget": [memory.memory_id for memory in found]}
        given.show(fields, lambda: list_text(found) if found else "nothing meets that")
        return Exit.OK
    wanted = list(memory_ids) or [memory.memory_id for memory in found]
    if not yes:
        for memory in found:
            note(f"  {label(memory, 100)}")
        if not ask_confirmation(f"Delete {count_text(len(wanted))} permanently?"):
            complain("not_confirmed", "nothing was deleted")
            return Exit.REFUSED

    async def erase(engine: MemoryEngine, actor: Actor) -> None:
        for memory_id in wanted:
            await engine.forget(memory_id, actor=actor)

    given.with_engine(erase)
    given.show({"forgotten": wanted}, lambda: f"forgotten  {count_text(len(wanted))}")
    return Exit.OK


def _meant(given: Given, memory_ids: Sequence[str], only: dict[str, Any], limit: int) -> Sequence[Memory]:
    """Return the memories that are named, or those that meet the options."""

    async def look(engine: MemoryEngine, actor: Actor) -> Sequence[Memory]:
        if memory_ids:
            return [await _find_memory(engine, actor, one, f"forget --key {one}") for one in memory_ids]
        return await engine.list(actor=actor, limit=limit, **only)

    return given.with_engine(look)


async def _find_memory(engine: MemoryEngine, actor: Actor, memory_id: str, of_key: str) -> Memory:
    """Return the memory with this identifier. Raises MemoryNotFound, with the command `of_key` where it is a key."""
    try:
        return await engine.get(memory_id, actor=actor)
    except MemoryNotFound:
        if not await engine.list(actor=actor, keys=[memory_id], limit=1):
            raise
        raise MemoryNotFound(hint=f"{memory_id} is a key: mnemic {of_key}") from None


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
