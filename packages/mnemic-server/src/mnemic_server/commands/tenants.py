"""tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mnemic.cli.lazy_loading import TenantCommand
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, ask_confirmation, complain, pairs, require_new_file, table, write_json
from mnemic.maintenance.tenant_registry import Tenants, tenant_data, with_limits
from mnemic.types.memory_kinds import kind_of
from mnemic_server.credentials import COMMAND_LINE
from mnemic_server.tenant_removal import end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.engine import MemoryEngine
    from mnemic.maintenance.tenant_registry import Tenant
    from mnemic.policy.limits import Quota

_LIMITS = ("rows", "bytes", "writes_a_minute")
_EACH = tuple(f"user_{name}" for name in _LIMITS)
_NAMES = [name.replace("_", "-") for name in (*_LIMITS, *_EACH)]
_number = click.IntRange(1)


@click.command("tenants", cls=TenantCommand)
@click.argument("action", type=click.Choice(["list", "create", "limit", "suspend", "resume", "end"]))
@click.argument("name", required=False, metavar="[TENANT]")
@click.option("--label", default="", help="create: label.")
@click.option("--rows", type=_number, help="create, limit: memories of the whole tenant.")
@click.option("--bytes", type=_number, help="create, limit: bytes of the whole tenant.")
@click.option("--writes-a-minute", type=_number, help="create, limit: new memories a minute of the whole tenant.")
@click.option("--user-rows", type=_number, help="create, limit: memories of each user.")
@click.option("--user-bytes", type=_number, help="create, limit: bytes of each user.")
@click.option("--user-writes-a-minute", type=_number, help="create, limit: new memories a minute of each user.")
@click.option("--kind", metavar="KIND", help="create, limit: ... of this kind alone, as `episodic`.")
@click.option("--soft", type=click.FloatRange(0, 1, min_open=True), help="Warn from this part of them on; 0.8.")
@click.option("--unlimited", type=click.Choice(_NAMES), multiple=True, help="limit: remove this limit.")
@click.option("--receipts", type=click.Path(dir_okay=False), help="end: write the receipts to this file.")
@click.option("--yes", "-y", is_flag=True, help="end: do not ask.")
@click.option("--as-settings", is_flag=True, help="limit: use the quotas of the settings only.")
@click.pass_obj
def tenants_(given: Given, /, action: str, name: str | None, **options: Any) -> int:
    r"""List, create, limit, suspend, resume and end the tenants of the service.

    The limits replace the quotas of the policy file; running services apply them within seconds. Omitted limits stay
    unchanged. Every credential of a suspended tenant is refused (tenant_suspended); its data stays. `end` suspends a
    tenant, revokes its keys, deletes its webhooks and erases all its data permanently; its audit log, its policy, its
    name and documents of your application (LangGraph's store) stay. Repeat it after an interruption.

    \b
      mnemic tenants create acme --label "Acme Ltd." --rows 100000 --user-rows 5000
      mnemic tenants limit acme --rows 200000 --soft 0.9
      mnemic tenants limit acme --unlimited user-rows
      mnemic tenants suspend acme
      mnemic tenants end acme --receipts acme-receipts.json
    """
    if action != "list" and name is None:
        raise click.UsageError("which tenant? name it", ctx=click.get_current_context())
    if action == "end":
        return _end(given, str(name), options["receipts"], sure=options["yes"])
    limits = _limits_of(options)
    if action == "limit" and bool(limits) is options["as_settings"]:
        raise click.UsageError("which limits? give at least one, or --as-settings", ctx=click.get_current_context())
    result = given.with_engine(
        lambda engine, _: _manage_tenant(engine, action, str(name), options, limits),
        creates=action == "create",
        by_settings=True,
    )
    given.show({"tenants": [_tenant_fields(one) for one in result]}, lambda: _text(result))
    return Exit.OK


def _end(given: Given, name: str, receipts: str | None, *, sure: bool) -> int:
    if receipts is not None:
        require_new_file(receipts)
    if not sure and not ask_confirmation(f"End the tenant {name} and erase all of its data permanently?"):
        complain("not_confirmed", "nothing was erased")
        return Exit.REFUSED
    ended = given.with_engine(lambda engine, _: end(engine, name, by=COMMAND_LINE), by_settings=True)
    if receipts is not None:
        write_json(receipts, {"receipts": [receipt.as_dict() for receipt in ended.receipts]})
    facts = {
        "tenant": name,
        "memories": sum(receipt.counts.get("memories", 0) for receipt in ended.receipts),
        "erasures": len(ended.receipts),
        "keys": ended.keys,
        "webhooks": ended.webhooks,
        "traces_left": sum(sum(receipt.traces.values()) for receipt in ended.receipts),
    }
    given.show({**facts, "complete": ended.complete}, lambda: "ended\n" + pairs(facts, indent="  "))
    if not ended.complete:
        complain("erasure_incomplete", "traces are left; free some disk space and end it again")
    return Exit.OK if ended.complete else Exit.STORE


def _limits_of(options: dict[str, Any]) -> dict[str, int | None]:
    """Return the limits named on the command line, None for those to remove. Raises UsageError for one that is both."""
    named = {name: options[name] for name in (*_LIMITS, *_EACH) if options[name] is not None}
    gone: dict[str, int | None] = dict.fromkeys(name.replace("-", "_") for name in options["unlimited"])
    if named.keys() & gone.keys():
        raise click.UsageError("a limit is set or taken away, not both", ctx=click.get_current_context())
    return gone | named


def _change_quotas(
    quotas: Sequence[Quota], limits: dict[str, int | None], kind: str | None, soft: float | None
) -> list[Quota]:
    """Return `quotas` with the values of the command line. Raises InvalidInput (`kind`)."""
    chosen = None if kind is None else kind_of(kind)
    for_all = {name: limits[name] for name in _LIMITS if name in limits}
    for_each = {name.removeprefix("user_"): limits[name] for name in _EACH if name in limits}
    changed = list(quotas)
    if for_all:
        changed = with_limits(changed, "tenant", chosen, for_all, soft)
    return with_limits(changed, "user", chosen, for_each, soft) if for_each else changed


async def _manage_tenant(
    engine: MemoryEngine, action: str, name: str, options: dict[str, Any], limits: dict[str, int | None]
) -> list[Tenant]:
    def change(quotas: Sequence[Quota]) -> list[Quota]:
        return _change_quotas(quotas, limits, options["kind"], options["soft"])

    tenants = Tenants(engine.store, engine.clock)
    if action == "list":
        return await tenants.all()
    if action == "create":
        return [await tenants.create(name, by=COMMAND_LINE, label=options["label"], quotas=change(()) or None)]
    if action == "limit" and options["as_settings"]:
        return [await tenants.limit(name, None, by=COMMAND_LINE)]
    if action == "limit":
        return [await tenants.adjust(name, change, by=COMMAND_LINE)]
    return [await (tenants.suspend if action == "suspend" else tenants.resume)(name, by=COMMAND_LINE)]


def _tenant_fields(tenant: Tenant) -> dict[str, Any]:
    return tenant_data(tenant)


def _text(tenants: list[Tenant]) -> str:
    rows = [[one.tenant, "suspended" if one.suspended_at else "open", _limits(one), one.label] for one in tenants]
    return table(rows) if rows else "no tenants"


def _limits(tenant: Tenant) -> str:
    if tenant.quotas is None:
        return "limits of the settings"
    each = [(quota, name, getattr(quota, name)) for quota in tenant.quotas for name in _LIMITS]
    return ", ".join(f"{quota.name(name)} {limit:,}" for quota, name, limit in each if limit is not None) or "no limit"
