"""Find words of this project's past and weak phrases in names, docstrings, comments and messages.

`python -m tests.architecture.plain_words` prints counts per package; `--list [FOLDER]` prints every finding.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.sources import PACKAGE, PACKAGES, ROOT

WORDS = (
    "told", "held", "standing", "lapse", "ahead", "underway",
    "voice", "outline", "shelf", "sketch", "patience", "ballast",
)  # fmt: skip
"""Names of this project's past where the field has a term (docs/glossary.md)."""
PHRASES = (
    "of its own", "of their own", "what stands", "is told", "are told", "holds", "lies", "says so", "one and the same",
    "anew", "stands in", "by itself",
)  # fmt: skip
"""Phrases that a native engineer would not write in a docstring, a comment or a message."""
NAME = re.compile(rf"(?:^|_)({'|'.join(WORDS)})(?:_|$)", re.IGNORECASE)
PROSE = re.compile(rf"\b({'|'.join((*WORDS, *PHRASES))})\b", re.IGNORECASE)
STANDARD = re.compile(
    r"`[^`]+`|\w+\.\w+|\"[^\"]+\"|write-ahead|ahead of|clock\s+was\s+ahead|lock is held|held (?:out|for review|about)"
    r"|standing\s+(?:instruction|order|request)s?",
    re.IGNORECASE,
)
"""Terms of the field that contain one of the words, names in backticks and quoted examples."""
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
SAYING = frozenset({"add_argument", "add_parser", "echo", "secho", "option", "argument", "command", "group", "warn"})
"""Calls whose texts a person reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One word or phrase in one line of a file; `sort` is name, docstring, comment or message."""

    path: Path
    line: int
    sort: str
    word: str
    text: str


def findings(path: Path) -> Iterator[Finding]:
    """The words and phrases of one file, in names, docstrings, comments and messages."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    for sort, line, said in (*names(tree), *docstrings(tree), *messages(tree), *comments(text)):
        pattern = NAME if sort == "name" else PROSE
        read = said if sort == "name" else STANDARD.sub(lambda found: " " * len(found[0]), said)
        for match in pattern.finditer(read):
            shown = said[max(match.start() - 60, 0) : match.end() + 60].replace("\n", " ")
            at = line if sort == "name" else line + said.count("\n", 0, match.start())
            yield Finding(path=path, line=at, sort=sort, word=match[1].lower(), text=shown)


def names(tree: ast.AST) -> Iterator[tuple[str, int, str]]:
    """Each name that the file binds: functions, classes, parameters, variables, attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield "name", node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield "name", node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield "name", node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield "name", node.lineno, node.attr


def docstrings(tree: ast.AST) -> Iterator[tuple[str, int, str]]:
    """The docstrings of modules, classes, functions and attributes."""
    for node in ast.walk(tree):
        body = getattr(node, "body", [])
        if not isinstance(body, list):
            continue
        documented = isinstance(node, DOCUMENTED)
        for place, statement in enumerate(body):
            named = place and isinstance(body[place - 1], ast.Assign | ast.AnnAssign)
            if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                continue
            if isinstance(statement.value.value, str) and (named or (documented and place == 0)):
                yield "docstring", statement.lineno, statement.value.value


def messages(tree: ast.AST) -> Iterator[tuple[str, int, str]]:
    """The texts of raised errors and of command-line help."""
    for node in ast.walk(tree):
        raised = isinstance(node, ast.Raise)
        called = getattr(node, "func", None)
        if raised or getattr(called, "attr", getattr(called, "id", "")) in SAYING:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and " " in inner.value:
                    yield "message", inner.lineno, inner.value


def comments(text: str) -> Iterator[tuple[str, int, str]]:
    """The comments, without those that only tools read."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not re.match(r"# (?:noqa|type:|fmt:|pragma)", token.string):
            yield "comment", token.start[0], token.string


def comment_lines(text: str) -> int:
    """Lines that are a comment, or end in one, without those that only tools read."""
    return len({line for _, line, _ in comments(text)})


def package_of(path: Path) -> str:
    """The core's room, or the distribution."""
    if path.is_relative_to(PACKAGE):
        return "mnemic/" + path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return path.relative_to(ROOT / "packages").parts[0]


def sources(folder: Path | None = None) -> list[Path]:
    """Every Python file of the packages, or those below `folder`."""
    roots = PACKAGES if folder is None else (folder,)
    return sorted(path for root in roots for path in root.rglob("*.py"))


def table() -> str:
    """Count findings by package and sort, lines and share of comments."""
    lines, remarks, found = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for path in sources():
        package, text = package_of(path), path.read_text(encoding="utf-8")
        for key in (package, "all"):
            lines[key] += text.count("\n")
            remarks[key] += comment_lines(text)
            found.update((key, finding.sort) for finding in findings(path))
    sorts = ("name", "docstring", "comment", "message")
    rows = [f"{'package':<24}{'lines':>8}{'comment %':>11}" + "".join(f"{sort:>11}" for sort in sorts)]
    for key in (*sorted(set(lines) - {"all"}), "all"):
        share = 100 * remarks[key] / max(lines[key], 1)
        rows.append(f"{key:<24}{lines[key]:>8}{share:>11.2f}" + "".join(f"{found[key, sort]:>11}" for sort in sorts))
    return "\n".join(rows)


def main(arguments: list[str]) -> int:
    """Print the counts, or every finding below a folder."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--list", nargs="?", const="", metavar="FOLDER", help="every finding, one on a line")
    given = parser.parse_args(arguments)
    if given.list is None:
        print(table())
        return 0
    for path in sources(Path(given.list).resolve() if given.list else None):
        for one in findings(path):
            print(f"{path.relative_to(ROOT)}:{one.line}: {one.sort} {one.word!r}: {one.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
