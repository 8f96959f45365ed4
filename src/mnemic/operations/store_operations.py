"""Copies of a store while it is in use, and their way back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from mnemic.bootstrap.models import build_embedder
from mnemic.bootstrap.stores import backend, build_keyring, build_store, plain, store_file
from mnemic.config import Settings
from mnemic.errors import NotSupported
from mnemic.maintenance.erase import ErasureReceipt, erase
from mnemic.maintenance.reembed import ReembedResult, reembed
from mnemic.maintenance.subject_data import audit_of, users_of
from mnemic.maintenance.tenant_registry import SERVICE_TENANT, Tenants
from mnemic.operations.backup_folder import Manifest, RestoreResult
from mnemic.operations.sqlite.backup import restore, take
from mnemic.operations.sqlite.salvage import SalvageResult, salvage
from mnemic.operations.store_migration import MigrationResult, move
from mnemic.ports import Clock, Keyring, RecordStore
from mnemic.types import Actor, VectorSpace
from mnemic.types.scope import token_of
from mnemic.unit_of_work import commit

_SUBJECT, _ERASED = "subject/", "/erased"
_LINES = ("erasing", "erased")
"""The lines of an erasure in the audit; the last one says that it has ended."""


async def erased_since(store: RecordStore, tenant: str, lines: int, last_hash: str) -> dict[str, bool]:
    """Return the subjects that the store's tombstones name as erased, by keyed hash, except where the erasure had ended
    when the tenant's audit had `lines` lines, the last with `last_hash`; True: nothing may be learnt again.

    Positions in the audit decide, for a clock may have been set back, and an erasure may have begun before the copy was
    made and ended after it. Where the audit is not the one that the copy continues, everybody counts.
    """
    marks = await store.marks(tenant, _SUBJECT)
    tombstones = {
        name.removeprefix(_SUBJECT).removesuffix(_ERASED): bool(json.loads(value)["block"])
        for name, value in marks.items()
        if name.endswith(_ERASED)
    }
    if not tombstones:
        return {}
    ended: set[str] = set()
    later: set[str] = set()
    known = lines == 0
    async for event in audit_of(store, tenant):
        known = known or (event.sequence == lines and event.hash == last_hash)
        subject = str(event.detail.get("subject"))
        if event.sequence > lines and event.action in _LINES:
            later.add(subject)
        elif event.action == _LINES[-1]:
            ended.add(subject)
    done = ended - later if known else set()
    return {token: block for token, block in tombstones.items() if token not in done}


async def erase_again(
    store: RecordStore, clock: Clock, tenant: str, tokens: Mapping[str, bool], *, actor: Actor
) -> list[ErasureReceipt]:
    """Erase those of the tenant's users whom `tokens` name; one receipt each. Raises StoreFailed."""
    if not tokens:
        return []
    secret = await store.secret(tenant)
    named = {
        user: tokens[token] for user in await users_of(store, tenant) if (token := token_of(secret, user)) in tokens
    }
    return [await erase(store, clock, user, actor=actor, block=block) for user, block in sorted(named.items())]


def backup_store(location: str, folder: Path, clock: Clock) -> Manifest:
    """Return a copy of the store at `location`, a file or a database, in the new `folder`. Raises NotSupported for
    `memory:`, InvalidInput, StoreCorrupt, StoreFailed.
    """
    if (backups := backend("backups", location)) is not None:
        manifest: Manifest = asyncio.run(backups.take(plain(location), folder, clock.now()))
        return manifest
    path = store_file(location)
    if path is None:
        raise NotSupported("backup", hint="an in-memory store cannot be backed up")
    return take(path, folder, clock.now())


def restore_store(
    folder: Path,
    target: str,
    clock: Clock,
    *,
    erasures: str | None,
    receipts: Sequence[ErasureReceipt],
    keyring: Keyring | None = None,
) -> tuple[RestoreResult, list[ErasureReceipt]]:
    """Restore the backup in `folder` into the new file `target`, or into the empty database `target`, without the users
    erased since: as recorded in the store at `erasures`, or in `receipts`; `keyring` decrypts sealed data. Raises
    InvalidInput, StoreCorrupt, StoreNewer, StoreFailed, NotSupported.
    """
    erased: list[ErasureReceipt] = []

    async def prepare_part(part: str, manifest: Manifest) -> None:
        async with AsyncExitStack() as stores:
            copy = await stores.enter_async_context(_open_store(part, keyring))
            later = None if erasures is None else await stores.enter_async_context(_open_store(erasures, keyring))
            for tenant, (lines, last) in manifest.tenants.items():
                known = {} if later is None else await erased_since(later, tenant, lines, last)
                known |= {one.subject: one.blocks_relearning for one in receipts if one.tenant == tenant}
                erased.extend(await erase_again(copy, clock, tenant, known, actor=Actor(tenant=tenant, user="restore")))

    if (backups := backend("backups", target)) is not None:
        return RestoreResult(asyncio.run(backups.restore(plain(target), folder, prepare_part))), erased
    path = store_file(target)
    if path is None:
        raise NotSupported("restore", hint="a backup is restored into a file or a database")
    return restore(folder, path, lambda part, manifest: asyncio.run(prepare_part(part, manifest))), erased


def move_store(
    location: str, target: str, clock: Clock, *, tenants: Sequence[str] = (), keyring: Keyring | None = None
) -> MigrationResult:
    """Copy the store at `location` into the empty store `target`; see
    `mnemic.operations.store_migration`. `tenants` are copied in addition to those that the store knows. Raises
    InvalidInput, NotSupported, StoreFailed.
    """

    async def run() -> MigrationResult:
        async with AsyncExitStack() as stores:
            source = await stores.enter_async_context(_open_store(location, keyring))
            space = await commit(source, lambda unit: unit.reads.space())
            into = await stores.enter_async_context(_open_store(target, keyring, space))
            noted = [one.tenant for one in await Tenants(source, clock).all()]
            return await move(source, into, {*tenants, *noted, SERVICE_TENANT})

    return asyncio.run(run())


def salvage_store(location: str, target: Path, *, keyring: Keyring | None = None) -> SalvageResult:
    """Salvage the readable contents of the damaged file at `location` into the new file `target`. Raises NotSupported
    if it is not a file, InvalidInput, StoreUnavailable.
    """
    path = store_file(location)
    if path is None:
        raise NotSupported("salvage", hint="a server's damage is its own tools' business; a backup helps")
    return salvage(path, target, keyring=keyring)


@asynccontextmanager
async def _open_store(
    location: str, keyring: Keyring | None, space: VectorSpace | None = None
) -> AsyncIterator[RecordStore]:
    store = build_store(location, durability="durable", keyring=keyring)
    await store.open(space)
    try:
        yield store
    finally:
        await store.close()


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
