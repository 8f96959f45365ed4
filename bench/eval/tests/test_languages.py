"""Memories in five languages, a few of our own, asked for in theirs and in English."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic.cli import cli
from mnemic.errors import InvalidInput
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval import languages

TOLD = {
    "de": (
        "Wir haben die Kosinus-Ähnlichkeit beim Gruppieren der Themen aufgegeben.",
        "Saela schreibt Texte in LaTeX.",
    ),
    "fr": (
        "Nous avons abandonné la similarité cosinus pour regrouper les sujets.",
        "Saela écrit ses articles en LaTeX.",
    ),
    "es": ("Dejamos la similitud del coseno para agrupar los temas.", "Saela escribe sus artículos en LaTeX."),
    "zh": ("我们不再用余弦相似度来给主题分组。", "Saela 用 LaTeX 写文章。"),
    "ko": ("주제를 묶을 때 코사인 유사도를 그만 쓰기로 했다.", "Saela는 LaTeX 형식으로 글을 쓴다."),
}
"""Texts that the first two questions are about."""
NOISE = (
    "Der Kran am Hafen ist rot.",
    "La grue du port est rouge.",
    "La grúa es roja.",
    "起重机是红色的。",
    "항구의 크레인은 빨갛다.",
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for (language, texts), noise in zip(TOLD.items(), NOISE, strict=True):
        write(tmp_path / "sets" / f"dataset.{language}.jsonl", (*texts, noise))
    return tmp_path


def write(path: Path, texts: Sequence[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = [json.dumps({"id": f"mem_{place:03}", "text": text}) for place, text in enumerate(texts, start=1)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_eval_asks_in_each_language_and_in_english(data: Path) -> None:
    lines = data / "lines.jsonl"
    words = ["eval", "languages", "--data", str(data), "--limit", "2", "--per-question", str(lines), "--json"]
    done = CliRunner().invoke(cli, words)

    assert done.exit_code == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["categories"].keys() == {name for one in TOLD for name in (one, f"{one} en")}
    assert result["overall"]["questions"] == 20
    assert result["dev"]["questions"] == result["test"]["questions"] == 10
    assert result["settings"]["memories"] == dict.fromkeys(TOLD, 3)
    for language in TOLD:
        own = result["categories"][language]
        assert {name: own[name] for name in ("questions", "found@1", "bm25@5")} == {
            "questions": 2,
            "found@1": 1,
            "bm25@5": 1,
        }, language
    asked = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert {one["question_id"] for one in asked if one["category"] == "de"} == {"de mem_001", "de mem_002"}


def test_a_figure_says_how_far_down_the_text_is(data: Path) -> None:
    write(data / "sets" / "dataset.de.jsonl", (NOISE[0], TOLD["de"][0]))
    result = languages.run(data, limit=1, embedder=WordEmbedder())
    german = result["categories"]["de"]
    assert result["settings"]["embedder"] == WordEmbedder().space.model
    assert (german["questions"], german["found@1"], german["found@5"]) == (1, 0, 1)


def test_every_language_has_a_file_of_texts(data: Path) -> None:
    (data / "sets" / "dataset.ko.jsonl").unlink()
    done = CliRunner().invoke(cli, ["eval", "languages", "--data", str(data), "--json"])
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.startswith("mnemic: invalid_input:data:languages - ")
    assert "of ko" in done.stderr


@pytest.mark.parametrize("line", ["{", '{"id": "mem_001"}', "[]", "3"])
def test_a_file_of_other_lines_is_refused(data: Path, line: str) -> None:
    (data / "sets" / "dataset.fr.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        languages.run(data, embedder=WordEmbedder())
    assert refused.value.reason == "invalid_input:data:languages"
