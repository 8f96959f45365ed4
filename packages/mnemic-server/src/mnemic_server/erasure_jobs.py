"""Erasures as jobs: started by one request and fetched by later ones, from any process on the same store.

The progress of an erasure is a mark, stored like the keys. Its receipt contains the identifiers and keyed hashes by
which a scan recognises the erased data, so it is encrypted under the erasure's identifier, of which only the SHA-256 is
stored: access to the store alone does not reveal a receipt.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from joserfc import jwe
from joserfc.jwk import OctKey

from mnemic.errors import MemoryNotFound, MnemicError, StoreFailed
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.maintenance.personal_keys import RECEIPT_LASTS
from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from mnemic.ports import Clock, RecordStore
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.limiter import subject_token
from mnemic_server.concurrency_shares import ConcurrencyLimit
from mnemic_server.credentials import Principal, digest
from mnemic_server.service_reason_codes import INTERRUPTED, TOO_MANY_ERASURES

logger = logging.getLogger(__name__)

State = Literal["running", "done", "failed", "interrupted"]

KEPT_FOR = RECEIPT_LASTS
"""Time after its start during which an erasure can be fetched."""
AT_ONCE = 2
"""Erasures that one process carries out at a time; the others wait their turn."""
MOST = 256
"""Maximum number of unfinished erasures that one process has started."""
RENEWED = 15.0
"""Heartbeat interval in seconds of a process that carries out an erasure."""
LOST_AFTER = timedelta(seconds=4 * RENEWED)
"""Time without a heartbeat after which a process counts as dead and its erasure as interrupted."""
ASKED_AGAIN = 0.5
"""Interval in seconds of polling an erasure of another process."""

_STATE, _RESULT = "erasure:", "erasure_receipt:"
_SEALED = {"alg": "dir", "enc": "A256GCM"}

Run = Callable[[], Awaitable[ErasureReceipt]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Erasure: its subject, by keyed hash, and its progress. `reason`: why it failed."""

    erasure_id: str = field(repr=False)
    tenant: str
    subject: str
    state: State
    begun_at: datetime
    alive_at: datetime
    reason: str | None = None
    erased: ErasureReceipt | None = field(default=None, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the job as JSON data."""
        return {
            "erasure_id": self.erasure_id,
            "state": self.state,
            "begun_at": self.begun_at.isoformat(),
            "reason": self.reason,
            "erased": self.erased and self.erased.as_dict(),
        }


class Erasures:
    """Erasures of a store that a service has started."""

    def __init__(self, store: RecordStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._running: dict[tuple[str, str, bool, str | None], tuple[Job, asyncio.Task[None]]] = {}
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._places = ConcurrencyLimit(most=MOST, reason=TOO_MANY_ERASURES, wait_seconds=10)

    @property
    def running(self) -> list[asyncio.Task[None]]:
        """The tasks of those of this process that have not ended."""
        return [task for _, task in self._running.values()]

    async def begin(
        self, principal: Principal, subject: str, *, run: Run, block: bool = False, key: str | None = None
    ) -> Job:
        """Start to erase `subject`, or the data under `key`, with `run`, or return the job that does so already.
        Refuses with 429 a caller who has started too many, and raises StoreFailed: then nothing was started.
        """
        token = await subject_token(self._store, principal.tenant, subject)
        named = (principal.tenant, token, block, key)
        # Requested twice, for instance after a lost answer: return the same job.
        if named in self._running:
            return self._running[named][0]
        await self._sweep(principal.tenant)
        now = self._clock.now()
        job = Job(
            # Unguessable, because a caller needs nothing else to fetch the receipt.
            erasure_id=secrets.token_urlsafe(32),
            tenant=principal.tenant,
            subject=token,
            state="running",
            begun_at=now,
            alive_at=now,
        )
        with ExitStack() as places:
            places.enter_context(self._places.place(principal.tenant, principal.caller))
            await self._keep(job)
            # Another request may have begun the same erasure while this one waited for its place.
            if named in self._running:
                return self._running[named][0]
            # The slot now belongs to the task and is released when that ends.
            place = places.pop_all()
        task = asyncio.create_task(self._carried_out(job, run))
        self._running[named] = job, task

        def on_end(_: asyncio.Task[None]) -> None:
            place.close()
            self._running.pop(named, None)

        task.add_done_callback(on_end)
        return job

    async def find(self, erasure_id: str, tenant: str) -> Job:
        """Return the erasure of the tenant that was started under this identifier. Raises MemoryNotFound, also for one
        that is too old.
        """
        state, result = _names(tenant, erasure_id)
        value = (await self._store.marks(SERVICE_TENANT, state)).get(state)
        if value is None:
            raise MemoryNotFound("erasure")
        kept = json.loads(value)
        sealed = (await self._store.marks(SERVICE_TENANT, result)).get(result) if kept["state"] == "done" else None
        job = Job(
            erasure_id=erasure_id,
            tenant=tenant,
            subject=kept["subject"],
            state=kept["state"],
            begun_at=datetime.fromisoformat(kept["begun_at"]),
            alive_at=datetime.fromisoformat(kept["alive_at"]),
            reason=kept["reason"],
            erased=None if sealed is None else await asyncio.to_thread(_open_receipt, sealed, erasure_id),
        )
        now = self._clock.now()
        if job.begun_at + KEPT_FOR <= now:
            raise MemoryNotFound("erasure")
        # Its process has stopped renewing it, so it has died: a caller must not wait for ever.
        if job.state == "running" and job.alive_at + LOST_AFTER <= now:
            return replace(job, state="interrupted", reason=INTERRUPTED)
        return job

    async def wait_for_end(self, job: Job, wait: float) -> Job:
        """Return the job as soon as it has ended, or its state after `wait` seconds."""
        task = next((task for one, task in self._running.values() if one.erasure_id == job.erasure_id), None)
        if task is not None:
            # `wait`, not `wait_for`: a caller that gives up must not cancel the erasure.
            await asyncio.wait([task], timeout=wait)
            return await self.find(job.erasure_id, job.tenant)
        while job.state == "running" and wait > 0:
            await asyncio.sleep(min(wait, ASKED_AGAIN))
            # Another process has the task: its progress can only be read from the store.
            wait -= ASKED_AGAIN
            job = await self.find(job.erasure_id, job.tenant)
        return job

    async def _carried_out(self, job: Job, run: Run) -> None:
        work = asyncio.create_task(self._in_turn(run))
        try:
            while not (await asyncio.wait([work], timeout=RENEWED))[0]:
                with suppress(StoreFailed):  # the erasure continues, and the next write may succeed
                    await self._keep(job)
            failure = work.exception()
            if failure is None:
                await self._keep(replace(job, state="done", erased=work.result()))
                return
            if not isinstance(failure, MnemicError):
                logger.error("internal error", extra={"error": type(failure).__name__})
            reason = failure.reason if isinstance(failure, MnemicError) else "internal_error"
            await self._keep(replace(job, state="failed", reason=reason))
        except StoreFailed as failure:
            logger.error("how an erasure ended could not be kept", extra={"error": failure.reason})
        finally:
            # A service that stops must not leave an erasure running whose end is not recorded.
            work.cancel()

    async def _in_turn(self, run: Run) -> ErasureReceipt:
        async with self._turn:
            return await run()

    async def _keep(self, job: Job) -> None:
        kept = {
            "subject": job.subject,
            "state": job.state,
            "begun_at": job.begun_at.isoformat(),
            "alive_at": self._clock.now().isoformat(),
            "reason": job.reason,
        }
        state, result = _names(job.tenant, job.erasure_id)
        marks: dict[str, str | None] = {state: json.dumps(kept)}
        if job.erased is not None:
            marks[result] = await asyncio.to_thread(_seal_receipt, job.erased, job.erasure_id)
        await apply(self._store, Mutation(tenant=SERVICE_TENANT, marks=marks))

    async def _sweep(self, tenant: str) -> None:
        """Remove the records of the tenant's erasures that are too old to be fetched."""
        now, prefix = self._clock.now(), f"{_STATE}{tenant}:"
        marks = await self._store.marks(SERVICE_TENANT, prefix)
        begun = {name: datetime.fromisoformat(json.loads(value)["begun_at"]) for name, value in marks.items()}
        past = [name.removeprefix(_STATE) for name, at in begun.items() if at + KEPT_FOR <= now]
        if past:
            names = [kind + name for kind in (_STATE, _RESULT) for name in past]
            await apply(self._store, Mutation(tenant=SERVICE_TENANT, marks=dict.fromkeys(names)))


def _names(tenant: str, erasure_id: str) -> tuple[str, str]:
    """Return the names of the marks of its progress and of its receipt."""
    named = f"{tenant}:{digest(erasure_id)}"
    return _STATE + named, _RESULT + named


def _key(erasure_id: str) -> OctKey:
    # The label makes this key differ from the stored digest of the same identifier.
    return OctKey.import_key(hmac.digest(erasure_id.encode(), b"mnemic erasure receipt", "sha256"))


def _seal_receipt(receipt: ErasureReceipt, erasure_id: str) -> str:
    return jwe.encrypt_compact(dict(_SEALED), json.dumps(receipt.as_dict()), _key(erasure_id))


def _open_receipt(sealed: str, erasure_id: str) -> ErasureReceipt:
    opened = jwe.decrypt_compact(sealed, _key(erasure_id), algorithms=list(_SEALED.values()))
    return ErasureReceipt.from_dict(json.loads(opened.plaintext or b"{}"))
