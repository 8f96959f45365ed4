"""Every error has a stable code, which is listed, explained and written once."""

from __future__ import annotations

import inspect
import re

import mnemic.errors
from mnemic import reason_codes
from mnemic.errors import BudgetSpent, MnemicError
from mnemic.language import skip_reason_codes
from mnemic_server import service_reason_codes
from tests.architecture.sources import ROOT, modules

ERRORS = [item for item in vars(mnemic.errors).values() if inspect.isclass(item) and issubclass(item, BaseException)]
CODES = {name: code for name, code in vars(reason_codes).items() if name.isupper()}
CONCEPTS = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
LITERAL = re.compile(r"""(?:reason(?:: str)? ?= ?|Skipped\(reason=|Refused\([^()"]*)f?"([a-z_]+)[":]""")


def test_every_error_has_a_code_of_its_own_and_gives_it_as_its_reason() -> None:
    assert [error.__name__ for error in ERRORS if not issubclass(error, MnemicError)] == []
    assert [error.__name__ for error in ERRORS if CODES.get(error.code.upper()) != error.code] == []
    assert len({error.code for error in ERRORS}) == len(ERRORS)
    wrong = [error.__name__ for error in ERRORS if error is not BudgetSpent and error("x").reason != f"{error.code}:x"]
    assert wrong == []


def test_every_error_and_every_reason_is_explained() -> None:
    tree = CONCEPTS.partition("### A call fails")[2]
    assert [error.__name__ for error in ERRORS if not re.search(rf"\b{error.__name__}\b", tree)] == []
    assert [code for code in CODES.values() if f"`{code}" not in CONCEPTS] == []


def test_a_code_is_written_once() -> None:
    assert {name: code for name, code in CODES.items() if name != code.upper()} == {}
    skipped = {name: code for name, code in vars(skip_reason_codes).items() if name.isupper()}
    assert skipped.items() <= CODES.items()
    known = {*CODES.values(), *(code for name, code in vars(service_reason_codes).items() if name.isupper())}
    found = {
        module.name: known.intersection(LITERAL.findall(module.path.read_text(encoding="utf-8")))
        for module in modules()
        if not module.name.endswith("reason_codes.py")
    }
    assert {name: codes for name, codes in found.items() if codes} == {}
