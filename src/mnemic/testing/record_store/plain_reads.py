"""Contract of plain reads: isolation, filters, order and pages."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime
from itertools import product
from typing import Any

import pytest

from mnemic.ports import ChangeFeed, RecordStore, ScopeChanges, Snapshot
from mnemic.testing.record_store.fixtures import (
    EMBEDDER,
    START,
    Setting,
    change,
    day,
    everything,
    ids,
    memory,
    remember,
    scope,
)
from mnemic.types import Kind, Level, Memory, Status, Where
from mnemic.types.facets import MAX_FACETS, value_facet
from mnemic.types.scope import new_id

# ruff: noqa: D102


ODD = [
    "",
    " ",
    "'; DROP TABLE memory; --",
    '" OR "1"="1',
    "a\x00b",
    "%_*?[]",
    "NEAR(a b) AND NOT c:*",
    "🦆" * 40,
    "e\u0301\u202e\ufeff",
    "{}[]\\/:$.",
    "x" * 100_000,
]


class ReadingContract(Setting):
    """Check get, list and count."""

    async def test_several_reads_are_of_one_moment(self, store: RecordStore) -> None:
        first, second = memory("the first lighthouse"), memory("the second lighthouse")
        await remember(store, first)

        async def look(snapshot: Snapshot) -> tuple[int, list[str], bool]:
            found = await snapshot.match(everything(), "lighthouse", limit=9)
            known = await snapshot.get_many([first.memory_id, second.memory_id], scopes=[first.scope])
            return await snapshot.count(everything()), [entry.memory_id for entry in found], first.memory_id in known

        assert await store.read(look) == (1, [first.memory_id], True)
        await remember(store, second)
        assert (await store.read(look))[0] == 2

    async def test_a_failing_read_raises_its_error(self, store: RecordStore) -> None:
        async def fail(snapshot: Snapshot) -> None:
            await snapshot.count(everything())
            raise LookupError

        with pytest.raises(LookupError):
            await store.read(fail)
        assert await store.count(everything()) == 0

    async def test_the_same_names_in_two_tenants_share_nothing(self, store: RecordStore) -> None:
        memory_id = new_id(START)
        mine = memory("my secret harbour", memory_id=memory_id, fingerprint="f")
        theirs = memory("their secret harbour", memory_id=memory_id, fingerprint="f", scope=scope(tenant="rival"))
        await remember(store, mine, theirs)
        for each in (mine, theirs):
            where = everything(each.scope)
            assert await store.get(memory_id, scopes=[each.scope]) == each
            assert await store.newest(where, limit=9) == [each]
            assert await store.versions(memory_id, scopes=[each.scope]) == [each]
            assert await store.find_fingerprint(each.scope, "f") == each
            assert await store.find_fingerprint(each.scope, "") is None
            assert await store.count(where) == 1
            assert len(await store.nearest(where, EMBEDDER.vector("harbour"), limit=9)) == 1
            assert len(await store.match(where, "harbour", limit=9)) == 1
            assert len(await store.recent(where, limit=9)) == 1
        await change(store, mine.next_version(day(1), content="moved"))
        await store.transact(lambda transaction: transaction.remove(memory_id, scope=theirs.scope))
        found = await store.get(memory_id, scopes=[mine.scope])
        assert found is not None
        assert found.content == "moved"

    async def test_levels_and_owners_are_apart(self, store: RecordStore) -> None:
        places = [scope(owner, level=level) for owner, level in product(("ada", "bob"), Level)]
        kept = [memory("a harbour", scope=place) for place in places]
        await remember(store, *kept)
        for place, each in zip(places, kept, strict=True):
            assert ids(await store.newest(everything(place), limit=99)) == [each.memory_id]
            assert ids(await store.match(everything(place), "harbour", limit=99)) == [each.memory_id]
            assert await store.get_many(ids(kept), scopes=[place]) == {each.memory_id: each}
        assert await store.newest(everything(*places[:3]), limit=99) == kept[2::-1]
        assert await store.count(everything(*places[:3])) == 3

    async def test_owners_are_called_what_providers_and_people_write(self, store: RecordStore) -> None:
        owners = (
            "a",
            "A",
            "a/b",
            "auth0|5f7",
            "Jos\u00e9",
            "Jose",
            "\u65e5\u672c",
            "a'--",
            "a%",
            "_%",
            "a b",
            "\u0130",
            "i",
        )
        places = [scope(owner, level=level) for owner in owners for level in (Level.USER, Level.SESSION)]
        kept = [memory("a harbour", scope=place, author=place.owner) for place in places]
        await remember(store, *kept)
        for place, each in zip(places, kept, strict=True):
            assert await store.newest(everything(place), limit=99) == [each]
            assert ids(await store.match(everything(place), "harbour", limit=99)) == [each.memory_id]
            assert sum(one.rows for one in (await store.usage(place.tenant, since=START, scope=place)).values()) == 1
            by_author = await store.scan(place.tenant, statuses=set(Status), author=place.owner)
            assert {one.scope.owner for one in by_author} == {place.owner}
        await store.transact(lambda transaction: transaction.remove(kept[0].memory_id, scope=kept[0].scope))
        assert [await store.count(everything(place)) for place in places] == [0] + [1] * (len(places) - 1)

    async def test_absent_and_foreign_look_alike(self, store: RecordStore) -> None:
        foreign = memory("hidden", scope=scope("bob"))
        await remember(store, foreign)
        for memory_id in (foreign.memory_id, new_id(START), *ODD):
            assert await store.get(memory_id, scopes=[scope()]) is None
            assert await store.get_many([memory_id], scopes=[scope()]) == {}
            assert await store.versions(memory_id, scopes=[scope()]) == []
        assert await store.get(foreign.memory_id, scopes=[]) is None

    async def test_unknown_scopes_are_empty(self, store: RecordStore) -> None:
        nowhere = everything(scope("nobody"))
        assert await store.newest(nowhere, limit=5) == []
        assert await store.count(nowhere) == 0
        assert await store.nearest(nowhere, EMBEDDER.vector("x"), limit=5) == []
        assert await store.match(nowhere, "x", limit=5) == []
        assert await store.recent(nowhere, limit=5) == []

    @pytest.mark.parametrize("odd", ODD, ids=lambda text: f"{len(text)}-{text[:6]!a}")
    async def test_odd_text_is_only_text(self, store: RecordStore, odd: str) -> None:
        plain = memory("plain", key="plain", category="plain")
        strange = memory(odd, key=odd or None, category=odd, context=odd, data={odd: odd}, vector=None)
        await remember(store, plain, strange)
        assert await store.get(strange.memory_id, scopes=[scope()]) == strange
        assert ids(await store.newest(everything(categories=frozenset({odd})), limit=9)) == [strange.memory_id]
        assert ids(await store.recent(everything(categories=frozenset({odd})), limit=9)) == [strange.memory_id]
        keyed = [strange.memory_id] if odd else []
        assert ids(await store.newest(everything(keys=frozenset({odd})), limit=9)) == keyed
        for query in (odd, f'"{odd}"', f'"{odd}'):
            assert plain.memory_id not in ids(await store.match(everything(), query, limit=9))

    async def test_newest_comes_in_pages_without_gaps_or_repeats(self, store: RecordStore) -> None:
        places = [scope(), scope("bob")]
        kept = [memory(f"number {number}", at=day(number), scope=places[number % 2]) for number in range(23)]
        await remember(store, *kept)
        seen: list[Memory] = []
        before = None
        while page := await store.newest(everything(*places), limit=5, before=before):
            seen += page
            before = page[-1].memory_id
        assert seen == kept[::-1]

    async def test_a_page_goes_on_after_its_last_memory_was_removed(self, store: RecordStore) -> None:
        kept = [memory(f"number {number}", at=day(number)) for number in range(4)]
        await remember(store, *kept)
        await store.transact(lambda transaction: transaction.remove(kept[2].memory_id, scope=scope()))
        assert await store.newest(everything(), limit=9, before=kept[2].memory_id) == [kept[1], kept[0]]

    async def test_facets_find_what_has_them_in_order_and_nothing_is_missed(self, store: RecordStore) -> None:
        def seat(number: int, **data: Any) -> Memory:
            row = {"row": number % 3, "seat": {"letter": "AB"[number % 2]}, **data}
            return memory(f"Seat {number}", kind=Kind.STRUCTURED, category="Seat", data=row)

        kept = [seat(number) for number in range(12)]
        many = seat(99, **{f"field {number}": number for number in range(MAX_FACETS)})
        await remember(store, *kept, many, memory("row 1, letter A"))
        where = everything(kinds=frozenset({Kind.STRUCTURED}))
        one, letter = (frozenset({value_facet(*result)}) for result in (("row", 1), ("seat.letter", "a")))
        wanted = [each.memory_id for each in (many, kept[10], kept[4])]
        found = await store.newest(where, limit=99, facets=[one, letter])
        assert [one_of for one_of in ids(found) if one_of in wanted] == wanted
        rows = [each.memory_id for each in (many, kept[10], kept[7], kept[4], kept[1])]
        paged: list[str] = []
        while page := await store.newest(where, limit=2, before=paged[-1] if paged else None, facets=[one]):
            paged += ids(page)
        assert [each for each in paged if each in rows] == rows
        assert paged == sorted(set(paged), reverse=True)
        await change(store, kept[4].next_version(day(1), data={"row": 7}))
        assert kept[4].memory_id in ids(
            await store.newest(where, limit=99, facets=[frozenset({value_facet("row", 7)})])
        )
        assert await store.newest(replace(where, scopes=(scope(owner="rival"),)), limit=9, facets=[one]) == []

    async def test_no_limit_below_one_returns_anything(self, store: RecordStore) -> None:
        await remember(store, memory("harbour"))
        for limit in (0, -1):
            assert await store.newest(everything(), limit=limit) == []
            assert await store.nearest(everything(), EMBEDDER.vector("harbour"), limit=limit) == []
            assert await store.match(everything(), "harbour", limit=limit) == []
            assert await store.recent(everything(), limit=limit) == []

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({}, "active"),
            ({"statuses": frozenset(Status)}, "active pending superseded"),
            ({"statuses": frozenset({Status.PENDING_REVIEW})}, "pending"),
            ({"statuses": frozenset()}, ""),
            ({"as_of": day(0)}, "active superseded"),
            ({"as_of": day(-5)}, "superseded"),
            ({"as_of": day(5)}, "active"),
            ({"as_of": day(2)}, "active"),
            ({"live_at": day(9)}, "active"),
            ({"live_at": day(10)}, ""),
            ({"kinds": frozenset({Kind.ENTITY})}, ""),
        ],
        ids=[
            "default",
            "every status",
            "pending",
            "no status",
            "at first",
            "before",
            "later",
            "between",
            "live",
            "expired",
            "kind",
        ],
    )
    async def test_status_validity_and_expiry(self, store: RecordStore, filters: Any, expected: str) -> None:
        kept = {
            "active": memory("active", valid_from=day(0), expires_at=day(10)),
            "pending": memory("pending", status=Status.PENDING_REVIEW),
            "superseded": memory("old", status=Status.SUPERSEDED, occurred_at=day(-9), valid_to=day(2)),
        }
        await remember(store, *kept.values())
        where = everything(**filters)
        wanted = {kept[name].memory_id for name in expected.split()}
        assert set(ids(await store.newest(where, limit=9))) == wanted
        assert set(ids(await store.recent(where, limit=9))) == wanted
        assert await store.count(where) == len(wanted)

    async def test_every_filter_means_what_where_accepts_says(self, store: RecordStore) -> None:
        rng = random.Random(7)  # noqa: S311
        kept = [self._random_memory(rng, number) for number in range(60)]
        await remember(store, *kept)
        for _ in range(120):
            where = self._random_filter(rng, kept)
            accepted = {each.memory_id for each in kept if where.accepts(each)}
            assert set(ids(await store.newest(where, limit=99))) == accepted
            assert await store.count(where) == len(accepted)
            assert set(ids(await store.recent(where, limit=99))) == accepted
            assert set(ids(await store.nearest(where, EMBEDDER.vector("harbour"), limit=99))) == accepted
            assert set(ids(await store.match(where, "harbour", limit=99))) == accepted

    async def test_changes_are_listed_without_the_rest(self, store: RecordStore, other: RecordStore) -> None:
        known: dict[str, Any] = {}
        seen, kept = 0, [memory(f"boat {number}", data={"at": number}) for number in range(4)]

        async def follow(snapshot: Snapshot) -> ScopeChanges | None:
            return await snapshot.changes_since(scope(), seen) if isinstance(snapshot, ChangeFeed) else None

        async def changed_ids() -> set[str]:
            nonlocal seen
            changed = await store.read(follow)
            assert changed is not None
            seen = changed.seen
            for gone in known.keys() - (known.keys() if changed.kept is None else changed.kept):
                del known[gone]
            known.update(changed.data)
            return set(changed.data)

        if await store.read(follow) is None:
            return  # optional: a store without it has nothing to check, and CI treats a skip as a failure
        assert await changed_ids() == set()
        await remember(store, *kept, memory("boat", scope=scope("bob"), data={"at": 9}))
        assert await changed_ids() == set(ids(kept))
        assert await changed_ids() == set()
        changed = kept[1].next_version(day(1), data={"at": "elsewhere"})
        await change(other, changed)
        hidden = kept[2].next_version(day(1), status=Status.SUPERSEDED)
        await change(other, hidden)
        assert await changed_ids() == {changed.memory_id, hidden.memory_id}
        await other.transact(lambda transaction: transaction.remove(kept[0].memory_id, scope=scope()))
        assert await changed_ids() == set()
        assert known == {
            kept[1].memory_id: {"at": "elsewhere"},
            kept[2].memory_id: {"at": 2},
            kept[3].memory_id: {"at": 3},
        }

    def _random_memory(self, rng: random.Random, number: int) -> Memory:
        return memory(
            f"harbour {number}",
            scope=rng.choice([scope(), scope("bob"), scope(level=Level.AGENT), scope(tenant="rival")]),
            kind=rng.choice(list(Kind)),
            key=rng.choice([None, "home", "Home", "tea"]),
            category=rng.choice([None, "a", "b"]),
            status=rng.choice(list(Status)),
            occurred_at=rng.choice([None, day(rng.randint(-3, 3))]),
            valid_from=rng.choice([None, day(rng.randint(-3, 3))]),
            valid_to=rng.choice([None, day(rng.randint(-3, 3))]),
            expires_at=rng.choice([None, day(rng.randint(-3, 3))]),
        )

    def _random_filter(self, rng: random.Random, kept: list[Memory]) -> Where:
        def maybe(value: object) -> Any:
            return value if rng.random() < 0.4 else None

        return Where(
            scopes=tuple(rng.sample([scope(), scope("bob"), scope(level=Level.AGENT)], rng.randint(1, 3))),
            kinds=maybe(frozenset(rng.sample(list(Kind), 3))),
            categories=maybe(frozenset({"a"})),
            keys=maybe(frozenset(rng.sample(["home", "Home", "tea", "none"], 2))),
            statuses=frozenset(rng.sample(list(Status), 3)),
            happened_from=maybe(day(rng.randint(-3, 3))),
            happened_to=maybe(day(rng.randint(-3, 3))),
            as_of=maybe(day(rng.randint(-3, 3))),
            live_at=maybe(day(rng.randint(-3, 3))),
            memory_ids=maybe(frozenset(rng.sample([one.memory_id for one in kept], 30)) | {"gone"}),
        )


# ruff: noqa: D102


async def then(store: RecordStore, known_at: datetime, **options: Any) -> Snapshot:
    """Return the statements believed in the default scope."""
    return await store.as_known_at([scope()], known_at, **options)


async def contents_at(snapshot: Snapshot, **filters: Any) -> list[str]:
    """Return the contents that a filter accepts at a moment, newest memory first."""
    return [one.content for one in await snapshot.newest(everything(**filters), limit=99)]


async def moved_memory(store: RecordStore) -> Memory:
    """Return a memory of day 0 that was corrected on day 2 and closed on day 4."""
    first = memory("lives in Oslo", at=day(0))
    await remember(store, first)
    second = first.next_version(day(2), content="lives in Bergen", vector=EMBEDDER.vector("lives in Bergen"))
    await change(store, second)
    await change(store, second.next_version(day(4), status=Status.SUPERSEDED, valid_to=day(3)))
    return first


class BelievingContract(Setting):
    """Check reads along the recorded axis of time."""

    async def test_each_moment_has_its_version(self, store: RecordStore) -> None:
        await moved_memory(store)
        believed = [await contents_at(await then(store, day(at))) for at in (-1, 0, 1, 2, 3, 4)]
        oslo, bergen = ["lives in Oslo"], ["lives in Bergen"]
        assert believed == [[], oslo, oslo, bergen, bergen, []]

    async def test_both_axes_are_asked_together(self, store: RecordStore) -> None:
        await moved_memory(store)
        assert await contents_at(await then(store, day(4)), as_of=day(2)) == ["lives in Bergen"]
        assert await contents_at(await then(store, day(4)), as_of=day(3)) == []
        assert await contents_at(await then(store, day(3)), as_of=day(3)) == ["lives in Bergen"]

    async def test_the_past_is_searched_by_its_own_words(self, store: RecordStore) -> None:
        first = await moved_memory(store)
        await remember(store, memory("lives in Oslo by the sea", at=day(3)))
        past = await then(store, day(1))
        assert ids(await past.match(everything(), "oslo", limit=9)) == [first.memory_id]
        assert await past.match(everything(), "bergen", limit=9) == []
        assert ids(await past.recent(everything(), limit=9)) == [first.memory_id]
        assert await past.count(everything()) == 1

    async def test_a_version_that_says_the_same_keeps_its_vector(self, store: RecordStore) -> None:
        closed = memory("likes the harbour", at=day(0))
        await remember(store, closed)
        await change(store, closed.next_version(day(2), status=Status.SUPERSEDED))
        await moved_memory(store)
        past = await then(store, day(1))
        assert ids(await past.nearest(everything(), EMBEDDER.vector("the harbour"), limit=9)) == [closed.memory_id]
        assert (await past.get_many([closed.memory_id], scopes=[scope()]))[closed.memory_id] == closed

    async def test_versions_end_at_the_moment(self, store: RecordStore) -> None:
        first = await moved_memory(store)
        past = await then(store, day(3))
        assert [one.version for one in await past.versions(first.memory_id, scopes=[scope()])] == [1, 2]

    async def test_only_the_named_scopes_are_seen(self, store: RecordStore) -> None:
        elsewhere = memory("somebody else's", scope=scope("bob"), at=day(0))
        foreign = memory("a rival's", scope=scope(tenant="rival"), at=day(0))
        await remember(store, elsewhere)
        await remember(store, foreign)
        past = await then(store, day(9))
        for place in (elsewhere.scope, foreign.scope):
            assert await past.newest(everything(place), limit=9) == []
        assert await past.get_many([elsewhere.memory_id, foreign.memory_id], scopes=[scope()]) == {}
        assert await (await store.as_known_at([], day(9))).get_many([elsewhere.memory_id], scopes=[scope("bob")]) == {}

    async def test_what_was_removed_or_has_expired_since_is_not_there(self, store: RecordStore) -> None:
        gone, lasting = memory("forgotten", at=day(0)), memory("expired", at=day(0), expires_at=day(5))
        await remember(store, gone, lasting)
        await store.transact(lambda transaction: transaction.remove(gone.memory_id, scope=scope()))
        assert await contents_at(await then(store, day(1))) == ["expired"]
        assert await contents_at(await then(store, day(1), live_at=day(5))) == []
        extended = replace(lasting.next_version(day(2)), expires_at=day(9))
        await change(store, extended)
        assert await contents_at(await then(store, day(1), live_at=day(6))) == ["expired"]

    async def test_a_moment_that_was_read_does_not_change(self, store: RecordStore) -> None:
        await moved_memory(store)
        past = await then(store, day(9))
        await remember(store, memory("new", at=day(5)))
        assert await contents_at(past, statuses=frozenset(Status)) == ["lives in Bergen"]
