"""What may not be stored as it stands: detectors of personal data and secrets, as one table.

Every search is linear in the text: quantifiers are bounded, or possessive. What a pattern finds is validated where a
rule exists: Luhn for cards (ISO/IEC 7812-1), mod 97 for IBANs (ISO 13616), area rules for US social security numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from mnemic.write.iban import ibans


class Found(NamedTuple):
    """A stretch of text and the spelling by which two of them are the same thing."""

    start: int
    end: int
    value: str


class Detector(Protocol):
    """Finds one kind of thing."""

    @property
    def entity(self) -> str:
        """What it finds, in capitals: the name in markers, settings and reports."""

    def find(self, text: str) -> Iterable[Found]:
        """Everything of this kind in `text`, which is NFKC-folded; validated; in time linear in its length."""


@dataclass(frozen=True, slots=True)
class Finder:
    """A detector made of functions."""

    entity: str
    searches: tuple[Callable[[str], Iterable[Found]], ...]

    def find(self, text: str) -> Iterable[Found]:
        """What any of the searches finds."""
        for search in self.searches:
            yield from search(text)


def _pattern(
    expression: str,
    *,
    needs: tuple[str, ...] = (),
    accept: Callable[[re.Match[str]], bool] | None = None,
    group: int = 0,
) -> Callable[[str], Iterator[Found]]:
    """A search by one expression. `needs`: lower-case texts of which every match holds one; looking for them first is
    what keeps a long text without them cheap.
    """
    compiled = re.compile(expression)

    def search(text: str) -> Iterator[Found]:
        if needs and not _holds(text, needs):
            return
        for match in compiled.finditer(text):
            if accept is None or accept(match):
                yield Found(match.start(group), match.end(group), match.group(group))

    return search


def _holds(text: str, words: tuple[str, ...]) -> bool:
    lower = text.lower()
    return any(word in lower for word in words)


# -- e-mail ----------------------------------------------------------------------------------------

_LOCAL_MARKS = frozenset("._%+-'’&")
_LOCAL_CHARS = 64
_DOMAIN = re.compile(r"@(?:[^\W_](?:[^\W_]|-){0,62}\.){1,8}(?:xn--[A-Za-z0-9\-]{1,59}|[^\W\d_]{2,24})")


def emails(text: str) -> Iterator[Found]:
    """Addresses, found from their @ outwards: each character is looked at once from either side."""
    for match in _DOMAIN.finditer(text):
        at, end = match.span()
        start = _local_start(text, at)
        if start < at:
            yield Found(start, end, text[start:end].casefold())


def _local_start(text: str, at: int) -> int:
    if at and text[at - 1] == '"':
        opening = text.rfind('"', max(0, at - _LOCAL_CHARS), at - 1)
        return opening if opening != -1 else at
    start, floor = at, max(0, at - _LOCAL_CHARS)
    while start > floor and (text[start - 1].isalnum() or text[start - 1] in _LOCAL_MARKS):
        start -= 1
    while start < at and text[start] in ".-'’&":
        start += 1
    return start


# -- telephone, conservative: a plus, a known grouping, or a word that says so ---------------------

_DATE = re.compile(
    r"(?:19|20)\d\d([-/. ])[01]?\d\1[0-3]?\d(?:[^\d./\-].*)?|[0-3]?\d([-/.])[0-3]?\d\2(?:19|20)?\d\d(?:[^\d./\-].*)?"
)
_PHONE_WORDS = ("phone", "cell", "mobile", "tel", "whatsapp", "fax", "sms", "dial", "call", "text", "ring", "reach")
_BY_WORD = (
    rf"(?i)(?<![^\W_])(?:tele)?(?:{'|'.join(_PHONE_WORDS)})(?:phone)?"
    r"(?: (?:me|us|him|her|them))?(?: ?(?:at|on|is|no\.?|number|num|#|:|=)){0,4} {0,2}"
)
_NUMBERED = re.compile(r"\d(?:[ ().\-/]{0,3}\d){6}")


def _no_date(match: re.Match[str]) -> bool:
    return _DATE.fullmatch(match.group(match.lastindex or 0)) is None


def _trunk(match: re.Match[str]) -> bool:
    longest = 15 if match.group().startswith("00") else 12
    return 9 <= sum(map(str.isdigit, match.group())) <= longest and _no_date(match)


_phones = (
    _pattern(r"(?<![\w+])\+(?:1(?:[ ().\-/]{0,3}\d){10}|[2-9](?:[ ().\-/]{0,3}\d){7,14})(?!\d)", needs=("+",)),
    _pattern(
        r"(?<![\w+])(?<![\d\ufdd0][.\-])(?:1[ .\-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .\-])\d{3}[ .\-]\d{4}"
        r"(?: ?(?:x|ext\.?) ?\d{1,6})?(?!\w|[.\-][\d\ufdd0])"
    ),
    _pattern(
        r"(?<![\w+])(?<![\d\ufdd0][.\- ])0\d{1,4}[ .\-/]\d{2,4}(?:[ .\-]?\d{2,4}){1,4}(?!\w|[.\-][\d\ufdd0])",
        accept=_trunk,
    ),
    _pattern(_BY_WORD + r"(\+?\(?\d(?:[ ().\-/]{0,2}\d){6,14})(?!\d)", needs=_PHONE_WORDS, accept=_no_date, group=1),
)


def _numbered(searches: Iterable[Callable[[str], Iterable[Found]]]) -> Callable[[str], Iterator[Found]]:
    """The searches, in texts that hold a number of seven digits at all."""

    def search(text: str) -> Iterator[Found]:
        if _NUMBERED.search(text):
            for one in searches:
                yield from one(text)

    return search


# -- US social security number: areas 000, 666 and 900 to 999, group 00 and serial 0000 are not issued

_SSN = r"(?!000|666|9)\d{3}%s(?!00)\d\d%s(?!0000)\d{4}"
_ssns = (
    _pattern(r"(?<![\w.\-])" + _SSN % (r"([ .\-])", r"\1") + r"(?!\w|[.\-][\d\ufdd0])"),
    _pattern(
        r"(?i)(?:ssn|social security)(?: number| no\.?|#)?(?: is|:|=| -)? {0,2}("
        + _SSN % (r"[ .\-]?", r"[ .\-]?")
        + r")(?!\d)",
        needs=("ssn", "social security"),
        group=1,
    ),
)


# -- payment card ----------------------------------------------------------------------------------

_NUMBER_RUN = re.compile(r"(?<!\d)(?:\d{12,19}(?!\d)|\d{3,6}+(?!\d)(?:[ .\-]{1,2}+\d{3,6}+(?!\d))++)")
_GROUP = re.compile(r"\d+")
_CARD = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35\d{14}|(?:1800|2131)\d{11}"
    r"|5[1-5]\d{14}|2[2-7]\d{14}|(?:5[06-9]|6\d)\d{10,17}"
)
_ISSUER = re.compile(r"4|3[04-9]|1800|2131|2[2-7]|5|6")
_ISSUER_LENGTHS = {
    "1": (15,), "2": (15, 16), "3": (14, 15, 16), "4": (13, 16, 19), "5": range(12, 20), "6": range(12, 20)
}  # fmt: skip
_SEPARATORS = str.maketrans("", "", " .-")
_DOUBLED = bytes.maketrans(b"0123456789", bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9)))
_SINGLE = bytes.maketrans(b"0123456789", bytes(range(10)))


def luhn(digits: str) -> bool:
    """Whether the check digit holds (ISO/IEC 7812-1, annex B)."""
    raw = digits.encode()
    return (sum(raw[::-2].translate(_SINGLE)) + sum(raw[-2::-2].translate(_DOUBLED))) % 10 == 0


def cards(text: str) -> Iterator[Found]:
    """Card numbers of the known issuers, written in one piece or in groups of three to six digits."""
    for run in _NUMBER_RUN.finditer(text):
        groups = [group.span() for group in _GROUP.finditer(text, run.start(), run.end())]
        # A letter at either end makes the number part of a longer name.
        first = 1 if run.start() and text[run.start() - 1].isalnum() else 0
        last = len(groups) - (1 if run.end() < len(text) and text[run.end()].isalnum() else 0)
        while first < last:
            found, width = None, 1
            if _ISSUER.match(text, groups[first][0]):
                found, width = _card_at(text, groups[first : min(first + 6, last)])
            if found is not None:
                yield found
            first += width


def _card_at(text: str, groups: Sequence[tuple[int, int]]) -> tuple[Found | None, int]:
    """The longest card that begins with the first of `groups`, and how many groups to move on."""
    begin = groups[0][0]
    lengths = _ISSUER_LENGTHS[text[begin]]
    length, best, width = 0, None, 1
    for at, (start, end) in enumerate(groups):
        length += end - start
        if length > 19:
            break
        if length in lengths:
            digits = text[begin:end].translate(_SEPARATORS)
            if luhn(digits) and _CARD.fullmatch(digits):
                best, width = Found(begin, end, digits), at + 1
    return best, width


# -- network address -------------------------------------------------------------------------------

_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_VERSION = re.compile(r"(?i)(?:\bv(?:er(?:sion)?)?|release|build|section|chapter)$")
_NOBODY = ("127.", "0.", "255.255.255.")


def _somebody(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 12) : match.start()].rstrip(" .:")
    return not match.group().startswith(_NOBODY) and not (before[-1:].isalpha() and _VERSION.search(before))


_LONG_GROUP = re.compile(r"[^:]{5}|:::")
_ANY_DIGIT = re.compile(r"\d")


def _ipv6(match: re.Match[str]) -> bool:
    address = match.group()
    colons, gaps = address.count(":"), address.count("::")
    if _LONG_GROUP.search(address) or gaps > 1 or not _ANY_DIGIT.search(address):
        return False
    groups = colons - (address.startswith("::") + address.endswith("::"))
    return 3 <= groups <= 7 if gaps else colons == 7


_ips = (
    _pattern(rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?!\w|\.\d)", needs=(".",), accept=_somebody),
    _pattern(r"(?<![\w:.])(?=[^:]{0,4}:)[0-9A-Fa-f:]{5,39}+(?<!(?<!:):)(?![\w:])", needs=(":",), accept=_ipv6),
)


# -- secrets ---------------------------------------------------------------------------------------

_KNOWN_SHAPE = (
    r"(?<![A-Za-z0-9_])(?:"
    r"A(?:KIA|SIA|GPA|IDA|ROA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|AIza[\w\-]{35}"
    r"|sk-[\w\-]{16,200}"
    r"|[spr]k_(?:live|test)_[A-Za-z0-9]{10,200}"
    r"|gh[pousr]_[A-Za-z0-9]{20,255}"
    r"|github_pat_\w{22,255}"
    r"|gl(?:pat|rt|dt)-[\w\-]{16,200}"
    r"|xox[abeoprs]-[\w\-]{10,250}"
    r"|(?:npm|hf)_[A-Za-z0-9]{20,100}"
    r"|SG\.[\w\-]{16,64}\.[\w\-]{16,64}"
    r"|ya29\.[\w\-]{20,400}"
    r"|eyJ[\w\-]{6,4000}\.[\w\-]{6,4000}(?:\.[\w\-]{0,1000})?"
    r")"
)
_SHAPE_STARTS = tuple("ak as ag ai ar sk pk rk gh gl xox npm_ hf_ sg. ya29. eyj".split())
_PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]*+(?:-(?!----)[^-]*+)*+"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_SECRET_NAME = re.compile(
    r"(?i)(?<![^\W_])(?:pass(?:word|wd|phrase|code)|pwd|secret(?:[_ \-]?(?:access[_ \-]?)?key)?"
    r"|api[_ \-]?(?:key|token|secret)|(?:access|auth|session|refresh|private|encryption)[_ \-]?(?:key|token)"
    r"|client[_ \-]?secret|token|credentials?)"
)
_VALUE = r"[^\s\"',;\ufdd0]"
_ASSIGNED = re.compile(rf"[\"']?[ \t]{{0,3}}(?:=>|:=|[=:])[ \t]{{0,3}}[\"']?({_VALUE}{{4,256}})")
_TOLD = re.compile(rf"[ \t](?:for {_VALUE}{{1,40}}[ \t])?(?:is|was)[ \t]{{1,3}}[\"']?({_VALUE}{{5,256}})")
_CREDENTIALS = re.compile(r"[^\s/@:\ufdd0]{0,64}:([^\s/@\ufdd0]{1,128})@")


def _telling(match: re.Match[str]) -> bool:
    """Prose ("the password is required") is told from a value by a digit or a sign in it."""
    value = match.group(1)
    return any(map(str.isdigit, value)) or any(c in "!@#$%^&*_+=~|" for c in value.rstrip("!"))


def named_secrets(text: str) -> Iterator[Found]:
    """The value in `password=value`, `token: value` and "my password is value"."""
    if not _holds(text, ("pass", "pwd", "secret", "key", "token", "credential")):
        return
    for name in _SECRET_NAME.finditer(text):
        match = _ASSIGNED.match(text, name.end())
        if match is None:
            match = _TOLD.match(text, name.end())
            if match is None or not _telling(match):
                continue
        yield Found(match.start(1), match.end(1), match.group(1))


def url_credentials(text: str) -> Iterator[Found]:
    """The password in `scheme://user:password@host`."""
    at = text.find("://")
    while at != -1:
        match = _CREDENTIALS.match(text, at + 3)
        if match is not None:
            yield Found(match.start(1), match.end(1), match.group(1))
        at = text.find("://", at + 3)


_secrets = (
    _pattern(
        _KNOWN_SHAPE,
        needs=_SHAPE_STARTS,
    ),
    _pattern(_PEM, needs=("private key",)),
    url_credentials,
    named_secrets,
    _pattern(r"(?i)(?<!\w)bearer[ \t]{1,3}([\w.~+/=\-]{16,1024})", needs=("bearer",), group=1),
    _pattern(
        r"(?i)(?<!\w)(?:pin|otp|cvv|cvc|passcode)(?: code| number)?[ \t]{0,2}(?: is|:|=)[ \t]{0,2}(\d{3,8})(?!\w)",
        needs=("pin", "otp", "cv", "passcode"),
        group=1,
    ),
)


def _iban(text: str) -> Iterator[Found]:
    return (Found(*found) for found in ibans(text))


def _spelled(
    spell: Callable[[str], str], *searches: Callable[[str], Iterable[Found]]
) -> tuple[Callable[[str], Iterable[Found]], ...]:
    """The searches, with what they find spelled so that the same thing is always the same value."""

    def respelled(search: Callable[[str], Iterable[Found]]) -> Callable[[str], Iterator[Found]]:
        return lambda text: (found._replace(value=spell(found.value)) for found in search(text))

    return tuple(respelled(search) for search in searches)


def _digits(value: str) -> str:
    return re.sub(r"\D", "", value)


DETECTORS: tuple[Detector, ...] = (
    Finder("SECRET", _secrets),
    Finder("IBAN", (_iban,)),
    Finder("CARD", (cards,)),
    Finder("SSN", _spelled(_digits, _numbered(_ssns))),
    Finder("EMAIL", (emails,)),
    Finder("PHONE", _spelled(_digits, _numbered(_phones))),
    Finder("IP", _spelled(str.casefold, *_ips)),
)
"""The table. Where two matches of one length compete, the earlier line wins."""
