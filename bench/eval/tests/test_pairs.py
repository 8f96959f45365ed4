"""Pairs of our own in each known format, told to the real engine in a real SQLite file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemic.errors import InvalidInput
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval import pairs
from mnemic_eval.registry import SETS
from mnemic_eval.samples import drawn, half
from mnemic_eval.tables import set_table

OPPOSITE = [
    (f"The {thing} is open on Sunday", f"The {thing} is not open on Sunday") for thing in ("shop", "zoo", "pub")
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    rows = ["sentence\tnegated", *("\t".join(pair) for pair in OPPOSITE)]
    (tmp_path / "deep" / "negated.tsv").write_text("\n".join(rows) + "\n")
    sick = [
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment",
        *(
            f"1\tA man feeds the {one}\tThe man feeds the {one}\t4.8\tENTAILMENT"
            for one in ("dog", "cat", "pig", "hen")
        ),
        *(
            f"1\tThe {one} is asleep\tThe {one} is not asleep\t3.5\tCONTRADICTION"
            for one in ("dog", "cat", "pig", "hen")
        ),
        "1\tA man feeds the dog\tA man looks at rain\t4.0\tENTAILMENT",
        "1\tA man feeds the dog\tA woman washes a car\t1.0\tNEUTRAL",
    ]
    (tmp_path / "SICK_own.txt").write_text("\n".join(sick) + "\n")
    (tmp_path / "msr.tsv").write_text(
        '\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t1\t2\t"So," he said.\tHe did.\n'
    )
    beam = [
        [
            "x",
            {"first_statement": [1, 2], "second_statement": [3]},
            {"1": "I never ski.", "2": "Why?", "3": "I ski well."},
        ],
        ["x", {"first_statement": [1], "second_statement": [1]}, {"1": "Both are one."}],
        ["x", {"first_statement": 1}, {}],
    ]
    (tmp_path / "beam.json").write_text(json.dumps(beam))
    (tmp_path / "other.json").write_text("not json")
    return tmp_path


def test_every_format_is_read(data: Path) -> None:
    found = pairs.pairs(data)
    assert sorted({(pair.source, pair.relation) for pair in found}) == [
        ("beam", "contradiction"),
        ("cannot", "opposite"),
        ("msrp", "duplicate"),
        ("sick", "contradiction"),
        ("sick", "duplicate"),
        ("sick", "neutral"),
    ]
    assert [pair.first for pair in found if pair.source == "beam"] == ["I never ski. Why?"]
    assert sum(pair.relation == "duplicate" for pair in found) == 5


def test_the_engine_answers(data: Path) -> None:
    result = pairs.run(data, embedder=WordEmbedder())
    dev, test = result["dev"], result["test"]
    assert dev["pairs"] + test["pairs"] == len(pairs.pairs(data))
    for part in (dev, test):
        assert part["opposite_merged"] == 0.0
        assert part["by_source"]["contradictions_flagged"]["sick: contradiction"]["share"] == 1.0
        # Only the same words are one memory: another wording stays a memory of its own.
        assert part["by_source"]["duplicates_merged"]["sick: duplicate"]["share"] == 0.0
    assert "sick: duplicate" in set_table(result)


def test_samples_are_drawn_by_the_seed(data: Path) -> None:
    result = pairs.run(data, embedder=WordEmbedder(), limit=1, seed=7)
    assert all(one["n"] == 1 for part in result["dev"]["by_source"].values() for one in part.values())
    assert drawn(range(100), 5, 7) == drawn(range(100), 5, 7) != drawn(range(100), 5, 8)
    assert drawn([1, 2], 5, 7) == [1, 2]


def test_a_sentence_is_always_in_the_same_half() -> None:
    assert half("A man") == half("a MAN")
    assert {half(str(number)) for number in range(20)} == {"dev", "test"}


@pytest.mark.parametrize("name", ["pairs", "pii"])
def test_data_that_is_not_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="data:missing"):
        SETS[name](tmp_path)
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInput, match=f"data:{name}"):
        SETS[name](tmp_path)
