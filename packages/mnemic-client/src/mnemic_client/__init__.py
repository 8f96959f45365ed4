"""A client of `mnemic serve` with the library's verbs, its types and its errors. `pip install "mnemic[client]"`.

    from mnemic_client import connect

    with connect("http://127.0.0.1:8377", api_key="mnk_...") as memory:
        memory.add("I prefer aisle seats.", key="seat")
        for hit in memory.search("where do I like to sit?"):
            print(hit.content, hit.score)

`connect_async` gives the same for `async with` and `await`.
"""

from __future__ import annotations

from mnemic.plugins.extras import brought_by

with brought_by("client"):
    from mnemic_client.opening import AsyncClient, BlockingClient, MemoryClient, connect, connect_async
    from mnemic_client.request_bodies import ImportState

__all__ = [
    "AsyncClient",
    "BlockingClient",
    "ImportState",
    "MemoryClient",
    "connect",
    "connect_async",
]
