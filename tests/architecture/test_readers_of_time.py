"""One reader turns times in words into dates, for telling and for asking; whatever else reads them is named here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.sources import Module, modules

READERS = {
    "mnemic_language/text/time_expressions.py": "the reader",
    "mnemic_language/text/time_bounds.py": "words around a time that make it a beginning or an end",
    "mnemic_language/questions/time_clause.py": "the event that a question gives as its time",
    "mnemic_language/questions/named_dates.py": "a year, month or day that leaves open what a period has to know",
    "extract/statement_dates.py": "the day of what a message tells, as the reader reads it",
}
"""The reader, and the parts around it."""
OTHERS = {
    "mnemic_importers/file_readers/timestamps.py": "the moments that files of conversations write, in fixed formats",
    "mnemic_travel/prose.py": "the weekday of a booking: the next after its confirmation was sent",
    "mnemic_travel/dates.py": "dates printed on tickets, in the orders and abbreviations of carriers",
    "mnemic_travel/gds.py": "dates in the lines of reservation systems (12MAR), which no one says",
}
"""Other readers, each with the reason why it is none of what people say."""
UNREAD_PACKAGES = ("mnemic_testing", "mnemic_eval")
"""Packages that write times in words for tests and measurements."""
TIME_WORDS = re.compile(
    r"(?i)\b(?:yesterday|tomorrow|fortnight|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|august|october"
    r"|november|december|gestern|montag|januar|ayer|lunes|enero|ieri|lunedì|gennaio|ontem|janeiro|gisteren|maandag"
    r"|lundi|janvier)\b"
)
WORD_MODULES = ("months", "time_words", "english")
"""Modules of words for times: who imports them and dates reads times."""
DATES = {"date", "datetime", "timedelta", "calendar", "Date"}
PARSERS = {"dateparser", "dateutil", "parsedatetime", "recurrent", "timelib", "pendulum", "arrow"}


def literals(tree: ast.Module) -> Iterator[str]:
    """Yield the strings of a module, but its documentation."""
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield node.value


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each module that is imported from, with the name that is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, alias.name) for alias in node.names)


def reads_time(tree: ast.Module) -> bool:
    """Return True if a module knows words for times and makes dates."""
    imported = list(imports(tree))
    dates = any(name in DATES for _, name in imported)
    words = any(module.rpartition(".")[2] in WORD_MODULES for module, _ in imported)
    return dates and (words or any(TIME_WORDS.search(literal) for literal in literals(tree)))


def read_by_us() -> Iterator[Module]:
    return (module for module in modules() if not module.name.startswith(UNREAD_PACKAGES))


def test_times_in_words_are_read_by_one_reader() -> None:
    assert {module.name for module in read_by_us() if reads_time(module.tree)} == {*READERS, *OTHERS}


def test_no_library_reads_times_beside_it() -> None:
    found = {(module.name, name) for module in read_by_us() for name, _ in imports(module.tree)}
    assert not [(path, name) for path, name in found if name.partition(".")[0] in PARSERS]


def test_the_test_finds_a_second_reader() -> None:
    second = 'from datetime import date, timedelta\nDAYS = {"yesterday": 1}\n'
    borrowed = "from datetime import date\nfrom mnemic_language.text.months import named_month\n"
    assert reads_time(ast.parse(second))
    assert reads_time(ast.parse(borrowed))
    assert not reads_time(ast.parse('"""Yesterday."""\nfrom datetime import date\n'))
    assert not reads_time(ast.parse('WORDS = ("yesterday",)\n'))
