"""Words of expressions that are kept in a file: those of every expression of the package, as they are now."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from mnemic.language.text.expression_words import FILE
from mnemic.language.text.pattern import WordPattern
from mnemic.redact.required_words import required
from mnemic.redact.word_pattern import know, name_of


def test_the_file_has_the_words_of_every_expression(tmp_path: Path) -> None:
    """Read them off in a process of its own, which has no expressions of other tests."""
    made = tmp_path / "words.json"
    command = [sys.executable, "-m", "mnemic.language.text.expression_words", str(made)]
    subprocess.run(command, check=True, timeout=120)
    now, kept = (json.loads(path.read_text("utf-8")) for path in (made, FILE))
    assert now == kept, "run `python -m mnemic.language.text.expression_words`"
    assert len(kept) > 300


def test_an_expression_whose_words_are_known_is_looked_up_at_its_first_use() -> None:
    pattern = WordPattern(r"\b(?:zweieck|dreieck)s?\b")
    words = {name_of(pattern): sorted(required(re.compile(pattern.text)) or ())}
    know(lambda: words)
    assert pattern.is_absent("The lamp on the third floor is green.")
    assert pattern._compiled is None
    assert pattern.search("The lamp on the third floor is a dreieck.") is not None


def test_an_expression_that_may_match_without_any_word_is_always_tried() -> None:
    pattern = WordPattern(r"\d+ \w{11}")
    know(lambda: {name_of(pattern): []})
    assert not pattern.is_absent("The lamp on the third floor is green.")
    assert pattern.search("The lamp on the floor has 12 chandeliers") is not None
