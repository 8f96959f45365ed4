"""Telephone numbers: nominated by a plus, a known grouping or a label, decided by numbering plans.

The context of digits is better evidence than their count: plans allow almost any grouping, so without a country a plan
rejects little. With a country it also recognises numbers that have no cue around them.

The plans are libphonenumber's metadata, by `phonenumberslite`. The library is imported for the first number, and its
plan of a country read at the first question about that country.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from mnemic.redact.context_cues import TELEPHONY, After, another, calls_abroad, telephony_calling, telephony_near
from mnemic.redact.languages import ARE, AT, CALLS, OTHER_NUMBERS, TELEPHONES
from mnemic.redact.multilingual import expression_of_words
from mnemic.redact.search_primitives import AnyCase, Folded, digits, drawn, found, is_numbered, pattern
from mnemic.redact.types import Found, InvalidRules

TRIED = ("US", "GB", "DE", "FR", "IN", "BR", "IL", "CA")
"""Countries tried for a number without a country code if policy names none: those of Presidio's telephone recogniser,
the likeliest first.
"""
MAX_PARSED = 48
"""Maximum numbers that the library parses in one text. Each takes some 35 microseconds, which would dominate the cost
of a text of numbers alone.
"""
_DIGITS = re.compile(r"\d+")


@cache
def _library() -> ModuleType:
    # Not at the top: it is 50 modules, and most texts hold no number.
    return import_module("phonenumbers")


class Plans:
    """The plans of `regions` (ISO 3166), and for numbers with a country code those of every country.

    Raises InvalidRules (`redaction.regions`) for a region without a plan.
    """

    def __init__(self, regions: Sequence[str] = ()) -> None:
        self.named = tuple(regions)
        if regions and not _library().SUPPORTED_REGIONS.issuperset(regions):
            raise InvalidRules("redaction.regions", hint="countries by their two letters (ISO 3166): DE, US, ...")

    def for_text(self) -> Asked:
        """Return the object that answers for one text."""
        return Asked(self.named)


class Asked:
    """Answers for one text, each computed once; beyond the limit every candidate counts as a number."""

    def __init__(self, named: Sequence[str]) -> None:
        self._named = named
        self._regions = named or TRIED
        self._left = MAX_PARSED
        self._answers: dict[str, str] = {}

    def spell_digits(self, number: str) -> str:
        """Return the digits of `number`, which may be written in groups and have an extension; "" if no plan has
        numbers of this length: with a plus or 00 that of the country whose code follows, else one of the regions.
        """
        answer = self._answers.get(number)
        if answer is None:
            answer = self._answers[number] = digits(number) if self._possible(number) else ""
        return answer

    def _possible(self, number: str) -> bool:
        plain = ("+" if number.startswith("+") else "") + digits(number.partition("x")[0].partition("e")[0])
        if plain.startswith("+"):
            return self._is_possible(plain, None)
        if plain.startswith("00") and self._is_possible(f"+{plain[2:]}", None):
            return True
        return any(self._is_possible(plain, region) for region in self._regions)

    def _is_possible(self, plain: str, region: str | None) -> bool:
        if not self._left:
            return True
        self._left -= 1
        library = _library()
        try:
            return bool(library.is_possible_number(library.parse(plain, region)))
        except library.NumberParseException:
            return False

    def valid(self, doubtful: Sequence[Found]) -> Iterator[Found]:
        """Numbers assigned in a region that policy names, and grouped as in that region. None of the regions tried by
        default: too many digits are grouped like a number of some region.

        None if there are more than the limit: an answer that depended on the number of earlier questions would change
        when the text is redacted again.
        """
        different = {found.value for found in doubtful}
        if len(different) * len(self._named) > MAX_PARSED:
            return
        known = {value for value in different if any(_is_valid(value, region) for region in self._named)}
        for start, end, value in doubtful:
            if value in known:
                yield Found(start, end, value)


def _is_valid(number: str, region: str) -> bool:
    library = _library()
    groups = _DIGITS.findall(number)
    try:
        parsed = library.parse("".join(groups), region)
    except library.NumberParseException:
        return False
    if not (library.is_possible_number(parsed) and library.is_valid_number(parsed)):
        return False
    form = library.PhoneNumberFormat
    national, international = (
        _DIGITS.findall(library.format_number(parsed, one)) for one in (form.NATIONAL, form.INTERNATIONAL)
    )
    return groups in (national, international[1:])


# A date has up to eight digits in three groups, as a telephone number may: 2019-12-31, 31.12.2019, with text after it.
# 2999 and 9999 are years that programs use for "no end".
_DATE = Folded(
    r"(?:(?:19|20)\d\d|2999|9999)([-/. ])[01]?\d\1[0-3]?\d(?:[^\d./\-].*)?"
    r"|[0-3]?\d([-/.])[0-3]?\d\2(?:19|20)?\d\d(?:[^\d./\-].*)?"
)
_BY_WORD = (
    expression_of_words([*TELEPHONY, f"tele(?:{'|'.join(TELEPHONY)})"]) + r"(?:phone)?"
    r"(?: (?:me|us|him|her|them))?(?: ?(?:at|on|is|no\.?|number|num|#|:|=)){0,4}\.?:?\s{0,3}"
)
_BY_WORD_ABROAD = (
    rf"(?:{TELEPHONES.expression}|{CALLS.expression})\.?"
    rf"(?: ?(?:{ARE}|{AT}|:|=|#|n[º°o]\.?|-)(?![^\W\d_])){{0,3}}\s{{0,3}}"
)
_EXTENSION = r"(?: ?(?:x|ext\.?) ?\d{1,6})?"
_NAMES = (
    "order", "invoice", "account", "card", "ticket", "tracking", "case", "reference", "confirmation", "booking",
    "policy", "licence", "license", "passport", "id", "item", "part", "claim", "bug", "issue", "commit", "port", "pid",
    "step", "line", "row", "timestamp", "at time", "iban", "function", "method", "parcel", "batch", "contract",
    "customer", "job", "build", "quote", "reservation", "recipe", "room", "model", "version", "reading", "reads",
    "shows", "population is", "coordinates are", "meter", "lottery numbers", "isbn", "serial", "sold", "file is",
    "flight",
)  # fmt: skip
_LABEL = AnyCase(
    rf"(?:(?<![^\W_])(?:{'|'.join(one for one in _NAMES if one != 'line')})"
    rf"|(?:{OTHER_NUMBERS.expression})[^\W\d_]{{0,12}})"
    r"(?:[ ](?:number|no\.?|nr\.?|nummer|is|was|ending(?: in)?|ist|est|es|è|é)){0,3}[ #:=]{0,3}\Z"
)
"""Matches the words right before a number that label it as something else: "order", "Rechnung Nr."."""
# Nine to twelve digits in one piece, not within a word, path, decimal or marker. U+FDD0 masks the finds of another
# detector.
_PIECE = Folded(r"\d(?<![\w+.\-/#\ufdd0]\d)\d{8,11}(?![\w\-/\ufdd0]|[.,]\d)")
_HAND = (
    r"(?:my|his|her|our|your|their) (?:new |home |work |office )?number"
    r"(?: ?(?:is|was|to|:|=)){0,2} {0,2}"
    r"(\+?\(?\d(?:[ ().\-/]{0,2}\d){6,14}" + _EXTENSION + r")(?!\d)"
)
_YEAR = Folded(r"(?:1[89]|20)\d\d")
_GROUP = Folded(r"\d+")
_SEPARATED = Folded(r"[ .\-/]+")
_NOT_ZERO = Folded(r"[1-9]")
_PLUS = Folded(r"\+(?<![\w+]\+)(?:1(?:[ ().\-/]{0,3}\d){10}|[2-9](?:[ ().\-/]{0,3}\d){7,14})" + _EXTENSION + r"(?!\d)")
_UNIT = Folded(
    r"(?i) ?(?:[€$£¥%]|(?=[edupybkmrt])(?:euros?|dollars?|eur|usd|pounds?|yen|people|bytes|km|miles|rows|users|times"
    r"|years|units|kwh|pieces)\b)"
)
_LINE_END = Folded(r"[ \t.]{0,8}(?:\n|$)")
_NEAR = 48
_START = r"(?<![\w+].)(?<![\d\ufdd0][.\-].)"
"""Tests, after the first character of a number, that it is not part of another number. An expression that begins with a
class of characters is searched several times as fast as one that begins with a lookbehind.
"""
_GROUPED = Folded(
    rf"[(\d]{_START}(?<!\d[ /].)(?:(?<!\()|\d(?<=\(\d))\d{{0,4}}\)?(?:[ .\-/]{{1,2}}\d{{2,7}}){{1,5}}" + _EXTENSION
    + r"(?!\w|[.\-/][\d\ufdd0])"
)  # fmt: skip


def _is_date(number: str) -> bool:
    return _NOT_ZERO.search(number) is None or _DATE.fullmatch(number) is not None


def _no_date(number: str) -> bool:
    return not _is_date(number)


def _trunk(number: str) -> bool:
    # 15 digits is the maximum of E.164; 00 is the international prefix of most countries. A national number has up to
    # 12 with its trunk zero.
    longest = 15 if number.startswith("00") else 12
    return 9 <= len(digits(number)) <= longest and _no_date(number)


class _Written(NamedTuple):
    """Evidence in the digits and separators of a number alone.

    `typical`: grouped as only telephone numbers are. `thousands`: grouped like a large amount, too. `pair`: two groups
    and nothing else. `unlike`: not grouped like years, counts or US social security numbers.
    """

    typical: bool
    thousands: bool
    pair: bool
    unlike: bool


def _read_evidence(whole: str) -> _Written | None:
    """Return the evidence; None if the number is too short or long for a telephone, or is a date."""
    number = whole
    if not whole[-1].isdigit() or "x" in whole or "e" in whole:
        number = whole.partition("x")[0].partition("e")[0].rstrip()
    # E.164 allows 15 digits; fewer than 7 are extensions and short codes.
    count = len(digits(number))
    if not 7 <= count <= 15 or "000" in whole or _is_date(whole):
        return None
    groups = _GROUP.findall(number)
    separators = set(_SEPARATED.findall(number))
    lengths = [*map(len, groups)]
    thousands = separators <= {" ", "."} and all(length == 3 for length in lengths[1:]) and groups[0][0] != "0"
    years = all(_YEAR.fullmatch(group) for group in groups)
    return _Written(
        typical=count <= 12 and not years and _typical(groups, lengths, separators, thousands=thousands),
        thousands=thousands,
        pair=len(groups) == 2 and number == whole,
        unlike=not (years or lengths == [3, 2, 4] or "/" in whole or len(separators) > 1 or _row(groups, least=3)),
    )


def _typical(groups: list[str], lengths: list[int], separators: set[str], *, thousands: bool) -> bool:
    """Return True for three groups or more with one kind of separator, one of at least three digits, or for four or
    five pairs with hyphens; not for IP addresses, rows of sizes and amounts.
    """
    # 3-2-4 is the grouping of US social security numbers, which another detector reports under their name.
    if len(groups) < 3 or lengths[0] < 2 or sum(lengths) < 8 or lengths == [3, 2, 4]:
        return False
    if max(lengths) < 3:
        return len(groups) in (4, 5) and separators == {"-"} and not _row(groups)
    if len(separators) > 1 or (separators == {"."} and len(groups) == 4):
        return False
    return not (thousands and lengths[0] < 3)


def _row(groups: list[str], *, least: int = 1) -> bool:
    """Return True if the groups, `least` or more, rise or fall as counts, sizes and drawn numbers do: "10 20 30 40"."""
    return len(groups) >= least and sorted(groups) in (groups, groups[::-1])


Nominated = dict[tuple[int, int], str]
"""Numbers by their spans."""


def _international(text: str, asked: Asked) -> Iterator[Found]:
    """Numbers with a plus."""
    if "+" not in text:
        return
    announced_near = telephony_near(text)
    for match in _PLUS.finditer(text):
        start, end = match.span()
        number = match.group()
        if announced_near.ever and announced_near(start):
            yield found((start, end, digits(number)))
        elif spelling := asked.spell_digits(number):
            yield found((start, end, spelling))


def _nominate_groups(text: str, nominated: Nominated, doubtful: list[Found] | None) -> None:
    """Add to `nominated` the groups of digits that follow a word of telephony, are a whole line, or are grouped as only
    telephone numbers are.

    `doubtful` takes those with no evidence for or against.
    """
    other, announced_near = another(text), telephony_near(text)
    announced_after, unit = After(text), _UNIT.compiled.match
    seen: dict[str, _Written | None] = {}
    for match in _GROUPED.finditer(text):
        span = match.span()
        if span in nominated:
            continue
        whole = match.group()
        if whole not in seen:
            seen[whole] = _read_evidence(whole)
        written = seen[whole]
        if written is None:
            continue
        start, end = span
        named = (other.ever and other(start)) or _is_labelled(text, start)
        likely = written.typical and not unit(text, end)
        announced = not named and (
            likely or (announced_near.ever and announced_near(start)) or (announced_after.ever and announced_after(end))
        )
        if announced or (written.pair and _stands_alone(match)):
            nominated[span] = whole
        elif doubtful is not None and written.unlike and not named and not unit(text, end):
            doubtful.append(Found(start, end, whole))


def _is_labelled(text: str, start: int) -> bool:
    """Return True if the words right before `start` label the number there as something else than a telephone's, and
    none near it speaks of telephones.
    """
    before = text[max(0, start - _NEAR) : start]
    label = next(iter(_LABEL.finditer(before)), None)
    return label is not None and not telephony_near(before[: label.start()])(label.start())


def _stands_alone(match: re.Match[str]) -> bool:
    """Return True if the match is a whole line."""
    text, (start, end) = match.string, match.span()
    if text[end : end + 1] not in _BEFORE_END or _LINE_END.compiled.match(text, end) is None:
        return False
    if not start or text[start - 1] == "\n":
        return True
    before = text[max(text.rfind("\n", 0, start) + 1, start - _NEAR) : start]
    return not before.strip()


_BEFORE_END = frozenset(["", "\n", " ", "\t", "."])


def _no_years(number: str) -> bool:
    """Return True if the groups after the parenthesis are more than two years ("(12) 2019-2020")."""
    behind = _GROUP.findall(number.partition(")")[2])
    return not all(_YEAR.fullmatch(group) for group in behind)


def _bare(text: str, nominated: Nominated) -> None:
    """Add to `nominated` unseparated digits after a word of telephony, except those labelled as something else."""
    if not _long(text):
        return
    announced_after = After(text)
    announced_before, other = telephony_calling(text), another(text)
    if not (announced_before.ever or announced_after.ever):
        return
    for match in _PIECE.finditer(text):
        span = start, end = match.span()
        if (
            span not in nominated
            and (announced_before(start) or announced_after(end))
            and not _is_labelled_otherwise(text, start)
            and not other(start)
            and not _UNIT.match(text, end)
        ):
            nominated[span] = match.group()


_long = drawn(b"0" * 9)


def _is_labelled_otherwise(text: str, start: int) -> bool:
    """Return True if the preceding words label the number as something else: "order #12", "id: 12"."""
    end = start - text.startswith("\n", start - 1) if start else 0
    for _ in range(3):
        end -= text[end - 1 : end] in _BEFORE_NUMBER
    return text[end - 2 : end].lower() in _NAME_ENDS and text[max(0, end - _NEAR) : end].lower().endswith(_NAMES)


_BEFORE_NUMBER = frozenset(" #:=")
_NAME_ENDS = frozenset(name[-2:] for name in _NAMES)


_SHAPES = (
    pattern(
        rf"[(\d]{_START}(?:(?<=\()[2-9]\d\d\) ?|(?<=[2-9])\d\d[ .\-]"
        r"|(?:(?<=0)01|(?<=1))[ .\-](?:\([2-9]\d\d\) ?|[2-9]\d\d[ .\-]))"
        r"\d{3}[ .\-]\d{4}" + _EXTENSION + r"(?!\w|[.\-][\d\ufdd0])",
        needs=drawn(b"000 000 0000", b"000) 000 0000", b"000)000 0000"),
    ),
    pattern(
        rf"[(0]{_START}(?<!\d .)(?<!\ufdd0 .)(?:(?<=0)\d{{1,4}}|(?<=\()0\d{{1,4}}\))"
        r"[ .\-/]\d{2,4}(?:[ .\-]?\d{2,4}){1,4}(?!\w|[.\-][\d\ufdd0])",
        needs=("0",),
        fits=_trunk,
    ),
    pattern(
        rf"[178(]{_START}(?:(?<=\()|(?<=[178])[ \-]?\()\d{{2,4}}\) ?\d{{3,5}}(?:[ .\-]\d{{2,4}}){{1,2}}"
        + _EXTENSION
        + r"(?!\w|[.\-/][\d\ufdd0])",
        needs=drawn(b"00)000", b"00) 000"),
        fits=lambda number: 8 <= len(digits(number)) <= 14 and _no_years(number),
    ),
    pattern(
        rf"\({_START}(?:0\d{{1,4}}\) ?|\d{{2,4}}\))\d{{6,9}}(?!\w|[.\-/][\d\ufdd0])",
        needs=drawn(b"0)000000", b"0) 000000"),
        fits=lambda number: 9 <= len(digits(number)) <= 13,
    ),
    pattern(
        rf"[78]{_START}([ \-])\d{{3}}\1\d{{3}}([ \-])\d\d\2\d\d(?!\w|[.\-/][\d\ufdd0])",
        needs=drawn(b"0 000 000 00 00"),
    ),
    pattern(
        AnyCase(_BY_WORD + r"(\+?\(?\d(?:[ ().\-/]{0,2}\d){6,14}" + _EXTENSION + r")(?!\d)"),
        needs=TELEPHONY,
        fits=_no_date,
        group=1,
    ),
    pattern(
        AnyCase(_BY_WORD_ABROAD + r"(\+?\(?\d(?:[ ().\-/]{0,2}\d){6,14}" + _EXTENSION + r")(?!\d)"),
        needs=calls_abroad,
        fits=_no_date,
        group=1,
    ),
    pattern(AnyCase(_HAND), needs=("number",), fits=_no_date, group=1),
)


_LABELLED_FROM = 5
"""Place of the first shape that has a word of telephony before it."""


class Phones:
    """Telephone numbers, spelled by their digits: nominated by their context, decided by the plans of `regions` (if
    empty, those of `TRIED`). A number with a plus that no plan knows needs a label.

    Raises InvalidConfig (`invalid_config:redaction.regions`).
    """

    def __init__(self, regions: Sequence[str] = ()) -> None:
        self._plans = Plans(regions)

    def __call__(self, text: str) -> Iterator[Found]:
        """Yield every telephone number of `text`."""
        if not is_numbered(text):
            return
        asked = self._plans.for_text()
        doubtful: list[Found] | None = [] if self._plans.named else None
        nominated = {
            (start, end): value
            for place, search in enumerate(_SHAPES)
            for start, end, value in search(text)
            if place >= _LABELLED_FROM or not _is_labelled(text, start)
        }
        _nominate_groups(text, nominated, doubtful)
        _bare(text, nominated)
        for (start, end), value in nominated.items():
            if spelling := asked.spell_digits(value):
                yield found((start, end, spelling))
        yield from _international(text, asked)
        for start, end, value in asked.valid(doubtful or ()):
            yield found((start, end, digits(value)))
