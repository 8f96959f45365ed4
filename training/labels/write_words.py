"""Write the words that are no names: `python training/labels/write_words.py`.

Those that the texts of the other trainings have in small letters, several times and far more often than as a name
within a sentence, and the words of subjects of a question (`word_fields.json`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from mnemic.language.lexicon import headings, known_words
from mnemic.language.text.normalise import plain

ROOT = Path(__file__).parents[2]
OUT = ROOT / "src/mnemic/language/lexicon/no_names.txt"
SMALL, PER_CAPITAL = 3, 8
"""Least times in small letters, and for each time with a capital within a sentence."""
WORD = re.compile(r"(?<![\w'’])[^\W\d_]{3,16}(?![\w'’])")


def main() -> None:
    """Read every text and word list beside this folder."""
    small, capital = Counter[str](), Counter[str]()
    for path in sorted((ROOT / "training").rglob("*")):
        if path.suffix in (".txt", ".toml"):
            _count(path.read_text(encoding="utf-8"), small, capital)
    known = known_words() | headings()
    found = {word for word, times in small.items() if times >= max(SMALL, PER_CAPITAL * capital[word])}
    fields = json.loads((ROOT / "src/mnemic/language/questions/word_fields.json").read_text(encoding="utf-8"))
    found.update(word for words in fields.values() for said in words.values() for word in said.split())
    left = sorted({plain(word) for word in found} - known)
    OUT.write_text("\n".join(left) + "\n", encoding="utf-8")


def _count(text: str, small: Counter[str], capital: Counter[str]) -> None:
    for found in WORD.finditer(text):
        before = text[max(0, found.start() - 2) : found.start()]
        if found[0].islower():
            small[found[0]] += 1
        elif found[0].istitle() and re.fullmatch(r"[a-z,] ", before):
            capital[found[0].lower()] += 1


if __name__ == "__main__":
    main()
