"""work: upkeep at intervals, by a separate process."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from mnemic.cli.lazy_loading import TenantCommand
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, note
from mnemic.errors import EmbedderFailed, StoreFailed
from mnemic.maintenance.consolidate import ConsolidationRules
from mnemic.maintenance.tenant_engine import Tenancy
from mnemic.maintenance.tenant_registry import SLOTS
from mnemic_server.credentials import ApiKeys
from mnemic_server.key_tenants import note_tenants
from mnemic_server.maintenance_claims import claim, settle, slots_due, tenants_due

if TYPE_CHECKING:
    from asyncio import Event

    from mnemic.engine import MemoryEngine
    from mnemic.maintenance.tenant_engine import Tenancy
    from mnemic.types import Actor

_LOOK_SECONDS = 60
"""Longest time between two checks for due tenants. A check reads one list, for any number of tenants."""


@click.command("work", cls=TenantCommand)
@click.option(
    "--every", type=click.IntRange(1), default=3600, show_default=True, help="Seconds between maintenance runs."
)
@click.option("--consolidate", type=click.Choice(["rules", "model"]), help="Consolidate memories, as maintain does.")
@click.option("--once", is_flag=True, help="Run once and exit.")
@click.option("--part", metavar="N/M", help="Process only the n-th of m parts of the tenants.")
@click.pass_obj
def work_(given: Given, /, *, every: int, consolidate: str | None, once: bool, part: str | None) -> int:
    r"""Update the projections and run maintenance until stopped (SIGTERM).

    \b
      mnemic work --every 3600

    Outbox entries of projections (graph, hot set) are delivered at once. Background captures, expiry, purge and the
    rest of `mnemic maintain` run at the interval of --every: for the tenant of the settings, and for every tenant that
    was created or that a credential of the service has named, each by its own rules. A worker asks for what is due,
    the tenants that have waited longest first. Any number of workers may run next to any number of services: a tenant
    that another worker has processed within the interval is skipped. If one pass takes too long, distribute the tenants
    among workers:

    \b
      mnemic work --part 1/3
    """
    share = _share(part)

    async def work(engine: MemoryEngine, actor: Actor) -> None:
        stop = asyncio.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, stop.set)
        rest = timedelta(0) if once else timedelta(seconds=every)
        rounds = _Rounds(Tenancy(engine), actor, share, consolidate, rest, stop)
        while not stop.is_set():
            await rounds.go()
            if once:
                return
            try:
                async with asyncio.timeout(min(every, _LOOK_SECONDS)):
                    await stop.wait()
            except TimeoutError:
                continue

    given.with_engine(work, creates=True, by_settings=True)
    return Exit.OK


def _share(part: str | None) -> tuple[int, int]:
    """Return the number of a part, from 0, and how many there are."""
    if part is None:
        return 0, 1
    number, _, parts = part.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts) <= SLOTS):
        raise click.BadParameter(f"n/m, such as 1/3, of at most {SLOTS} parts", param_hint="--part")
    return int(number) - 1, int(parts)


@dataclass(slots=True)
class _Rounds:
    """Rounds of upkeep over the tenants of a share, those not maintained for `rest`."""

    tenancy: Tenancy
    actor: Actor
    share: tuple[int, int]
    consolidate: str | None
    rest: timedelta
    stop: Event
    enlisted: bool = False

    async def go(self) -> None:
        """Maintain every tenant that is due. With a `rest`, a failing store is logged, and the next round follows.
        Raises StoreFailed.
        """
        try:
            await self._list()
            await self._due()
        except StoreFailed as failure:
            if not self.rest:
                raise
            note(f"maintenance interrupted: {failure.reason}; remaining tenants follow in the next run")

    async def _list(self) -> None:
        """Register the tenant of the settings and those of the keys, once in the life of a worker."""
        if not self.enlisted:
            engine = self.tenancy.engine
            await self.tenancy.tenants.note(self.actor.tenant)
            await note_tenants(ApiKeys(engine.store, engine.clock), engine.clock)
            self.enlisted = True

    async def _due(self) -> None:
        """Maintain the tenants of the slots that are due, the one that has waited longest first."""
        store, clock = self.tenancy.engine.store, self.tenancy.engine.clock
        for slot in await slots_due(store, clock.now(), self.rest, self.share):
            # One time for all of a slot, so that they are due together again.
            began = clock.now()
            async for tenant in tenants_due(store, slot, began, self.rest):
                if self.stop.is_set():
                    return
                if await claim(store, clock, tenant, self.rest, at=began):
                    await _upkeep(self.tenancy, replace(self.actor, tenant=tenant), self.consolidate)
            await settle(store, slot)


async def _upkeep(tenancy: Tenancy, actor: Actor, consolidate: str | None) -> None:
    """Run one round of maintenance by the tenant's rules. A store that fails may recover by the next round: the failure
    is logged, and the worker continues.
    """
    drawn = None
    try:
        engine = (await tenancy.tenant_state(actor.tenant)).engine
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
