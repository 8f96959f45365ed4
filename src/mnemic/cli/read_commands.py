"""search, get, list, history."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from mnemic import requests
from mnemic.cli.lazy_loading import Command
from mnemic.cli.option_values import options_of, parse_request
from mnemic.cli.result_texts import (
    day,
    history_text,
    hit_dict,
    hits_text,
    label,
    list_text,
    memory_dict,
    memory_text,
    near_hits,
    result_dict,
)
from mnemic.cli.shared_options import Given, of_others
from mnemic.cli.terminal import Exit, complain, exit_code_of_search, note, pairs, say, table
from mnemic.errors import InvalidInput
from mnemic.json_output import profile_dict, rating_dict
from mnemic.plugins import list_plugins
from mnemic.types.json_forms import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.engine import MemoryEngine
    from mnemic.engine.lineage import Lineage
    from mnemic.maintenance.reveal import RevealResult
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


@click.command("count", cls=Command)
@options_of(requests.Count)
@click.pass_obj
def count_(given: Given, /, **options: Any) -> None:
    r"""Count the active memories.

    \b
      mnemic count --category travel --since 2026-01-01
    """
    request = parse_request(requests.Count, **options)

    number = given.with_engine(lambda engine, actor: engine.handle(request, actor=actor))
    given.show({"count": number}, lambda: str(number))


@click.command("context", cls=Command)
@click.argument("query")
@options_of(requests.Context)
@click.pass_obj
def context_(given: Given, /, query: str, **options: Any) -> Exit:
    r"""Show the block of memories that a model asked QUERY would be given.

    \b
      mnemic context "Find me a flight to Denver."
    """
    block = given.with_engine(lambda engine, actor: engine.handle(requests.Context(query, **options), actor=actor))
    shown: dict[str, Any] = {"text": block.text, "memory_ids": list(block.memory_ids), "reason": block.reason}
    shown |= {"degraded": block.degraded, "abstained": block.abstained, "hits": [hit_dict(hit) for hit in block.hits]}
    if block.degraded and not block.text:
        if given.as_json:
            given.show(shown, str)
        complain(block.reason or "degraded", "what is remembered could not be looked up")
        return exit_code_of_search(block.reason or "")
    given.show(shown, lambda: block.text or "nothing that this depends on is remembered")
    if block.degraded:
        complain(f"degraded:{block.reason}", "what that source would have found may be missing")
    return Exit.OK


@click.command("profile", cls=Command)
@options_of(requests.Profile)
@click.pass_obj
def profile_(given: Given, /, **options: Any) -> None:
    r"""Show who the user is and what holds now, each line with the memory that it comes from.

    \b
      mnemic profile
      mnemic profile --json
    """
    profile = given.with_engine(lambda engine, actor: engine.handle(requests.Profile(**options), actor=actor))
    rows = [(one.section, one.text, f"{one.since:%Y-%m-%d}", one.memory.memory_id) for one in profile]
    given.show(
        profile_dict(profile),
        lambda: table(rows) if rows else "" if profile.without_room else "nothing is known of this user yet",
    )
    if profile.without_room and not given.as_json:
        note(f"{profile.without_room} more have no room; a higher --max-tokens shows them")


@click.command("ratings", cls=Command)
@click.pass_obj
def ratings_(given: Given, /) -> None:
    """Show what the user said of memories, newest first, and what that adds to the score of each."""
    found = given.with_engine(lambda engine, actor: engine.ratings(actor=actor))
    rows = [
        (
            one.rating.verdict,
            f"{one.shift:+.2f}",
            one.rating.memory_id,
            label(one.memory) if one.memory else "gone",
        )
        for one in found
    ]
    given.show(
        {"ratings": [rating_dict(one) for one in found]}, lambda: table(rows) if rows else "nothing was rated yet"
    )


@click.command("lineage", cls=Command)
@click.argument("memory_id")
@click.pass_obj
def lineage_(given: Given, /, memory_id: str) -> None:
    """Show the predecessors of a memory, step by step, and its successors."""
    line = given.with_engine(lambda engine, actor: engine.lineage(memory_id, actor=actor))
    if given.as_json:
        fields = {"earlier": line.earlier, "later": line.later}
        shown = {name: [memory_dict(memory) for memory in memories] for name, memories in fields.items()}
        given.show({"memory": memory_dict(line.memory), **shown, "complete": line.complete}, str)
        return
    for memory in (*line.earlier[::-1], line.memory, *line.later):
        mark = "*" if memory is line.memory else " "
        say(f"{mark} {day(memory.created_at)}  {memory.status:<14}  {label(memory)}")
    if not line.complete:
        note("there are more than 200 in one direction")


@click.command("uses", cls=Command)
@click.argument("memory_id")
@click.option("--before", type=int, metavar="SEQUENCE", help="Continue after this line, the last of the previous page.")
@click.option("--limit", "-n", type=click.IntRange(1, 1000), default=50, show_default=True, help="Maximum number.")
@click.pass_obj
def uses_(given: Given, /, memory_id: str, before: int | None, limit: int) -> None:
    """Show the audit of a memory, newest first: its authors, and the runs that were shown it."""
    uses, following = given.with_engine(
        lambda engine, actor: engine.uses(memory_id, actor=actor, before=before, limit=limit)
    )
    if given.as_json:
        given.show({"uses": [to_json(use) for use in uses], "next": following}, str)
        return
    for use in uses:
        run = f"  run {use.run_id}" if use.run_id else ""
        say(f"{day(use.at)}  version {use.version:>3}  {use.action:<12}  {use.actor}{run}")
    if following is not None:
        note(f"the next page: --before {following}")


@click.command("plugins", cls=Command)
@click.pass_obj
def plugins_(given: Given, /) -> None:
    """List the installed plug-ins: group, name, object and package."""
    found = list_plugins()
    fields = ("group", "name", "object", "package")
    given.show(
        [dict(zip(fields, one, strict=True)) for one in found],
        lambda: table(found) if found else "No plug-in is installed.",
    )


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_(context: click.Context, shell: str) -> None:
    r"""Print the completion script of a shell.

    \b
      bash   eval "$(mnemic completion bash)"           in ~/.bashrc
      zsh    eval "$(mnemic completion zsh)"            in ~/.zshrc
      fish   mnemic completion fish > ~/.config/fish/completions/mnemic.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    complete = kind(context.find_root().command, {}, "mnemic", "_MNEMIC_COMPLETE")
    click.echo(complete.source_template % complete.source_vars())


@click.command("reveal", cls=Command)
@click.argument("memory_id", metavar="MEMORY_ID")
@click.option("--role", required=True, help="A role that the policy's [redaction] reveal names.")
@click.pass_obj
def reveal_(given: Given, /, memory_id: str, role: str) -> int:
    r"""Show the values that the markers of a memory replace, where the policy tokenised them.

    Each call leaves a line in the audit, also when it is denied.

    \b
      mnemic reveal MEMORY_ID --role privacy_officer --user ben
    """
    revealed = given.with_engine(
        lambda engine, actor: engine.reveal(memory_id, actor=actor, role=role, whole_tenant=True)
    )
    given.show(to_json(revealed), lambda: _revealed_text(revealed))
    return Exit.OK


def _revealed_text(revealed: RevealResult) -> str:
    gone = dict.fromkeys(revealed.unknown, "replaced permanently")
    return "\n".join(filter(None, (revealed.content, pairs({**revealed.values, **gone}, indent="  "))))
