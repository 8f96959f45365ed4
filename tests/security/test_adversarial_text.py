"""Texts built to make redaction slow (S18): 120 and more, each 8 KiB of one piece over and over."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from mnemic.errors import InvalidInput
from mnemic.write.prepare import Redactor
from tests.faults.scale import FULL

SECRET = b"k" * 32
SIZE = 8192
LONGEST_MS = 5
"""What one may take: a figure, which the scorecard judges and no test does."""
STEPS_PER_BYTE = 8
"""Calls into functions, of Python and of C, that a text may cost for each of its characters."""

PIECES = [
    *"a a. a@ 1 1- 1. - :: 1:: f é é@é.com :// sk- [A ghp_ xoxb- eyJ DE +1 +4 # (1 1( @a. a1 1, 0x aa:".split(),
    *"x@x.com eyJaaaaaa. hooks.slack.com/services/ discord.com/api/webhooks/ ?token=abcdefgh &sig= key= ://a:".split(),
    *(
        f"{piece} "
        for piece in (
            "1|444|4444|DE89|a:b::1|10.0.0.1|password|call|00|555 123|[EMAIL#a1b2]|x@x.com|token is|phone 12 34 567"
            "|-----BEGIN PRIVATE KEY-----|12 34 567|12 345 67 89|number 1234567|my number is 555 1234|(at) x|a (at)"
            "|a (at) b (dot) c|ssn|ssn 123-45-6789|123-45-6789|4111 1111 1111 1111|4111111111111111|4 1 1 1 1|imei|mac"
            "|411111111111111|imei 1234567890123456|aa:bb:cc:dd:ee:ff|fe80::1|api_key=abcd1234|password=abcd1234|fax 12"
            "|password is x9y8z7w6|secret:|bearer|basic abcdefghij1234567890|-u a:bcd|pin 1234|1234 is your code|tel"
            "|tel:|https://a:b@c|sk-aaaaaaaaaaaaaaaa|AKIAAAAAAAAAAAAAAAAA|eyJaaaaaaaa.bbbbbbbb.cccc|GB82|GB82WEST12345698765432"
            "|GB82 WEST 1234 5698 7654 32|tel 0|+49 30 123456|0049 30 12345|(030) 12345|020 7946 0958|0|7 999 123-45-67"
            "|212-555-1234|(212) 555-1234|12-34-56|2019-01-01|1.000.000|123.456.789|1/2/3|call me at|reach 555 1234 x"
            "|answer 5551234|contact 1|order number 1234567|mobile 123456789|whatsapp|123456789012|contact 123456789"
            "|123456789 is my number|(020)74960603|mi móvil 612345678|clave de la|密码 a1b2c3|电话13812345678"
        ).split("|")
    ),
    *("\n12 34\n", "12 345678\n", "9" * 13 + " ", "x" * 64 + "@", "@" + "a" * 63 + ".", "a" * 65 + " "),
    *("１２３ ", "ａ＠ｂ．ｃｏｍ ", "\u200b", "1\u200b2", "٠١٢٣ "),
]  # fmt: skip
CHOSEN = PIECES[:: 1 if FULL else 4]


def text(piece: str, length: int = SIZE) -> str:
    return (piece * (length // len(piece) + 1))[:length]


def redacted(said: str) -> None:
    with suppress(InvalidInput):  # refused as `redaction`: every replacement uncovers another find
        Redactor().redact(said, SECRET)


def steps(work: Callable[[], None]) -> int:
    """How many functions `work` calls: the same on every machine, under any load."""
    called = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return called


_ABROAD = ("mi clave es a1", "mi contraseña es a1", "movil: 612345678", "móvil: 612345678", "is to 12 345 67")


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """What the first number ever imports and compiles is no cost of a text."""
    for said in ("call (030) 12345 or +49 30 123456, 06 12 34 56 78, 212-555-1234", *_ABROAD):
        redacted(said)


def different(shape: str, length: int) -> str:
    """Numbers of one shape, no two the same: each is another question to the numbering plans."""
    count = length // len(shape.format(212, 0))
    return "".join(shape.format(one // 10_000, one % 10_000) for one in range(2_120_000, 2_120_000 + 7 * count, 7))


NEW_PER_BYTE = 10
"""The same where no number was seen before: each needs a marker of its own, and the first ones a plan's word."""


@pytest.mark.parametrize("shape", ["call {}-555-{:04} ", "+1 {} 555 {:04} ", "0{} 55 {:04}, ", "({}) 55{:04}\n"])
def test_numbers_of_which_no_two_are_the_same_cost_no_more(shape: str) -> None:
    short, long = (steps(lambda length=length: redacted(different(shape, length))) for length in (SIZE, 4 * SIZE))  # type: ignore[misc]
    assert short <= NEW_PER_BYTE * SIZE
    assert long <= 4.4 * short + 2_000


@pytest.mark.parametrize("piece", CHOSEN)
def test_the_steps_grow_with_the_text_and_no_faster(piece: str) -> None:
    short, long = (steps(lambda length=length: redacted(text(piece, length))) for length in (SIZE, 4 * SIZE))  # type: ignore[misc]
    assert short <= STEPS_PER_BYTE * SIZE
    assert long <= 4.4 * short + 2_000


def test_the_time_of_each_is_told(record_property: Callable[[str, object], None]) -> None:
    """What a redaction costs on this machine now, of processor time, at its best of seven: a figure, no verdict."""
    taken = [min(_milliseconds(text(piece)) for _ in range(7)) for piece in CHOSEN]
    within = sum(one <= LONGEST_MS for one in taken)
    middle, worst = statistics.median(taken), max(taken)
    record_property(
        "said", f"{within} of {len(taken)} texts within {LONGEST_MS} ms, median {middle:.1f} ms, worst {worst:.1f} ms"
    )
    if FULL and worst > LONGEST_MS:
        record_property("missed", f"{len(taken) - within} texts take longer than {LONGEST_MS} ms")
    assert len(taken) == len(CHOSEN)


def _milliseconds(said: str) -> float:
    began = time.process_time()
    redacted(said)
    return 1000 * (time.process_time() - began)
