"""mcp: one user's memory as an MCP server."""

from __future__ import annotations

import json
import secrets
import socket
from functools import partial
from typing import TYPE_CHECKING

import click

from mnemic.agents.mcp import HOSTS, host_settings
from mnemic.cli.lazy_loading import Command
from mnemic.cli.server_log import configure
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, note
from mnemic.config.files import secret_named
from mnemic.errors import InvalidConfig
from mnemic.plugins.extras import missing_extra

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.types import Actor


@click.command("mcp", cls=Command)
@click.option(
    "--http", "port", type=click.IntRange(0, 65535), help="Serve this port of 127.0.0.1 instead; 0 picks one."
)
@click.option(
    "--host-confirms",
    is_flag=True,
    help="Delete the user's statements without asking; only if the client confirms every call.",
)
@click.option(
    "--believe-user",
    is_flag=True,
    help="Believe what `capture` is given as the user's own words; only if one person uses the client.",
)
@click.option(
    "--print-config",
    "host",
    type=click.Choice(HOSTS),
    help="Print this client's configuration and exit.",
)
@click.pass_obj
def mcp_(given: Given, port: int | None, host_confirms: bool, believe_user: bool, host: str | None) -> int:
    r"""Serve one user's memory to MCP clients, over standard input and output.

    Tools, resources and prompts reach the memories of --user only: no tool has an argument for the user.

    \b
      mnemic --store memory.db --user ana mcp
      MNEMIC_MCP_TOKEN=... mnemic mcp --http 8765
      mnemic --store ~/memory.db --user ana mcp --print-config claude-desktop

    The user's own statements are deleted only with the user's consent: a client with elicitation must ask. Other
    clients are refused, unless --host-confirms is set. What `capture` is given counts as a model's words, unless
    --believe-user is set.

    Over HTTP a client sends MNEMIC_MCP_TOKEN as bearer token, or the line of the file MNEMIC_MCP_TOKEN_FILE; without
    either, a random token is printed on standard error.
    """
    flags = [*(["--host-confirms"] if host_confirms else []), *(["--believe-user"] if believe_user else [])]
    if host is not None:
        click.echo(json.dumps(host_settings(host, given, flags=flags), indent=2, ensure_ascii=False))
        note(f"goes into {HOSTS[host]}")
        return Exit.OK
    token = secret_named("MNEMIC_MCP_TOKEN")
    if port is not None and token is not None and len(token) < 16:
        raise InvalidConfig("mcp_token", hint="MNEMIC_MCP_TOKEN needs 16 characters or more")

    given.with_engine(partial(_serve, port, token, host_confirms, believe_user), creates=True, by_settings=True)
    return Exit.OK


async def _serve(
    port: int | None, token: str | None, host_confirms: bool, believe_user: bool, engine: MemoryEngine, actor: Actor
) -> None:
    try:
        from mnemic.agents.mcp import memory_server, serve_http
    except ModuleNotFoundError as missing:
        raise missing_extra("mcp", setting="mcp") from missing
    from mnemic.maintenance.tenant_engine import Tenancy  # loads the engine, which the help does without

    configure(as_json=False)
    tenancy = Tenancy(engine)

    async def in_force() -> MemoryEngine:
        return (await tenancy.tenant_state(actor.tenant)).engine

    server = memory_server(engine, actor, host_confirms=host_confirms, believes_user=believe_user, in_force=in_force)
    if port is None:
        await server.run_stdio_async()
        return
    with socket.create_server(("127.0.0.1", port)) as listening:
        click.echo(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", err=True)
        if token is None:
            token = secrets.token_urlsafe(24)
            click.echo(f"token: {token}", err=True)
        await serve_http(server, listening, token)
