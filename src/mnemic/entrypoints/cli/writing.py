"""add, capture, update, forget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mnemic.entrypoints.cli.failures import Exit, complain, exit_code_of_run
from mnemic.entrypoints.cli.frame import Command
from mnemic.entrypoints.cli.given import Given
from mnemic.entrypoints.cli.inputs import KIND, LEVEL, MOMENT, json_object, text_or_stdin
from mnemic.entrypoints.cli.memory_requests import carried_out, outcome
from mnemic.entrypoints.cli.terminal import confirmed, note
from mnemic.entrypoints.cli.views import (
    capture_text,
    counted,
    label,
    receipt_dict,
    receipt_text,
    report_dict,
)

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from mnemic.engine import MemoryEngine
    from mnemic.maintain.undo import UndoReceipt
    from mnemic.types import Actor, Memory, WriteReceipt
    from mnemic.types.trace import RunReport


@click.command("add", cls=Command)
@click.argument("content")
@click.option("--key", help="What it is a value of: home_city, seat, diet. Then CONTENT is the value.")
@click.option("--kind", type=KIND, default="long_term", show_default=True, help="The kind of memory.")
@click.option("--level", type=LEVEL, default="user", show_default=True, help="Whose memory it is.")
@click.option("--category", help="A word to group memories by.")
@click.option("--data", metavar="JSON", help="Fields to keep with it, as a JSON object.")
@click.option("--ttl", metavar="TIME", help="How long it is kept: 12h, 30d, 2w, 10y or never; the policy may say less.")
@click.option("--ttl-days", type=float, hidden=True, help="The same in days.")
@click.option("--confidence", type=float, default=0.8, show_default=True, help="How sure it is, 0 to 1.")
@click.option("--occurred-at", type=MOMENT, help="When it happened; UTC unless it says otherwise.")
@click.option("--idempotency-key", help="A second call with the same key changes nothing.")
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
    ttl = _ttl(options.pop("ttl"), options.pop("ttl_days"))
    return await engine.add(content, actor=actor, data=json_object(data, "data"), ttl=ttl, **options)


def _ttl(wish: str | None, days: float | None) -> timedelta | None:
    from datetime import timedelta

    from mnemic.errors import InvalidInput
    from mnemic.guard.expiry import ttl_of

    if days is None:
        return ttl_of(wish)
    if wish is not None or not 1 <= days <= 36_500:  # also false for NaN
        raise InvalidInput("ttl_days", hint="1 to 36500, and not beside --ttl")
    return timedelta(days=days)


@click.command("capture", cls=Command)
@click.argument("message")
@click.option("--sent-at", type=MOMENT, help="When it was said; now where not given.")
@click.option("--idempotency-key", help="A second call with the same key changes nothing.")
@click.option("--yes", "-y", is_flag=True, help="Carry out what the message asks of memory; do not ask.")
@click.pass_obj
def capture_(given: Given, message: str, sent_at: datetime | None, idempotency_key: str | None, yes: bool) -> int:
    r"""Remember what is worth it in something that was said. MESSAGE "-" reads standard input.

    \b
      mnemic capture "I am vegetarian and I live in Oslo."
      mnemic capture "Forget what I told you about my sister."

    What a message asks of memory (forget, show, that something is wrong) is carried out once you have confirmed it: at
    a terminal you are asked.
    """
    text = text_or_stdin(message)

    async def work(engine: MemoryEngine, actor: Actor) -> RunReport:
        from mnemic.types import Message

        said = Message(role="user", content=text, session=actor.session, sent_at=sent_at)
        return await engine.capture(said, actor=actor, idempotency_key=idempotency_key)

    report = given.with_engine(work, creates=True)
    done = [carried_out(given.with_engine, request, yes=yes) for request in report.asked]
    told = report_dict(report) | ({"carried_out": done} if done else {})
    given.show(told, lambda: "\n".join([capture_text(report), *map(outcome, report.asked, done)]))
    if report.status == "ok":
        return Exit.OK
    complain(report.stop_reason)
    return exit_code_of_run(report.stop_reason)


@click.command("update", cls=Command)
@click.argument("memory_id")
@click.argument("content")
@click.option("--data", metavar="JSON", help="Other fields to keep with it, as a JSON object.")
@click.option("--context", help="Other words about it, which are searched too.")
@click.option("--expected-version", type=click.IntRange(min=1), help="Refuse when it has changed since this version.")
@click.pass_obj
def update_(given: Given, /, memory_id: str, content: str, **options: Any) -> int:
    """Correct a memory; its old version stays in the history. CONTENT "-" reads standard input."""
    text, data = text_or_stdin(content), json_object(options.pop("data"), "data")

    async def work(engine: MemoryEngine, actor: Actor) -> WriteReceipt:
        return await engine.update(memory_id, text, actor=actor, data=data, **options)

    receipt = given.with_engine(work)
    given.show(receipt_dict(receipt), lambda: receipt_text(receipt, text))
    return Exit.OK if receipt.stored else Exit.REFUSED


@click.command("undo", cls=Command)
@click.argument("memory_id")
@click.pass_obj
def undo_(given: Given, memory_id: str) -> None:
    """Take back what a memory replaced: a merge, a new value, an approval. What it replaced is active again."""

    async def work(engine: MemoryEngine, actor: Actor) -> UndoReceipt:
        return await engine.undo(memory_id, actor=actor)

    receipt = given.with_engine(work)
    told = {
        "memory_id": memory_id,
        "version": receipt.version,
        "status": receipt.status.value,
        "restored": list(receipt.restored),
    }
    given.show(told, lambda: f"{receipt.status.value}  {memory_id}  (active again: {', '.join(receipt.restored)})")


@click.command("rollback", cls=Command)
@click.argument("memory_id")
@click.argument("version", type=click.IntRange(min=1))
@click.pass_obj
def rollback_(given: Given, memory_id: str, version: int) -> int:
    """Make a memory say again what it said in VERSION, as its next version; `mnemic history` shows them all."""
    receipt = given.with_engine(lambda engine, actor: engine.rollback(memory_id, version, actor=actor))
    given.show(receipt_dict(receipt), lambda: receipt_text(receipt, f"version {version}"))
    return Exit.OK


@click.command("forget", cls=Command)
@click.argument("memory_ids", nargs=-1, required=True, metavar="MEMORY_ID...")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_obj
def forget_(given: Given, memory_ids: tuple[str, ...], yes: bool) -> int:
    """Delete memories for good, with all their versions. The audit keeps that it happened, not what they said."""

    async def look(engine: MemoryEngine, actor: Actor) -> list[Memory]:
        return [await engine.get(memory_id, actor=actor) for memory_id in memory_ids]

    async def erase(engine: MemoryEngine, actor: Actor) -> None:
        for memory_id in memory_ids:
            await engine.forget(memory_id, actor=actor)

    if not yes:
        for memory in given.with_engine(look):
            note(f"  {label(memory, 100)}")
        if not confirmed(f"Delete {counted(len(memory_ids))} for good?"):
            complain("not_confirmed", "nothing was deleted")
            return Exit.REFUSED
    given.with_engine(erase)
    given.show({"forgotten": list(memory_ids)}, lambda: f"forgotten  {counted(len(memory_ids))}")
    return Exit.OK
