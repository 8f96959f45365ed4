"""install, uninstall, hook: memory in coding agents."""

from __future__ import annotations

import os
import sys
import time
from difflib import unified_diff
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from mnemic.cli.lazy_loading import Command, TenantCommand
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, note, paint
from mnemic.coding_agents.hook_client import run_hook
from mnemic.coding_agents.installation import Change, carry_out, is_installed, plan_install, plan_uninstall
from mnemic.coding_agents.repository import Place, place_of, trust_team_file
from mnemic.coding_agents.state_files import make_private_folder, read_state, state_folder, write_state
from mnemic.coding_agents.tools import TOOLS
from mnemic.errors import InvalidConfig

_NAMES = click.Choice(list(TOOLS))


@click.command("install", cls=TenantCommand)
@click.argument("tools", nargs=-1, type=_NAMES, metavar="[TOOL]...")
@click.option("--print", "prints", is_flag=True, help="Print what belongs into each file, and write nothing.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
@click.option("--trust", is_flag=True, help="Follow this repository's mnemic.toml, as it is now.")
@click.pass_obj
def install_(given: Given, tools: tuple[str, ...], prints: bool, dry_run: bool, trust: bool) -> int:
    r"""Give coding agents memory: claude-code, codex, cursor, gemini, opencode.

    \b
      mnemic install claude-code
      mnemic install codex cursor --dry-run
      mnemic install

    Hooks show the model what bears on each prompt and remember what you say; an MCP server and a skill let it search.
    Each repository has a memory of its own, in ~/.mnemic/coding.db, or in the store that --store names here. Without
    a tool it says what is installed. Everything else in the tool's settings stays as it is.
    """
    mcp = find_spec("mcp") is not None
    planned = {name: plan_install(TOOLS[name].files(mcp)) for name in tools}
    if prints or dry_run:
        for changes in planned.values():
            _show(changes, whole=prints)
        return Exit.OK
    place = trust_team_file(Path.cwd()) if trust else None
    if tools:
        _choose(given)
    for changes in planned.values():
        carry_out(changes, installs=True)
    result = {name: [_line(change) for change in changes] for name, changes in planned.items()}
    if tools or place:
        given.show(
            {"installed": result, **({"team": _team(place)} if place else {})},
            lambda: "\n".join([*_texts(planned, "installed"), *([f"team  {_team(place)}"] if place else [])]),
        )
        for name in tools:
            note(TOOLS[name].remains)
        if tools and not mcp:
            note("without the MCP server: pip install 'mnemic[mcp]', then install again")
        return Exit.OK
    return _report(given)


@click.command("uninstall", cls=TenantCommand)
@click.argument("tools", nargs=-1, type=_NAMES, metavar="TOOL...", required=True)
@click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
@click.pass_obj
def uninstall_(given: Given, tools: tuple[str, ...], dry_run: bool) -> int:
    r"""Take mnemic out of the settings of coding agents. What is remembered stays.

    \b
      mnemic uninstall claude-code
    """
    planned = {name: plan_uninstall(TOOLS[name].files(True)) for name in tools}
    if dry_run:
        for changes in planned.values():
            _show(changes, whole=False)
        return Exit.OK
    for changes in planned.values():
        carry_out(changes, installs=False)
    result = {name: [_line(change) for change in changes] for name, changes in planned.items()}
    given.show({"uninstalled": result}, lambda: "\n".join(_texts(planned, "uninstalled")))
    return Exit.OK


@click.command("hook", cls=Command)
@click.argument("tool", type=_NAMES)
@click.argument("event", required=False)
def hook_(tool: str, event: str | None) -> int:
    """Answer one event of a coding agent, which gives it on standard input. `mnemic install` writes this command into
    the settings of the tool. It lets every prompt through.
    """
    return run_hook([tool, *([event] if event else [])], time.monotonic())


def _choose(given: Given) -> None:
    """Keep what the hooks need to know of this call. Raises InvalidConfig (`api_key_file`)."""
    chosen = read_state("agents.json")
    store = given.store or os.environ.get("MNEMIC_STORE") or chosen.get("store") or str(state_folder() / "coding.db")
    make_private_folder(state_folder())
    files = {
        "policy": given.policy or chosen.get("policy"),
        "api_key_file": given.api_key_file or chosen.get("api_key_file"),
        "env_file": os.environ.get("MNEMIC_ENV_FILE") or chosen.get("env_file"),
    }
    said: dict[str, Any] = {"store": store if ":" in store else str(Path(store).expanduser().resolve())}
    if given.user or chosen.get("user"):
        said["user"] = given.user or chosen["user"]
    for name, file in files.items():
        if file:
            path = Path(file).expanduser().resolve()
            if not path.is_file():
                raise InvalidConfig(name, hint=f"there is no file {path}")
            said[name] = str(path)
    write_state("agents.json", said)


def _report(given: Given) -> int:
    installed = [name for name, tool in TOOLS.items() if is_installed(tool.files(True))]
    place, failed = place_of(Path.cwd()), read_state("hook-failure.json")
    shown: dict[str, Any] = {
        "installed": installed,
        "store": place.store,
        "repository": place.repository.name,
        "tenant": place.tenant,
    }
    shown |= {"team": _team(place)} if place.workspace or place.note else {}
    shown |= {"last_failure": failed} if failed else {}

    def text() -> str:
        lines = [f"installed   {', '.join(installed) or 'nowhere yet: mnemic install claude-code'}"]
        lines += [f"memory      {place.store}", f"repository  {place.repository.name}"]
        lines += [f"team        {_team(place)}"] if place.workspace or place.note else []
        lines += [f"last failure  {failed.get('tool')} {failed.get('event')}: {failed.get('reason')}"] if failed else []
        return "\n".join(lines)

    given.show(shown, text)
    return Exit.OK


def _team(place: Place | None) -> str:
    if place is None or place.workspace is None:
        return (place and place.note) or "none"
    return f"{place.workspace} in {place.store.partition('@')[2] or place.store}"


def _line(change: Change) -> dict[str, Any]:
    kept = {"kept": list(change.kept)} if change.kept else {}
    return {"file": str(change.path), "change": change.verb, **kept}


def _texts(planned: dict[str, list[Change]], done: str) -> list[str]:
    lines = []
    for name, changes in planned.items():
        lines.append(f"{done}  {TOOLS[name].title}")
        for change in changes:
            lines.append(f"  {change.verb:<9}  {change.path}")
            lines += [f"             {kept} is yours and stays" for kept in change.kept]
    return lines


def _show(changes: list[Change], *, whole: bool) -> None:
    for change in changes:
        after = (change.after or b"").decode("utf-8", "replace")
        if whole:
            click.echo(f"# {change.path}\n{after}")
            continue
        before = (change.before or b"").decode("utf-8", "replace")
        click.echo(f"{change.verb}  {change.path}")
        for line in unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=2):
            colour = {"+": "green", "-": "red"}.get(line[:1])
            click.echo(paint(line, fg=colour) if colour and sys.stdout.isatty() else line)
