"""An erasure over REST is a job: nobody waits for it who does not want to, and its receipt can be fetched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnemic.errors import MemoryNotFound, StoreFailed
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.maintenance.personal_keys import names_of_key_owners
from mnemic.maintenance.subject_data import audit_of
from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.types import VectorSpace
from mnemic_server import erasure_jobs
from mnemic_server.credentials import Principal, Role
from mnemic_server.erasure_jobs import Erasures
from mnemic_server.problems import Refusal
from tests.unit.server.conftest import Running

AT = datetime(2026, 11, 23, tzinfo=UTC)
RECEIPT = ErasureReceipt(
    receipt_id="r1",
    tenant="acme",
    subject="s",
    at=AT,
    counts={"memories": 1},
    traces={},
    memory_ids=("a-memory-that-is-gone",),
)
ANA = Principal(tenant="acme", user="ana", roles=frozenset({Role.SUBJECT}), key_id="k1")


class Blocked:
    """An erasure that ends when it is let go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = asyncio.Event()

    async def __call__(self) -> ErasureReceipt:
        self.begun.set()
        await self.go.wait()
        return RECEIPT


def jobs(store: InProcessStore, clock: ManualClock) -> Erasures:
    return Erasures(store, clock)


@asynccontextmanager
async def store_opened(store: InProcessStore) -> AsyncIterator[None]:
    await store.open(VectorSpace(model="words", dimension=8))
    yield
    await store.close()


async def done() -> ErasureReceipt:
    return RECEIPT


async def test_who_erases_is_answered_at_once_and_fetches_the_receipt(running: Running) -> None:
    ana = await running.caller("writer", "reader", "subject")
    await running.client.post("/v1/memories", json={"content": "Tea in Bergen"}, headers=ana)
    begun = await running.client.post("/v1/erasures", json={}, headers=ana)
    assert (begun.status_code, begun.json()["state"], begun.json()["erased"]) == (202, "running", None)
    place = begun.headers["location"]
    assert place == f"/v1/erasures/{begun.json()['erasure_id']}"
    ended = (await running.client.get(place, params={"wait": 10}, headers=ana)).json()
    assert (ended["state"], ended["erased"]["complete"], ended["erased"]["counts"]["memories"]) == ("done", True, 1)
    again = (await running.client.get(place, headers=ana)).json()
    assert again == ended


async def test_what_is_held_under_a_revoked_consent_is_erased_by_a_job(running: Running) -> None:
    ana = await running.caller("writer", "reader", "subject")
    await running.client.post("/v1/memories", json={"content": "vegan", "key": "diet"}, headers=ana)
    await running.client.post("/v1/memories", json={"content": "Tea in Bergen"}, headers=ana)
    hidden = (await running.client.delete("/v1/consents/diet", headers=ana)).json()
    assert hidden == {"key": "diet", "hidden": 1, "erasure": None}
    begun = await running.client.delete("/v1/consents/diet", params={"erase_held": True}, headers=ana)
    assert (begun.status_code, begun.json()["erasure"]["state"]) == (202, "running")
    place = begun.headers["location"]
    assert place == f"/v1/erasures/{begun.json()['erasure']['erasure_id']}"
    ended = (await running.client.get(place, params={"wait": 10}, headers=ana)).json()
    assert (ended["state"], ended["erased"]["complete"], ended["erased"]["counts"]["memories"]) == ("done", True, 1)
    ben = await running.caller("subject", user="ben")
    assert (await running.client.get(place, headers=ben)).status_code == 404
    left = (await running.client.get("/v1/memories", headers=ana)).json()["memories"]
    assert [one["content"] for one in left] == ["Tea in Bergen"]


async def test_others_are_answered_while_an_erasure_runs(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    ana, ben = await running.caller("subject"), await running.caller("reader", "writer", user="ben")
    scan = Blocked()

    async def slow(*_: Any, **__: Any) -> ErasureReceipt:
        return await scan()

    monkeypatch.setattr(type(running.engine), "erase", slow)
    begun = await running.client.post("/v1/erasures", json={}, headers=ana)
    await scan.begun.wait()
    kept = await running.client.post("/v1/memories", json={"content": "Coffee in Oslo"}, headers=ben)
    assert (begun.status_code, kept.status_code) == (202, 201)
    assert (await running.client.get(begun.headers["location"], headers=ana)).json()["state"] == "running"
    scan.go.set()
    ended = await running.client.get(begun.headers["location"], params={"wait": 10}, headers=ana)
    assert ended.json()["state"] == "done"


async def test_nobody_else_may_fetch_it_but_operators(running: Running) -> None:
    ana, ben = await running.caller("subject"), await running.caller("subject", user="ben")
    place = (await running.client.post("/v1/erasures", json={}, headers=ana)).headers["location"]
    operator = await running.caller("operator", user=None)
    stranger = await running.caller("operator", user=None, tenant="rival")
    statuses = [(await running.client.get(place, headers=who)).status_code for who in (ana, ben, operator, stranger)]
    assert statuses == [200, 404, 200, 404]
    unknown = await running.client.get("/v1/erasures/nothing", headers=ana)
    assert (unknown.status_code, unknown.json()["reason"]) == (404, "memory_not_found:erasure")


async def test_a_receipt_can_be_fetched_from_another_process_and_is_no_clear_text() -> None:
    store, clock = InProcessStore(), ManualClock()
    async with store_opened(store):
        job = await jobs(store, clock).begin(ANA, "ana", block=False, run=done)
        other = jobs(store, clock)
        ended = await other.wait_for_end(await other.find(job.erasure_id, "acme"), 5)
        assert ended.erased == RECEIPT
        marks = await store.marks(SERVICE_TENANT, "erasure")
        assert len(marks) == 2
        assert not any(
            word in f"{name}{value}"
            for name, value in marks.items()
            for word in ("a-memory-that-is-gone", job.erasure_id)
        )


async def test_asked_again_while_it_runs_it_is_the_same_job() -> None:
    store, clock, scan = InProcessStore(), ManualClock(), Blocked()
    async with store_opened(store):
        service = jobs(store, clock)
        first = await service.begin(ANA, "ana", block=False, run=scan)
        together = await asyncio.gather(*(service.begin(ANA, "ana", block=False, run=done) for _ in range(3)))
        other = await service.begin(ANA, "ana", block=True, run=done)
        assert {one.erasure_id for one in together} == {first.erasure_id}
        assert other.erasure_id != first.erasure_id
        scan.go.set()
        assert (await service.wait_for_end(first, 5)).state == "done"


async def test_two_who_ask_at_the_same_moment_are_told_of_one_job() -> None:
    store, clock, scan = InProcessStore(), ManualClock(), Blocked()
    async with store_opened(store):
        service = jobs(store, clock)
        begun = await asyncio.gather(*(service.begin(ANA, "ana", block=False, run=scan) for _ in range(2)))
        assert begun[0].erasure_id == begun[1].erasure_id
        scan.go.set()
        assert (await service.wait_for_end(begun[0], 5)).state == "done"


@pytest.mark.parametrize(
    ("error", "reason"), [(StoreFailed("full"), "store_failed:full"), (ValueError("content"), "internal_error")]
)
async def test_what_fails_says_why(error: Exception, reason: str, caplog: pytest.LogCaptureFixture) -> None:
    async def failing() -> ErasureReceipt:
        raise error

    store, clock = InProcessStore(), ManualClock()
    async with store_opened(store):
        service = jobs(store, clock)
        job = await service.begin(ANA, "ana", block=False, run=failing)
        ended = await service.wait_for_end(job, 5)
        assert (ended.state, ended.reason, ended.erased) == ("failed", reason, None)
    assert "content" not in caplog.text


async def test_a_failure_that_cannot_be_kept_is_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, clock, scan = InProcessStore(), ManualClock(), Blocked()
    async with store_opened(store):
        service = jobs(store, clock)
        job = await service.begin(ANA, "ana", block=False, run=scan)
        await scan.begun.wait()

        async def refused(*_: object) -> bool:
            raise StoreFailed("gone")

        monkeypatch.setattr(erasure_jobs, "apply", refused)
        scan.go.set()
        await service.wait_for_end(job, 5)
    assert "could not be kept" in caplog.text


async def test_a_process_that_is_gone_leaves_no_job_that_runs_for_ever() -> None:
    store, clock, scan = InProcessStore(), ManualClock(), Blocked()
    async with store_opened(store):
        service = jobs(store, clock)
        job = await service.begin(ANA, "ana", block=False, run=scan)
        clock.advance(erasure_jobs.LOST_AFTER)
        lost = await jobs(store, clock).find(job.erasure_id, "acme")
        assert (lost.state, lost.reason) == ("interrupted", "interrupted")
        scan.go.set()
        assert (await service.wait_for_end(job, 5)).state == "done"


async def test_a_process_at_work_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure_jobs, "RENEWED", 0.001)
    monkeypatch.setattr(erasure_jobs, "ASKED_AGAIN", 0.001)
    store, clock, scan = InProcessStore(), ManualClock(), Blocked()
    async with store_opened(store):
        service, other = jobs(store, clock), jobs(store, clock)
        job = await service.begin(ANA, "ana", block=False, run=scan)
        clock.advance(erasure_jobs.LOST_AFTER)
        while (await other.find(job.erasure_id, "acme")).state != "running":
            await other.wait_for_end(job, 0.002)
        assert (await other.wait_for_end(job, 0.002)).state == "running"
        scan.go.set()
        assert (await service.wait_for_end(job, 5)).state == "done"


async def test_that_it_is_at_work_may_be_said_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure_jobs, "RENEWED", 0.001)
    store, clock, scan, real, tried = InProcessStore(), ManualClock(), Blocked(), erasure_jobs.apply, asyncio.Event()
    async with store_opened(store):
        service = jobs(store, clock)
        job = await service.begin(ANA, "ana", block=False, run=scan)

        async def busy(store: Any, mutation: Any) -> bool:
            tried.set()
            if not scan.go.is_set():
                raise StoreFailed("busy")
            return await real(store, mutation)

        monkeypatch.setattr(erasure_jobs, "apply", busy)
        await tried.wait()
        scan.go.set()
        assert (await service.wait_for_end(job, 5)).state == "done"


async def test_after_a_day_nothing_is_kept_of_it() -> None:
    store, clock = InProcessStore(), ManualClock()
    async with store_opened(store):
        service = jobs(store, clock)
        job = await service.begin(ANA, "ana", block=False, run=done)
        assert (await service.wait_for_end(job, 5)).state == "done"
        clock.advance(erasure_jobs.KEPT_FOR)
        with pytest.raises(MemoryNotFound):
            await service.find(job.erasure_id, "acme")
        later = await service.begin(ANA, "ben", block=False, run=done)
        assert (await service.wait_for_end(later, 5)).state == "done"
        assert len(await store.marks(SERVICE_TENANT, "erasure")) == 2


async def test_one_credential_cannot_take_every_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure_jobs, "MOST", 4)
    store, clock, scan = InProcessStore(), ManualClock(), Blocked()
    async with store_opened(store):
        service = jobs(store, clock)
        begun = [await service.begin(ANA, f"user {n}", block=False, run=scan) for n in range(3)]
        with pytest.raises(Refusal) as refused:
            await service.begin(ANA, "user 3", block=False, run=scan)
        assert refused.value.reason == "too_many_erasures"
        rival = Principal(tenant="rival", user=None, roles=frozenset({Role.OPERATOR}), key_id="k2")
        begun.append(await service.begin(rival, "kim", block=False, run=scan))
        scan.go.set()
        assert {(await service.wait_for_end(job, 5)).state for job in begun} == {"done"}


async def test_the_keys_of_an_erased_person_write_nothing_afterwards(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reader", "writer", user="ben")
    await running.client.post("/v1/memories", json={"content": "Tea in Bergen"}, headers=ana)
    receipt = await running.erased(await running.caller("operator", user="olga"), subject="ana")
    assert (receipt["counts"]["memories"], receipt["counts"]["api_keys"], receipt["complete"]) == (1, 1, True)
    refused = await running.client.post("/v1/memories", json={"content": "Tea in Oslo"}, headers=ana)
    assert (refused.status_code, refused.json()["reason"]) == (401, "unauthenticated")
    assert (await running.client.post("/v1/memories", json={"content": "Cake"}, headers=ben)).status_code == 201
    lines = [one async for one in audit_of(running.engine.store, "acme") if one.action == "api_key_revoked"]
    assert [(line.actor, line.detail["subject"]) for line in lines] == [("olga", receipt["subject"])]


async def test_who_erases_themself_can_fetch_the_receipt_for_a_day_and_write_nothing(running: Running) -> None:
    ana, phone = await running.caller("reader", "writer", "subject"), await running.caller("reader", "writer")
    await running.client.post("/v1/memories", json={"content": "Tea in Bergen"}, headers=ana)
    receipt = await running.erased(ana)
    assert receipt["counts"]["api_keys"] == 2
    wrote = [await running.client.post("/v1/memories", json={"content": "Tea"}, headers=who) for who in (ana, phone)]
    assert [one.status_code for one in wrote] == [403, 401]
    running.clock.advance(timedelta(hours=25))
    assert (await running.client.get("/v1/memories", headers=ana)).status_code == 401
    assert await names_of_key_owners(running.engine.store, "acme") == {"ana"}


async def test_a_key_that_ends_sooner_ends_no_later_after_an_erasure(running: Running) -> None:
    key, text = await running.keys.create(tenant="acme", roles=["subject"], user="ana", ttl=timedelta(hours=1))
    await running.erased({"Authorization": f"Bearer {text}"})
    left = await running.keys.find(key.key_id)
    assert left is not None
    assert left.expires_at == key.expires_at


async def test_the_key_of_a_namesake_in_another_tenant_stays(running: Running) -> None:
    rival = await running.caller("reader", "writer", tenant="rival")
    application = await running.caller("reader", "writer", user=None)
    await running.erased(await running.caller("operator", user="olga"), subject="ana")
    kept = await running.client.post("/v1/memories", json={"content": "Tea"}, headers=rival)
    assert kept.status_code == 201
    assert (await running.client.post("/v1/tokens", json={"user": "ben"}, headers=application)).status_code == 201
