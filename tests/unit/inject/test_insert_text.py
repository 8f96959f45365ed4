"""Folding: where the text goes, in which shape, and that nothing given is changed."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput
from mnemic.inject.messages import default_query, fold, is_user_turn, role_of
from tests.unit.inject.shapes import ANTHROPIC, BEDROCK, OPENAI, RESPONSES, SHAPES, texts

each_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


@dataclass(frozen=True)
class Said:
    """A message object of a framework."""

    type: str
    content: Any


@each_shape
def test_auto_goes_in_front_of_a_user_ask(shape: dict[str, Any]) -> None:
    folded = fold(shape["ask"], "<m/>")
    said = texts(folded.messages[-1])
    assert said.startswith("<m/>")
    assert said.endswith("my seat?")
    assert (folded.front, folded.trailing) == (True, 0)


@each_shape
def test_append_goes_behind_it_and_counts_as_trailing(shape: dict[str, Any]) -> None:
    folded = fold(shape["ask"], "<m/>", placement="append")
    assert texts(folded.messages[-1]).startswith("my seat?")
    assert texts(folded.messages[-1]).endswith("\n\n<m/>")
    assert (folded.front, folded.trailing) == (False, 1)


@each_shape
def test_both_placements_go_behind_a_tool_result(shape: dict[str, Any]) -> None:
    for placement in ("auto", "append"):
        folded = fold(shape["tool"], "<m/>", placement=placement)
        assert folded.at is not None
        assert texts(folded.messages[folded.at]).endswith("<m/>")
        first = folded.messages[folded.at]["content"][0]
        assert "<m/>" not in str(first)


@each_shape
@pytest.mark.parametrize("turn", ["ask", "tool"])
def test_only_one_message_is_new_and_none_is_changed(shape: dict[str, Any], turn: str) -> None:
    given_messages = shape[turn]
    before = copy.deepcopy(given_messages)
    folded = fold(given_messages, "<m/>")
    assert given_messages == before
    same = [new is old for new, old in zip(folded.messages, given_messages, strict=True)]
    assert same.count(False) == 1
    assert same.index(False) == folded.at


def test_the_block_has_the_style_of_its_neighbours() -> None:
    assert fold(BEDROCK["tool"], "x").messages[-1]["content"][-1] == {"text": "x"}
    assert fold(ANTHROPIC["tool"], "x").messages[-1]["content"][-1] == {"type": "text", "text": "x"}
    assert fold(RESPONSES["ask"], "x").messages[-1]["content"][0] == {"type": "input_text", "text": "x\n\n"}
    assert fold(OPENAI["ask"], "x").messages[-1]["content"] == "x\n\nmy seat?"
    bare = [{"role": "user", "content": [{"image": {}}]}]
    assert fold(bare, "x").messages[0]["content"] == [{"text": "x"}, {"image": {}}]


def test_a_message_object_is_replaced_by_another() -> None:
    said = Said("human", ["my seat?"])
    folded = fold([said, Said("tool", "ok")], "x")
    assert said.content == ["my seat?"]
    assert folded.messages[0] == Said("human", ["my seat?", {"type": "text", "text": "\n\nx"}])
    assert folded.trailing == 0


def test_without_a_user_message_the_given_list_comes_back() -> None:
    given_messages = [{"role": "assistant", "content": [{"text": "hi"}]}]
    folded = fold(given_messages, "x")
    assert folded.messages is given_messages
    assert (folded.at, folded.trailing) == (None, 0)


def test_no_separator_in_front_of_text_that_brings_its_own() -> None:
    messages = [{"role": "user", "content": [{"text": "q"}]}]
    assert fold(messages, "\nx", placement="append").messages[0]["content"][-1] == {"text": "\nx"}
    assert fold(messages, "x", separator="").messages[0]["content"][0] == {"text": "x"}


@pytest.mark.parametrize("broken", [{"role": "user"}, {"content": "x"}, 7, {"role": "user", "content": 5}])
def test_what_is_no_message_is_refused_with_its_reason(broken: Any) -> None:
    with pytest.raises(InvalidInput, match="invalid_input:message"):
        fold([broken], "x")


def test_an_object_that_cannot_be_replaced_is_refused() -> None:
    class Fixed:
        type = "human"
        content = "q"

    with pytest.raises(InvalidInput):
        fold([Fixed()], "x")


def test_whose_turn_it_is() -> None:
    for shape in SHAPES.values():
        assert is_user_turn(shape["ask"])
        assert not is_user_turn(shape["tool"])
    assert not is_user_turn([])
    assert role_of({"role": "developer"}) == "system"


def test_the_adaptive_query() -> None:
    for shape in (BEDROCK, ANTHROPIC, RESPONSES):
        assert default_query(shape["ask"]) == "my seat?"
    thinking = [*BEDROCK["tool"]]
    thinking[1] = {"role": "assistant", "content": [{"text": "I look it up"}, *thinking[1]["content"]]}
    assert default_query(thinking) == "I look it up"
    assert default_query(BEDROCK["tool"]) == "my seat?"
    assert default_query([]) is None


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=20)), max_size=6),
    st.text(min_size=1, max_size=20),
    st.sampled_from(["auto", "append"]),
)
def test_everything_but_the_text_is_kept(said: list[tuple[str, str]], text: str, placement: Any) -> None:
    messages = [{"role": role, "content": [{"text": words}]} for role, words in said]
    before = copy.deepcopy(messages)
    folded = fold(messages, text, placement=placement)
    assert messages == before
    if folded.at is None:
        assert all(role != "user" for role, _ in said)
        return
    kept = [block for block in folded.messages[folded.at]["content"] if block in before[folded.at]["content"]]
    assert before[folded.at]["content"][0] in kept
    assert len(folded.messages[folded.at]["content"]) == 2
    assert [m for i, m in enumerate(folded.messages) if i != folded.at] == [
        m for i, m in enumerate(before) if i != folded.at
    ]
