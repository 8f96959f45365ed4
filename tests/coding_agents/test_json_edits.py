"""A change of a JSON file leaves every other byte as it is, and taking it back gives the file as it was."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.coding_agents.json_edits import Malformed, parse_json, put_item, put_member, remove_entries

FILES = [
    "{}",
    "{\n}\n",
    '{"a": 1}',
    '{\n\t"a": [1, 2], // mine\n\t"b": {} /* and\nmine */\n}\n',
    '{\r\n    "a": {"b": "}"},\r\n}\r\n',
    '\ufeff{\n  "a": "\\"," // a comma, in a string\n  ,\n}\n// the end',
]


def is_ours(path: Any, value: Any) -> bool:
    return value == {"ours": True}


@pytest.mark.parametrize("text", FILES)
def test_an_entry_taken_out_again_leaves_the_file_as_it_was(text: str) -> None:
    as_member = put_member(text, ("new", "inner"), {"ours": True})
    as_item = put_item(as_member, ("list",), {"ours": True})

    assert parse_json(as_item).value["new"] == {"inner": {"ours": True}}
    assert parse_json(as_item).value["list"] == [{"ours": True}]
    taken_out = remove_entries(as_item, is_ours)
    assert parse_json(taken_out).value == parse_json(text).value
    for comment in ("// mine", "/* and\nmine */", "// a comma, in a string", "// the end"):
        assert (comment in taken_out) == (comment in text)
    if parse_json(text).entries:
        assert taken_out == text


def test_an_item_beside_others_of_the_user_is_taken_out_from_the_middle() -> None:
    text = '{"hooks": [{"command": "first"}]}'
    between = put_item(put_item(text, ("hooks",), {"ours": True}), ("hooks",), {"command": "last"})

    assert parse_json(remove_entries(between, is_ours)).value == {"hooks": [{"command": "first"}, {"command": "last"}]}


def test_a_list_of_the_users_that_was_empty_takes_the_item_and_other_members_stay() -> None:
    text = put_item('{"hooks": {"Stop": []}, "model": "opus"}', ("hooks", "Stop"), {"ours": True})

    assert parse_json(text).value == {"hooks": {"Stop": [{"ours": True}]}, "model": "opus"}


@pytest.mark.parametrize(
    "text",
    ["", "[", '{"a" 1}', '{"a": 1 "b": 2}', '{"a": 1, "a": 2}', "{} {}", "{,}", '{"a": 01}', "{'a': 1}", "[" * 5000,
     '{"a": "\n"}', "{\"a\": nul}", "/* {}"],
)  # fmt: skip
def test_a_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        parse_json(text)


@pytest.mark.parametrize("text", ['{"hooks": "none"}', "[]", '{"hooks": []}'])
def test_a_member_is_not_put_where_the_user_has_something_else(text: str) -> None:
    with pytest.raises(Malformed):
        put_member(text, ("hooks", "Stop"), 1)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(), _VALUES), st.sampled_from([None, 1, 4, "\t"]))
def test_what_json_writes_is_read_as_json_reads_it(value: dict[str, Any], indent: Any) -> None:
    assert parse_json(json.dumps(value, indent=indent)).value == value
    assert parse_json(json.dumps(value, indent=indent, ensure_ascii=False)).value == value


@settings(max_examples=40)
@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(Malformed):
        assert text[parse_json(text).end :].strip("\ufeff \t\r\n") == "" or "/" in text


def test_what_is_added_to_a_file_of_one_line_is_set_in_alike() -> None:
    text = put_member('{"model": "opus"}', ["hooks", "Stop"], [{"command": "x"}])
    text = put_item(put_member(text, ["line"], {"type": "command"}), ["hooks", "Start"], {"command": "y"})
    assert (
        text
        == """{"model": "opus",
  "hooks": {
    "Stop": [
      {
        "command": "x"
      }
    ],
    "Start": [
      {
        "command": "y"
      }
    ]
  },
  "line": {
    "type": "command"
  }}"""
    )
