"""Numbers that a state assigns to a person: their proofs, and look-alikes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mnemic.redact.pii_kinds.national_ids import (
    is_brazilian,
    is_british,
    is_chinese,
    is_dutch,
    is_french,
    is_german,
    is_indian,
    is_italian,
    is_korean,
    is_mexican,
    is_polish,
    is_spanish,
    is_turkish,
)
from mnemic.redact.redactor import Redactor
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_found() -> None:
    EXAMPLES.assert_right(
        lambda text, number: (
            [(span.entity, text[span.start : span.end]) for span in Redactor().find(text)] == [("NATIONAL_ID", number)]
        ),
        "found",
        floor=1,
    )


def test_what_no_check_digit_proves_is_none() -> None:
    EXAMPLES.assert_right(
        lambda text: "NATIONAL_ID" not in {span.entity for span in Redactor().find(text)},
        "what_no_check_digit_proves_is_none",
        floor=1,
    )


def test_spellings_of_one_number_are_one_value() -> None:
    pairs = [
        ("12345678Z", "12.345.678-z"),
        ("X1234567L", "x-1234567-l"),
        ("CPF 52998224725", "529.982.247-25"),
        ("NIR 255081416802538", "2 55 08 14 168 025 38"),
        ("NI number AB123456C", "AB 12 34 56 C"),
        ("aadhaar 234123412346", "2341-2341-2346"),
        ("BSN 111222333", "burgerservicenummer 1112.22.333"),
    ]
    for first, second in pairs:
        assert [span.value for span in Redactor().find(first)] == [span.value for span in Redactor().find(second)]


PROVED = [
    (is_spanish, "12345678Z", "00000000T", "X1234567L", "Y1234567X", "Z1234567R", "87654321X"),
    (is_brazilian, "52998224725", "11144477735", "39053344705", "00000000191"),
    (is_chinese, "11010519491231002X", "440524188001010014", "11010519491231002x"),
    (is_italian, "RSSMRA85T10A562S", "MRTMTT25D09F205Z", "rssmra85t10a562s"),
    (is_french, "255081416802538", "295109912611193", "2 55 08 14 168 025 38"),
    (is_mexican, "BOXW310820HNERXN09", "HEGG560427MVZRRL04"),
    (is_indian, "234123412346", "499118665246", "2341 2341 2346"),
    (is_polish, "44051401359", "02070803628"),
    (is_dutch, "111222333", "123456782"),
    (is_german, "86095742719", "65929970489"),
    (is_turkish, "10000000146", "19191919190"),
    (is_british, "9434765919", "4010232137"),
]


@pytest.mark.parametrize(("proved", "number"), [(proved, number) for proved, *numbers in PROVED for number in numbers])
def test_published_examples_are_proved(proved: Callable[[str], bool], number: str) -> None:
    assert proved(number)


@pytest.mark.parametrize(("proved", "number"), [(proved, numbers[0]) for proved, *numbers in PROVED])
def test_no_other_last_sign_is_proved(proved: Callable[[str], bool], number: str) -> None:
    signs = "0123456789" if number[-1].isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert [sign for sign in signs if proved(number[:-1] + sign)] == [number[-1]]


@pytest.mark.parametrize(("proved", "number"), [(proved, numbers[0]) for proved, *numbers in PROVED])
def test_one_wrong_digit_is_noticed(proved: Callable[[str], bool], number: str) -> None:
    unproved = {8} if proved is is_mexican else set()  # weighed ten times, modulo ten
    places = [at for at, sign in enumerate(number) if sign.isdigit() and at not in unproved]
    wrong = [number[:at] + str((int(number[at]) + 1) % 10) + number[at + 1 :] for at in places]
    assert [one for one in wrong if proved(one)] == []


@pytest.mark.parametrize("proved", [is_brazilian, is_polish, is_dutch, is_german, is_turkish, is_indian, is_british])
def test_another_length_is_none(proved: Callable[[str], bool]) -> None:
    number = next(numbers[0] for one, *numbers in PROVED if one is proved)
    assert not proved(number[:-1])
    assert not proved(number + "0")


def test_a_korean_number_begins_with_a_day() -> None:
    EXAMPLES.assert_right(lambda number: is_korean(f"{number}-1234567"), "a_korean_number_begins_with_a_day", floor=1)


@pytest.mark.parametrize(("department", "counts_as"), [("2A", "19"), ("2B", "18")])
def test_corsica_counts_by_another_number(department: str, counts_as: str) -> None:
    key = 97 - int(f"18506{counts_as}004005") % 97
    text = f"NIR 18506{department}004005{key:02}"
    assert [span.entity for span in Redactor().find(text)] == ["NATIONAL_ID"]


ODD = dict(
    zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8), strict=False)
) | {"S": 12, "T": 14, "U": 16, "V": 10, "W": 22, "X": 25, "Y": 24, "Z": 23}
"""The worth of each letter at an odd place of a codice fiscale (Decreto ministeriale 23 dicembre 1976, allegato)."""


def test_every_letter_has_its_worth_in_a_codice_fiscale() -> None:
    def check(letter: str) -> Any:
        last = chr(ord("A") + (ODD[letter] + 7) % 26)
        return bool(is_italian(f"{letter}AAAAA00A00A000{last}"))

    EXAMPLES.assert_right(check, "every_letter_has_its_worth_in_a_codice_fiscale", floor=1)


def test_each_weight_of_a_pesel_counts() -> None:
    assert is_polish("92122512343")
    assert not any(is_polish("92122512343"[:at] + "7" + "92122512343"[at + 1 :]) for at in range(10))
