"""Words of many languages as one expression."""

from __future__ import annotations

import re

import pytest

from mnemic.redact.multilingual import Spoken, expression_of_words
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


WORDS = Spoken("tel[eé]fonos? [sş]ifre(?:m|si)? mots?~de~passe", "cl[eé]", joined="密[码碼] 电话(?:号码)?")


def matches(words: Spoken, text: str) -> list[str]:
    return [match.group() for match in re.finditer(words.expression, text)]


def test_words_begin_and_end_where_words_do_and_joined_ones_stand_anywhere() -> None:
    EXAMPLES.assert_right(
        lambda text: matches(WORDS, text), "words_begin_and_end_where_words_do_and_joined_ones_stand_anywhere", floor=1
    )


def test_behind_a_stem_may_be_letters() -> None:
    stems = Spoken("factur", joined="订单", stems=True)
    assert matches(stems, "factura facturen xfactur 我订单号") == ["factur", "factur", "订单"]


def test_words_without_joined_ones() -> None:
    assert matches(Spoken("uno dos"), "uno, dos, tres") == ["uno", "dos"]


@pytest.mark.parametrize(
    "text", ["telefono", "teléfonos", "şifrem", "sifre", "mots de passe", "clé", "cle", "密碼", "电话", "a telefo b"]
)
def test_what_a_word_is_in_may_hold_one(text: str) -> None:
    assert matches(WORDS, text) == [] or WORDS.may_be_in(text)
    assert WORDS.may_be_in(text.upper()) == WORDS.may_be_in(text)


def test_what_holds_no_beginning_of_any_holds_none() -> None:
    EXAMPLES.assert_right(
        lambda text: bool(WORDS.may_be_in(text)), "what_holds_no_beginning_of_any_holds_none", floor=1
    )


def test_what_must_be_there_is_as_long_as_it_can_be() -> None:
    assert Spoken("abc[de]f(?:g|h) xyz?").may_be_in("abcdf")
    assert not Spoken("abc[de]f(?:g|h) xyz?").may_be_in("abcd")
    assert Spoken("xyz? long").may_be_in("xy")
    assert not Spoken("xyz? long").may_be_in("x")
    assert Spoken("ab* long").may_be_in("a")
    assert Spoken("ab{0,2} long").may_be_in("a")
    assert not Spoken("tel telefono").may_be_in("te")


def test_the_first_letter_is_looked_at_first() -> None:
    expression = expression_of_words(["alfa", "beta", "[gh]amma"])
    assert expression.startswith("[abgh](?<![^\\W_].)")
    assert re.fullmatch(expression, "gamma")
    assert re.fullmatch(expression, "hamma")
    assert re.fullmatch(expression_of_words(["alfa"], start=""), "alfa")
    assert re.search(expression_of_words(["alfa"], start=""), "xalfa")
    assert not re.search(expression, "xalfa")
