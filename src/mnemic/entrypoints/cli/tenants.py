"""tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mnemic.entrypoints.cli.failures import Exit
from mnemic.entrypoints.cli.frame import Command
from mnemic.entrypoints.cli.given import Given
from mnemic.entrypoints.cli.terminal import table

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.guard.limits import Quota
    from mnemic.maintain.tenants import Tenant

_LIMITS = ("rows", "bytes", "writes_a_minute")
_number = click.IntRange(1)


@click.command("tenants", cls=Command)
@click.argument("action", type=click.Choice(["list", "create", "limit", "suspend", "resume"]))
@click.argument("name", required=False, metavar="[TENANT]")
@click.option("--label", default="", help="create: a note for people.")
@click.option("--rows", type=_number, help="create, limit: memories of the whole tenant.")
@click.option("--bytes", type=_number, help="create, limit: bytes of the whole tenant.")
@click.option("--writes-a-minute", type=_number, help="create, limit: new memories a minute of the whole tenant.")
@click.option("--user-rows", type=_number, help="create, limit: memories of each user.")
@click.option("--user-bytes", type=_number, help="create, limit: bytes of each user.")
@click.option("--user-writes-a-minute", type=_number, help="create, limit: new memories a minute of each user.")
@click.option("--soft", type=click.FloatRange(0, 1, min_open=True), default=0.8, show_default=True, help="Warn from.")
@click.option("--as-settings", is_flag=True, help="limit: the quotas of the settings again.")
@click.pass_obj
def tenants_(given: Given, /, action: str, name: str | None, **options: Any) -> int:
    r"""List, make, limit, suspend and resume the tenants of the service.

    The limits take the place of the policy file's quotas; running services hold to them within seconds. Every
    credential of a suspended tenant is refused (tenant_suspended); what it holds stays.

    \b
      mnemic tenants create acme --label "Acme Ltd." --rows 100000 --user-rows 5000
      mnemic tenants limit acme --rows 200000 --soft 0.9
      mnemic tenants suspend acme
    """
    if action != "list" and name is None:
        raise click.UsageError("which tenant? name it", ctx=click.get_current_context())
    quotas = _quotas(options)
    if action == "limit" and (quotas is None) is not options["as_settings"]:
        raise click.UsageError("which limits? give at least one, or --as-settings", ctx=click.get_current_context())
    told = given.with_engine(
        lambda engine, _: _managed(engine, action, str(name), options["label"], quotas),
        creates=action == "create",
        by_settings=True,
    )
    given.show({"tenants": [_shown(one) for one in told]}, lambda: _text(told))
    return Exit.OK


def _quotas(options: dict[str, Any]) -> list[Quota] | None:
    from mnemic.guard.limits import Quota

    set_for_all = {name: options[name] for name in _LIMITS if options[name] is not None}
    set_for_each = {name: options[f"user_{name}"] for name in _LIMITS if options[f"user_{name}"] is not None}
    quotas = [Quota(per="tenant", soft=options["soft"], **set_for_all)] if set_for_all else []
    quotas += [Quota(per="user", soft=options["soft"], **set_for_each)] if set_for_each else []
    return quotas or None


async def _managed(
    engine: MemoryEngine, action: str, name: str, label: str, quotas: list[Quota] | None
) -> list[Tenant]:
    from mnemic.entrypoints.rest.credentials import COMMAND_LINE
    from mnemic.maintain.tenants import Tenants

    tenants = Tenants(engine.store, engine.clock)
    if action == "list":
        return await tenants.all()
    if action == "create":
        return [await tenants.create(name, by=COMMAND_LINE, label=label, quotas=quotas)]
    if action == "limit":
        return [await tenants.limit(name, quotas, by=COMMAND_LINE)]
    return [await (tenants.suspend if action == "suspend" else tenants.resume)(name, by=COMMAND_LINE)]


def _shown(tenant: Tenant) -> dict[str, Any]:
    from mnemic.maintain.tenants import tenant_data

    return tenant_data(tenant)


def _text(tenants: list[Tenant]) -> str:
    rows = [[one.tenant, "suspended" if one.suspended_at else "open", _limits(one), one.label] for one in tenants]
    return table(rows) if rows else "no tenants"


def _limits(tenant: Tenant) -> str:
    if tenant.quotas is None:
        return "limits of the settings"
    each = [(quota, name, getattr(quota, name)) for quota in tenant.quotas for name in _LIMITS]
    return ", ".join(f"{quota.name(name)} {limit:,}" for quota, name, limit in each if limit is not None) or "no limit"
