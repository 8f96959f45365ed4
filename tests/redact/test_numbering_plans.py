"""Answers of numbering plans about digits."""

from __future__ import annotations

import pytest

from mnemic.redact.pii_kinds.phones import MAX_PARSED, Plans
from mnemic.redact.redactor import Redactor
from mnemic.redact.types import Found, InvalidRules
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def found(text: str, *regions: str) -> list[str]:
    spans = Redactor(regions=regions).find(text)
    return [text[span.start : span.end] for span in spans if span.entity == "PHONE"]


def test_a_country_code_brings_its_plan() -> None:
    EXAMPLES.assert_right(
        lambda number, answer: (
            Plans().for_text().spell_digits(number) == ("".join(filter(str.isdigit, number)) if answer else "")
        ),
        "a_country_code_brings_its_plan",
        floor=1,
    )


def test_without_a_country_code_the_regions_decide() -> None:
    assert Plans(["US"]).for_text().spell_digits("(212) 555-1234")
    assert not Plans(["DK"]).for_text().spell_digits("(212) 555-1234")
    assert Plans(["DK", "US"]).for_text().spell_digits("(212) 555-1234")


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("Ida has 32 12 34 56 now", "DK"),
        ("it says 6512 3456 there", "SG"),
        ("the courier has 98765 43210 in his van", "IN"),
    ],
)
def test_a_region_that_policy_names_tells_of_numbers_that_nothing_around_them_tells_of(text: str, region: str) -> None:
    assert found(text) == []
    assert len(found(text, region)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "between 98765 43210 users",
        "from 19876 54321 to there",
        "id 98765/43210",
        "order number 98765 43210",
    ],
)
def test_what_the_region_does_not_have_or_write_so_stays(text: str) -> None:
    assert found(text, "IN") == []


def test_numbers_that_no_named_region_has_stay() -> None:
    assert found("ring 0612 3456 7890 12") != []
    assert found("ring 0612 3456 7890 12", "DK") == []


@pytest.mark.parametrize("regions", [("XX",), ("de",), ("Germany",)])
def test_a_region_without_a_plan_is_refused(regions: tuple[str, ...]) -> None:
    with pytest.raises(InvalidRules) as refused:
        Redactor(regions=regions)
    assert refused.value.reason == "redaction.regions"


def test_what_was_asked_too_often_stays_as_nominated() -> None:
    asked = Plans(["DK"]).for_text()
    answers = [asked.spell_digits(f"212 555 {number:04}") for number in range(MAX_PARSED + 3)]
    assert answers == [""] * MAX_PARSED + [f"212555{number:04}" for number in range(MAX_PARSED, MAX_PARSED + 3)]
    assert not asked.spell_digits("212 555 0000")


def test_too_many_doubtful_numbers_are_left_alone_in_every_order() -> None:
    numbers = [Found(0, 11, f"98765 {43210 + one}") for one in range(MAX_PARSED + 1)]
    assert [*Plans(["IN"]).for_text().valid(numbers)] == []
    assert [*Plans(["IN"]).for_text().valid(numbers[1:] * 2)] == numbers[1:] * 2
    assert [*Plans().for_text().valid(numbers[1:])] == []


def test_a_text_of_many_doubtful_numbers_is_redacted_for_good() -> None:
    text = ", ".join(f"{98765 - one} {43210 + one}" for one in range(200))
    redactor = Redactor(regions=["IN", "DE"])
    once = redactor.redact(text, b"k" * 32)
    assert redactor.redact(once.text, b"k" * 32).text == once.text
