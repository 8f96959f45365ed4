"""Required words of this package's expressions: every match contains one of them. All are extracted at once.

Run it by `python -m mnemic.language.text.expression_words` after a change of an expression or of a list of words: it
writes `data/expression_words.json`. Each process extracts missing words itself, once an expression is used often.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from inspect import isfunction, signature
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import mnemic.language
from mnemic.language.text.pattern import WordPattern
from mnemic.redact.required_words import required
from mnemic.redact.word_pattern import name_of

FILE = Path(__file__).with_name("data") / "expression_words.json"


def made() -> list[WordPattern]:
    """Return the expressions of all modules of the package, including those of its lists."""
    for found in walk_packages(mnemic.language.__path__, "mnemic.language."):
        module = import_module(found.name)
        for one in vars(module).values():
            if _is_list(one):
                one()
    return [one for one in gc.get_objects() if isinstance(one, WordPattern)]


def _is_list(one: Any) -> bool:
    """Return True for a function that makes the expressions of a list once, and caches them."""
    return isfunction(getattr(one, "__wrapped__", None)) and not signature(one).parameters


def words_of(patterns: Sequence[WordPattern]) -> Mapping[str, Sequence[str]]:
    """Return the words of each expression by its name, none for one that may match without any."""
    found = {name_of(one): sorted(required(one.compiled) or ()) for one in patterns}
    return dict(sorted(found.items()))


def main(path: Path = FILE) -> None:
    """Write the words of all expressions to `path`, one line for each."""
    lines = [f"{json.dumps(name)}: {json.dumps(words, ensure_ascii=False)}" for name, words in words_of(made()).items()]
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
