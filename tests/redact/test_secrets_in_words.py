"""Secrets in plain words: what opens something, any words about it, and the value."""

from __future__ import annotations

from mnemic.redact.redactor import Redactor
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


KEY = b"k" * 32


def redacts(text: str, secret: str) -> bool:
    shown = Redactor().redact(text, KEY).text
    return secret not in shown and "[SECRET#" in shown


def test_a_secret_in_plain_words_is_redacted() -> None:
    EXAMPLES.assert_right(redacts, "a_secret_in_plain_words_is_redacted", floor=1)


def test_words_about_a_secret_stay() -> None:
    EXAMPLES.assert_right(lambda text: Redactor().redact(text, KEY).text == text, "words_about_a_secret_stay", floor=1)
