"""A docstring opens with a verb or a noun, never with a question word."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "mnemic"
ASKING = re.compile(r"(?:What|Which|How|Whether|Who|Whom|Whose|Where|When|Why)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def asking(text: str) -> list[str]:
    """The docstrings in a module's text that open with a question word."""
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, DOCUMENTED))
    return [doc for node in nodes if (doc := ast.get_docstring(node)) and ASKING.match(doc)]


def test_no_docstring_opens_with_a_question_word() -> None:
    found = {str(path.relative_to(SOURCE)): asking(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    assert len(found) > 100
    assert {name: docs for name, docs in found.items() if docs} == {}


def test_one_that_does_is_found() -> None:
    assert asking('def f():\n    """Whether it rains."""\n') == ["Whether it rains."]
