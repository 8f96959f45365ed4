"""A store changed to the embedder that the settings name."""

from __future__ import annotations

from collections.abc import Callable

from mnemic.bootstrap.embedders import build_embedder
from mnemic.bootstrap.keyrings import build_keyring
from mnemic.bootstrap.stores import build_store
from mnemic.config import Settings
from mnemic.maintain.reembed import Reembedded, reembed
from mnemic.ports import Clock


async def reembed_store(
    settings: Settings, clock: Clock, *, on_progress: Callable[[int], None] | None = None
) -> Reembedded:
    """Every memory of the store, of whatever tenant, with a vector of the embedder that `settings` name; see
    `mnemic.maintain.reembed`. Where they all have one already, nothing is done. Raises what that raises, StoreFailed,
    StoreUnavailable (`store_unavailable:empty`) where nothing was ever stored.
    """
    store = build_store(
        settings.store, durability=settings.durability, keyring=build_keyring(settings), seals=settings.seal
    )
    embedder = build_embedder(settings, clock)
    try:
        await store.open(None)
        return await reembed(store, embedder, on_progress=on_progress)
    finally:
        await store.close()
        await embedder.close()
