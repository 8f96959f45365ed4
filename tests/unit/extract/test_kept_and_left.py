"""What is kept of messages and what is left, as scores over data files: no single line is promised, the whole is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mnemic.extract import Extraction
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.types import Deadline, Message
from mnemic_language.text.normalise import bare

FRESH = Deadline(10.0, lambda: 0.0)
DATA = Path(__file__).parent / "data"
LONG_WORD = 5
"""Letters that are compared of a word: its stem, more or less."""


def lines(name: str) -> list[str]:
    return [line for line in (DATA / name).read_text("utf-8").splitlines() if line and line[0] != "#"]


@pytest.fixture
async def reader() -> AsyncIterator[RuleExtractor]:
    embedder = MiniLmEmbedder()
    yield RuleExtractor(embedder)
    await embedder.close()


async def read(reader: RuleExtractor, text: str) -> Extraction:
    message = Message(role="user", content=text)
    return await reader.extract(message, policy=Policy(), budget=Budget(), deadline=FRESH)


def words(text: str) -> set[str]:
    return {word[:LONG_WORD] for word in re.findall(r"[^\W_]+", bare(text)) if len(word) > 1}


def told(found: Extraction) -> list[set[str]]:
    """Return the words of each candidate, with those of its key."""
    return [words(f"{one.key or ''} {one.content}".replace("_", " ")) for one in found.candidates]


async def test_statements_are_kept_and_the_rest_is_left(reader: RuleExtractor) -> None:
    stored = right = wanted = kept = asked = 0
    for line in lines("turns.tsv"):
        kind, text, statement = line.split("\t")
        contents = told(await read(reader, text))
        stored += len(contents)
        if statement:
            half = len(words(statement)) / 2
            right += sum(len(words(statement) & one) >= half or one <= words(statement) for one in contents)
            found = any(len(words(statement) & one) >= half for one in contents)
            wanted += 1
            kept += found
            asked += found and kind == "remember"
    assert wanted == 126
    assert kept / wanted >= 0.92
    assert right / stored >= 0.88
    assert asked >= 25


async def test_what_keeps_somebody_safe_is_kept_however_it_is_said(reader: RuleExtractor) -> None:
    kept: dict[str, int] = defaultdict(int)
    language = ""
    for line in lines("safety.txt"):
        if line[0] == "[":
            language = line.strip("[]")
        else:
            kept[language] += bool((await read(reader, line)).candidates)
    assert kept["en"] >= 36
    assert all(kept[one] >= 17 for one in ("de", "fr", "es", "it", "pt", "nl"))
    assert kept["not"] <= 3, "questions, suppositions, fiction and other people's words"
