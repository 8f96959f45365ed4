"""Settings of programs that start an MCP server: the form of each, so that it works from any folder and PATH."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mnemic.cli.shared_options import Given, login_name

HOSTS = {
    "claude-desktop": "claude_desktop_config.json (Settings, Developer, Edit Config)",
    "claude-code": ".mcp.json in the project's folder",
    "cursor": "~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder",
    "vscode": ".vscode/mcp.json in the project's folder",
}
"""Each program, and the file that it reads."""


def host_settings(host: str, given: Given, *, flags: Sequence[str] = ()) -> dict[str, Any]:
    """Return the settings with which `host` starts `mnemic mcp` for the store and the user of this call: with absolute
    paths, since such a program starts servers in its own folder and with its own PATH. `flags` are options of `mcp`.
    """
    settings = given.settings()
    store = settings.store if ":" in settings.store else str(Path(settings.store).resolve())
    user = login_name() if given.user is None else given.user
    words = ["--store", store, "--user", user]
    if given.tenant is not None:
        words += ["--tenant", given.tenant]
    if given.policy is not None:
        words += ["--policy", str(Path(given.policy).expanduser().resolve())]
    server = server_command([*words, "mcp", *flags])
    if host == "claude-desktop" or host == "cursor":
        return {"mcpServers": {"memory": server}}
    typed = {"type": "stdio", **server}
    return {"servers": {"memory": typed}} if host == "vscode" else {"mcpServers": {"memory": typed}}


def server_command(words: list[str]) -> dict[str, Any]:
    """Return the command of a server that runs mnemic with these words, and its environment if one is named."""
    program = program_command()
    server: dict[str, Any] = {"command": program[0], "args": [*program[1:], *words]}
    if (env_file := os.environ.get("MNEMIC_ENV_FILE")) is not None:
        server["env"] = {"MNEMIC_ENV_FILE": str(Path(env_file).expanduser().resolve())}
    return server


def program_command() -> list[str]:
    """Return the command that starts this program: the one next to the running interpreter, else the interpreter."""
    script = Path(sys.executable).with_name("mnemic.exe" if os.name == "nt" else "mnemic")
    return [str(script)] if script.exists() else [sys.executable, "-m", "mnemic"]
