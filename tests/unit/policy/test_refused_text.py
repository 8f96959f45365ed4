"""What a refused proposal said: bounded, and through redaction."""

from __future__ import annotations

from mnemic.policy.refused_text import MAX_CHARS, MAX_ITEMS, echoed


async def loud(text: str) -> str:
    return text.upper()


async def test_texts_and_names_are_redacted_and_cut() -> None:
    told = await echoed({"name": "x" * 1000, "list": list(range(100))}, loud)
    assert told == {"NAME": "X" * MAX_CHARS, "LIST": list(range(MAX_ITEMS))}


async def test_what_json_cannot_say_is_named_by_its_type() -> None:
    raw = [float("nan"), None, True, 1.5, object(), [[["deep"]]]]
    assert await echoed(raw, loud) == ["<float>", None, True, 1.5, "<object>", [["<list>"]]]
