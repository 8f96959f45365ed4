"""Telephone numbers: nominated by a plus, a known grouping or a word that says so, decided by numbering plans.

What stands around digits tells more than their count: plans allow almost any grouping, so that without a country a plan
rejects little. With one it also knows numbers that nothing around them tells of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from mnemic.text.pattern import Pattern
from mnemic.types import Found
from mnemic.write.patterns import AnyCase, digits, holds, is_numbered, pattern
from mnemic.write.plans import Asked, Plans

_DATE = Pattern(
    r"(?:19|20)\d\d([-/. ])[01]?\d\1[0-3]?\d(?:[^\d./\-].*)?|[0-3]?\d([-/.])[0-3]?\d\2(?:19|20)?\d\d(?:[^\d./\-].*)?"
)
_WORDS = (
    "phone", "cell", "mobile", "tel", "whatsapp", "fax", "sms", "dial", "call", "text", "ring", "reach", "landline",
    "hotline", "voicemail", "desk", "handy", "mobil", "telefon", "ph",
)  # fmt: skip
_BY_WORD = (
    rf"(?i)(?<![^\W_])(?:tele)?(?:{'|'.join(_WORDS)})(?:phone)?"
    r"(?: (?:me|us|him|her|them))?(?: ?(?:at|on|is|no\.?|number|num|#|:|=)){0,4}\.?:?\s{0,3}"
)
_EXTENSION = r"(?: ?(?:x|ext\.?) ?\d{1,6})?"
_NEAR_WORDS = AnyCase(
    rf"(?<![^\W_])(?:(?:tele)?(?:{'|'.join(_WORDS)})|answer(?:s|ing|ed)?|messages?|contact(?:ed|ing)?|registered"
    r"|(?:my|his|her|their|your|our|the|this|new|home|work|office|emergency|direct|business|personal|contact|private)"
    r" (?:number|line|no\.?)|numbers?)(?![^\W\d_])"
)
_NEAR_SIGNS = (*_WORDS, "answer", "messag", "contact", "regist", "number", " line", " no")
"""Of which everything that `_NEAR_WORDS` finds holds one."""
_OTHER_NUMBER = AnyCase(
    r"(?:order|invoice|account|card|ticket|tracking|case|reference|confirmation|booking|policy|licen[cs]e|passport"
    r"|room|flight|model|part|item|id|student|member|membership|tax|routing|registration|employee|customer|build|batch"
    r"|lot|claim|patent|security)[ #\-](?:number|no\.?|nr|#)|serial|isbn|version|build|barcode|article|code|key"
)
_CALLED = AnyCase(
    r"(?<![^\W_])(?:tele|cell|mobile ?)?(?:phone|call|dial|reach|ring|whatsapp|sms|fax|mobile|cell|telefon|handy)"
    r"(?:s|ed|ing)?(?![^\W\d_])"
    r"|(?<![^\W_])(?:contact|(?:my|his|her|their|your|our)(?: new| old)? number)(?![^\W\d_])"
)
_TOLD_AFTER = Pattern(
    r"(?i)\.?,? (?:is|was) (?:my|his|her|their|your|our|the)(?: [^\W\d_]{3,12}){0,2}"
    r" (?:number|phone|cell|mobile|fax|line)(?![^\W\d_])"
)
_NAMES = (
    "order", "invoice", "account", "card", "ticket", "tracking", "case", "reference", "confirmation", "booking",
    "policy", "licence", "license", "passport", "id", "item", "part", "claim", "bug", "issue", "commit", "port", "pid",
    "step", "line", "row", "timestamp", "at time", "iban", "function", "method",
)  # fmt: skip
_PIECE = Pattern(r"(?<![\w+.\-/#\ufdd0])\d{9,12}(?![\w\-/\ufdd0]|[.,]\d)")
_OTHER_SIGNS = (
    "number", "no.", "nr", "#", "serial", "isbn", "version", "build", "barcode", "article", "code", "key"
)  # fmt: skip
"""Of which everything that `_OTHER_NUMBER` finds holds one."""
_HAND = (
    r"(?i)(?:(?<=my )|(?<=his )|(?<=her )|(?<=our )|(?<=your )|(?<=their ))(?:new |home |work |office )?number"
    r"(?: ?(?:is|was|to|:|=)){0,2} {0,2}"
    r"(\+?\(?\d(?:[ ().\-/]{0,2}\d){6,14}" + _EXTENSION + r")(?!\d)"
)
_YEAR = Pattern(r"(?:1[89]|20)\d\d")
_GROUP = Pattern(r"\d+")
_SEPARATED = Pattern(r"[ .\-/]+")
_NOT_ZERO = Pattern(r"[1-9]")
_PLUS = Pattern(r"(?<![\w+])\+(?:1(?:[ ().\-/]{0,3}\d){10}|[2-9](?:[ ().\-/]{0,3}\d){7,14})" + _EXTENSION + r"(?!\d)")
_UNIT = Pattern(
    r"(?i) ?(?:[€$£¥%]|(?:euros?|dollars?|eur|usd|pounds?|yen|people|bytes|km|miles|rows|users|times|years)\b)"
)
_LINE_END = Pattern(r"[ \t.]{0,8}(?:\n|$)")
_NEAR = 48
_GROUPED = Pattern(
    r"(?<![\w+])(?<![\d\ufdd0][.\-])(?<!\d[ /])\(?\d{1,5}\)?(?:[ .\-/]{1,2}\d{2,7}){1,5}" + _EXTENSION
    + r"(?!\w|[.\-/][\d\ufdd0])"
)  # fmt: skip


def _no_date(match: re.Match[str]) -> bool:
    number = match.group(match.lastindex or 0)
    return _NOT_ZERO.search(number) is not None and _DATE.fullmatch(number) is None


def _trunk(match: re.Match[str]) -> bool:
    longest = 15 if match.group().startswith("00") else 12
    return 9 <= len(digits(match.group())) <= longest and _no_date(match)


def _typical(match: re.Match[str], number: str, groups: list[str]) -> bool:
    """Whether digits are grouped as only telephone numbers are: three groups and more between separators of one kind,
    one of them of three digits, or four and five pairs with hyphens; no address of a machine, no row of years or
    sizes, no amount.
    """
    if len(groups) < 3:
        return False
    lengths = [*map(len, groups)]
    if lengths[0] < 2 or sum(lengths) < 8 or lengths == [3, 2, 4]:
        return False
    separators = set(_SEPARATED.findall(number))
    if max(lengths) < 3:
        return len(groups) in (4, 5) and separators == {"-"} and not _row(groups)
    if len(separators) > 1 or all(_YEAR.fullmatch(group) for group in groups):
        return False
    if separators == {"."} and len(groups) == 4:
        return False
    thousands = separators <= {" ", "."} and all(length == 3 for length in lengths[1:]) and groups[0][0] != "0"
    return not (thousands and (lengths[0] < 3 or _UNIT.match(match.string, match.end())))


def _row(groups: list[str]) -> bool:
    """Whether the groups rise or fall as counts, sizes and drawn numbers do: "10 20 30 40"."""
    return sorted(groups) in (groups, groups[::-1])


class _Before:
    """Whether one of the words that `words` finds stands shortly before a number, asked from left to right.

    What was looked at is not looked at again: a word that tells what a number is holds no digits, so that it cannot
    reach over the start of one.
    """

    def __init__(self, words: AnyCase, text: str, needs: tuple[str, ...]) -> None:
        self._words, self._text = words.on(text)
        self._never = not holds(text, needs)
        self._last = -1
        self._seen = 0

    def __call__(self, start: int) -> bool:
        if self._never:
            return False
        nearest = max(0, start - _NEAR)
        if self._last < nearest:
            for match in self._words.finditer(self._text, max(nearest, self._seen), start):
                self._last = match.start()
            self._seen = start
        return self._last >= nearest


def _international(text: str, asked: Asked) -> Iterator[Found]:
    """Numbers with a plus."""
    if "+" not in text:
        return
    near = _Before(_NEAR_WORDS, text, _NEAR_SIGNS)
    for match in _PLUS.finditer(text):
        if near(match.start()) or asked.spelled(match.group()):
            yield Found(match.start(), match.end(), match.group())


def _grouped(text: str, doubtful: list[Found]) -> Iterator[Found]:
    """Groups of digits with a word of telephony shortly before them, alone in a line, or grouped as nothing else.

    `doubtful` takes those that nothing speaks for and nothing against.
    """
    other, near = _Before(_OTHER_NUMBER, text, _OTHER_SIGNS), _Before(_NEAR_WORDS, text, _NEAR_SIGNS)
    groups_of, told_after = _GROUP.compiled.findall, _TOLD_AFTER.compiled.match
    for match in _GROUPED.finditer(text):
        start, whole = match.start(), match.group()
        number = whole
        if not whole[-1].isdigit() or "x" in whole or "e" in whole:
            number = whole.partition("x")[0].partition("e")[0].rstrip()
        count = len(digits(number))
        if not 7 <= count <= 15 or "000" in whole:
            continue
        groups = groups_of(number)
        told = near(start) or told_after(text, match.end()) is not None
        named = other(start)
        likely = (told or (count <= 12 and _typical(match, number, groups))) and not named
        if not _no_date(match):
            continue
        if likely or (len(groups) == 2 and number == whole and _alone(match)):
            yield Found(start, match.end(), whole)
        elif not named and _unlike_others(match, groups):
            doubtful.append(Found(start, match.end(), whole))


def _unlike_others(match: re.Match[str], groups: list[str]) -> bool:
    """Whether they are grouped as neither years, counts, amounts nor US social security numbers are."""
    return not (
        [*map(len, groups)] == [3, 2, 4]
        or all(_YEAR.fullmatch(group) for group in groups)
        or (len(groups) > 2 and _row(groups))
        or len(set(_SEPARATED.findall(match.group()))) > 1
        or "/" in match.group()
        or _UNIT.match(match.string, match.end())
    )


def _alone(match: re.Match[str]) -> bool:
    """Whether it is a line by itself."""
    text, start = match.string, match.start()
    if _LINE_END.match(text, match.end()) is None:
        return False
    before = text[max(text.rfind("\n", 0, start) + 1, start - _NEAR) : start]
    return not before.strip()


def _no_years(match: re.Match[str]) -> bool:
    """Whether the groups behind the parenthesis are more than two years ("(12) 2019-2020")."""
    behind = _GROUP.findall(match.group().partition(")")[2])
    return not all(_YEAR.fullmatch(group) for group in behind)


def _bare(text: str) -> Iterator[Found]:
    """Digits in one piece with a word of telephony before them, but for those that something else names."""
    near, other = _Before(_CALLED, text, (*_WORDS, "contact", "number")), _Before(_OTHER_NUMBER, text, _OTHER_SIGNS)
    for match in _PIECE.finditer(text):
        start, end = match.span()
        if (
            (near(start) or _TOLD_AFTER.match(text, end))
            and not _named(text, start)
            and not other(start)
            and not _UNIT.match(text, end)
        ):
            yield Found(start, end, match.group())


def _named(text: str, start: int) -> bool:
    """Whether what stands right before says what the number is: "order #12", "id: 12"."""
    before = text[max(0, start - _NEAR) : start].removesuffix("\n").lower()
    for _ in range(3):
        before = before[:-1] if before[-1:] in (" ", "#", ":", "=") else before
    return before.endswith(_NAMES)


_SHAPES = (
    pattern(
        r"(?<![\w+])(?<![\d\ufdd0][.\-])(?:(?:00)?1[ .\-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .\-])\d{3}[ .\-]\d{4}"
        + _EXTENSION
        + r"(?!\w|[.\-][\d\ufdd0])"
    ),
    pattern(
        r"(?<![\w+])(?<![\d\ufdd0][.\- ])(?:0\d{1,4}|\(0\d{1,4}\))[ .\-/]\d{2,4}(?:[ .\-]?\d{2,4}){1,4}"
        r"(?!\w|[.\-][\d\ufdd0])",
        accept=_trunk,
    ),
    pattern(
        r"(?<![\w+])(?<![\d\ufdd0][.\-])(?:[178][ \-]?)?\(\d{2,4}\) ?\d{3,5}(?:[ .\-]\d{2,4}){1,2}"
        + _EXTENSION
        + r"(?!\w|[.\-/][\d\ufdd0])",
        needs=("(",),
        accept=lambda match: 8 <= len(digits(match.group())) <= 14 and _no_years(match),
    ),
    pattern(
        r"(?<![\w+])(?<![\d\ufdd0][.\-])\((?:0\d{1,4}\) ?|\d{2,4}\))\d{6,9}(?!\w|[.\-/][\d\ufdd0])",
        needs=("(",),
        accept=lambda match: 9 <= len(digits(match.group())) <= 13,
    ),
    pattern(
        r"(?<![\w+])(?<![\d\ufdd0][.\-])[78]([ \-])\d{3}\1\d{3}([ \-])\d\d\2\d\d(?!\w|[.\-/][\d\ufdd0])",
        needs=("7", "8"),
    ),
    pattern(
        _BY_WORD + r"(\+?\(?\d(?:[ ().\-/]{0,2}\d){6,14}" + _EXTENSION + r")(?!\d)",
        needs=_WORDS,
        accept=_no_date,
        group=1,
    ),
    pattern(_HAND, needs=("number",), accept=_no_date, group=1),
)


class Phones:
    """Telephone numbers, spelled by their digits: nominated by how they stand in a text, decided by the plans of
    `regions` (where empty, those of `TRIED`). A number with a plus that no plan knows is one where a word says so.

    Raises InvalidConfig (`invalid_config:redaction.regions`).
    """

    def __init__(self, regions: Sequence[str] = ()) -> None:
        self._plans = Plans(regions)

    def __call__(self, text: str) -> Iterator[Found]:
        """Every number of `text`."""
        if not is_numbered(text):
            return
        asked = self._plans.asked()
        doubtful: list[Found] = []
        nominated = chain(*(search(text) for search in _SHAPES), _grouped(text, doubtful), _bare(text))
        for start, end, value in nominated:
            if spelling := asked.spelled(value):
                yield Found(start, end, spelling)
        for start, end, value in chain(_international(text, asked), asked.valid(doubtful)):
            yield Found(start, end, digits(value))
