"""No regular expression of the product takes more than linear time in what it is given (S36): all of them are pumped.

A pattern that is slow at so many characters of one piece is tried at four times as many. Linear time grows by four
then, quadratic time by sixteen. Processor time of this thread counts, but on a shared machine a neighbour makes that
grow, too, for seconds on end. So what grew by more than nine is judged at eight times as many, several times over:
linear time grows by eight then, quadratic time by some fifty. Every piece is tried in the ordinary suite, on shorter
texts than at full size: a pattern that is quadratic in one piece is linear in all the others.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

import pytest

from mnemic.language.text.pattern import Pattern
from tests.architecture.sources import PACKAGES
from tests.faults.scale import size

LENGTH, MORE = size(2_000, 4_000), 4
SLOW_SECONDS = LENGTH * 5e-7
"""At `LENGTH`: several times what a linear pattern takes. Below it nothing is tried again."""
GROWS = 9.0
MUCH_MORE, GROWS_MUCH, TRIES = 8, 24.0, 4
"""How a pattern that grew too fast is judged: a quadratic one grows by more in every try."""
OUTSIDE = ("mnemic.testing", "mnemic_eval", "mnemic.cli")
"""What nobody else's text reaches."""
DEPTH, MOST = 3, 400

PIECES = [
    *("\n", " ", "\n\n", " \n", "\t", "a", "A", "aA", "Aa", "1", "1 ", "a ", "A ", "a.", "1.", "a@", "@a", ".", "-"),
    *("- ", "a-", "1-", "_", "a_", "(", "( ", "((", "[", "<", "<a ", "<a", "</", "&", "&#", '"', '"a', "'", "'a", "/"),
    *(
        "//",
        "a/",
        ":",
        "a:",
        "::",
        ",",
        "a,",
        ", a",
        "; ",
        "=",
        "a=",
        "é",
        "é ",
        "я",
        "中",
        "中 ",
        "I ",
        "I am ",
        "the ",
    ),
    *(
        "and ",
        "of ",
        "to ",
        "my ",
        "a, ",
        "A-",
        "+1",
        "+1 ",
        "0",
        "00 ",
        "12 ",
        "$1 ",
        "1,",
        "1/",
        "x@x.",
        "ab ",
        "AB ",
    ),
    *("Mr. ", "12:", "12:3", "Jan ", "Mon ", "at ", "in ", "not ", "is ", "was ", "\\", "|", "~", "#", "# ", "*", "* "),
    *("?", "! ", "…", "“", "”", "«", "is a ", "a b ", "A B ", "1a", "a1", "A1", "1A ", " a", " 1", "\u200d", "\u0301"),
    *("just ", "so ", "very ", "ha", "()", "(a)"),
]


def patterns() -> dict[str, re.Pattern[str]]:
    """Every compiled expression that a module of the product has, by where it is and what it says."""
    found: dict[str, re.Pattern[str]] = {}
    for module in (one for place in PACKAGES for one in pkgutil.walk_packages([str(place)], f"{place.name}.")):
        if module.name.startswith(OUTSIDE):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:
            continue
        for name, value in vars(loaded).items():
            if not name.startswith("__"):
                found |= {f"{module.name}.{name} {one.pattern[:60]!r}": one for one in within(value)}
    return found


def within(value: Any, depth: int = 0) -> Iterator[re.Pattern[str]]:
    """The expressions in a value, and in what it consists of."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, Pattern):
        yield value.compiled
    elif depth < DEPTH:
        parts: list[Any] = []
        if isinstance(value, tuple | list | set | frozenset):
            parts = list(value)[:MOST]
        elif isinstance(value, dict):
            parts = list(value.values())[:MOST]
        elif is_dataclass(value) and not isinstance(value, type):
            parts = [getattr(value, name, None) for name in value.__dataclass_fields__]
        for part in parts:
            yield from within(part, depth + 1)


def seconds(pattern: re.Pattern[str], piece: str, length: int, *, enough: float = 0.0, tries: int = 3) -> float:
    """Processor time to find every match in so much of the piece; of several tries the shortest, until one is."""
    text, least = (piece * length)[:length], float("inf")
    for _ in range(tries):
        began = time.thread_time()
        for _ in pattern.finditer(text):
            pass
        least = min(least, time.thread_time() - began)
        if least <= enough:
            break
    return least


def growth(pattern: re.Pattern[str], piece: str) -> float:
    """How many times longer `MORE` times as much takes; 0 where so little takes nothing."""
    few = seconds(pattern, piece, LENGTH, enough=SLOW_SECONDS)
    if few < SLOW_SECONDS:
        return 0.0
    return seconds(pattern, piece, MORE * LENGTH, enough=GROWS * few) / few


def grows(pattern: re.Pattern[str], piece: str) -> bool:
    """Whether a pattern takes more than linear time: seen once at `MORE`, then in every try at `MUCH_MORE`."""
    if growth(pattern, piece) <= GROWS:
        return False
    much, few = MUCH_MORE * LENGTH, seconds(pattern, piece, LENGTH)
    return all(seconds(pattern, piece, much, tries=1) > GROWS_MUCH * few for _ in range(TRIES))


PATTERNS = patterns()


def test_there_is_something_to_try() -> None:
    assert len(PATTERNS) > 400


@pytest.mark.parametrize("piece", PIECES, ids=ascii)
def test_every_pattern_is_linear(piece: str) -> None:
    assert [name for name, one in PATTERNS.items() if grows(one, piece)] == []


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        (r"^\s*x", "\n"),
        (r"[A-Z]{2,}[a-z]", "DE"),
        (r"“.*?”", "“"),
        (r"\(\W*joke", "("),
        (r"\b(?:(?:just|only|im) )*joking", "just "),
    ],
)
def test_a_quadratic_pattern_is_found(text: str, piece: str) -> None:
    """The control: what the product had. Other users of the processor may hide the growth, but hardly three times."""
    assert any(grows(re.compile(text, re.MULTILINE), piece) for _ in range(3))
