"""A docstring, that of an attribute too, opens with a verb or a noun, never with a question word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.architecture.plain_words import findings, sources
from tests.architecture.sources import PACKAGES, ROOT

ASKING = re.compile(r"(?:What|Which|How|Whether|Who|Whom|Whose|Where|When|Why)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def statements(node: ast.AST) -> list[ast.stmt]:
    """The body of a node; empty where it has none, or one that is an expression."""
    body = getattr(node, "body", [])
    return body if isinstance(body, list) else []


def docstrings(tree: ast.AST) -> Iterator[str]:
    """The docstrings of a module, its classes, functions and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED):
            yield ast.get_docstring(node) or ""
        for named, text in pairwise(statements(node)):
            if isinstance(named, ast.Assign | ast.AnnAssign) and isinstance(text, ast.Expr):
                yield str(getattr(text.value, "value", "")).strip()


def asking(text: str) -> list[str]:
    """The docstrings in a module's text that open with a question word."""
    return [doc for doc in docstrings(ast.parse(text)) if ASKING.match(doc)]


def test_no_docstring_opens_with_a_question_word() -> None:
    paths = [path for package in PACKAGES for path in package.rglob("*.py")]
    found = {str(path.relative_to(ROOT)): asking(path.read_text(encoding="utf-8")) for path in paths}
    assert len(found) > 100
    assert {name: docs for name, docs in found.items() if docs} == {}


def test_one_that_does_is_found() -> None:
    assert asking('def f():\n    """Whether it rains."""\n') == ["Whether it rains."]
    assert asking('class Day:\n    rain: bool\n    """Whether it rains."""\n') == ["Whether it rains."]


PRIVATE_WORDS = frozenset({"told", "patience", "sketch", "shelf", "lapse", "outline", "voice", "underway", "ahead"})
"""Names of this project's past where the field has a term (docs/glossary.md)."""


def named(text: str) -> set[str]:
    """The variables, parameters, functions and classes that a module's text names by a private word."""
    tree = ast.walk(ast.parse(text))
    names = {getattr(node, "id", None) or getattr(node, "arg", None) or getattr(node, "name", None) for node in tree}
    return {name for name in names if name in PRIVATE_WORDS}


def test_nothing_is_named_by_a_private_word() -> None:
    paths = [path for package in PACKAGES for path in package.rglob("*.py")]
    assert {path.name for path in paths if path.stem in PRIVATE_WORDS} == set()
    found = {str(path.relative_to(ROOT)): named(path.read_text(encoding="utf-8")) for path in paths}
    allowed = {"src/mnemic/retrieve/signals.py": {"told"}}  # a signal's name, which results of searches show
    assert {name: words for name, words in found.items() if words and words != allowed.get(name)} == {}


def test_a_private_word_is_found() -> None:
    assert named("def f(told):\n    return told\n") == {"told"}


def test_no_prose_has_a_private_word_or_a_weak_phrase() -> None:
    said = [one for path in sources() for one in findings(path) if one.sort != "name"]
    assert [f"{one.path.relative_to(ROOT)}:{one.line}: {one.word}: {one.text}" for one in said] == []


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ('"""A file of its own."""\n', "docstring"),
        ("# what stands there\n", "comment"),
        ('raise ValueError("the file holds nothing")\n', "message"),
        ("def told():\n    pass\n", "name"),
    ],
)
def test_a_private_word_in_prose_is_found(tmp_path: Path, text: str, sort: str) -> None:
    path = tmp_path / "module.py"
    path.write_text(text, encoding="utf-8")
    assert [one.sort for one in findings(path)] == [sort]


@pytest.mark.parametrize("term", ["write-ahead log", "the lock is held", "a standing instruction", "`held`"])
def test_a_term_of_the_field_is_left_alone(tmp_path: Path, term: str) -> None:
    path = tmp_path / "module.py"
    path.write_text(f"# {term}\n", encoding="utf-8")
    assert list(findings(path)) == []
