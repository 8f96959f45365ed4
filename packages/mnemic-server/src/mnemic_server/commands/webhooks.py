"""webhooks."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from mnemic.cli.lazy_loading import TenantCommand
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, note, table
from mnemic.plugins.extras import missing_extra
from mnemic_server.webhooks import Webhooks, webhook_data

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine


@click.command("webhooks", cls=TenantCommand)
@click.argument("action", type=click.Choice(["create", "list", "rotate", "enable", "delete"]))
@click.argument("name", required=False, metavar="[URL|WEBHOOK_ID]")
@click.option("--action", "actions", multiple=True, help="create: send only these changes; may be repeated.")
@click.option("--with-content", is_flag=True, help="create: send the memory itself, not only its identifier.")
@click.option("--label", default="", help="create: label.")
@click.option(
    "--grace", type=click.IntRange(0), default=86_400, show_default=True, help="rotate: seconds for the old secret."
)
@click.pass_obj
def webhooks_(given: Given, /, action: str, name: str | None, **options: Any) -> int:
    r"""Create, list, rotate, enable and delete webhooks: URLs that receive every change.

    A running service delivers them, signed according to Standard Webhooks. The secret for verifying signatures is shown
    only once.

    \b
      mnemic webhooks create https://app.example.com/hooks/memory
      mnemic webhooks create https://app.example.com/hooks/memory --action created --action superseded
      mnemic webhooks enable WEBHOOK_ID
    """
    if action != "list" and name is None:
        wanted = "which address? give its URL" if action == "create" else "which webhook? name its WEBHOOK_ID"
        raise click.UsageError(wanted, ctx=click.get_current_context())
    shown = given.with_engine(
        lambda engine, actor: _manage_webhook(engine, actor.tenant, action, str(name), options),
        creates=action == "create",
        by_settings=True,
    )
    given.show(shown, lambda: _text(action, shown))
    if "secret" in shown:
        note("keep it now: it cannot be shown again")
    return Exit.OK


async def _manage_webhook(
    engine: MemoryEngine, tenant: str, action: str, name: str, options: dict[str, Any]
) -> dict[str, Any]:
    try:
        from mnemic_server.service_settings import ServiceSettings
    except ModuleNotFoundError as missing:
        raise missing_extra("server", setting="webhooks") from missing
    webhooks = Webhooks(engine.store, engine.clock, private=ServiceSettings.load().allow_private_webhooks)
    if action == "create":
        made = await webhooks.create(
            tenant,
            name,
            actions=tuple(options["actions"]),
            with_content=options["with_content"],
            label=options["label"],
        )
        return {**webhook_data(made, None), "secret": made.secret}
    if action == "rotate":
        made = await webhooks.rotate(tenant, name, grace=timedelta(seconds=options["grace"]))
        return {"webhook_id": made.webhook_id, "secret": made.secret}
    if action == "enable":
        await webhooks.enable(tenant, name)
        return {"webhook_id": name, "enabled": True}
    if action == "delete":
        await webhooks.delete(tenant, name)
        return {"webhook_id": name, "deleted": True}
    states = await webhooks.states()
    return {"webhooks": [webhook_data(one, states.get(one.webhook_id)) for one in await webhooks.all(tenant)]}


def _text(action: str, shown: dict[str, Any]) -> str:
    if action == "list":
        rows = [[one["webhook_id"], one["url"], _stand(one), one["label"]] for one in shown["webhooks"]]
        return table(rows) if rows else "no webhooks"
    if "secret" in shown:
        return f"{shown['webhook_id']}  {shown['secret']}"
    return f"{shown['webhook_id']} {action}d"


def _stand(webhook: dict[str, Any]) -> str:
    if webhook["disabled_at"]:
        return f"disabled ({webhook['outcome']})"
    return f"{webhook['failures']} failures ({webhook['outcome']})" if webhook["failures"] else "enabled"
