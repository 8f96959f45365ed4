"""Texts and commands of our own in the sets' formats, through the real rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic.evaluate import commands, extraction
from mnemic.testing.embedder import WordEmbedder


def write_lines(file: Path, values: Sequence[Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


def write_commands(folder: Path, texts: Sequence[str], intents: Sequence[str]) -> None:
    folder.mkdir(parents=True)
    (folder / "seq.in").write_text("\n".join(texts) + "\n", encoding="utf-8")
    (folder / "label").write_text("\n".join(intents) + "\n", encoding="utf-8")


TEXTS = [
    {"id": "1", "text": "I love hiking in the Alps. Book me a train."},
    {"id": "2", "text": "My wife Julia is a lawyer and I adore sailing boats."},
    {"id": "3", "text": "No label stands beside this one: I love chess."},
]
LABELS = [
    {"id": "1", "memories": [{"type": "preference", "content": "Loves hiking in the Alps."}]},
    {
        "id": "2",
        "memories": [
            {"type": "relation", "content": "The wife is called Julia, a lawyer."},
            {"type": "fact", "content": "Owns seven glass violins."},
        ],
    },
]


def test_each_memory_is_matched_once(tmp_path: Path) -> None:
    write_lines(tmp_path / "deep" / "dataset.jsonl", TEXTS)
    write_lines(tmp_path / "deep" / "labels.jsonl", LABELS)
    write_lines(tmp_path / "deep" / "dataset.xx.jsonl", TEXTS)
    result = extraction.run(tmp_path, embedder=WordEmbedder())

    assert (result["dev"]["recall"], result["dev"]["precision"], result["dev"]["texts"]) == (1.0, 1.0, 1)
    assert (result["test"]["recall"], result["test"]["memories"], result["test"]["texts"]) == (0.5, 2, 1)
    assert result["test"]["precision"] == 0.5
    assert result["test"]["by_source"]["type"]["fact"] == {"share": 0.0, "n": 1}
    assert set(result["test"]["by_source"]["language"]) == {"en"}


async def test_a_pair_needs_two_words_or_near_meaning() -> None:
    said, wanted = ["I like red kites.", "I like red kites."], ["Likes red kites."]
    assert len(await extraction.matches(said, wanted, WordEmbedder())) == 1
    assert await extraction.matches(["Red."], ["The red house of Ana stands empty."], WordEmbedder()) == []
    assert await extraction.matches([], wanted, WordEmbedder()) == []


def test_a_command_counts_where_something_would_be_kept(tmp_path: Path) -> None:
    write_commands(tmp_path / "set" / "train", ["play some jazz", "i love jazz music"], ["play", "play"])
    write_commands(tmp_path / "set" / "test", ["play some jazz", "book a table for two"], ["play", "book"])
    result = commands.run(tmp_path)

    assert result["dev"] == {
        "stored": 0.5,
        "by_source": {"intent": {"play": {"share": 0.5, "n": 2}}},
        "texts": 2,
    }
    assert (result["test"]["stored"], result["test"]["texts"]) == (0.0, 1)


@pytest.mark.parametrize("measure", [extraction.run, commands.run])
def test_an_empty_folder_is_refused(tmp_path: Path, measure: Any) -> None:
    with pytest.raises(InvalidInput):
        measure(tmp_path)


def test_labels_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    write_commands(tmp_path / "test", ["play some jazz"], ["play", "book"])
    with pytest.raises(InvalidInput, match="data:commands"):
        commands.run(tmp_path)
    write_lines(tmp_path / "dataset.jsonl", [{"id": "1"}])
    write_lines(tmp_path / "labels.jsonl", [LABELS[0]])
    with pytest.raises(InvalidInput, match="data:extraction"):
        extraction.run(tmp_path, embedder=WordEmbedder())
