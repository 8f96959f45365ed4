"""Papers, accounts, vehicles and wallets; and the kinds that are detected only if the caller names them."""

from __future__ import annotations

import pytest

from mnemic.redact import InvalidRules, Redactor, redact
from mnemic.redact.pii_kinds.opt_in_kinds import OPTIONAL
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


WANTED = [
    ("I was born on 4 May 1990", "BIRTHDAY", "4 May 1990"),
    ("dob: 1990-05-04", "BIRTHDAY", "1990-05-04"),
    ("her birthday is May 4th", "BIRTHDAY", "May 4th"),
    ("at 48.8584, 2.2945 now", "GPS", "48.8584, 2.2945"),
    ("48°51'30\"N 2°17'40\"E", "GPS", "48°51'30\"N 2°17'40\"E"),
    ("ask @jane_doe on it", "HANDLE", "@jane_doe"),
    ("licence plate AB12 CDE", "PLATE", "AB12 CDE"),
]


def test_found() -> None:
    EXAMPLES.assert_right(
        lambda text, entity, value: (
            [(span.entity, text[span.start : span.end]) for span in redact(text).spans] == [(entity, value)]
        ),
        "found",
        floor=1,
    )


def test_left() -> None:
    EXAMPLES.assert_right(lambda text: redact(text).text == text, "left", floor=1)


def test_both_halves_of_an_account_are_hidden() -> None:
    assert redact("routing number 021000021 account 123456789").replaced == ("BANK_ACCOUNT",) * 2


@pytest.mark.parametrize(("text", "entity", "value"), WANTED)
def test_an_optional_kind_is_looked_for_where_actions_name_it(text: str, entity: str, value: str) -> None:
    assert entity not in redact(text).kinds
    spans = Redactor(actions={entity: "redact"}).find(text)
    assert [(span.entity, text[span.start : span.end]) for span in spans] == [(entity, value)]


def test_an_address_is_no_handle() -> None:
    assert Redactor(actions={"HANDLE": "redact"}).redact("jane@acme.com", b"s").replaced == ("EMAIL",)


def test_the_optional_kinds_are_these() -> None:
    assert sorted(OPTIONAL) == ["BIRTHDAY", "GPS", "HANDLE", "PLATE"]
    with pytest.raises(InvalidRules):
        Redactor(actions={"ADDRESS": "redact"})
