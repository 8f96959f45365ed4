"""Fusion of ranked lists."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mnemic.retrieve.fuse import Weights, fuse, normalised
from mnemic.types import Rank, Scored


def entries(*pairs: tuple[str, float]) -> list[Scored]:
    return [Scored(memory_id=memory_id, score=score) for memory_id, score in pairs]


def test_scores_are_mapped_by_their_own_range() -> None:
    assert normalised(entries(("a", 12.0), ("b", 7.0), ("c", 2.0))) == [1.0, 0.5, 0.0]
    assert normalised(entries(("a", 3.0), ("b", 3.0))) == [1.0, 1.0]
    assert normalised([]) == []


def test_a_memory_in_two_lists_beats_one_that_leads_a_single_list() -> None:
    fused = fuse(
        {
            "vector": entries(("both", 0.8), ("vector-only", 0.9), ("tail", 0.1)),
            "keyword": entries(("keyword-only", 9.0), ("both", 8.0), ("tail", 1.0)),
        },
        Weights(vector=0.5, keyword=0.5),
    )
    assert [one.memory_id for one in fused][0] == "both"
    assert fused[0].ranks == {"vector": Rank(position=1, score=0.8), "keyword": Rank(position=2, score=8.0)}


def test_an_empty_list_takes_no_share_from_the_others() -> None:
    alone = fuse({"vector": entries(("a", 0.9), ("b", 0.2))}, Weights(vector=0.5, keyword=0.5))
    beside = fuse({"vector": entries(("a", 0.9), ("b", 0.2)), "keyword": []}, Weights(vector=0.5, keyword=0.5))
    assert alone[0].score == beside[0].score == 1.0


lists = st.dictionaries(
    st.sampled_from(["vector", "keyword", "key", "recency"]),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(-5, 5), max_size=6).map(
        lambda scores: entries(*sorted(scores.items(), key=lambda pair: -pair[1]))
    ),
)


@given(lists)
def test_every_memory_comes_out_once_with_a_score_between_0_and_1(given_lists: dict[str, list[Scored]]) -> None:
    fused = fuse(given_lists, Weights())
    expected = {entry.memory_id for one in given_lists.values() for entry in one}
    assert {one.memory_id for one in fused} == expected
    assert len(fused) == len(expected)
    assert all(-1e-9 <= one.score <= 1 + 1e-9 for one in fused)
    assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)
