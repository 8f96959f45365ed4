"""search, get, list, history."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click

from mnemic import requests
from mnemic.cli.failures import complain
from mnemic.cli.lazy_loading import Command
from mnemic.cli.option_values import options_of, parse_request
from mnemic.cli.result_texts import (
    history_text,
    hits_text,
    list_text,
    memory_dict,
    memory_text,
    near_hits,
    result_dict,
)
from mnemic.cli.shared_options import Given, of_others
from mnemic.cli.terminal import note, say
from mnemic.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.engine import MemoryEngine
    from mnemic.engine.lineage import Lineage
    from mnemic.types import Actor, Memory, SearchResult

LONGEST_QUERY = 8192


@click.command("search", cls=Command)
@click.argument("query")
@options_of(requests.Search)
@click.pass_obj
def search_(given: Given, /, query: str, **options: Any) -> None:
    r"""Find the memories that answer a question, with the reason for each. An empty QUERY lists the newest.

    \b
      mnemic search "where does she live?"
      mnemic search "flights" --key seat --key flight_time --json
      mnemic search "flights" --where '{"airline": "KLM", "stops": {"$lte": 1}}'
    """
    if len(query) > LONGEST_QUERY:  # a search shortens it, which nobody would notice
        raise InvalidInput("query:too_long", hint=f"more than {LONGEST_QUERY} characters")
    request = parse_request(requests.Search, query=query, **options)

    async def work(engine: MemoryEngine, actor: Actor) -> tuple[SearchResult, str]:
        result = await engine.handle(request, actor=actor)
        return result, "" if result.hits else await of_others(engine, actor)

    result, others = given.with_engine(work)
    hits, left_out = near_hits(result)
    given.show(result_dict(result), lambda: hits_text(hits) or "nothing found")
    if others and not given.as_json:
        note(others)
    if result.abstains and not given.as_json:
        note("no memory seems relevant; showing the nearest")
    if left_out and not given.as_json:
        note(f"{left_out} less relevant {'hit' if left_out == 1 else 'hits'} hidden; --json shows all")
    for name, reason in result.errors.items():
        complain(f"degraded:{name}", f"that list failed ({reason}); what it would have found may be missing")


@click.command("get", cls=Command)
@click.argument("memory_id")
@options_of(requests.Get)
@click.pass_obj
def get_(given: Given, /, memory_id: str, **times: Any) -> None:
    """Show one memory with all its fields."""
    memory = given.with_engine(lambda engine, actor: engine.get(memory_id, actor=actor, **times))
    given.show(memory_dict(memory), lambda: memory_text(memory))


@click.command("list", cls=Command)
@options_of(
    requests.List,
    limit={"type": click.IntRange(1, 10_000)},
    before={"metavar": "MEMORY_ID", "help": "Continue after this memory, the last of the previous page."},
)
@click.pass_obj
def list_(given: Given, /, **options: Any) -> None:
    r"""List active memories, newest first.

    \b
      mnemic list --since 2026-01-01 --category travel
      mnemic list --where '{"airline": "KLM"}' --limit 10
    """
    request = parse_request(requests.List, **options)
    whole = requests.Count(**{one.name: getattr(request, one.name) for one in fields(requests.Count)})

    async def work(engine: MemoryEngine, actor: Actor) -> tuple[Sequence[Memory], int, str | None, str]:
        page = await engine.handle(request, actor=actor)
        last = page[-1].memory_id if len(page) == request.limit else None
        more: Sequence[Memory] = ()
        if last is not None:
            more = await engine.handle(replace(request, limit=1, before=last), actor=actor)
        others = "" if page else await of_others(engine, actor)
        return page, await engine.handle(whole, actor=actor), last if more else None, others

    page, total, following, others = given.with_engine(work)
    shown = {"memories": [memory_dict(memory) for memory in page], "total": total, "next": following}
    given.show(shown, lambda: list_text(page) if page else _nothing(request, whole))
    if others and not given.as_json:
        note(others)
    if following and not given.as_json:
        note(f"{len(page)} of {total}; the next page: --before {following}")


def _nothing(request: requests.List, whole: requests.Count) -> str:
    """Return the text for an empty page."""
    if request.before is not None:
        return "nothing more"
    return "nothing remembered yet" if whole == requests.Count() else "nothing meets that"


@click.command("history", cls=Command)
@click.argument("named", metavar="KEY_OR_ID")
@options_of(requests.History)
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
    say(history_text((*earlier, *versions, *later)))
