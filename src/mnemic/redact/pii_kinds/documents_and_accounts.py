"""Numbers of papers, accounts, vehicles and wallets, after their name or proved by a checksum."""

from __future__ import annotations

from mnemic.redact.pii_kinds.stdnum_ids import compact, is_proved
from mnemic.redact.search_primitives import AnyCase, Search, pattern

_SAID = r"(?:[ \-]?(?:no\.?|nr\.?|number|num\.?|nummer|n[º°]|#|id|code|is|was|are|es|é|ist|:|=|\()){0,4}[ \t]{0,2}"
_CODE = r"((?=(?:[a-z \-]{0,6}\d){4})[a-z]{0,3}[ \-]?\d[a-z\d]{5,14})(?!\w)"


def varies(number: str) -> bool:
    """Return False for one repeated digit, as in examples."""
    return len(set(compact(number))) > 1


def _search_named(names: str, value: str, needs: tuple[str, ...]) -> Search:
    expression = AnyCase(rf"(?<![^\W_])(?:{names}){_SAID}{value}")
    return pattern(expression, needs=needs, fits=varies, spell=compact, group=1)


passports = (
    _search_named(
        "passport|passeport|pasaporte|passaporte|passaporto|reisepass|paspoort|paszport",
        _CODE,
        ("passport", "passeport", "pasaporte", "passaport", "reisepass", "paspoort", "paszport"),
    ),
)
licences = (
    _search_named(
        r"driv(?:er'?s?|ing) licen[cs]e|dl(?= ?(?:no|number|#|:))|führerschein|permis de conduire|carnet de conducir"
        "|patente di guida",
        r"((?=[a-z\d \-]{0,20}\d{3})[a-z]{0,5}[ \-]?\d(?:-?[a-z\d]){4,17})(?!\w)",
        ("driv", "dl", "führerschein", "conduire", "conducir", "guida"),
    ),
)
accounts = (
    _search_named(
        r"(?:bank|checking|savings|current|giro)[ \-](?:account|acct)|kontonummer|routing|sort code|bsb",
        r"(\d(?:[ \-]?\d){5,16})(?![\w\-])",
        ("account", "acct", "kontonummer", "routing", "sort code", "bsb"),
    ),
    pattern(
        AnyCase(
            r"(?<![^\W_])(?:sort code|routing|bsb)[^\d\n]{0,12}\d(?:[ \-]?\d){5,8}[^\d\n]{0,30}?"
            r"(?<![^\W_])(\d{6,17})(?!\w)"
        ),
        needs=("sort code", "routing", "bsb"),
        fits=varies,
        group=1,
    ),
)
medicare = (
    _search_named(
        "medicare|mbi",
        r"([1-9][ac-hj-km-np-rt-y][ac-hj-km-np-rt-y\d]\d-?[ac-hj-km-np-rt-y][ac-hj-km-np-rt-y\d]\d"
        r"-?[ac-hj-km-np-rt-y]{2}\d\d)(?!\w)",
        ("medicare", "mbi"),
    ),
)
vehicles = (
    _search_named(
        "vin|vehicle identification|chassis|fahrgestell|fahrgestellnummer",
        r"([a-hj-npr-z\d]{17})(?!\w)",
        ("vin", "vehicle", "chassis", "fahrgestell"),
    ),
)


def is_bitcoin(address: str) -> bool:
    """Return True if the checksum of a Bitcoin address is right."""
    return is_proved(address, "bitcoin")


wallets = (
    pattern(
        r"[13bB](?<!\w.)(?:[1-9A-HJ-NP-Za-km-z]{25,34}|(?i:c1)[02-9ac-hj-np-zAC-HJ-NP-Z]{11,71})(?!\w)", fits=is_bitcoin
    ),
    pattern(r"(?<!\w)0x[0-9A-Fa-f]{40}(?!\w)", needs=("0x",), spell=str.lower),
)
