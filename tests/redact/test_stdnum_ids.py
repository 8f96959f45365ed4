"""Identity numbers of many countries, by form and check digits or after their name."""

from __future__ import annotations

from typing import Any

from mnemic.redact import redact
from mnemic.redact.pii_kinds.stdnum_ids import MAX_VALIDATIONS, find_named
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_a_form_that_is_proved_is_found_without_a_name() -> None:
    def check(number: str) -> Any:
        done = redact(f"note {number} there")
        return [span[:3] for span in done.spans] == [(5, 5 + len(number), "NATIONAL_ID")]

    EXAMPLES.assert_right(check, "a_form_that_is_proved_is_found_without_a_name", floor=1)


def test_a_number_is_found_after_its_name() -> None:
    def check(text: str, number: str) -> Any:
        done = redact(text)
        return [(span.entity, text[span.start : span.end]) for span in done.spans] == [("NATIONAL_ID", number)]

    EXAMPLES.assert_right(check, "a_number_is_found_after_its_name", floor=1)


def test_a_wrong_check_digit_or_no_name_leaves_it() -> None:
    EXAMPLES.assert_right(
        lambda text: "NATIONAL_ID" not in redact(text).kinds, "a_wrong_check_digit_or_no_name_leaves_it", floor=1
    )


def test_a_separator_makes_no_other_number() -> None:
    secret = b"k" * 32
    one, two = (redact(f"My TFN is {number}", secret=secret).text for number in ("123 456 782", "123456782"))
    assert one == two


def test_beyond_the_proofs_of_a_text_a_named_number_is_taken_without() -> None:
    text = "cpr 999999-9999. " * (MAX_VALIDATIONS + 3)
    assert len(list(find_named(text))) == 3
