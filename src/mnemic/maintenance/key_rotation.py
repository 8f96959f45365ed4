"""Rotation of the data key of a subject, or of every subject of a tenant, while the store is in use.

First each subject gets a new key next to the old one: it encrypts from then on, and both decrypt. Then everything
sealed with the old one is re-encrypted, and only when a full scan of the store finds nothing of it any more is it
destroyed. A kill at any moment leaves everything readable, and another call continues.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial

from mnemic.errors import StoreBusy
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Level, Scope, checked_name
from mnemic.unit_of_work import Mutation, Unit, apply, commit
from mnemic.write.tokenisation import TokenVault
from mnemic.write.turn_log import reseal_turns, sealed_turns

BATCH = 256
_ROUNDS = 100
_VAULT = "vault/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """Number of subjects that have another data key, of rows and values that this run sealed again, and of old keys
    that were destroyed.
    """

    subjects: int
    resealed: int
    destroyed: int


async def rotate_data_keys(
    store: RecordStore,
    clock: Clock,
    vault: TokenVault,
    *,
    actor: Actor,
    subject: str | None = None,
    keep_old: bool = False,
) -> Rotation:
    """Rotate the data key of the user `subject` of the actor's tenant, or of everybody with sealed data there.

    With `keep_old` the old keys stay, for another store that is sealed with them: once each store is re-encrypted, the
    last call destroys them. Raises KeyFailed, StoreFailed, StoreBusy.
    """
    keyring, tenant = vault.keyring, actor.tenant
    if subject is None:
        names = await _sealed_for(store, vault, tenant)
    else:
        own = Scope(tenant=tenant, level=Level.USER, owner=checked_name(subject, "subject"))
        names = {keyring.subject_name(own)}
    # New writes use the new key from here on; the old one still decrypts.
    followed = await asyncio.to_thread(keyring.follow, names)
    resealed = 0
    for _ in range(_ROUNDS):
        done = await store.reseal(tenant, keyring.reseal_value) + await _values_anew(store, vault, tenant)
        done += await reseal_turns(store, vault, tenant)
        resealed += done
        # A full pass that finds nothing under the old keys proves that they are no longer needed.
        if not done:
            break
    else:
        raise StoreBusy(hint="others write without a pause; run it again")
    await store.tidy()
    # Only now, after the last pass: destroying a key that is still in use would lose data.
    destroyed = 0 if keep_old else await asyncio.to_thread(keyring.retire, followed)
    rotation = Rotation(subjects=len(followed), resealed=resealed, destroyed=destroyed)
    await apply(store, Mutation.line("keys_rotated", actor=actor, at=clock.now(), detail=asdict(rotation)))
    return rotation


async def _sealed_for(store: RecordStore, vault: TokenVault, tenant: str) -> set[bytes]:
    """Return the names, as hashes, of the subjects for whom anything is sealed."""
    names: set[bytes] = set()

    def note_sealed(sealed: bytes, _bound: bytes) -> None:
        names.add(vault.keyring.whose(sealed))

    await store.reseal(tenant, note_sealed)
    values = [*(await store.marks(tenant, _VAULT)).values(), *await sealed_turns(store, tenant)]
    return names | set(map(vault.whose, values))


async def _values_anew(store: RecordStore, vault: TokenVault, tenant: str) -> int:
    """Re-encrypt the tokenised values; return their number."""
    kept = list((await store.marks(tenant, _VAULT)).items())
    done = 0
    for start in range(0, len(kept), BATCH):
        fresh = await asyncio.to_thread(_fresh, vault, tenant, kept[start : start + BATCH])
        if fresh:
            done += await commit(store, partial(_put, tenant=tenant, fresh=fresh))
    return done


def _fresh(vault: TokenVault, tenant: str, kept: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return by name the stored values, and the same encrypted with the present key."""
    given = ((name, sealed, vault.reseal_value(tenant, name, sealed)) for name, sealed in kept)
    return {name: (sealed, fresh) for name, sealed, fresh in given if fresh is not None}


async def _put(unit: Unit, *, tenant: str, fresh: Mapping[str, tuple[str, str]]) -> int:
    """Store the re-encrypted values, unless the old ones were removed meanwhile."""
    done = 0
    for name, (before, now) in fresh.items():
        if await unit.reads.find_mark(tenant, name) == before:
            await unit.apply(Mutation(tenant=tenant, marks={name: now}))
            done += 1
    return done
