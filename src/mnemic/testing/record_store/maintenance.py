"""Contract for maintenance jobs: scans of a tenant, counts, marks, and the search for traces of erased data."""

# ruff: noqa: D102

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from mnemic.errors import NotSupported
from mnemic.ports import RecordStore, Transaction
from mnemic.testing.record_store.fixtures import START, Setting, change, day, everything, ids, memory, remember, scope
from mnemic.types import Kind, Level, Memory, Origin, OutboxEntry, Source, Status


class KeepingContract(Setting):
    """Check scans, usage, marks, requests and traces."""

    async def test_scan_walks_every_scope_of_one_tenant_in_order(self, store: RecordStore) -> None:
        places = [scope(), scope("bob"), scope(level=Level.WORKSPACE), scope(tenant="rival")]
        kept = [memory(f"m{number}", scope=places[number % 4]) for number in range(12)]
        await remember(store, *kept)
        mine = [each for each in kept if each.scope.tenant == "acme"]
        assert await store.scan("acme", statuses=[Status.ACTIVE]) == mine
        page = await store.scan("acme", statuses=[Status.ACTIVE], limit=4)
        assert page == mine[:4]
        assert await store.scan("acme", statuses=[Status.ACTIVE], after=page[-1].memory_id) == mine[4:]
        assert await store.scan("acme", statuses=[Status.ACTIVE], memory_ids=[mine[5].memory_id, "x"]) == mine[5:6]
        own = [each for each in mine if each.scope == scope()]
        assert await store.scan("acme", statuses=[Status.ACTIVE], scope=scope()) == own
        assert await store.scan("acme", statuses=[Status.ACTIVE], scope=scope(), after=own[0].memory_id) == own[1:]
        assert await store.scan("acme", statuses=[Status.PENDING_REVIEW], scope=scope()) == []
        assert await store.scan("nobody", statuses=list(Status)) == []
        assert await store.scan("acme", statuses=[]) == []

    @pytest.mark.parametrize("status", list(Status))
    async def test_scan_keeps_to_the_statuses(self, store: RecordStore, status: Status) -> None:
        kept = {each: memory(f"is {each}", status=each) for each in Status}
        await remember(store, *kept.values())
        assert await store.scan("acme", statuses=[status]) == [kept[status]]
        others = [each for each in Status if each is not status]
        assert set(ids(await store.scan("acme", statuses=others))) == {kept[each].memory_id for each in others}

    async def test_waiting_counts_what_waits_in_one_tenant(self, store: RecordStore) -> None:
        assert await store.waiting("acme") == 0
        places = [scope(), scope("bob"), scope(level=Level.WORKSPACE), scope(tenant="rival")]
        proposed = [memory(f"m{number}", scope=places[number % 4], status=Status.PENDING_REVIEW) for number in range(7)]
        await remember(store, *proposed, memory("is active"), memory("was turned down", status=Status.REJECTED))
        assert (await store.waiting("acme"), await store.waiting("rival"), await store.waiting("nobody")) == (6, 1, 0)
        decided = replace(proposed[0], status=Status.ACTIVE, version=2)
        await change(store, decided)
        assert await store.waiting("acme") == 5

    async def test_scan_knows_what_has_expired_and_who_wrote_any_version(self, store: RecordStore) -> None:
        never = memory("never", author="ada")
        soon, late = memory("soon", expires_at=day(1)), memory("late", expires_at=day(9), author="bob")
        await remember(store, never, soon, late)
        assert await store.scan("acme", statuses=[Status.ACTIVE], expired_by=day(1)) == [soon]
        assert await store.scan("acme", statuses=[Status.ACTIVE], expired_by=day(0.9)) == []
        assert await store.scan("acme", statuses=[Status.ACTIVE], author="bob") == [late]
        revised = never.next_version(day(1), author="cat")
        await change(store, revised)
        assert await store.scan("acme", statuses=[Status.ACTIVE], author="ada") == [revised]
        assert await store.scan("acme", statuses=[Status.ACTIVE], author="cat") == [revised]
        assert await store.scan("acme", statuses=[Status.ACTIVE], author="a") == []

    async def test_usage_counts_what_is_there(self, store: RecordStore) -> None:
        old, new = memory("an old one"), memory("a new one", at=day(2))
        entity, bobs = memory("a thing", kind=Kind.ENTITY, at=day(2)), memory("bob's", scope=scope("bob"))
        await remember(store, old, new, entity, bobs, memory("theirs", scope=scope(tenant="rival")))
        mine = await store.usage("acme", since=day(1), scope=scope())
        assert (mine[Kind.LONG_TERM].rows, mine[Kind.LONG_TERM].recent) == (2, 1)
        assert (mine[Kind.ENTITY].rows, mine[Kind.ENTITY].recent) == (1, 1)
        everywhere = await store.usage("acme", since=day(1))
        assert everywhere[Kind.LONG_TERM].rows == 3
        assert everywhere[Kind.LONG_TERM].bytes > mine[Kind.LONG_TERM].bytes > 100
        longer = old.next_version(day(3), content="x" * 5000, status=Status.SUPERSEDED)
        await change(store, longer)
        grown = await store.usage("acme", since=day(1), scope=scope())
        assert grown[Kind.LONG_TERM].rows == 2
        longest = 7000 if store.capabilities.sealed else 5200
        assert 4900 < grown[Kind.LONG_TERM].bytes - mine[Kind.LONG_TERM].bytes < longest
        await store.transact(lambda transaction: transaction.remove(old.memory_id, scope=scope()))
        await store.transact(lambda transaction: transaction.remove(entity.memory_id, scope=scope()))
        left = await store.usage("acme", since=day(1), scope=scope())
        assert left[Kind.LONG_TERM].rows == 1
        assert left.get(Kind.ENTITY) is None
        assert await store.usage("nobody", since=START) == {}

    async def test_what_waits_is_found_by_its_fingerprint(self, store: RecordStore) -> None:
        first, second = (memory(f"w{n}", status=Status.PENDING_REVIEW, fingerprint="ab" * 32) for n in range(2))
        active = memory("active", fingerprint="ab" * 32)
        blank = memory("blank", status=Status.PENDING_REVIEW)
        await remember(store, first, second, active, blank)

        async def work(transaction: Transaction) -> list[Memory | None]:
            asked = [(scope(), "ab" * 32), (scope(), "cd" * 32), (scope("bob"), "ab" * 32), (scope(), "")]
            return [await transaction.find_pending(place, fingerprint) for place, fingerprint in asked]

        assert await store.transact(work) == [first, None, None, None]

    async def test_a_transaction_counts_its_own_changes(self, store: RecordStore) -> None:
        await remember(store, memory("there before"), memory("bob's", scope=scope("bob")))

        async def work(transaction: Transaction) -> list[int]:
            await transaction.insert(memory("here and now"))
            mine = await transaction.usage("acme", since=START, scope=scope())
            everywhere = await transaction.usage("acme", since=START)
            return [
                mine[Kind.LONG_TERM].rows,
                mine[Kind.LONG_TERM].recent,
                everywhere[Kind.LONG_TERM].rows,
            ]

        assert await store.transact(work) == [2, 2, 3]
        assert await store.usage("nobody", since=START) == {}
        assert (await store.usage("acme", since=START))[Kind.LONG_TERM].rows == 3

    async def test_marks_are_the_tenants_own(self, store: RecordStore) -> None:
        async def work(transaction: Transaction) -> list[str | None]:
            await transaction.put_mark("acme", "consent:ada:diet", "granted")
            await transaction.put_mark("acme", "consent:ada:diet", "revoked")
            await transaction.put_mark("acme", "consent:adam:diet", "granted")
            await transaction.put_mark("acme", "other%", "x")
            return [await transaction.find_mark("acme", name) for name in ("consent:ada:diet", "absent")]

        assert await store.transact(work) == ["revoked", None]
        await store.transact(lambda transaction: transaction.put_mark("rival", "consent:ada:diet", "theirs"))
        assert await store.marks("acme", "consent:ada:") == {"consent:ada:diet": "revoked"}
        assert len(await store.marks("acme", "consent:")) == 2
        assert len(await store.marks("acme", "")) == 3
        assert await store.marks("acme", "%") == {}
        await store.transact(lambda transaction: transaction.put_mark("acme", "consent:ada:diet", None))
        await store.transact(lambda transaction: transaction.put_mark("acme", "absent", None))
        assert await store.marks("acme", "consent:ada:") == {}
        assert await store.marks("rival", "consent:ada:") == {"consent:ada:diet": "theirs"}

    async def test_marks_come_in_pages(self, store: RecordStore) -> None:
        names = ["k", "k:1", "k:10", "k:2", "k:\ud7ff", "k:\ue000", "k:\U0010ffff"]

        async def work(transaction: Transaction) -> None:
            for name in (*reversed(names), "j", "l", "k;"):
                await transaction.put_mark("acme", name, name)

        await store.transact(work)
        assert list(await store.marks("acme", "k:")) == names[1:]
        assert list(await store.marks("acme", "k", limit=2)) == names[:2]
        assert list(await store.marks("acme", "k:", after="k:1", limit=2)) == names[2:4]
        assert list(await store.marks("acme", "k:", after="k:\ud7ff")) == names[5:]
        assert list(await store.marks("acme", "k:", after="a", limit=1)) == ["k:1"]
        assert list(await store.marks("acme", "k:", after="l")) == []
        assert list(await store.marks("acme", "k:\U0010ffff")) == names[6:]
        assert list(await store.marks("acme", "k:", limit=0)) == []
        assert list(await store.marks("acme", "", after="k;")) == ["l"]

    async def test_requests_that_name_a_memory_are_forgotten(self, store: RecordStore) -> None:
        receipts = {
            "made": '{"outcome": "created", "memory_id": "m1"}',
            "merged": '{"memory_id": "m3", "superseded": ["m0", "m1"]}',
            "other": '{"memory_id": "m11", "superseded": ["m12"]}',
        }

        async def keep(transaction: Transaction) -> None:
            for name, receipt in receipts.items():
                await transaction.remember_request("acme", name, "d", receipt, START)

        async def find(transaction: Transaction) -> list[bool]:
            return [await transaction.find_request("acme", name) is not None for name in receipts]

        async def keep_theirs(transaction: Transaction) -> None:
            await transaction.remember_request("rival", "made", "d", receipts["made"], START)

        await store.transact(keep)
        await store.transact(keep_theirs)
        assert await store.transact(lambda transaction: transaction.remove_requests("acme", ["m1", "m99"])) == 2
        assert await store.transact(find) == [False, False, True]
        assert await store.transact(lambda transaction: transaction.find_request("rival", "made")) is not None

    async def test_requests_of_one_owner_are_forgotten(self, store: RecordStore) -> None:
        names = ["ana:1", "ana:2", "ana:b:1", "anabel:1", "bob:ana:1"]

        async def keep(transaction: Transaction, tenant: str) -> None:
            for name in names:
                await transaction.remember_request(tenant, name, "d", '{"memory_id": null}', START)

        for tenant in ("acme", "rival"):
            await store.transact(partial(keep, tenant=tenant))
        assert await store.transact(lambda transaction: transaction.remove_requests("acme", [])) == 0
        assert await store.transact(lambda transaction: transaction.remove_requests("acme", [], owner="ana")) == 2
        assert [one.idempotency_key for one in await store.requests("acme")] == names[2:]
        assert len(await store.requests("rival")) == len(names)

    async def test_requests_are_walked_in_order_of_their_keys(self, store: RecordStore) -> None:
        receipt = '{"outcome": "created", "memory_id": "m1"}'

        async def keep(transaction: Transaction) -> None:
            for name in ("b", "a", "B", "\u00e9", "c"):
                await transaction.remember_request("acme", name, "d", receipt, day(1))

        async def keep_theirs(transaction: Transaction) -> None:
            await transaction.remember_request("rival", "theirs", "d", receipt, START)

        await store.transact(keep)
        await store.transact(keep_theirs)
        found = await store.requests("acme")
        assert [one.idempotency_key for one in found] == ["B", "a", "b", "c", "\u00e9"]
        assert {(one.receipt, one.at) for one in found} == {(receipt, day(1))}
        page = await store.requests("acme", limit=2)
        assert await store.requests("acme", after=page[-1].idempotency_key) == found[2:]
        assert await store.requests("nobody") == []

    async def test_traces_show_what_is_left_and_that_nothing_is(self, store: RecordStore) -> None:
        gone = memory("a lagoon", fingerprint="ab" * 32)
        await remember(store, gone, *(memory(f"by {number}", fingerprint=f"{number:064x}") for number in range(9)))
        await change(store, gone.next_version(day(1), content="a bay", fingerprint="cd" * 32))

        async def leave(transaction: Transaction) -> None:
            entry = OutboxEntry.for_memory(gone)
            await transaction.enqueue(entry)
            await transaction.remember_request("acme", "k", "d", f'{{"memory_id": "{gone.memory_id}"}}', START)

        await store.transact(leave)
        wanted = [gone.memory_id], ["ab" * 32, "cd" * 32]
        before = await store.traces("acme", *wanted)
        assert before["memory"] > 0
        assert before["outbox"] == before["request"] == 1
        assert before.get("bytes", 1) > 0
        assert not any(count for place, count in (await store.traces("rival", *wanted)).items() if place != "bytes")

        async def erase(transaction: Transaction) -> None:
            assert await transaction.remove(gone.memory_id, scope=scope())
            assert await transaction.remove_requests("acme", [gone.memory_id]) == 1

        await store.transact(erase)
        await store.acknowledge([entry.sequence for entry in await store.pending()])
        assert await store.tidy() >= 0
        assert not any((await store.traces("acme", *wanted)).values())
        assert await store.count(everything()) == 9

    async def test_sealing_changes_nothing_that_is_said(self, store: RecordStore) -> None:
        kept = memory("a secret of mine", source=Source(origin=Origin.USER_STATED, quote="mine"))
        await remember(store, kept)
        if store.capabilities.sealed:
            assert await store.seal(kept.scope.tenant) == 0  # it was sealed when it was written
        else:
            with pytest.raises(NotSupported, match="not_supported:seal"):
                await store.seal(kept.scope.tenant)
        assert await store.get(kept.memory_id, scopes=[kept.scope]) == kept

    async def test_what_is_sealed_is_handed_over_to_be_sealed_anew(self, store: RecordStore) -> None:
        kept = memory("a secret of mine")
        await remember(store, kept, memory("of a rival", scope=scope(tenant="rival")))
        await change(store, kept.next_version(kept.updated_at, content="a secret of yours"))
        seen: list[bytes] = []

        def note_sealed(sealed: bytes, bound: bytes) -> None:
            seen.append(bound)
            assert sealed
            assert kept.memory_id.encode() in bound

        assert await store.reseal("acme", note_sealed) == 0
        assert len(set(seen)) == len(seen)
        assert (len(seen) >= 2) == bool(store.capabilities.sealed)
        assert await store.get(kept.memory_id, scopes=[kept.scope]) is not None

    async def test_tidying_changes_nothing_that_can_be_read(self, store: RecordStore) -> None:
        kept = [memory(f"m{number}") for number in range(30)]
        await remember(store, *kept)
        for each in kept[:20]:
            await store.transact(lambda transaction, each=each: transaction.remove(each.memory_id, scope=scope()))  # type: ignore[misc]
        await store.tidy(whole=True)
        assert await store.scan("acme", statuses=[Status.ACTIVE]) == kept[20:]
        assert len(await store.match(everything(), "m25", limit=9)) == 1

    async def test_hidden_keys_are_hidden_from_every_list(self, store: RecordStore) -> None:
        seat, diet, free = memory("tea one", key="seat"), memory("tea two", key="diet"), memory("tea three")
        await remember(store, seat, diet, free)
        where = replace(everything(), hidden_keys=frozenset({"diet", "absent"}))
        assert where.accepts(free)
        assert not where.accepts(diet)
        shown = {seat.memory_id, free.memory_id}
        assert set(ids(await store.newest(where, limit=9))) == shown
        assert await store.count(where) == 2
        assert set(ids(await store.match(where, "tea", limit=9))) == shown
        assert set(ids(await store.recent(where, limit=9))) == shown
        assert diet.vector is not None
        assert set(ids(await store.nearest(where, diet.vector, limit=9))) == shown
