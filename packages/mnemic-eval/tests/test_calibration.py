"""Thresholds chosen by labelled pairs, kept with the space, and left alone where the operator has set them."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import hypot
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, StoreCorrupt
from mnemic.types import Actor, Outcome, Vector, VectorSpace
from mnemic.write.calibrated_thresholds import STORE_TENANT, mark_of
from mnemic.write.calibration import Calibration, keep, stored
from mnemic.write.thresholds import WriteRules
from mnemic_eval.threshold_calibration import LabelledPair, calibrate, labelled_pairs
from mnemic_maintenance.reembed import reembed
from mnemic_sqlite import SqliteStore
from mnemic_testing.embedder import WordEmbedder

ANA = Actor(user="ana")
NOUNS = "tea coffee milk bread cheese soup salad pasta rice fish apples pears plums nuts beans corn".split()
PLACES = "kitchen garden office cellar attic library".split()
SAME = [
    LabelledPair(f"Ana likes {noun} in the {place}", f"The user Ana likes the {noun} in a {place}", "same")
    for noun in NOUNS
    for place in PLACES
]
OPPOSITE = [
    LabelledPair(f"Ana likes {noun} in the {place}", f"Ana does not like {noun} in the {place}", "opposite")
    for noun in NOUNS
    for place in PLACES
]
OTHER = [
    LabelledPair(f"Ana likes {noun} in the {place}", f"Ben sells {place} lamps to {noun} makers", "other")
    for noun in NOUNS
    for place in PLACES
]


class Narrow(WordEmbedder):
    """A space in which everything is near everything: cosines from about 0.8 on."""

    def vector(self, text: str) -> Vector:
        values = array("f", super().vector(text))
        values[0] += 2.0
        length = hypot(*values)
        return array("f", [value / length for value in values]).tobytes()


async def test_another_space_gets_other_thresholds() -> None:
    wide = await calibrate([*SAME, *OPPOSITE, *OTHER], WordEmbedder(), WriteRules())
    narrow = await calibrate([*SAME, *OPPOSITE, *OTHER], Narrow(), WriteRules())
    assert set(wide["cosines"]) == set(narrow["cosines"])
    assert all(narrow["cosines"][name] > wide["cosines"][name] for name in wide["cosines"])
    for result in (wide, narrow):
        assert (result["after"]["opposite_merged"], result["after"]["other_merged"]) == (0.0, 0.0)
        assert result["after"]["same_merged"] > 0.9
        assert result["after"]["opposite_flagged"] > 0.9
        assert result["pairs"]["choosing"] + result["pairs"]["showing"] == len([*SAME, *OPPOSITE, *OTHER])


async def test_the_bound_decides() -> None:
    wrong = [LabelledPair(pair.first, pair.second, "other") for pair in SAME[::4]]
    right = [pair for place, pair in enumerate(SAME) if place % 4]
    strict = await calibrate([*right, *wrong, *OPPOSITE], Narrow(), WriteRules(), error=0.0)
    loose = await calibrate([*right, *wrong, *OPPOSITE], Narrow(), WriteRules(), error=0.4)
    assert strict["cosines"]["nominate"] > loose["cosines"]["nominate"]
    assert strict["after"]["same_merged"] < loose["after"]["same_merged"]
    assert strict["after"]["other_merged"] <= loose["after"]["other_merged"]


async def test_a_rule_without_a_case_keeps_its_threshold() -> None:
    result = await calibrate([*SAME, *OPPOSITE], WordEmbedder(), WriteRules())
    assert "conflict" in result["unchanged"]
    assert "conflict" not in result["cosines"]


@pytest.mark.parametrize("bounds", [{"error": -0.1}, {"error": 1.0}, {"flagged": 1.5}, {"error": float("nan")}])
async def test_bounds_are_shares(bounds: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        await calibrate(SAME, WordEmbedder(), WriteRules(), **bounds)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([], "labels"),
        ([{"first": "a", "second": "b", "label": "same"}], "labels"),
        ([{"first": "a", "second": "b", "label": "alike"}], "pairs:1"),
        ([{"first": "a", "second": " ", "label": "same"}], "pairs:1"),
        ([{"first": "a", "label": "same"}], "pairs:1"),
        ([["a", "b", "same"]], "pairs:1"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, lines: Sequence[Any], reason: str) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        labelled_pairs(file)
    assert refused.value.reason == f"invalid_input:data:{reason}"
    with pytest.raises(InvalidInput):
        labelled_pairs(tmp_path / "absent.jsonl")


def found(space: VectorSpace, **cosines: float) -> Calibration:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    return Calibration(space=space, cosines=cosines, error=0.01, flagged=0.1, pairs=600, calibrated_at=at)


async def test_it_is_kept_with_the_space(tmp_path: Path) -> None:
    store, space = SqliteStore(tmp_path / "m.db"), WordEmbedder().space
    await store.open(space)
    await keep(store, space, found(space, nominate=0.77))
    assert await stored(store, space) == found(space, nominate=0.77)
    assert await stored(store, VectorSpace(model="another", dimension=space.dimension)) is None
    await keep(store, space, None)
    assert await stored(store, space) is None
    await store.close()


async def test_an_engine_decides_by_it_but_for_what_is_fixed(tmp_path: Path) -> None:
    path, space = tmp_path / "m.db", WordEmbedder().space
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        await keep(engine.store, space, found(space, near_duplicate=1.0, nominate=1.0, conflict=1.0))
    fixed = WriteRules(near_duplicate=0.5, fixed=frozenset({"near_duplicate"}))
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder(), rules=fixed) as engine:
        rules = engine.gateway.pipeline.rules
        assert (rules.near_duplicate, rules.nominate, rules.denied) == (0.5, 1.0, WriteRules().denied)
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        await engine.add("Prefers dark mode", actor=ANA)
        assert (await engine.add("The user prefers the dark mode", actor=ANA)).outcome is Outcome.CREATED
        await keep(engine.store, space, None)
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        assert (await engine.add("User prefers dark mode", actor=ANA)).outcome is Outcome.MERGED


@pytest.mark.parametrize("followed", [False, True], ids=["changed here", "changed elsewhere"])
async def test_another_embedder_does_not_inherit_it(tmp_path: Path, followed: bool) -> None:
    store, old, new = SqliteStore(tmp_path / "m.db"), WordEmbedder(), WordEmbedder(768)
    rules = WriteRules(conflict=0.8)
    await store.open(old.space)
    await keep(store, old.space, found(old.space, nominate=1.0, denied=1.0))
    await keep(store, new.space, found(new.space, denied=0.9))
    async with MemoryEngine(store=store, embedder=old, rules=rules) as engine:
        pipeline = engine.gateway.pipeline
        assert (pipeline.rules.nominate, pipeline.rules.denied) == (1.0, 1.0)
        if followed:
            pipeline.successor = new
            await reembed(store, new)
        else:
            await engine.reembed(new)
        assert (await engine.add("Prefers dark mode", actor=ANA)).stored
        assert pipeline.rules == replace(rules, denied=0.9)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cosines": {"nominate": 7}, "error": 1, "flagged": 1, "pairs": 1}'])
async def test_a_mark_that_is_no_calibration_is_corrupt(tmp_path: Path, text: str) -> None:
    store, space = SqliteStore(tmp_path / "m.db"), WordEmbedder().space
    await store.open(space)
    await store.transact(lambda tx: tx.put_mark(STORE_TENANT, mark_of(space), text))
    with pytest.raises(StoreCorrupt):
        await stored(store, space)
    await store.close()
