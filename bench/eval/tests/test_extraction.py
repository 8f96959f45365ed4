"""Texts and commands of our own in the sets' formats, through the real rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidConfig, InvalidInput, ModelTimeout
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Completion, Deadline, Prompt
from mnemic_eval import assistant_requests, extraction
from mnemic_eval.tables import set_table


def write_lines(file: Path, values: Sequence[Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


def write_commands(folder: Path, texts: Sequence[str], intents: Sequence[str]) -> None:
    folder.mkdir(parents=True)
    (folder / "seq.in").write_text("\n".join(texts) + "\n", encoding="utf-8")
    (folder / "label").write_text("\n".join(intents) + "\n", encoding="utf-8")


TEXTS = [
    {"id": "1", "text": "I love hiking in the Alps. Book me a train."},
    {"id": "2", "text": "My wife Julia is a lawyer. I adore sailing boats."},
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


class Answers:
    """A model that answers with one text after the other; None fails."""

    model = "scripted"

    def __init__(self, *texts: str | None) -> None:
        self.texts = list(texts)

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        text = self.texts.pop(0)
        if text is None:
            raise ModelTimeout
        return Completion(text=text, model=self.model, input_tokens=100, output_tokens=10)

    async def close(self) -> None:
        """Nothing to close."""


def said(value: str, quote: str) -> dict[str, Any]:
    rest = {"category": "preference", "scope": "user", "ttl_days": 90, "confidence": 0.9}
    return {"key": "hobby", "value": value, **rest, "quote": quote}


def test_what_a_model_made_up_and_where_it_failed_is_counted(tmp_path: Path) -> None:
    write_lines(tmp_path / "dataset.jsonl", [*TEXTS[:2], {"id": "3", "text": "I love chess."}])
    write_lines(tmp_path / "labels.jsonl", [*LABELS, {"id": "3", "memories": LABELS[0]["memories"]}])
    items = [said("hiking in the Alps", "I love hiking in the Alps."), said("glass violins", "Owns violins.")]
    answers = Answers(json.dumps({"items": items}), '{"items": "none"}', None)
    result = extraction.run(tmp_path / "dataset.jsonl", embedder=WordEmbedder(), completer=answers)

    assert (result["dev"]["recall_model"], result["dev"]["precision_model"]) == (0.5, 1.0)
    # A form that cannot be read stops nothing: the rules read instead.
    assert (result["dev"]["unsupported"], result["dev"]["stopped"], result["dev"]["degraded"]) == (0.3333, 0.0, 0.5)
    assert (result["test"]["degraded"], result["test"]["recall_model"], result["test"]["precision_model"]) == (
        1,
        0,
        None,
    )
    assert result["test"]["recall"] == 0.5, "the rules read instead"
    assert result["test"]["by_source"]["failed"] == {"llm_timeout": {"share": 1.0, "n": 1}}
    taken = result["settings"]["model"]
    assert (taken["name"], taken["calls"], taken["input_tokens"], taken["output_tokens"]) == ("scripted", 1, 100, 10)
    assert "scripted: 1 answers of 100 + 10 tokens" in set_table(result)


def test_without_a_model_there_is_none_to_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MNEMIC_MODEL_URL", "OPENAI_BASE_URL", "MNEMIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "dataset.jsonl", TEXTS)
    write_lines(tmp_path / "labels.jsonl", LABELS)
    with pytest.raises(InvalidConfig, match="model"):
        extraction.run(tmp_path, embedder=WordEmbedder(), model=True)


def test_a_sample_is_drawn_from_each_half(tmp_path: Path) -> None:
    write_lines(tmp_path / "dataset.jsonl", [{"id": str(place), "text": "I love chess."} for place in range(8)])
    write_lines(tmp_path / "labels.jsonl", [{"id": str(place), "memories": []} for place in range(8)])
    result = extraction.run(tmp_path, embedder=WordEmbedder(), limit=3)
    assert (result["dev"]["texts"], result["test"]["texts"]) == (3, 3)


async def test_a_pair_needs_two_words_or_near_meaning() -> None:
    said, wanted = ["I like red kites.", "I like red kites."], ["Likes red kites."]
    assert len(await extraction.matches(said, wanted, WordEmbedder())) == 1
    assert await extraction.matches(["Red."], ["The red house of Ana stands empty."], WordEmbedder()) == []
    assert await extraction.matches([], wanted, WordEmbedder()) == []


def test_a_command_counts_where_something_would_be_kept(tmp_path: Path) -> None:
    write_commands(tmp_path / "set" / "train", ["play some jazz", "i love jazz music"], ["play", "play"])
    write_commands(tmp_path / "set" / "test", ["play some jazz", "book a table for two"], ["play", "book"])
    result = assistant_requests.run(tmp_path)

    assert result["dev"] == {
        "stored": 0.5,
        "by_source": {"intent": {"play": {"share": 0.5, "n": 2}}},
        "texts": 2,
    }
    assert (result["test"]["stored"], result["test"]["texts"]) == (0.0, 1)


@pytest.mark.parametrize("measure", [extraction.run, assistant_requests.run])
def test_an_empty_folder_is_refused(tmp_path: Path, measure: Any) -> None:
    with pytest.raises(InvalidInput):
        measure(tmp_path)


def test_labels_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    write_commands(tmp_path / "test", ["play some jazz"], ["play", "book"])
    with pytest.raises(InvalidInput, match="data:commands"):
        assistant_requests.run(tmp_path)
    write_lines(tmp_path / "dataset.jsonl", [{"id": "1"}])
    write_lines(tmp_path / "labels.jsonl", [LABELS[0]])
    with pytest.raises(InvalidInput, match="data:extraction"):
        extraction.run(tmp_path, embedder=WordEmbedder())
