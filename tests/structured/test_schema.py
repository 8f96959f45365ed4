"""JSON Schema as `jsonschema` checks it, for data as memories hold it, with our reasons."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.structured.schema import Schema

scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, 2.0, "", "a", "ab", "abc"])
data = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
leaves = st.sampled_from([
    True, False, {}, {"type": "string"}, {"type": ["integer", "null"]}, {"type": "number"}, {"type": "boolean"},
    {"type": "object"}, {"type": "array"}, {"enum": [1, "a", None, False]}, {"const": 1}, {"minLength": 2},
    {"maxLength": 1}, {"pattern": "^a"}, {"minimum": 0}, {"maximum": 2}, {"exclusiveMinimum": 1},
    {"exclusiveMaximum": 1}, {"multipleOf": 2}, {"minItems": 1}, {"maxItems": 1}, {"uniqueItems": True},
    {"required": ["a"]}, {"minProperties": 1}, {"maxProperties": 1}, {"$ref": "#/$defs/word"},
])  # fmt: skip
schemas = st.recursive(
    leaves,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "additionalProperties": inner,
            "items": inner,
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    ),
    max_leaves=5,
)


@given(schemas, data)
def test_the_verdict_is_that_of_the_reference(schema: Any, value: Any) -> None:
    whole = {"$defs": {"word": {"type": "string"}}, "allOf": [schema]}
    expected = jsonschema.Draft202012Validator(whole).is_valid(value)
    assert (not list(Schema(whole).problems(value))) is expected


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", "2027-03-04", "2027-02-30"),
        ("date-time", "2027-03-04T20:15:00-08:00", "2027-03-04"),
        ("date-time", "2027-03-04T20:15", "2027-03-04T25:15:00Z"),
        ("time", "20:15", "20h15"),
    ],
)
def test_times_are_checked(name: str, good: str, bad: str) -> None:
    schema = Schema({"format": name})
    assert not list(schema.problems(good))
    assert [problem.keyword for problem in schema.problems(bad)] == ["format"]
    assert not list(schema.problems(5))


@pytest.mark.parametrize(
    ("document", "keyword"),
    [
        ({"requird": ["a"]}, "requird"),
        ({"properties": {"a": {"if": {"minLenght": 1}}}}, "minLenght"),
        ({"patternProperties": {"(": {}}}, "patternProperties"),
        ({"type": "text"}, "type"),
        ({"minLength": -1}, "minLength"),
        ({"minimum": "1"}, "minimum"),
        ({"multipleOf": 0}, "multipleOf"),
        ({"pattern": "("}, "pattern"),
        ({"$ref": "https://elsewhere.example/schema"}, "$ref"),
        ({"$ref": "#/$defs/none"}, "$ref"),
        ({"enum": "a"}, "enum"),
        ({"anyOf": {}}, "anyOf"),
        ({"properties": []}, "properties"),
        ({"items": 5}, "type"),
    ],
)
def test_what_is_no_schema_or_not_known_is_refused(document: Any, keyword: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        Schema(document)
    assert refused.value.reason == f"invalid_config:schema:{keyword}"


def test_a_schema_that_refers_to_itself_ends() -> None:
    tree = Schema({"$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node"})
    assert not list(tree.problems({"next": {"next": {}}}))
    assert tree.find_property(["next", "next"]) is not None
    loop = Schema({"$defs": {"loop": {"$ref": "#/$defs/loop"}}, "$ref": "#/$defs/loop"})
    with pytest.raises(InvalidInput, match="data:depth"):
        list(loop.problems({}))


def test_a_problem_names_places_never_values() -> None:
    with pytest.raises(InvalidInput) as refused:
        Schema({"properties": {"a": {"items": {"type": "string"}}}}).require({"a": ["x", 5]})
    assert refused.value.reason == "invalid_input:data:$.a.1:type"


@pytest.mark.parametrize(
    ("document", "bad", "problem"),
    [
        ({"patternProperties": {"^n": {"type": "integer"}}}, {"n1": "one"}, ("$.*", "type")),
        ({"additionalProperties": {"type": "string"}}, {"Ana's secret": 5}, ("$.*", "type")),
        ({"prefixItems": [{"const": 1}], "items": False}, [1, 2], ("$", "items")),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, ("$", "required")),
        ({"contains": {"const": 1}}, (2, 3), ("$", "contains")),
        ({"type": "number"}, float("nan"), ("$", "type")),
        ({"properties": {"a": False}}, {"a": 1}, ("$", "false")),
    ],
)
def test_every_keyword_of_the_draft_is_checked(document: Any, bad: Any, problem: tuple[str, str]) -> None:
    found = [(each.path, each.keyword) for each in Schema(document).problems(bad)]
    assert found == [problem]


def test_data_and_schemas_of_any_depth_end() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(InvalidInput, match="data:depth"):
        list(Schema({}).problems(deep))
    for levels in (40, 5000):
        nested: Any = {}
        for _ in range(levels):
            nested = {"properties": {"a": nested}}
        with pytest.raises(InvalidConfig, match="schema:depth"):
            Schema(nested)
