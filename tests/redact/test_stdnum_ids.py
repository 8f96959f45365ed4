"""Identity numbers of many countries, by form and check digits or after their name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mnemic.redact import redact
from mnemic.redact.pii_kinds.stdnum_ids import MAX_VALIDATIONS, find_named

FORMED = [
    "811218-9876",
    "19811218-9876",
    "131052-308T",
    "131052A3082",
    "85.07.30-033.28",
    "756.9217.0769.85",
    "710319/2745",
    "20-05536168-2",
    "12.531.909-2",
    "S1234567D",
]
NAMED = [
    ("Mitt fødselsnummer er 15108695088.", "15108695088"),
    ("Mit CPR-nummer er 211062-5629.", "211062-5629"),
    ("O meu NIF é 501964843.", "501964843"),
    ("CNP-ul meu este 1630615123457.", "1630615123457"),
    ("My South African ID number is 7503305044089.", "7503305044089"),
    ("My SIN is 123-456-782 and yours?", "123-456-782"),
    ("My TFN is 123 456 782, 4 of May", "123 456 782"),
    ("Το ΑΦΜ μου είναι 094259216.", "094259216"),
    ("Meine Versicherungsnummer ist 1237 010180.", "1237 010180"),
    ("My PPS number is 6433435F.", "6433435F"),
    ("Unsere USt-IdNr. ist DE136695976.", "DE136695976"),
    ("my ITIN: 912-70-1234", "912-70-1234"),
    ("my nric is S8765432G", "S8765432G"),
]
LEFT = [
    "the order 811218-9877 came",
    "batch 85.07.30-033.29 of 710319/2746",
    "version 12.531.909-3",
    "part S1234567E",
    "The cashier at the SIN bar took 123-456-783 coins",
    "the vat holds 12345678 litres",
    "lot 1630615123457",
    "a sin, 7 times",
]


@pytest.mark.parametrize("number", [one for one in FORMED if one != "131052A3082"])
def test_a_form_that_is_proved_is_found_without_a_name(number: str) -> None:
    done = redact(f"note {number} there")
    assert [span[:3] for span in done.spans] == [(5, 5 + len(number), "NATIONAL_ID")]


@pytest.mark.parametrize(("text", "number"), NAMED)
def test_a_number_is_found_after_its_name(text: str, number: str) -> None:
    done = redact(text)
    assert [(span.entity, text[span.start : span.end]) for span in done.spans] == [("NATIONAL_ID", number)]


@pytest.mark.parametrize("text", LEFT)
def test_a_wrong_check_digit_or_no_name_leaves_it(text: str) -> None:
    assert "NATIONAL_ID" not in redact(text).kinds


def test_a_separator_makes_no_other_number() -> None:
    secret = b"k" * 32
    one, two = (redact(f"My TFN is {number}", secret=secret).text for number in ("123 456 782", "123456782"))
    assert one == two


def test_beyond_the_proofs_of_a_text_a_named_number_is_taken_without() -> None:
    text = "cpr 999999-9999. " * (MAX_VALIDATIONS + 3)
    assert len(list(find_named(text))) == 3


def test_the_library_is_imported_for_the_first_candidate_and_not_before() -> None:
    program = """
import sys
from mnemic.redact import redact
redact("call 212-555-1234 on 2024-05-06 about order 123456789")
print("stdnum" in sys.modules)
redact("my TFN is 123 456 782")
print("stdnum" in sys.modules)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "True"]
