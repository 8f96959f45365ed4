"""Facets: whatever meets a condition has one of those that the condition asks for. Never is anything missed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.structured.schema import Schema
from mnemic.structured.shape import MAX_DAYS, Shape
from mnemic.testing.record_store import memory
from mnemic.types import Kind, Memory
from mnemic.types.facets import ANY, MAX_FACETS, facets_of, has_facets

FIELDS = ("a", "b.c", "at")
SHAPE = Shape(
    name="Thing",
    schema=Schema(
        {
            "type": "object",
            "properties": {
                "a": {},
                "b": {"type": "object", "properties": {"c": {}}},
                "at": {"type": "string", "format": "date-time"},
            },
        }
    ),
    identity=("a", "b.c"),
)
DAYS = datetime(2027, 3, 4, tzinfo=UTC)
times = st.builds(
    lambda hours, offset, local: _told(DAYS + timedelta(hours=hours), offset, local),
    st.integers(-2400, 2400),
    st.integers(-14, 14),
    st.booleans(),
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([1.0, 1e300, 10**400, "1", "x", " X ", ""]), times
)
wanted = st.one_of(
    scalars,
    st.dictionaries(st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), scalars, min_size=1, max_size=3),
)
held = st.fixed_dictionaries({"a": scalars, "b": st.fixed_dictionaries({"c": scalars}), "at": scalars})


def _told(moment: datetime, offset: int, local: bool) -> str:
    text = moment.astimezone(timezone(timedelta(hours=offset))).isoformat()
    return text[:19] if local else text


def thing(data: Any, kind: Kind = Kind.STRUCTURED) -> Memory:
    return memory("a thing", kind=kind, data=data)


@given(data=held, name=st.sampled_from(FIELDS), asked=wanted)
def test_what_meets_a_condition_has_its_facets(data: Any, name: str, asked: Any) -> None:
    (condition,) = SHAPE.conditions({name: asked})
    facets = condition.facets()
    if facets is not None and condition.met_by(data):
        assert has_facets(facets_of(thing(data)), [facets])


@given(one=held, other=held)
def test_what_is_the_same_has_the_facets_of_its_identity(one: Any, other: Any) -> None:
    if SHAPE.same(one, other):
        assert has_facets(facets_of(thing(one)), SHAPE.same_facets(other))


def facets(name: str, asked: Any) -> frozenset[str] | None:
    return SHAPE.conditions({name: asked})[0].facets()


def test_values_and_short_spans_are_looked_up_and_the_rest_is_not() -> None:
    assert facets("a", "X") == facets("a", " x ") != facets("b.c", "X")
    assert facets("a", {"$gt": 1}) is facets("a", {"x": 1}) is facets("a", None) is None
    span = {"$gte": "2027-03-04T00:00:00", "$lt": "2027-03-08T00:00:00"}
    assert len(facets("at", span) or ()) == 5 + 1, "the days, and what has no day"
    assert facets("at", span | {"$lt": f"{2027 + MAX_DAYS // 60}-09-01"}) is None
    assert facets("at", {"$gte": "2027-03-04T00:00:00"}) is None


@pytest.mark.parametrize("kind", [Kind.LONG_TERM, Kind.ENTITY])
def test_only_structured_memories_have_facets(kind: Kind) -> None:
    assert facets_of(thing({"a": 1}, kind)) == frozenset()


def test_data_of_many_fields_may_have_every_facet() -> None:
    assert facets_of(thing({str(number): number for number in range(MAX_FACETS)})) != {ANY}
    assert facets_of(thing({str(number): number for number in range(MAX_FACETS + 1)})) == {ANY}
