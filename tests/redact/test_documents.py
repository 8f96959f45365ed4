"""Papers, accounts, vehicles and wallets; and the kinds that are detected only if the caller names them."""

from __future__ import annotations

import pytest

from mnemic.redact import InvalidRules, Redactor, redact
from mnemic.redact.pii_kinds.opt_in_kinds import OPTIONAL

FOUND = [
    ("my passport number is X1234567", "PASSPORT", "X1234567"),
    ("Reisepass C01X00T47", "PASSPORT", "C01X00T47"),
    ("passport AB 1234567.", "PASSPORT", "AB 1234567"),
    ("driver's license D123-4567-8901", "DRIVING_LICENCE", "D123-4567-8901"),
    ("sort code 12-34-56", "BANK_ACCOUNT", "12-34-56"),
    ("bank account: 12345678", "BANK_ACCOUNT", "12345678"),
    ("VIN 1HGCM82633A004352", "VIN", "1HGCM82633A004352"),
    ("to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa now", "WALLET", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
    ("0x52908400098527886E0F7030069857D2E4169EE7", "WALLET", "0x52908400098527886E0F7030069857D2E4169EE7"),
    ("Medicare number 1EG4-TE5-MK73", "NATIONAL_ID", "1EG4-TE5-MK73"),
]
LEFT = [
    "the passport office opens at 9",
    "my passport expires in 2031",
    "the account 12345678 is a customer's",
    "the routing of the cable takes 4 days",
    "test bank account 000000000000",
    "to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb now",
    "vin rouge, 12 bottles",
]
WANTED = [
    ("I was born on 4 May 1990", "BIRTHDAY", "4 May 1990"),
    ("dob: 1990-05-04", "BIRTHDAY", "1990-05-04"),
    ("her birthday is May 4th", "BIRTHDAY", "May 4th"),
    ("at 48.8584, 2.2945 now", "GPS", "48.8584, 2.2945"),
    ("48°51'30\"N 2°17'40\"E", "GPS", "48°51'30\"N 2°17'40\"E"),
    ("ask @jane_doe on it", "HANDLE", "@jane_doe"),
    ("licence plate AB12 CDE", "PLATE", "AB12 CDE"),
]


@pytest.mark.parametrize(("text", "entity", "value"), FOUND)
def test_found(text: str, entity: str, value: str) -> None:
    assert [(span.entity, text[span.start : span.end]) for span in redact(text).spans] == [(entity, value)]


@pytest.mark.parametrize("text", LEFT)
def test_left(text: str) -> None:
    assert redact(text).text == text


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
