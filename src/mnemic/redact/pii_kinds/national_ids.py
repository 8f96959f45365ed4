"""Numbers that a state gives a person, known by their form and proved by their check digits.

Numbers without a check digit are accepted if their form is unique (the United Kingdom, Korea); digits in one piece only
after the number's name.

US social security numbers: areas 000, 666 and 900 to 999, group 00 and serial 0000 are not issued. Dots part the
numbers of builds and versions: a number with dots counts only where words call it a social security one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

from mnemic.redact.search_primitives import AnyCase, digits, drawn, pattern

_FORM = r"(?!000|666|9)\d{3}%s(?!00)\d\d%s(?!0000)\d{4}"
ssns = (
    pattern(
        r"[0-8](?<![\w.\-].)(?:(?<!0)|(?!00))(?:(?<!6)|(?!66))\d\d([ \-])(?!00)\d\d\1(?!0000)\d{4}"
        r"(?!\w|[.\-][\d\ufdd0])",
        needs=drawn(b"000 00 0000"),
        spell=digits,
    ),
    pattern(
        AnyCase(
            r"(?:ssn|social(?: security)?)(?: number| no\.?|#)?(?: is|:|=| -)? {0,2}("
            + _FORM % (r"[ .\-]?", r"[ .\-]?")
            + r")(?!\d)"
        ),
        needs=("ssn", "social"),
        spell=digits,
        group=1,
    ),
)


_SEPARATORS = str.maketrans("", "", " .-")
_VALUES = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"


def compact(number: str) -> str:
    """Return `number` without separators, in capitals."""
    return number.translate(_SEPARATORS).upper()


def _sum(number: str, *weights: int) -> int:
    return sum(int(digit) * weight for digit, weight in zip(number, cycle(weights), strict=False))


def is_spanish(number: str) -> bool:
    """DNI or NIE, whose letter is the number modulo 23 (Real Decreto 1553/2005, Orden INT/2058/2008)."""
    plain = compact(number)
    value = int(plain[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[value % 23] == plain[-1]


def is_brazilian(number: str) -> bool:
    """CPF: two digits modulo 11 (Receita Federal); eleven times the same digit was never given."""
    plain = digits(number)
    if len(plain) != 11:
        return False
    first = _sum(plain[:9], *range(10, 1, -1)) * 10 % 11 % 10
    second = _sum(plain[:10], *range(11, 1, -1)) * 10 % 11 % 10
    return len(set(plain)) > 1 and plain[9:] == f"{first}{second}"


def is_chinese(number: str) -> bool:
    """Check a resident's number of GB 11643: modulo 11, weights 2 to the power of the place (ISO 7064, MOD 11-2)."""
    total = sum(int(digit) * 2 ** (17 - place) for place, digit in enumerate(number[:17]))
    return "10X98765432"[total % 11] == number[17].upper()


def is_italian(number: str) -> bool:
    """Codice fiscale: the last letter is the sum of the others' values at odd and even places, modulo 26 (Decreto
    ministeriale 23 dicembre 1976).
    """
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    values = [int(sign) if sign.isdigit() else ord(sign) - ord("A") for sign in number.upper()]
    return (sum(odd[value] for value in values[:15:2]) + sum(values[1:15:2])) % 26 == values[15]


def is_french(number: str) -> bool:
    """NIR: its key is 97 less the number modulo 97; Corsica's 2A and 2B count as 19 and 18 (INSEE)."""
    plain = compact(number).replace("2A", "19").replace("2B", "18")
    return plain.isdigit() and 97 - int(plain[:13]) % 97 == int(plain[13:])


def is_mexican(number: str) -> bool:
    """CURP: modulo 10, weights 18 to 2 (Diario Oficial de la Federación, 18 October 2021)."""
    total = sum(_VALUES.index(sign) * (18 - place) for place, sign in enumerate(number[:17].upper()))
    return str(-total % 10) == number[17]


_TURNS = (
    "0123456789",
    "1576283094",
    "5803796142",
    "8916043527",
    "9453126870",
    "4286573901",
    "2793806415",
    "7046913258",
)


def is_indian(number: str) -> bool:
    """Aadhaar: Verhoeff's check, in the group of five's symmetries (UIDAI)."""
    plain = digits(number)
    check = 0
    for place, digit in enumerate(reversed(plain)):
        check = _multiply_symmetries(check, int(_TURNS[place % 8][int(digit)]))
    return len(plain) == 12 and check == 0


def _multiply_symmetries(first: int, second: int) -> int:
    """Return the product of two of the ten symmetries of a pentagon."""
    if first < 5:
        return (first + second) % 5 + (5 if second >= 5 else 0)
    return (first - second) % 5 + (5 if second < 5 else 0)


def is_polish(number: str) -> bool:
    """PESEL: modulo 10 (Ustawa o ewidencji ludności, 2010)."""
    return len(number) == 11 and (_sum(number[:10], 1, 3, 7, 9) + int(number[10])) % 10 == 0


def is_dutch(number: str) -> bool:
    """BSN: modulo 11 (the proof of eleven); nine zeros were never given."""
    return (
        len(number) == 9 and bool(number.strip("0")) and (_sum(number[:8], *range(9, 1, -1)) - int(number[8])) % 11 == 0
    )


def is_german(number: str) -> bool:
    """Steuer-Identifikationsnummer: ISO 7064, MOD 11,10."""
    product = 10
    for digit in number[:10]:
        product = ((product + int(digit)) % 10 or 10) * 2 % 11
    return len(number) == 11 and (11 - product) % 10 == int(number[10])


def is_turkish(number: str) -> bool:
    """T.C. kimlik numarası: two digits modulo 10."""
    values = [*map(int, number)]
    tenth = (7 * sum(values[:9:2]) - sum(values[1:8:2])) % 10
    return len(number) == 11 and values[9] == tenth and values[10] == sum(values[:10]) % 10


def is_british(number: str) -> bool:
    """NHS number: modulo 11, weights 10 to 2 (NHS Data Dictionary)."""
    return len(number) == 10 and (_sum(number[:9], *range(10, 1, -1)) + int(number[9])) % 11 == 0


def is_korean(number: str) -> bool:
    """Return True if a resident's number begins with a day; since 2020 nothing else in it can be checked."""
    return "01" <= number[2:4] <= "12" and "01" <= number[4:6] <= "31"


_NAMED = (
    (("cpf",), "cpf", is_brazilian),
    (("pesel",), "pesel", is_polish),
    (
        ("bsn", "burgerservice", "sofi", "citizen service"),
        "bsn(?:-nummer)?|burgerservicenummer|sofi-?nummer|citizen service number",
        is_dutch,
    ),
    (("steuer", "identifikations"), "steuer-?id|(?:steuer)?identifikationsnummer", is_german),
    (("tc", "t.c", "kimlik"), r"t\.?c\.?(?: kimlik)?|kimlik", is_turkish),
    (("aadha",), "aadhaa?r", is_indian),
    (("nhs",), "nhs", is_british),
)
"""For each number: its marker in a text, its name, and the proof of its digits."""
_BEHIND_NAME = (
    r"(?: ?(?:no\.?|nr\.?|number|nummer|numaram?|num|is|es|é|ist|to|:|=|#)){0,3} {0,2}(\d(?:[ .\-]?\d){8,11})(?![\w\-])"
)
_NINO = r"(?!bg|gb|nk|kn|tn|nt|zz)[a-ceghj-prstw-z][a-ceghj-nprstw-z]"

_NINO_WHOLE = rf"(?<!\w){_NINO}"


def _require_proof(holds: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda number: holds(digits(number))


lettered = (
    pattern(
        AnyCase(r"[a-z](?<!\w.)[a-z]{5}\d\d[a-ehlmprst]\d\d[a-z]\d{3}[a-z](?!\w)"),
        needs=drawn(b"aaaaaa00a00a000a"),
        fits=is_italian,
        spell=compact,
    ),
    pattern(
        AnyCase(r"[a-z](?<!\w.)[aeioux][a-z]{2}\d{6}[hm][a-z]{5}[0-9a-z]\d(?!\w)"),
        needs=drawn(b"aaaa000000aaaaaa"),
        fits=is_mexican,
        spell=compact,
    ),
    pattern(AnyCase(rf"{_NINO_WHOLE}(?: \d\d){{3}} [a-d](?!\w)"), needs=drawn(b"aa 00 00 00 a"), spell=compact),
    pattern(
        AnyCase(
            r"(?<!\w)(?:nino|ni|national insurance)(?: no\.?| number| is|:|#){0,3} {1,2}"
            rf"({_NINO}\d{{6}}[a-d])(?!\w)"
        ),
        needs=drawn(b"aa000000a"),
        spell=compact,
        group=1,
    ),
)
"""Numbers that are half letters."""
numbers = (
    pattern(
        r"[\dX-Zx-z](?<![\w.\-].)(?:\d{7}|\d?\.\d{3}\.\d{3}|(?<!\d)[ \-]\d{7})[ \-]?[A-Za-z](?!\w)",
        needs=drawn(b"0000000a", b"0000000 a", b"000 000a", b"000 000 a"),
        fits=is_spanish,
        spell=compact,
    ),
    pattern(
        r"\d(?<![\w.\-].)\d\d\.\d{3}\.\d{3}-\d\d(?![\w\-])",
        needs=drawn(b"000 000 000 00"),
        fits=is_brazilian,
        spell=digits,
    ),
    pattern(
        r"[1-9](?<![\w.\-].)\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\w)",
        needs=drawn(b"0" * 17),
        fits=is_chinese,
        spell=compact,
    ),
    pattern(r"\d(?<![\w.\-].)\d{5}-[1-8]\d{6}(?![\w\-])", needs=drawn(b"000000 0000000"), fits=is_korean, spell=digits),
    pattern(
        r"[12](?<![\w.\-].) \d\d (?:0[1-9]|[1-9]\d) (?:\d\d|2[AB]) \d{3} \d{3} ?\d\d(?![\w\-])",
        needs=drawn(b"0 00 00 0"),
        fits=is_french,
        spell=compact,
    ),
    pattern(
        AnyCase(
            r"(?<![^\W_])(?:nir|s[eé]cu(?:rit[eé] sociale)?|insee)(?: ?(?:est|le|n[°º]|:|=)){0,3} {0,2}"
            r"([12]\d{4}(?:\d\d|2[ab])\d{8})(?!\w)"
        ),
        needs=("nir", "cu", "insee"),
        fits=is_french,
        spell=compact,
        group=1,
    ),
    pattern(
        r"[2-9](?<![\w.\-].)(?<!\d .)\d{3}([ \-])\d{4}\1\d{4}(?![\w\-]| \d)",
        needs=drawn(b"0000 0000 0000"),
        fits=is_indian,
        spell=digits,
    ),
    *(
        pattern(
            AnyCase(rf"(?<![^\W_])(?:{name}){_BEHIND_NAME}"),
            needs=needs,
            fits=_require_proof(holds),
            spell=digits,
            group=1,
        )
        for needs, name, holds in _NAMED
    ),
)
"""Numbers of at least seven digits, or labelled as one of these."""
