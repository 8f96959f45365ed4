"""work: what has to be done now and then, by a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mnemic.entrypoints.cli.failures import Exit
from mnemic.entrypoints.cli.frame import Command
from mnemic.entrypoints.cli.given import Given
from mnemic.entrypoints.cli.terminal import note

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.types import Actor


@click.command("work", cls=Command)
@click.option("--every", type=click.IntRange(1), default=3600, show_default=True, help="Seconds between two upkeeps.")
@click.option("--once", is_flag=True, help="Do it once and leave.")
@click.pass_obj
def work_(given: Given, /, *, every: int, once: bool) -> int:
    r"""Keep the projections up to date and do the upkeep, until told to stop (SIGTERM).

    \b
      mnemic work --every 3600

    What a projection (graph, hot set) has not taken is brought to it at once; expiry, purge and the rest of
    `mnemic maintain` follow every so many seconds. Any number of workers may run beside any number of services.
    """

    async def work(engine: MemoryEngine, actor: Actor) -> None:
        import asyncio
        import signal

        stop = asyncio.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, stop.set)
        while not stop.is_set():
            await _upkeep(engine, actor)
            if once:
                return
            try:
                async with asyncio.timeout(every):
                    await stop.wait()
            except TimeoutError:
                continue

    given.with_engine(work, creates=True)
    return Exit.OK


async def _upkeep(engine: MemoryEngine, actor: Actor) -> None:
    """One upkeep. A store that fails now may do better the next time: the failure is told, and nothing ends."""
    from mnemic.errors import StoreFailed

    try:
        report = await engine.maintain(actor=actor)
    except StoreFailed as failure:
        note(f"upkeep failed: {failure.reason}")
        return
    expiry = report.expiry
    note(f"upkeep: expired {expiry.expired}, purged {expiry.purged}, outbox {report.outbox.total}, aged {report.aged}")
