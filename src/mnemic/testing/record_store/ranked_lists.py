"""Contract of the three ranked lists."""

# ruff: noqa: D102

from __future__ import annotations

import random
from typing import Any

import pytest

from mnemic.language.text.cues import read_cues
from mnemic.ports import RecordStore
from mnemic.retrieve.search import Searcher
from mnemic.testing.record_store.fixtures import (
    EMBEDDER,
    Setting,
    change,
    day,
    everything,
    ids,
    memory,
    remember,
    round_scores,
    scope,
)
from mnemic.types import Kind, Memory, Source, Status

_WORDS = "tea coffee harbour lisbon porto train cat dog green blue old new".split()


class SearchingContract(Setting):
    """Check the lists by cosine, by words and by time."""

    async def test_nearest_is_exact_and_complete(self, store: RecordStore) -> None:
        rng = random.Random(3)  # noqa: S311
        kept = [memory(" ".join(rng.sample(_WORDS, 4)), at=day(number)) for number in range(40)]
        others = [memory("tea harbour", scope=scope(f"user{number}")) for number in range(40)]
        await remember(store, *kept, *others)
        for limit in (1, 7, 40, 99):
            found = await store.nearest(everything(), EMBEDDER.vector("tea harbour"), limit=limit)
            assert len(found) == min(limit, 40)
            assert [entry.score for entry in found] == sorted((entry.score for entry in found), reverse=True)
        best = max(sum(word in each.content.split() for word in ("tea", "harbour")) for each in kept)
        found = await store.nearest(everything(), EMBEDDER.vector("tea harbour"), limit=1)
        top = next(each for each in kept if each.memory_id == found[0].memory_id)
        assert sum(word in top.content.split() for word in ("tea", "harbour")) == best

    async def test_a_text_is_nearest_to_itself(self, store: RecordStore) -> None:
        twin = memory("green tea in the harbour")
        await remember(store, twin, memory("trains of Porto"))
        found = await store.nearest(everything(), EMBEDDER.vector("green tea in the harbour"), limit=1)
        assert round_scores(found) == [(twin.memory_id, 1.0)]

    async def test_near_duplicates_are_active_and_near_enough(self, store: RecordStore) -> None:
        near = memory("green tea in the harbour")
        hidden = memory("green tea in the harbour", status=Status.SUPERSEDED)
        await remember(store, near, hidden, memory("trains of Porto"), memory(near.content, scope=scope("bob")))
        vector = EMBEDDER.vector(near.content)
        found = await store.transact(lambda t: t.nearest(scope(), vector, limit=5, at_least=0.9))
        assert [(each, round(score, 5)) for each, score in found] == [(near, 1.0)]

    @pytest.mark.parametrize(
        ("content", "query"),
        [
            ("the café in İstanbul", "CAFE istanbul"),
            ("Москва зимой", "москва"),
            ("東京都のカフェで猫を見た", "カフェ"),
            ("東京都のカフェで猫を見た", "猫"),
            ("서울에서 만났다", "서울"),
            ("she was running late", "runs"),
            ("writes C++ and Rust", "c++"),
            ("updateChannel is stable", "channel"),
            ("moved to node.js", "node"),
            ("celebrated with 🎉", "🎉"),
            ("straße", "STRASSE"),
        ],
    )
    async def test_words_are_found_however_they_are_written(self, store: RecordStore, content: str, query: str) -> None:
        wanted = memory(content)
        await remember(store, wanted, memory("nothing of the kind"))
        assert ids(await store.match(everything(), query, limit=5)) == [wanted.memory_id]

    async def test_keys_and_context_are_searched_too(self, store: RecordStore) -> None:
        keyed = memory("stable", key="update_channel")
        framed = memory("yes", context="Do you want the beta channel?")
        await remember(store, keyed, framed, memory("something else"))
        found = await store.match(everything(), "which update channel should I use", limit=5)
        assert ids(found)[:2] == [keyed.memory_id, framed.memory_id]

    async def test_a_quoted_phrase_stands_together(self, store: RecordStore) -> None:
        phrase = memory("We dined at Le Chat Noir in Paris")
        loose = memory("Noir films, and le petit chat")
        foreign = memory("Le Chat Noir", scope=scope("bob"))
        await remember(store, phrase, loose, foreign)
        if not store.capabilities.phrase:
            return
        assert set(ids(await store.match(everything(), "le chat noir", limit=5))) == set(ids([phrase, loose]))
        assert ids(await store.match(everything(), '"Le Chat Noir"', limit=5)) == [phrase.memory_id]
        assert ids(await store.match(everything(), 'films "chat noir"', limit=5)) == [phrase.memory_id]
        assert await store.match(everything(), '"noir chat"', limit=5) == []
        assert set(ids(await store.match(everything(), '"chat noir', limit=5))) == set(ids([phrase, loose]))

    async def test_rare_words_count_more_and_blank_queries_nothing(self, store: RecordStore) -> None:
        common = [memory(f"the tea of day {number}") for number in range(9)]
        rare = memory("the harbour of day ten")
        await remember(store, *common, rare)
        found = await store.match(everything(), "the tea or the harbour", limit=20)
        assert found[0].memory_id == rare.memory_id
        assert all(entry.score > 0 for entry in found)
        assert await store.match(everything(), "  \n", limit=5) == []

    async def test_scores_do_not_depend_on_other_scopes(self, store: RecordStore) -> None:
        await remember(store, memory("green tea"), memory("black coffee and tea"))
        before = await store.match(everything(), "tea coffee", limit=5)
        crowd = [memory("tea tea coffee", scope=scope(f"user{number}")) for number in range(20)]
        await remember(store, *crowd, memory("tea", scope=scope(tenant="rival")))
        assert await store.match(everything(), "tea coffee", limit=5) == before

    async def test_statistics_count_active_memories_only(self, store: RecordStore) -> None:
        await remember(store, memory("green tea"), memory("black coffee"))
        before = await store.match(everything(), "tea", limit=5)
        await remember(store, memory("old tea of yore", status=Status.SUPERSEDED))
        assert await store.match(everything(), "tea", limit=5) == before

    async def test_recent_is_by_when_it_happened(self, store: RecordStore) -> None:
        memories = [memory("a", at=day(3)), memory("b", at=day(4), occurred_at=day(-300)), memory("c", at=day(5))]
        await remember(store, *memories)
        found = await store.recent(everything(), limit=9)
        assert ids(found) == [memories[2].memory_id, memories[0].memory_id, memories[1].memory_id]
        assert [entry.score for entry in found] == [day(number).timestamp() for number in (5, 3, -300)]

    async def test_equal_scores_put_the_newer_memory_first(self, store: RecordStore) -> None:
        twins = [memory("tea", context="same", key="k") for _ in range(6)]
        await remember(store, *twins)
        newest_first = ids(twins)[::-1]
        assert ids(await store.recent(everything(), limit=4)) == newest_first[:4]
        assert ids(await store.match(everything(), "tea", limit=4)) == newest_first[:4]
        assert ids(await store.nearest(everything(), EMBEDDER.vector("tea"), limit=4)) == newest_first[:4]

    async def test_a_time_given_by_an_event_boosts_only_its_side_of_the_scope(self, store: RecordStore) -> None:
        early, late = memory("a cold flat", occurred_at=day(-90)), memory("a bright flat", occurred_at=day(90))
        moved, foreign = memory("moved to Porto", occurred_at=day(0)), memory("moved to Porto", scope=scope("bob"))
        await remember(store, early, late, moved, foreign)
        for side, first in (("before", early), ("after", late)):
            query = f"which flat {side} I moved to Porto"
            result = await Searcher(store, EMBEDDER).search(query, everything(), top_k=4)
            found = [hit.memory.memory_id for hit in result.hits]
            assert set(found) == set(ids([early, late, moved]))
            assert min(early.memory_id, late.memory_id, key=found.index) == first.memory_id
            assert (result.plan.anchor, result.plan.anchor_at) == (moved.memory_id, day(0))

    async def test_of_two_that_are_alike_the_more_important_comes_first(self, store: RecordStore) -> None:
        important = memory("tea in the harbour", data={"importance": 1.0})
        await remember(store, important, memory("tea in the harbour"), memory("a cat", data={"importance": 1.0}))
        result = await Searcher(store, EMBEDDER).search("tea in the harbour", everything(), top_k=2)
        assert result.hits[0].memory.memory_id == important.memory_id
        assert [hit.memory.content for hit in result.hits] == ["tea in the harbour"] * 2
        assert result.hits[0].ranks["importance"].score == 1.0

    async def test_signals_say_who_spoke_when_and_in_which_turn(self, store: RecordStore) -> None:
        def say(content: str, session: str, speaker: str, **fields: Any) -> Memory:
            return memory(content, kind=Kind.EPISODIC, source=Source(session=session, speaker=speaker), **fields)

        memories = [
            say("Hello there.", "s1", "Ada", at=day(1)),
            say("Where were you yesterday?", "s1", "Bob", at=day(2)),
            say("I was home.", "s2", "Ada", occurred_at=day(-5)),
        ]
        plain, foreign = memory("no message"), say("hidden", "s1", "Eve", scope=scope("bob"))
        await remember(store, *memories, plain, foreign)
        found = await store.signals(everything(), ids([*memories, plain, foreign]))
        assert set(found) == set(ids([*memories, plain]))
        seen = [found[memory_id] for memory_id in ids([*memories, plain])]
        assert [(each.session, each.turn, each.speaker) for each in seen] == [
            ("s1", 0, "Ada"),
            ("s1", 1, "Bob"),
            ("s2", 0, "Ada"),
            (None, -1, None),
        ]
        assert [each.happened_at for each in seen] == [each.happened_at for each in [*memories, plain]]
        assert [each.cues for each in seen] == [read_cues(each.content) for each in [*memories, plain]]
        assert await store.speakers(everything()) == {"Ada", "Bob"}
        corrected = memories[1].next_version(day(3), source=Source(session="s1", speaker="Cleo"))
        await change(store, corrected)
        assert await store.speakers(everything()) == {"Ada", "Cleo"}

    async def test_lists_follow_every_change(self, store: RecordStore) -> None:
        first = memory("green tea")
        await remember(store, first)
        assert ids(await store.match(everything(), "green", limit=5)) == [first.memory_id]
        await change(store, first.next_version(day(1), content="blue tea", vector=EMBEDDER.vector("blue tea")))
        assert await store.match(everything(), "green", limit=5) == []
        assert ids(await store.match(everything(), "blue", limit=5)) == [first.memory_id]
        assert ids(await store.match(everything(), '"blue tea"', limit=5)) == [first.memory_id]
        second = memory("blue sky")
        await remember(store, second)
        assert set(ids(await store.match(everything(), "blue", limit=5))) == {first.memory_id, second.memory_id}
        await store.transact(lambda transaction: transaction.remove(first.memory_id, scope=scope()))
        assert ids(await store.recent(everything(), limit=5)) == [second.memory_id]
