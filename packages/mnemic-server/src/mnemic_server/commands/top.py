"""top: state of a running service, on one screen."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from mnemic.cli.lazy_loading import Command
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, pairs, table
from mnemic.config.files import secret_named
from mnemic.plugins.extras import missing_extra

BUSIEST = 12


@click.command("top", cls=Command)
@click.option("--url", metavar="URL", default="http://127.0.0.1:8377", show_default=True, help="The service.")
@click.option("--once", is_flag=True, help="Print one screen and exit.")
@click.option("--every", type=click.FloatRange(0.5, 3600), default=2.0, show_default=True, help="Seconds.")
@click.pass_obj
def top_(given: Given, /, url: str, *, once: bool, every: float) -> int:
    r"""Monitor a running service: stored memories, queues, latency, hit rate, degraded parts.

    \b
      MNEMIC_SERVICE_KEY=mnk_... mnemic top

    The key needs the role operator. The figures are those of the process that answers. Press Ctrl-C to stop.
    """
    try:
        return asyncio.run(_watch(given, url, once or given.as_json, every))
    except KeyboardInterrupt:
        return Exit.OK


async def _watch(given: Given, url: str, once: bool, every: float) -> int:
    try:
        from mnemic_client.remote import Remote
    except ModuleNotFoundError as missing:
        raise missing_extra("client", setting="top") from missing
    remote = Remote(url, secret_named("MNEMIC_SERVICE_KEY"), timeout=30.0, attempts=1, transport=None)
    try:
        while True:
            answer = await remote.call("GET", "/v1/overview")
            if not once:
                click.clear()
            given.show(answer, lambda answer=answer: screen(answer))  # type: ignore[misc]
            if once:
                return Exit.OK
            await asyncio.sleep(every)
    finally:
        await remote.close()


def screen(fields: dict[str, Any]) -> str:
    """One screen of an overview."""
    process = fields["process"]
    rate = process["searches"]["hit_rate"]
    head = pairs(
        {
            "store": fields["store"]["name"],
            "memories": sum(one["rows"] for one in fields["held"].values()),
            "of these in 24 h": sum(one["recent"] for one in fields["held"].values()),
            "waiting for review": fields["waiting"],
            "requests": "  ".join(f"{status} {count:,}" for status, count in sorted(process["requests"].items())),
            "being answered": process["running"],
            "hit rate": None if rate is None else f"{rate:.1%}",
            "degraded": "  ".join(f"{part} {count:,}" for part, count in process["degraded"].items()),
            "behind": "  ".join(f"{name} {count:,}" for name, count in fields["projections"].items() if count),
        }
    )
    busiest = sorted(process["latency"], key=lambda one: -one["count"])[:BUSIEST]
    rows = [["route", "requests", "p50 ms", "p95 ms", "p99 ms"]]
    rows += [
        [f"{one['method']} {one['route']}", f"{one['count']:,}", *(f"{one[name]:.1f}" for name in _QUANTILES)]
        for one in busiest
    ]
    return f"{head}\n\n{table(rows)}" if busiest else head


_QUANTILES = ("p50_ms", "p95_ms", "p99_ms")
