"""Fusion of ranked lists."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mnemic.retrieve.fusion import Weights, fuse, normalise_scores, ranks_of, rarity
from mnemic.types import Rank, Scored

NAMES = ["vector", "keyword", "key", "recency"]


def entries(*pairs: tuple[str, float]) -> list[Scored]:
    return [Scored(memory_id=memory_id, score=score) for memory_id, score in pairs]


def test_scores_are_mapped_from_zero_or_from_the_lowest() -> None:
    given_scores = [12.0, 7.0, 2.0]
    assert normalise_scores(given_scores, from_zero=False) == [1.0, 0.5, 0.0]
    assert normalise_scores(given_scores, from_zero=True) == [1.0, 7 / 12, 2 / 12]
    assert normalise_scores([3.0, 3.0], from_zero=False) == [1.0, 1.0]
    assert normalise_scores([], from_zero=True) == []


def test_a_memory_in_two_lists_beats_one_that_leads_a_single_list() -> None:
    fused = fuse(
        {
            "vector": entries(("vector-only", 0.9), ("both", 0.8), ("tail", 0.1)),
            "keyword": entries(("keyword-only", 9.0), ("both", 8.0), ("tail", 1.0)),
        },
        Weights(vector=0.5, keyword=0.5),
    )
    assert max(fused, key=fused.__getitem__) == "both"


def test_a_memory_knows_its_place_in_each_list() -> None:
    lists = {"vector": entries(("a", 0.9), ("b", 0.8)), "keyword": entries(("b", 8.0))}
    assert ranks_of(["b", "c"], lists) == {"b": {"vector": Rank(2, 0.8), "keyword": Rank(1, 8.0)}, "c": {}}


def test_a_list_that_is_not_known_weighs_nothing() -> None:
    assert fuse({"oracle": entries(("a", 1.0))}, Weights())["a"] == 0.0


lists = st.dictionaries(
    st.sampled_from(NAMES),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 5), max_size=6).map(
        lambda scores: entries(*sorted(scores.items(), key=lambda pair: -pair[1]))
    ),
)


@given(lists)
def test_every_memory_comes_out_once_within_the_weights(given_lists: dict[str, list[Scored]]) -> None:
    weights = Weights()
    fused = fuse(given_lists, weights)
    assert set(fused) == {entry.memory_id for one in given_lists.values() for entry in one}
    most = sum(weights.weight_of(name) for name in NAMES)
    assert all(-1e-9 <= score <= most + 1e-9 for score in fused.values())


def test_a_weak_best_keyword_hit_is_not_taken_for_a_full_one() -> None:
    lists = {
        "vector": [Scored("near", 0.6), *(Scored(str(place), 0.1) for place in range(99))],
        "keyword": [Scored("far", 0.4)],
    }
    weights = Weights()
    taken = fuse(lists, weights)
    assert taken["far"] > taken["near"]
    weak = fuse(lists, weights, words=6)
    assert weak["near"] > weak["far"] > 0
    lists["keyword"] = [Scored("far", 40.0)]
    assert fuse(lists, weights, words=6) == taken


def test_among_few_memories_a_word_says_as_much_as_it_can() -> None:
    few = {"vector": [Scored("a", 0.5), Scored("b", 0.1)], "keyword": [Scored("b", rarity(2))]}
    assert fuse(few, Weights(), words=2)["b"] == fuse(few, Weights())["b"]
