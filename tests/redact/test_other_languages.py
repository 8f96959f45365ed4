"""Numbers and passwords as people write them in languages other than English, and look-alikes."""

from __future__ import annotations

from typing import Any

from mnemic.redact.redactor import Redactor
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


SECRET = b"k" * 32


def entities(text: str) -> list[tuple[str, str]]:
    """Entity and covered text of every find."""
    return [(span.entity, text[span.start : span.end]) for span in Redactor().find(text)]


def test_telephone_numbers() -> None:
    EXAMPLES.assert_right(lambda text, number: entities(text) == [("PHONE", number)], "telephone_numbers", floor=1)


def test_passwords_and_codes() -> None:
    EXAMPLES.assert_right(lambda text, value: entities(text) == [("SECRET", value)], "passwords_and_codes", floor=1)


def test_what_is_written_without_blanks() -> None:
    EXAMPLES.assert_right(
        lambda text, entity, covered: entities(text) == [(entity, covered)], "what_is_written_without_blanks", floor=1
    )


def test_benign_texts_stay() -> None:
    EXAMPLES.assert_right(entities, "benign_texts_stay", floor=1)


def test_doing_it_twice_changes_nothing() -> None:
    def check(text: str) -> Any:
        once = Redactor().redact(text, SECRET).text
        return Redactor().redact(once, SECRET).text == once

    EXAMPLES.assert_right(check, "doing_it_twice_changes_nothing", floor=1)
