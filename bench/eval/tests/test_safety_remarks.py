"""Remarks that name what a fact about safety names."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mnemic_eval.safety_remarks import ended_facts, people

JUDGE = Path(__file__).parents[1] / "src" / "mnemic_eval" / "data" / "truth_judge" / "remarks.tsv"


def test_each_person_tells_facts_and_then_remarks_by_every_way_and_place() -> None:
    everyone = list(people(8, 1))
    assert {(one.way, one.session) for one in everyone} == {
        (way, session) for way in ("add", "capture") for session in ("one", "two")
    }
    for one in everyone:
        assert len(set(one.facts)) == 4
        assert len(one.remarks) == 8
        assert not {text for text in one.remarks if "{" in text}
    assert everyone == list(people(8, 1))


def test_the_set_that_decides_has_other_facts_and_remarks() -> None:
    own, judge = (
        {text for one in people(200, 1, data) for text in (*one.facts, *one.remarks)} for data in (None, JUDGE)
    )
    assert not own & judge


@pytest.mark.parametrize(("seed", "data"), [(7, None), (8, JUDGE)])
def test_no_remark_about_something_else_ends_a_fact_about_safety(seed: int, data: Path | None) -> None:
    assert asyncio.run(ended_facts(people(60, seed, data))) == []
