"""Identity and tax numbers of some fifty countries, proved by python-stdnum (docs/adr/0019).

Unique forms are accepted wherever they are proved. The others (digits in one piece, forms shared with dates and order
numbers) are accepted after the number's name, in the languages of its country.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

from mnemic.redact.lazy_pattern import Pattern
from mnemic.redact.search_primitives import Search, drawn, found, lower_text, pattern
from mnemic.redact.types import Found

MAX_VALIDATIONS = 64
"""Maximum proofs for one text, some 10 microseconds each; beyond it a named number is accepted without."""


@cache
def _validator(name: str) -> Callable[[str], bool]:
    # Not at the top: most texts hold no number.
    valid: Callable[[str], bool] = import_module(f"stdnum.{name}").is_valid
    return valid


def is_proved(number: str, *names: str) -> bool:
    """Return True if one of the modules `names` of python-stdnum takes `number`."""
    return any(_validator(name)(number) for name in names)


_PLAIN = str.maketrans("", "", " .-/")


def compact(number: str) -> str:
    """Return `number` without separators, in capitals."""
    return number.translate(_PLAIN).upper()


def is_singaporean(number: str) -> bool:
    """NRIC or FIN: the letter is the weighted sum modulo 11, by the series (python-stdnum has none)."""
    series, digits, letter = number[0].upper(), number[1:8], number[8].upper()
    total = sum(int(digit) * weight for digit, weight in zip(digits, (2, 7, 6, 5, 4, 3, 2), strict=True))
    total += {"T": 4, "G": 4, "M": 3}.get(series, 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "F": "XWUTRQPNMLK", "G": "XWUTRQPNMLK", "M": "KLJNPQRTUWX"}
    return letters[series][total % 11] == letter


def _search_formed(expression: str, needs: Callable[[str], bool] | tuple[str, ...], *names: str) -> Search:
    def prove(number: str) -> bool:
        return is_proved(number, *names)

    return pattern(rf"(?i)(?<![\w.\-/+]){expression}(?![\w/]|[.\-]\d)", needs=needs, fits=prove, spell=compact)


formed = (
    _search_formed(r"(?:18|19|20)?\d{6}[+\-]\d{4}", drawn(b"000000 0000", b"000000+0000"), "se.personnummer"),
    _search_formed(r"\d{6}[+\-A-FU-Y]\d{3}[0-9A-Y]", drawn(b"000000 000", b"000000+000", b"000000a000"), "fi.hetu"),
    _search_formed(r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d", drawn(b"00 00 00 000 00"), "be.nn", "be.bis"),
    _search_formed(r"756\.\d{4}\.\d{4}\.\d\d", ("756.",), "ch.ssn"),
    _search_formed(r"\d{6}/\d{4}", drawn(b"000000/0000"), "cz.rc"),
    _search_formed(r"[23]\d-\d{8}-\d", drawn(b"00 00000000 0"), "ar.cuit"),
    _search_formed(r"\d{1,2}\.\d{3}\.\d{3}-[\dK]", drawn(b"0 000 000 0", b"0 000 000 a"), "cl.rut"),
    pattern(r"(?i)(?<![^\W_])[STFGM]\d{7}[A-Z](?!\w)", needs=drawn(b"a0000000a"), fits=is_singaporean, spell=compact),
    pattern(
        r"(?i)(?<![^\W_])(?:nric|fin)(?:[ \-]?(?:no\.?|number|is|:|#)){0,3} {0,2}([STFGM]\d{7}[A-Z])(?!\w)",
        needs=("nric", "fin"),
        spell=compact,
        group=1,
    ),
)
"""Numbers known by their form and their check digits."""

_NAMED: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("personnummer", "samordningsnummer"), ("se.personnummer", "no.fodselsnummer")),
    (("fødselsnummer", "fodselsnummer", "d-nummer"), ("no.fodselsnummer",)),
    (("henkilötunnu", "henkilotunnu", "hetu"), ("fi.hetu",)),
    (("cpr",), ("dk.cpr",)),
    (("kennital",), ("is_.kennitala",)),
    (("rijksregister", "registre national", "numéro national", "insz", "niss"), ("be.nn", "be.bis")),
    (("nif", "contribuinte"), ("pt.nif", "es.nif")),
    (("cartão de cidadão", "cartao de cidadao"), ("pt.cc",)),
    (("ahv", "avs"), ("ch.ssn",)),
    (("rodné číslo", "rodne cislo", "rodného čísla"), ("cz.rc",)),
    (("cnp", "cod numeric personal"), ("ro.cnp",)),
    (("sa id", "south african id", "id number", "identity number", "id no"), ("za.idnr", "il.idnr", "my.nric")),
    (("sin", "social insurance", "assurance sociale"), ("ca.sin",)),
    (("tfn", "tax file"), ("au.tfn",)),
    (("cuit", "cuil"), ("ar.cuit",)),
    (("rut", "run"), ("cl.rut",)),
    (("マイナンバー", "個人番号", "my number"), ("jp.in_",)),
    (("αφμ", "afm"), ("gr.vat",)),
    (("αμκα", "amka"), ("gr.amka",)),
    (("versicherungsnummer", "svnr", "sozialversicherung"), ("at.vnr",)),
    (("pps",), ("ie.pps",)),
    (("егн", "egn"), ("bg.egn",)),
    (("isikukood",), ("ee.ik",)),
    (("asmens kod",), ("lt.asmens",)),
    (("oib",), ("hr.oib",)),
    (("emšo", "emso"), ("si.emso",)),
    (("рнокпп", "іпн", "податковий номер"), ("ua.rntrc",)),
    (("תעודת זהות", "teudat zehut"), ("il.idnr",)),
    (("เลขบัตรประชาชน", "เลขประจำตัวประชาชน", "thai id"), ("th.pin",)),
    (("itin",), ("us.itin",)),
    (("ein", "employer identification"), ("us.ein",)),
    (("utr", "unique taxpayer"), ("gb.utr",)),
    (("rfc",), ("mx.rfc",)),
    (("pan", "permanent account"), ("in_.pan",)),
    (("nric", "mykad", "ic number", "ic no"), ("my.nric",)),
    (("cédula", "cedula"), ("ec.ci", "do.cedula", "uy.rut")),
    (("ird",), ("nz.ird",)),
    (("nik",), ("id.nik",)),
    (("idnp", "idno"), ("md.idno",)),
    (("vat", "ust-id", "ust.-id", "umsatzsteuer", "tva", "partita iva", "btw", "nip", "moms"), ("eu.vat", "gb.vat")),
)
"""Names of numbers, and the modules of python-stdnum; any of them proves the number."""
_LONG = 6
_VALUE = r"(?<![^\W_])(?P<value>(?:[a-z]{2,5})?\d(?:[ .\-/+]?\d|(?<=\d)[a-z](?=\d)){3,15}(?:[ \-]?[a-z\d]{1,3})?)(?!\w)"
_MARKS = " .-/"
"""Separators of the groups of a number."""


def _name(word: str) -> str:
    return re.escape(word) + (r"\w{0,10}" if len(word) >= _LONG else r"(?![^\W_])")


_PATTERNS = tuple(
    (words, Pattern(rf"(?i)(?<![^\W_])(?:{'|'.join(map(_name, words))})[^\d\n]{{0,24}}?{_VALUE}"), modules)
    for words, modules in _NAMED
)


def find_named(text: str) -> Iterator[Found]:
    """Every number of `text` that follows its name and is proved."""
    small = lower_text(text)
    left = MAX_VALIDATIONS
    for words, expression, modules in _PATTERNS:
        if not any(word in small for word in words):
            continue
        for match in expression.finditer(text):
            start, value = match.start("value"), match["value"]
            if left > 0:
                left -= 1
                value = _longest_proved(value, modules)
            if value:
                yield found((start, start + len(value), compact(value)))


def _longest_proved(value: str, modules: tuple[str, ...]) -> str:
    """Return the longest beginning of `value`, cut where it has separators, that is a number; "" if none is."""
    while value:
        if is_proved(value, *modules):
            return value
        value = value[: max(0, *map(value.rfind, _MARKS))]
    return ""
