"""Detectors, as one table, of personal data and secrets, which may not be stored as they are.

Every search is linear in the text: quantifiers are bounded, or possessive. What a pattern finds is validated where a
rule exists: Luhn for cards (ISO/IEC 7812-1), mod 97 for IBANs (ISO 13616), area rules for US social security numbers,
what each state says of the numbers of its people.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from mnemic_redact.character_mask import drawn
from mnemic_redact.pii_kinds import documents, national_ids, stdnum_ids
from mnemic_redact.pii_kinds.credentials import secrets
from mnemic_redact.pii_kinds.iban import ibans
from mnemic_redact.pii_kinds.network import imeis, ips, macs
from mnemic_redact.pii_kinds.optional import OPTIONAL
from mnemic_redact.pii_kinds.payment_cards import cards
from mnemic_redact.pii_kinds.phones import Phones
from mnemic_redact.search import AnyCase, Finder, digits, found, holds, numbered, pattern
from mnemic_redact.types import Detector, Found

# -- e-mail ----------------------------------------------------------------------------------------

_LOCAL_CHARS = 64
_local = re.compile(r"[\w.%+\-'’&]*[\w%+]").match
"""The part before an @, read backwards from there; it does not begin with a full stop, hyphen or quote."""
_DOMAIN = re.compile(r"@(?:[^\W_](?:[^\W_]|-){0,62}\.){1,8}(?:xn--[A-Za-z0-9\-]{1,59}|[^\W\d_]{2,24})")
_HIDDEN = AnyCase(
    r" ?[(\[{<] ?at ?[)\]}>] ?(?P<host>[^\W_](?:[^\W_]|-){0,62}"
    r"(?: ?(?:\.|[(\[{<] ?(?:dot|\.) ?[)\]}>]) ?[^\W_](?:[^\W_]|-){0,62}){1,4})"
)
_OPENING = tuple(f"{bracket}{gap}at" for bracket in "([{<" for gap in ("", " "))
_HIDDEN_DOT = re.compile(r"(?i) ?(?:\.|[(\[{<] ?(?:dot|\.) ?[)\]}>]) ?")


_ENDS = (
    "com|org|net|edu|gov|info|io|dev|app|ai|co|uk|us|ca|au|nz|in|za|br|mx|ar|cl|de|at|ch|fr|be|nl|es|pt|it|ie|dk|se|no|fi"
    "|pl|cz|hu|ro|gr|ua|eu|jp|kr|cn|sg"
)
_SPELLED = AnyCase(
    r"(?<![\w.+\-])(?P<local>[\w+\-][\w.+\-]{0,63}(?: dot [\w+\-]{1,32}){0,2}) at "
    rf"(?P<host>[^\W_](?:[^\W_]|-){{0,62}}(?: dot [^\W_](?:[^\W_]|-){{0,62}}){{0,3}} dot (?:{_ENDS}))(?![^\W_])"
)
_NO_NAMES = frozenset(
    "a again am an and are available be been find found here hosted i is it live look me meet not online or page read"
    " readable see shop site store that the them there they up us was we website were work works you".split()
)
"""Words before "at" that say where something is, and are no name of a mailbox."""


def spelled_emails(text: str) -> Iterator[Found]:
    """Addresses written "jane at acme dot com"."""
    if not holds(text, (" dot ",)):
        return
    for match in _SPELLED.finditer(text):
        if match["local"] not in _NO_NAMES:
            plain = f"{match['local']}@{match['host']}".replace(" dot ", ".")
            yield Found(match.start(), match.end(), plain.casefold())


def emails(text: str) -> Iterator[Found]:
    """Addresses, found from their @ outwards: each character is looked at once from either side."""
    if "@" not in text:
        return
    backwards = text[::-1]
    for match in _DOMAIN.finditer(text):
        at, end = match.span()
        start = _local_start(text, backwards, at)
        if start < at:
            yield found((start, end, text[start:end].casefold()))


def hidden_emails(text: str) -> Iterator[Found]:
    """Addresses written "jane (at) acme (dot) com"."""
    if not holds(text, _OPENING):
        return
    backwards = text[::-1]
    for match in _HIDDEN.finditer(text):
        start = _local_start(text, backwards, match.start())
        if start < match.start():
            plain = _HIDDEN_DOT.sub(".", match.group("host"))
            yield Found(start, match.end(), f"{text[start : match.start()]}@{plain}".casefold())


def _local_start(text: str, backwards: str, at: int) -> int:
    if at and text[at - 1] == '"':
        opening = text.rfind('"', max(0, at - _LOCAL_CHARS), at - 1)
        return opening if opening != -1 else at
    length = len(text)
    before = _local(backwards, length - at, length - at + _LOCAL_CHARS)
    return length - before.end() if before else at


# -- US social security number: areas 000, 666 and 900 to 999, group 00 and serial 0000 are not issued

_SSN = r"(?!000|666|9)\d{3}%s(?!00)\d\d%s(?!0000)\d{4}"
_ssns = (
    pattern(
        r"[0-8](?<![\w.\-].)(?:(?<!0)|(?!00))(?:(?<!6)|(?!66))\d\d([ .\-])(?!00)\d\d\1(?!0000)\d{4}"
        r"(?!\w|[.\-][\d\ufdd0])",
        needs=drawn(b"000 00 0000"),
        spell=digits,
    ),
    pattern(
        AnyCase(
            r"(?:ssn|social security)(?: number| no\.?|#)?(?: is|:|=| -)? {0,2}("
            + _SSN % (r"[ .\-]?", r"[ .\-]?")
            + r")(?!\d)"
        ),
        needs=("ssn", "social security"),
        spell=digits,
        group=1,
    ),
)


def _iban(text: str) -> Iterator[Found]:
    return map(found, ibans(text))


_NATIONAL_IDS = (
    numbered((*national_ids.numbers, *stdnum_ids.formed, stdnum_ids.named)),
    *national_ids.lettered,
    *documents.medicare,
)


def detectors(regions: Sequence[str] = (), optional: Collection[str] = ()) -> tuple[Detector, ...]:
    """Return the table; telephone numbers without a country code are those of `regions`, and `optional` names the kinds
    of `OPTIONAL` to look for too. Where two matches of one length compete, the earlier line wins.

    Raises InvalidRules (`redaction.regions`).
    """
    return (
        Finder("SECRET", secrets),
        Finder("IBAN", (_iban,)),
        Finder("IMEI", imeis),
        Finder("CARD", cards),
        Finder("SSN", (numbered(_ssns),)),
        Finder("NATIONAL_ID", _NATIONAL_IDS),
        Finder("PASSPORT", documents.passports),
        Finder("DRIVING_LICENCE", documents.licences),
        Finder("BANK_ACCOUNT", documents.accounts),
        Finder("VIN", documents.vehicles),
        Finder("WALLET", documents.wallets),
        Finder("EMAIL", (emails, hidden_emails, spelled_emails)),
        Finder("PHONE", (Phones(regions),)),
        Finder("MAC", macs),
        Finder("IP", ips),
        *(OPTIONAL[kind] for kind in sorted(optional)),
    )


DETECTORS = detectors()
