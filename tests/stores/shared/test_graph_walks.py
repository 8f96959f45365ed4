"""Ways through a graph."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput
from mnemic.stores.graph import MAX_HOPS, check_limit, check_walk, distances, other_names, ways
from mnemic.types import Relation
from mnemic.types.graph import MAX_ALIASES

EDGES = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=14)


def relation(source: str, target: str, memory_id: str = "m") -> Relation:
    return Relation(source=source, relation="knows", target=target, memory_id=memory_id)


@given(EDGES)
def test_every_way_is_as_long_as_its_end_is_far_and_holds_together(edges: list[tuple[str, str]]) -> None:
    relations = [relation(source, target, f"m{number:02}") for number, (source, target) in enumerate(edges)]
    touching = defaultdict(list)
    for one in relations:
        touching[one.source].append(one)
        touching[one.target].append(one)
    distance = distances("a", lambda node: touching[node], hops=MAX_HOPS)
    for node, way in ways(distance, relations, list(distance)).items():
        assert len(way) == distance[node]
        at = "a"
        for step in way:
            assert at in (step.source, step.target)
            at = step.target if at == step.source else step.source
        assert at == node


def test_of_parallel_relations_the_newest_memory_is_taken() -> None:
    found = ways(
        {"a": 0, "b": 1}, [relation("a", "b", "m1"), relation("b", "a", "m3"), relation("a", "b", "m2")], ["b"]
    )
    assert found["b"][0].memory_id == "m3"


def test_hops_bound_a_walk() -> None:
    chain = {"a": [relation("a", "b")], "b": [relation("a", "b"), relation("b", "c")], "c": [relation("b", "c")]}
    assert distances("a", chain.__getitem__, hops=1) == {"a": 0, "b": 1}
    assert distances("a", chain.__getitem__, hops=2) == {"a": 0, "b": 1, "c": 2}


def test_no_more_names_than_a_node_may_have() -> None:
    assert other_names("x", ["x", "b", "a", "b"]) == ("a", "b")
    assert len(other_names("x", [f"n{number}" for number in range(100)])) == MAX_ALIASES


@pytest.mark.parametrize("number", [0, -1, True, 1.0, "1", None])
def test_numbers_are_numbers(number: object) -> None:
    with pytest.raises(InvalidInput, match="invalid_input:hops"):
        check_walk(number)
    with pytest.raises(InvalidInput, match="invalid_input:limit"):
        check_limit(number)
