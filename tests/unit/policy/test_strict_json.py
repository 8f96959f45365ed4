"""Strict JSON: what is refused, and that refusing a text built to be slow takes no more steps than parsing one."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.policy.strict_json import MAX_DEPTH, NotStrictJson, loads

SIZE = 256 * 1024
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=30,
)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "not text"),
        ("", "not JSON"),
        ("```json\n{}\n```", "not JSON"),
        ('"' + "a" * 64 * 1024 + '"', "larger than 65536 bytes"),
        ('"' + "é" * 33_000 + '"', "larger than 65536 bytes"),
        (nested(MAX_DEPTH + 1), "deeper than 32 levels"),
        ("[" * 1000, "deeper than 32 levels"),
        ('{"a":' * 40 + "1" + "}" * 40, "deeper than 32 levels"),
        ('{"a": {"b": 1, "b": 2}}', "a name stands twice in one object"),
        ("NaN", "not JSON"),
        ("[-Infinity]", "not JSON"),
        ('{"a": [1e999]}', "a number too large"),
        ("-1e400", "a number too large"),
        ('"\\ud83d"', "not JSON"),
        ('{"\\ude00": 1}', "not JSON"),
        ('"\ud83d"', "half a surrogate pair"),
        ("]" * 100, "not JSON"),
        ("9" * 5000, "not JSON"),
    ],
)
def test_what_breaks_a_rule_is_refused(text: object, said: str) -> None:
    with pytest.raises(NotStrictJson, match=said):
        loads(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (nested(MAX_DEPTH), None),
        ('"\\ud83d\\ude00"', "😀"),
        (json.dumps("[{" * 1000), "[{" * 1000),
        ('"\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["', '"' + "[" * 40),
        ("[1e308, 1E-400]", [1e308, 0.0]),
    ],
)
def test_what_breaks_none_is_read(text: str, value: Any) -> None:
    assert loads(text) == (json.loads(text) if value is None else value)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": 1,\n "b": }', 2, 7),
        ("[1,\n2,\n  x]", 3, 3),
        ('{"é": 1 2}', 1, 10),
        ("]", 1, 1),
        ("", 1, 0),
        ('{"a": 1,\n "a": 1}', 1, 0),
    ],
)
def test_a_refusal_names_the_place_where_it_is_known(text: str, line: int, column: int) -> None:
    """In lines, and in bytes within the line."""
    with pytest.raises(NotStrictJson) as refused:
        loads(text)
    assert (refused.value.line, refused.value.column) == (line, column)


def test_as_many_as_are_allowed_are_read_and_one_more_is_not() -> None:
    for text, values in (("[1, 2, 3]", 3), ('{"a": "b", "c": "d"}', 2), ('{"a": {}, "b": [1]}', 4), ("1", 0)):
        assert loads(text, max_values=values) == json.loads(text)
        if values:
            with pytest.raises(NotStrictJson, match=f"more than {values - 1} values"):
                loads(text, max_values=values - 1)


def test_the_marks_of_two_strings_for_each_value_are_not_too_many() -> None:
    """A text that breaks off is refused by what is known of it: four marks a value, and two more, are no value more."""
    with pytest.raises(NotStrictJson, match="not JSON"):
        loads('{"a,[{":""""', max_values=1)
    with pytest.raises(NotStrictJson, match="more than 1 values"):
        loads('{"a,[{":"""""', max_values=1)


@pytest.mark.parametrize("text", ["[" + "[]," * 20 + "1]", "[" + "1," * 20 + "1]", '{"a":' * 20 + "1" + "}" * 20])
def test_what_holds_too_many_values_is_refused(text: str) -> None:
    assert loads(text, max_values=45) == json.loads(text)
    with pytest.raises(NotStrictJson, match="more than 19 values"):
        loads(text, max_values=19)


def test_what_stands_in_a_string_is_no_value() -> None:
    assert loads('["[,{,\\",,", 1]', max_values=2) == ['[,{,",,', 1]


def test_a_large_file_may_hold_as_many_as_it_likes() -> None:
    assert loads("[" + "[]," * 50_000 + "[]]", max_bytes=1_000_000) == [[]] * 50_001


@given(values)
def test_whatever_can_be_written_is_read(value: Any) -> None:
    assert loads(json.dumps(value)) == value


@given(values, st.text(max_size=6))
def test_a_name_that_stands_twice_is_found_wherever_it_is(value: Any, name: str) -> None:
    name, inner = json.dumps(name), json.dumps(value)
    with pytest.raises(NotStrictJson, match="twice"):
        loads(f'[{inner}, {{{name}: {inner}, "a:\\\\": [":"], {name}: {inner}}}]')


@given(st.text(alphabet='[]{}",:\\1aé\ud800 '))
def test_whatever_is_read_the_plain_parser_reads_alike(text: str) -> None:
    try:
        value = loads(text)
    except NotStrictJson:
        return
    assert value == json.loads(text)


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "]",
        "{",
        "[]",
        "[],",
        "{}",
        '{"a":1},',
        '"a",',
        "1,",
        "1.5,",
        '"é",',
        '"\\ud83d\\ude00",',
        '"[",',
        '"',
        "\\",
        '\\"',
    ],
)
def test_refusing_takes_few_steps(piece: str) -> None:
    """Python's own steps, the same on any machine: at most one for each object that is taken."""
    text = "[" + piece * (SIZE // len(piece))
    called = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        loads(text, max_bytes=2 * SIZE, max_values=20_000)
    except NotStrictJson:
        pass
    finally:
        sys.setprofile(None)
    assert called <= 20_100
