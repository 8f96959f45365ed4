"""search, get, list, history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mnemic.entrypoints.cli.command_loader import Command
from mnemic.entrypoints.cli.failures import complain
from mnemic.entrypoints.cli.inputs import KIND, LEVEL, MOMENT, json_object
from mnemic.entrypoints.cli.shared_options import Given, of_others
from mnemic.entrypoints.cli.terminal import note, say
from mnemic.entrypoints.cli.views import (
    day,
    hits_text,
    label,
    list_text,
    memory_dict,
    memory_text,
    result_dict,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mnemic.engine import MemoryEngine
    from mnemic.maintain.lineage import Lineage
    from mnemic.types import Actor, Memory, SearchResult


WHERE = "Only memories whose data meets this filter, a JSON object."


def in_time(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the options of the two axes of time."""
    command = click.option("--known-at", type=MOMENT, help="Memories as believed then, whatever was learnt since.")(
        command
    )
    return click.option("--as-of", type=MOMENT, help="Memories that were true then.")(command)


@click.command("search", cls=Command)
@click.argument("query")
@click.option("--top-k", "-k", type=int, default=10, show_default=True, help="How many at most, 1 to 100.")
@click.option("--kind", "kinds", type=KIND, multiple=True, help="Only this kind; may be repeated.")
@click.option("--key", "keys", multiple=True, help="Only under this key; may be repeated.")
@click.option("--category", "categories", multiple=True, help="Only in this category; may be repeated.")
@click.option("--level", "levels", type=LEVEL, multiple=True, help="Only at this level; may be repeated.")
@click.option("--where", metavar="JSON", help=WHERE)
@click.option("--since", "happened_from", type=MOMENT, help="Happened then or later.")
@click.option("--until", "happened_to", type=MOMENT, help="Happened before then.")
@in_time
@click.option("--asked-at", type=MOMENT, help="Reference time for words such as 'last week'.")
@click.option("--min-score", type=float, default=0.0, help="Minimum relevance of a memory, 0 to 1.")
@click.option("--max-tokens", type=int, help="Maximum tokens of the memories.")
@click.option("--preference-bias", is_flag=True, help="Boost the policy's preference keys.")
@click.pass_obj
def search_(given: Given, /, query: str, **options: Any) -> None:
    r"""Find the memories that answer a question, with the reason for each. An empty QUERY lists the newest.

    \b
      mnemic search "where does she live?"
      mnemic search "flights" --key seat --key flight_time --json
      mnemic search "flights" --where '{"airline": "KLM", "stops": {"$lte": 1}}'
    """
    options["where"] = json_object(options["where"], "where") or None
    for name in ("kinds", "keys", "categories", "levels"):
        options[name] = list(options[name]) or None

    async def work(engine: MemoryEngine, actor: Actor) -> tuple[SearchResult, str]:
        result = await engine.search(query, actor=actor, **options)
        return result, "" if result.hits else await of_others(engine, actor)

    result, others = given.with_engine(work)
    given.show(result_dict(result), lambda: hits_text(result.hits) or "nothing found")
    if others and not given.as_json:
        note(others)
    if result.abstains and not given.as_json:
        note("probably nothing about this is known; these are only the nearest")
    for name, reason in result.errors.items():
        complain(f"degraded:{name}", f"that list failed ({reason}); what it would have found may be missing")


@click.command("get", cls=Command)
@click.argument("memory_id")
@in_time
@click.pass_obj
def get_(given: Given, /, memory_id: str, **times: Any) -> None:
    """Show one memory with all its fields."""

    async def work(engine: MemoryEngine, actor: Actor) -> Memory:
        return await engine.get(memory_id, actor=actor, **times)

    memory = given.with_engine(work)
    given.show(memory_dict(memory), lambda: memory_text(memory))


@click.command("list", cls=Command)
@click.option("--kind", "kinds", type=KIND, multiple=True, help="Only this kind; may be repeated.")
@click.option("--key", "keys", multiple=True, help="Only under this key; may be repeated.")
@click.option("--category", "categories", multiple=True, help="Only in this category; may be repeated.")
@click.option("--where", metavar="JSON", help=WHERE)
@click.option("--limit", "-n", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Maximum number.")
@click.option("--before", metavar="MEMORY_ID", help="Continue after this memory, the last of the previous page.")
@in_time
@click.pass_obj
def list_(given: Given, /, limit: int, before: str | None, where: str | None, **asked: Any) -> None:
    """List active memories, newest first."""
    only: dict[str, Any] = {name: list(asked.pop(name)) or None for name in ("kinds", "keys", "categories")}
    only["where"] = json_object(where, "where") or None

    async def work(engine: MemoryEngine, actor: Actor) -> tuple[Sequence[Memory], int, str]:
        page = await engine.list(actor=actor, limit=limit, before=before, **only, **asked)
        others = "" if page else await of_others(engine, actor)
        return page, await engine.count(actor=actor, **asked), others

    page, total, others = given.with_engine(work)
    following = page[-1].memory_id if len(page) == limit and total > limit else None
    shown = {"memories": [memory_dict(memory) for memory in page], "total": total, "next": following}
    given.show(shown, lambda: list_text(page) if page else "nothing remembered yet")
    if others and not given.as_json:
        note(others)
    if following and not given.as_json:
        note(f"{len(page)} of {total}; the next page: --before {following}")


@click.command("history", cls=Command)
@click.argument("named", metavar="KEY_OR_ID")
@in_time
@click.pass_obj
def history_(given: Given, /, named: str, **times: Any) -> None:
    r"""Show every version of a memory, oldest first, with the memories it replaced and what replaced it; or all the
    values that a key has had.

    \b
      mnemic history seat
      mnemic history 0197f3c2-6f0e-7d21-9a52-0a4f6e8d1c3b
    """

    async def work(engine: MemoryEngine, actor: Actor) -> tuple[Sequence[Memory], Lineage | None]:
        versions = await engine.history(named, actor=actor, **times)
        whole = versions[0].memory_id == named and not any(times.values())
        return versions, await engine.lineage(named, actor=actor) if whole else None

    versions, line = given.with_engine(work)
    earlier, later = ((), ()) if line is None else (line.earlier[::-1], line.later)
    if given.as_json:
        around = {"earlier": earlier, "later": later} if line is not None else {}
        shown = {"versions": versions, **around}
        given.show({name: [memory_dict(memory) for memory in fields] for name, fields in shown.items()}, str)
        return
    for memory in (*earlier, *versions, *later):
        start = f"from {day(memory.valid_from)} " if memory.valid_from else ""
        validity = f"valid {start}until {day(memory.valid_to)}" if memory.valid_to else ""
        say(f"{memory.version:>3}  {day(memory.updated_at)}  {memory.status:<14}  {label(memory)}  {validity}".rstrip())
