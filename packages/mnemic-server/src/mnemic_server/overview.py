"""State of an installation, in one response: the stored amounts of the tenant and the measurements of this process."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from mnemic.json_output import usage_dict
from mnemic_server.access import ServiceContext

RECENT = timedelta(hours=24)


async def overview_dict(service: ServiceContext, tenant: str) -> dict[str, Any]:
    """Return the stored amounts of the tenant (`recent`: of the last 24 hours), the number waiting for review, the lag
    of each projection; and of this process, since its start: requests, latency, hit rate, failed parts of searches, and
    what the tenant used of the language model.
    """
    store, meter = service.engine.store, service.meter
    usages = await store.usage(tenant, since=service.engine.clock.now() - RECENT)
    behind = await store.projections()
    searches = meter.search_counts()
    found, answered = searches["found"], searches["found"] + searches["empty"]
    return {
        "held": usage_dict(usages),
        "waiting": await store.waiting(tenant),
        "store": {"name": store.capabilities.name, "shared": store.capabilities.shared},
        "projections": behind,
        "process": {
            "since": datetime.fromtimestamp(meter.since, UTC).isoformat(),
            "requests": meter.request_counts(),
            "running": meter.running_now(),
            "latency": meter.latencies(),
            "loop_lag": meter.loop_lag(),
            "searches": {**searches, "hit_rate": round(found / answered, 4) if answered else None},
            "degraded": meter.degraded_parts(),
            "models": meter.model_use(tenant),
        },
    }
