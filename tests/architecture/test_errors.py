"""Every error of the tree has a stable code, told in its `reason`, and is drawn in the tree."""

from __future__ import annotations

import inspect
import re

import pytest

import mnemic.errors
from mnemic.errors import BudgetSpent, MnemicError

STABLE = re.compile(r"[a-z][a-z0-9_]*")

ERRORS = sorted(
    (item for item in vars(mnemic.errors).values() if inspect.isclass(item) and issubclass(item, BaseException)),
    key=lambda error: error.__name__,
)

each_error = pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)


@each_error
def test_belongs_to_the_tree(error: type[MnemicError]) -> None:
    assert issubclass(error, MnemicError)
    assert re.search(rf"\b{error.__name__}\b", mnemic.errors.__doc__ or "")


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
