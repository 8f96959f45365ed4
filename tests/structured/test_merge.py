"""Two versions of one thing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.structured.shape import merge


@pytest.mark.parametrize(
    ("known", "told", "merged"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": {"x": 1, "y": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
        ({"a": "here"}, {"a": ""}, {"a": "here"}),
        ({"a": "here"}, {"a": None}, {"a": "here"}),
        ({"gate": "11"}, {"gate": "9"}, {"gate": "9"}),
        ({"name": "Kevîn Ottens"}, {"name": "K Ottens"}, {"name": "Kevîn Ottens"}),
        ({"name": "K Ottens"}, {"name": "Kévin Ottens"}, {"name": "Kévin Ottens"}),
        ({"familyName": "Ottens"}, {"familyName": "OTTENS"}, {"familyName": "Ottens"}),
        ({"givenName": "Kevin"}, {"givenName": "Kévin"}, {"givenName": "Kévin"}),
        ({"name": "Ana Diaz"}, {"name": "Ben Smith"}, {"name": "Ben Smith"}),
        ({"token": "aztec:M1DOE"}, {"token": "https://air.example/pass"}, {"token": "aztec:M1DOE"}),
        ({"token": "https://air.example/pass"}, {"token": "aztec:M1DOE"}, {"token": "aztec:M1DOE"}),
    ],
)
def test_what_prevails(known: Any, told: Any, merged: Any) -> None:
    assert merge(known, told) == merged


@given(st.dictionaries(st.sampled_from(["a", "name"]), st.text(max_size=5) | st.integers()))
def test_told_again_nothing_changes(one: dict[str, Any]) -> None:
    assert merge(one, one) == one
    assert merge(one, {}) == one
