"""serve, apikeys."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import click

from mnemic.bootstrap import build_engine
from mnemic.cli.lazy_loading import TenantCommand
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, note, require_new_file, table, write_private
from mnemic.config import Settings
from mnemic.plugins.extras import missing_extra
from mnemic_server.credentials import ApiKeys

ROLES = ("reader", "writer", "reviewer", "subject", "operator", "admin")


@click.command("serve", cls=TenantCommand)
@click.option("--host", metavar="ADDRESS", help="Address to listen at; 127.0.0.1.")
@click.option("--port", metavar="N", type=click.IntRange(0, 65_535), help="Port to listen at; 8377.")
@click.option("--workers", metavar="N", type=click.IntRange(1, 64), help="Processes that answer requests; 1.")
@click.option("--open", "opened", is_flag=True, help="No authentication: every caller is you. On 127.0.0.1 only.")
@click.option("--first-key", is_flag=True, help="If there is no key yet, create an administrator's and print it.")
@click.pass_obj
def serve_(
    given: Given, /, host: str | None, port: int | None, workers: int | None, *, opened: bool, first_key: bool
) -> None:
    r"""Serve memory over HTTP: REST under /v1, its description at /openapi.json, /healthz, /readyz, /metrics.

    \b
      mnemic apikeys create --role reader --role writer
      mnemic serve

    Callers authenticate with an API key, a token issued with a key, or a JWT of the OpenID provider configured by
    MNEMIC_SERVICE_ISSUER, MNEMIC_SERVICE_AUDIENCE and MNEMIC_SERVICE_JWKS. Without any of these, only 127.0.0.1 is
    accepted as the address.
    """
    try:
        from mnemic_server.server import own_machine, require_safe, serve
        from mnemic_server.service_settings import ServiceSettings
    except ModuleNotFoundError as missing:
        raise missing_extra("server", setting="serve") from missing

    settings = given.settings()
    service = ServiceSettings.load(host=host, port=port, workers=workers)
    if first_key and (key := asyncio.run(_first_key(settings))) is not None:
        click.echo(key)
        note("this is the key of an administrator; keep it now: it cannot be shown again")
    enters = asyncio.run(require_safe(settings, service, opened=opened))
    given.personal = opened  # every caller is this user then
    user = given.user_name()
    if not enters:
        roles = "--role reader --role writer --role subject"
        note(f"nobody can sign in yet: mnemic apikeys create {roles} --for-user {user}")
    serve(settings, service, open_to=own_machine(settings, user) if opened else None)


@click.command("apikeys", cls=TenantCommand)
@click.argument("action", type=click.Choice(["create", "list", "rotate", "revoke", "rotate-signing"]))
@click.argument("key_id", required=False)
@click.option("--role", "roles", multiple=True, type=click.Choice(ROLES), help="create: may be repeated.")
@click.option("--for-user", metavar="USER", help="create: the user it represents; without it, an application.")
@click.option("--label", default="", help="create: label.")
@click.option(
    "--hours", type=click.IntRange(0), default=8760, show_default=True, help="create: validity in hours, 0: no expiry."
)
@click.option(
    "--grace", type=click.IntRange(0), default=3600, show_default=True, help="rotate: seconds the old key stays valid."
)
@click.option(
    "--output",
    metavar="FILE",
    help="create, rotate: write the key to FILE, which only you can read, and do not show it.",
)
@click.pass_obj
def apikeys_(given: Given, /, action: str, key_id: str | None, output: str | None, **options: Any) -> int:
    r"""Create, list, rotate and revoke the API keys of the service. A key is shown only once.

    \b
      mnemic apikeys create --role reader --role writer --label "chat backend" --output backend.key
      mnemic apikeys create --role subject --for-user ana
      mnemic apikeys rotate KEY_ID --grace 600
      mnemic apikeys rotate-signing        # ends every token that applications of the tenant have issued
    """
    if action in ("rotate", "revoke") and key_id is None:
        raise click.UsageError("which key? name its KEY_ID", ctx=click.get_current_context())
    if action == "create" and not options["roles"]:
        raise click.UsageError("which roles? give --role", ctx=click.get_current_context())
    if output is not None:
        if action not in ("create", "rotate"):
            raise click.UsageError("--output is for create and rotate", ctx=click.get_current_context())
        require_new_file(output)
    shown = given.with_engine(
        lambda engine, actor: _manage(engine, actor.tenant, action, key_id, options),
        creates=action == "create",
        by_settings=True,
    )
    if output is not None:
        write_private(output, f"{shown.pop('api_key')}\n")
        shown["file"] = output
    given.show(shown, lambda: _as_text(action, shown))
    if "api_key" in shown:
        note("keep it now: it cannot be shown again")
    if action == "create" and options["for_user"] is None:
        note("it represents an application, not a person; --for-user creates the key of a person")
    return Exit.OK


async def _first_key(settings: Settings) -> str | None:
    """Create the key of an administrator and return it; None if there is any key already."""
    async with build_engine(settings) as engine:
        keys = ApiKeys(engine.store, engine.clock)
        if await keys.any():
            return None
        _, text = await keys.create(
            tenant=settings.tenant, roles=["admin"], user=None, label="first", ttl=timedelta(days=365)
        )
        return text


async def _manage(engine: Any, tenant: str, action: str, named: str | None, options: dict[str, Any]) -> dict[str, Any]:
    keys, key_id = ApiKeys(engine.store, engine.clock), str(named)
    if action == "create":
        ttl = timedelta(hours=options["hours"]) if options["hours"] else None
        key, text = await keys.create(
            tenant=tenant, roles=options["roles"], user=options["for_user"], label=options["label"], ttl=ttl
        )
        return {"key_id": key.key_id, "api_key": text}
    if action == "rotate":
        text = await keys.rotate(key_id, grace=timedelta(seconds=options["grace"]), tenant=tenant)
        return {"key_id": key_id, "api_key": text}
    if action == "revoke":
        await keys.revoke(key_id, tenant=tenant)
        return {"key_id": key_id, "revoked": True}
    if action == "rotate-signing":
        return {"applications": await keys.rotate_signing(tenant=tenant, key_id=named)}
    used = await keys.last_used()
    return {
        "keys": [
            {
                "key_id": key.key_id,
                "roles": sorted(key.principal.roles),
                "user": key.principal.user,
                "label": key.label,
                "expires_at": key.expires_at.isoformat() if key.expires_at else None,
                "last_used_at": used[key.key_id].isoformat() if key.key_id in used else None,
            }
            for key in await keys.all(tenant=tenant)
        ]
    }


def _as_text(action: str, shown: dict[str, Any]) -> str:
    if action == "list":
        rows = [[key["key_id"], ",".join(key["roles"]), key["user"] or "-", key["label"]] for key in shown["keys"]]
        return table(rows) if rows else "no keys"
    if action == "rotate-signing":
        return f"the tokens of {shown['applications']} applications have ended"
    if "file" in shown:
        return f"{shown['key_id']} written to {shown['file']}"
    return str(shown.get("api_key", f"{shown['key_id']} revoked"))
