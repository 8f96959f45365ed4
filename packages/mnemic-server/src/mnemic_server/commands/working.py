"""work: upkeep at intervals, by a separate process."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from mnemic.entrypoints.cli.command_loader import Command
from mnemic.entrypoints.cli.failures import Exit
from mnemic.entrypoints.cli.shared_options import Given
from mnemic.entrypoints.cli.terminal import note

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.engine.tenancy import Tenancy
    from mnemic.types import Actor


@click.command("work", cls=Command)
@click.option("--every", type=click.IntRange(1), default=3600, show_default=True, help="Seconds between two upkeeps.")
@click.option(
    "--consolidate", type=click.Choice(["rules", "model"]), help="Draw together what users said, as maintain does."
)
@click.option("--once", is_flag=True, help="Do it once and leave.")
@click.pass_obj
def work_(given: Given, /, *, every: int, consolidate: str | None, once: bool) -> int:
    r"""Keep the projections up to date and do the upkeep, until told to stop (SIGTERM).

    \b
      mnemic work --every 3600

    What a projection (graph, hot set) has not taken is brought to it at once; what waits to be captured in the
    background, expiry, purge and the rest of `mnemic maintain` follow every so many seconds: for the tenant of the
    settings, and for every tenant that was made or that a credential of the service has named, by the rules of each.
    Any number of workers may run beside any number of services.
    """

    async def work(engine: MemoryEngine, actor: Actor) -> None:
        import asyncio
        import signal

        from mnemic.engine.tenancy import Tenancy

        stop, tenancy = asyncio.Event(), Tenancy(engine)
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, stop.set)
        while not stop.is_set():
            for tenant in await _tenants(engine, actor.tenant):
                await _upkeep(tenancy, replace(actor, tenant=tenant), consolidate)
            if once:
                return
            try:
                async with asyncio.timeout(every):
                    await stop.wait()
            except TimeoutError:
                continue

    given.with_engine(work, creates=True, by_settings=True)
    return Exit.OK


async def _tenants(engine: MemoryEngine, own: str) -> list[str]:
    """Return the tenants whose memories are looked after; the settings' own alone where the store does not answer."""
    from mnemic.errors import StoreFailed
    from mnemic.maintain.tenants import Tenants
    from mnemic_server.credentials import ApiKeys

    try:
        known = {one.tenant for one in await Tenants(engine.store, engine.clock).all()}
        keys = await ApiKeys(engine.store, engine.clock).all()
    except StoreFailed:
        return [own]
    return sorted({own} | known | {key.principal.tenant for key in keys})


async def _upkeep(tenancy: Tenancy, actor: Actor, consolidate: str | None) -> None:
    """One upkeep by the tenant's rules. A store that fails now may do better the next time: the failure is told, and
    nothing ends.
    """
    from mnemic.errors import EmbedderFailed, StoreFailed
    from mnemic.maintain.consolidate import ConsolidationRules

    drawn = None
    try:
        engine = (await tenancy.of(actor.tenant)).engine
        report = await engine.maintain(actor=actor)
        if consolidate is not None:
            drawn = await engine.consolidate(actor=actor, rules=ConsolidationRules(by=consolidate))  # type: ignore[arg-type]
    except (EmbedderFailed, StoreFailed) as failure:
        note(f"upkeep of {actor.tenant} failed: {failure.reason}")
        return
    expiry = report.expiry
    done = f"captured {report.captured}, expired {expiry.expired}, purged {expiry.purged}, "
    done += f"outbox {report.outbox.total}, aged {report.aged}"
    if report.embedded or report.unembedded:
        done += f", embedded {report.embedded} and {report.unembedded} still without a vector"
    note(f"upkeep of {actor.tenant}: {done}")
    if drawn is not None:
        made, cost = sum(drawn.made.values()), drawn.cost
        failed = ", ".join(f"{count} x {why}" for why, count in {**drawn.refused, **drawn.degraded}.items()) or "none"
        tokens = cost.input_tokens + cost.output_tokens
        done = f"written {made}, removed {drawn.removed}, failures {failed}, tokens {tokens}"
        note(f"consolidated for {actor.tenant}: {done}")
