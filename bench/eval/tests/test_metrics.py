from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic_eval.metrics import all_at, any_at, interval, ndcg_at, percentiles, recall_at, summary

RANKED = ["a", "b", "c", "d"]

rankings = st.lists(st.sampled_from("abcdefgh"), unique=True)
wanted_sets = st.sets(st.sampled_from("abcdefgh"), min_size=1)


def test_recall_counts_what_is_wanted_not_what_is_found() -> None:
    assert recall_at(RANKED, {"a", "c", "z"}, 2) == pytest.approx(1 / 3)
    assert recall_at(RANKED, {"a", "c", "z"}, 3) == pytest.approx(2 / 3)
    assert recall_at([], {"a"}, 5) == 0


def test_nothing_wanted_is_no_question() -> None:
    with pytest.raises(ValueError, match="wanted"):
        recall_at(RANKED, set(), 5)
    with pytest.raises(ValueError, match="wanted"):
        ndcg_at(RANKED, set(), 5)


def test_any_and_all() -> None:
    assert (any_at(RANKED, {"c", "z"}, 3), any_at(RANKED, {"c", "z"}, 2)) == (1, 0)
    assert (all_at(RANKED, {"a", "c"}, 3), all_at(RANKED, {"a", "c"}, 2)) == (1, 0)


def test_ndcg_by_hand() -> None:
    assert ndcg_at(RANKED, {"a", "c"}, 10) == pytest.approx((1 + 1 / log2(4)) / (1 + 1 / log2(3)))
    assert ndcg_at(RANKED, {"d"}, 3) == 0
    assert ndcg_at(["a"], {"a", "b", "c"}, 1) == 1


@given(rankings, wanted_sets, st.integers(1, 10))
def test_every_figure_is_a_fraction_and_grows_with_k(ranked: list[str], wanted: set[str], k: int) -> None:
    for figure in (recall_at, any_at, all_at):
        assert 0 <= figure(ranked, wanted, k) <= figure(ranked, wanted, k + 1) <= 1
    assert 0 <= ndcg_at(ranked, wanted, k) <= 1 + 1e-12
    assert all_at(ranked, wanted, k) <= recall_at(ranked, wanted, k) <= any_at(ranked, wanted, k)


@given(wanted_sets)
def test_the_best_ranking_scores_one(wanted: set[str]) -> None:
    best = [*sorted(wanted), "y", "z"]
    assert ndcg_at(best, wanted, 10) == pytest.approx(1)
    assert recall_at(best, wanted, len(wanted)) == 1


def test_an_interval_holds_the_mean_and_is_repeatable() -> None:
    values = [0.0, 1.0] * 50
    low, high = interval(values, seed=7)
    assert 0.38 < low < 0.5 < high < 0.62
    assert interval(values, seed=7) == [low, high]
    assert interval([1.0] * 9, seed=7) == [1, 1]


def test_summary_is_a_mean_over_questions() -> None:
    rows = [{"recall@5": 1.0}, {"recall@5": 0.0}, {"recall@5": 0.5}]
    part = summary(rows, ["recall@5"], seed=1)
    assert part["recall@5"] == 0.5
    assert part["questions"] == 3
    low, high = part["ci95"]["recall@5"]
    assert low <= 0.5 <= high
    assert summary([], ["recall@5"], seed=1) == {"recall@5": None, "questions": 0, "ci95": {}}


def test_percentiles_interpolate() -> None:
    assert percentiles([float(value) for value in range(1, 102)]) == {"p50_ms": 51, "p95_ms": 96, "p99_ms": 100}
    assert percentiles([1.0, 3.0], "embed_")["embed_p50_ms"] == 2
