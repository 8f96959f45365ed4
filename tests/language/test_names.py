"""When two spellings are one name."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.text.names import core, slug
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_one_name() -> None:
    EXAMPLES.assert_right(lambda one, other, label: slug(one, label) == slug(other, label), "one_name")


def test_two_names() -> None:
    EXAMPLES.assert_right(lambda one, other, label: slug(one, label) != slug(other, label), "two_names")


@given(st.text(min_size=1, max_size=80), st.sampled_from(["person", "organisation", "place", "thing"]))
def test_a_slug_is_short_plain_and_settled(name: str, label: str) -> None:
    found = slug(name, label)
    assert re.fullmatch(r"[a-z0-9~-]{1,37}", found)
    assert slug(core(name, label), label) == found or core(core(name, label), label) != core(name, label)
