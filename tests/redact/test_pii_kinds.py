"""Finds of every kind, and their look-alikes."""

from __future__ import annotations

import pytest

from mnemic.redact.pii_kinds import DETECTORS
from mnemic.redact.pii_kinds.payment_cards import LENGTH, ibans, luhn
from mnemic.redact.redactor import Redactor
from mnemic.redact.search_primitives import for_folded
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


SECRET = b"k" * 32


def entities(text: str) -> list[tuple[str, str]]:
    """Entity and covered text of every find."""
    return [(span.entity, text[span.start : span.end]) for span in Redactor().find(text)]


def test_found() -> None:
    EXAMPLES.assert_right(lambda text, entity, covered: entities(text) == [(entity, covered)], "found", floor=1)


def test_benign_texts_stay() -> None:
    EXAMPLES.assert_right(entities, "benign_texts_stay", floor=1)


@pytest.mark.parametrize("digest", ["be160425e40202a3", "be425e2450092f8f", "be97b1d8e1a8f259"])
def test_a_digest_with_the_form_of_an_account_number_stays(digest: str) -> None:
    assert entities(f"attachment {digest}") == []


def test_an_identifier_with_the_form_of_an_account_number_inside_stays() -> None:
    for identifier in ("01a2b68d-20c0-7000-be79-cd3a7d96c72f", "be00f1ca-18ed-4ccd-b9fe-2dc5250c380c"):
        assert entities(f"from {identifier}") == []
    assert entities("BE71 0961-2345 6769") == [("IBAN", "BE71 0961-2345 6769")]


def test_a_private_key_goes_as_one_block() -> None:
    pem = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nMIIabc+/=\n-----END RSA PRIVATE KEY-----"
    assert entities(f"here: {pem} done") == [("SECRET", pem)]
    assert entities(pem[:60]) == [("SECRET", pem[:60])]


def test_the_longest_match_names_what_overlaps() -> None:
    assert entities("DE89370400440532013000") == [("IBAN", "DE89370400440532013000")]
    assert entities("postgres://app:s3cret@db.example.com/x") == [("EMAIL", "s3cret@db.example.com")]


def test_spellings_of_one_thing_are_one_value() -> None:
    found = {detector.entity: detector for detector in DETECTORS}
    assert {one.value for one in found["CARD"].find("4111 1111 1111 1111, 4111-1111-1111-1111")} == {"4111111111111111"}
    assert {one.value for one in found["EMAIL"].find("Jane@ACME.com jane@acme.com")} == {"jane@acme.com"}
    assert {one.value for one in found["PHONE"].find("555-123-4567 (555) 123-4567")} == {"5551234567"}
    assert {one.value for one in found["EMAIL"].find("jane@acme.com Jane (at) ACME [dot] com")} == {"jane@acme.com"}
    assert {one.value for one in found["MAC"].find("00:1a:2b:3c:4d:5e 001A.2B3C.4D5E")} == {"001a2b3c4d5e"}
    assert {one.value for one in found["IMEI"].find("IMEI 49-015420-323751-8 IMEI:490154203237518")} == {
        "490154203237518"
    }
    assert {one.value for one in found["SSN"].find("123-45-6789 or SSN 123456789")} == {"123456789"}
    assert {one.value for one in found["IP"].find("2001:DB8:1:: 2001:db8:1::")} == {"2001:db8:1::"}
    assert {one.value for one in found["IBAN"].find("no9386011117947 NO93 8601 1117 947")} == {"NO9386011117947"}


def test_several_of_a_kind_are_found_each() -> None:
    assert entities("4111 1111 1111 1111 5555 5555 5555 4444") == [
        ("CARD", "4111 1111 1111 1111"),
        ("CARD", "5555 5555 5555 4444"),
    ]
    assert entities("pwd=abcd, the password is required, token: v4lue") == [("SECRET", "abcd"), ("SECRET", "v4lue")]
    assert entities("XX11 2222 DE89370400440532013000 NO93 8601 1117 947") == [
        ("IBAN", "DE89370400440532013000"),
        ("IBAN", "NO93 8601 1117 947"),
    ]


@pytest.mark.parametrize(("digits", "holds"), [("4111111111111111", True), ("4111111111111112", False), ("0", True)])
def test_luhn(digits: str, holds: bool) -> None:
    assert luhn(digits) is holds


def test_ibans_know_their_country() -> None:
    assert len(LENGTH) > 75
    assert [value for _, _, value in ibans("NO93 8601 1117 947 XX93 8601 1117 947")] == ["NO9386011117947"]


@pytest.mark.parametrize(
    ("expression", "plain"),
    [
        (r"\d{2}", "[0-9]{2}"),
        (r"[\d.\-]\d", r"[0-9.\-][0-9]"),
        (r"[^\W\d_][(\[]\d[)\]]", r"[^\W0-9_][(\[][0-9][)\]]"),
        (r"\\d\[\d", r"\\d\[[0-9]"),
    ],
)
def test_in_folded_texts_a_digit_is_one_of_ten(expression: str, plain: str) -> None:
    assert for_folded(expression) == plain
