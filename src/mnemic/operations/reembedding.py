"""A store changed to the embedder that the settings name."""

from __future__ import annotations

from collections.abc import Callable

from mnemic.bootstrap.models import build_embedder
from mnemic.bootstrap.stores import build_keyring, build_store
from mnemic.config import Settings
from mnemic.maintenance.reembed import ReembedResult, reembed
from mnemic.ports import Clock


async def reembed_store(
    settings: Settings, clock: Clock, *, on_progress: Callable[[int], None] | None = None
) -> ReembedResult:
    """Re-embed every memory of the store, of all tenants, with the embedder that `settings` name; see
    `mnemic.maintenance.reembed`. Does nothing if all have such a vector. Raises the errors of that function,
    StoreFailed, StoreUnavailable (`store_unavailable:empty`) if nothing was ever stored.
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
