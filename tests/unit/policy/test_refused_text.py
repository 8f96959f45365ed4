"""What a refused proposal said: bounded, and through redaction."""

from __future__ import annotations

from mnemic.policy.proposal_check import MAX_CHARS, MAX_ITEMS, echo_input


async def loud(text: str) -> str:
    return text.upper()


async def test_texts_and_names_are_redacted_and_cut() -> None:
    told = await echo_input({"name": "x" * 1000, "list": list(range(100))}, loud)
    assert told == {"NAME": "X" * MAX_CHARS, "LIST": list(range(MAX_ITEMS))}


async def test_every_text_is_redacted_however_deep_it_is() -> None:
    raw = {"a": ["b", ["c", {"d": "e"}], ("f",)], "g": {"h": {"i": "j", "k": ["l"]}}}
    assert await echo_input(raw, loud) == {
        "A": ["B", ["C", "<dict>"], ["F"]],
        "G": {"H": {"I": "J", "K": "<list>"}},
    }
    assert await echo_input({2: {"n" * 300: None}}, loud) == {"2": {"N" * MAX_CHARS: None}}


async def test_a_long_list_and_a_long_object_are_cut() -> None:
    assert await echo_input({str(number): number for number in range(30)}, loud) == {str(one): one for one in range(20)}
    assert await echo_input([["a"] * 30], loud) == [["A"] * 20]
    assert await echo_input("é" * 241, loud) == "É" * 240


async def test_what_json_cannot_say_is_named_by_its_type() -> None:
    raw = [float("nan"), None, True, 1.5, object(), [[["deep"]]]]
    assert await echo_input(raw, loud) == ["<float>", None, True, 1.5, "<object>", [["<list>"]]]
