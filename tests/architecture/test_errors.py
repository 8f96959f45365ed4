"""Every error of the tree has a stable code, told in its `reason`, and is drawn in the tree."""

from __future__ import annotations

import inspect
import re

import pytest

import mnemic.errors
from mnemic import reason_codes
from mnemic.errors import BudgetSpent, MnemicError
from mnemic_language import skip_reason_codes as sentence_reason_codes
from mnemic_server import service_reason_codes
from tests.architecture.sources import PACKAGES, ROOT

STABLE = re.compile(r"[a-z][a-z0-9_]*")

ERRORS = sorted(
    (item for item in vars(mnemic.errors).values() if inspect.isclass(item) and issubclass(item, BaseException)),
    key=lambda error: error.__name__,
)

each_error = pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)


@each_error
def test_belongs_to_the_tree(error: type[MnemicError]) -> None:
    assert issubclass(error, MnemicError)
    page = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    assert re.search(rf"\b{error.__name__}\b", page.partition("### A call fails")[2])


@each_error
def test_has_a_code_of_its_own(error: type[MnemicError]) -> None:
    assert "code" in vars(error)
    assert STABLE.fullmatch(error.code)
    assert [other for other in ERRORS if other.code == error.code] == [error]


@each_error
def test_reason_starts_with_the_code(error: type[MnemicError]) -> None:
    if error is BudgetSpent:
        assert BudgetSpent("max_seconds").reason == "max_seconds"
        return
    assert error().reason == error.code
    assert error("detail").reason == f"{error.code}:detail"
    assert str(error("detail")) == f"{error.code}:detail"


CODES = {name: code for name, code in vars(reason_codes).items() if name.isupper()}
LITERAL = re.compile(r"""(?:reason(?:: str)? ?= ?|Skipped\(reason=|Refused\([^()"]*)f?"([a-z_]+)[":]""")


@each_error
def test_takes_its_code_from_the_list_of_reasons(error: type[MnemicError]) -> None:
    assert CODES[error.code.upper()] == error.code


def test_a_reason_has_the_name_of_its_code() -> None:
    assert {name: code for name, code in CODES.items() if name != code.upper()} == {}


def test_the_library_of_language_says_the_same_codes() -> None:
    named = {name: code for name, code in vars(sentence_reason_codes).items() if name.isupper()}
    assert named
    assert named.items() <= CODES.items()
    written = (ROOT / "src" / "mnemic" / "reason_codes.py").read_text(encoding="utf-8")
    assert [code for code in named.values() if f'"{code}"' in written] == []


def test_every_reason_is_explained() -> None:
    page = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    assert [code for code in CODES.values() if f"`{code}" not in page] == []


def test_no_code_that_is_listed_is_written_out_elsewhere() -> None:
    known = {*CODES.values(), *(code for name, code in vars(service_reason_codes).items() if name.isupper())}
    paths = [
        path for package in PACKAGES for path in package.rglob("*.py") if not path.name.endswith("reason_codes.py")
    ]
    found = {path.name: LITERAL.findall(path.read_text(encoding="utf-8")) for path in paths}
    assert {name: codes for name, codes in found.items() if known.intersection(codes)} == {}
