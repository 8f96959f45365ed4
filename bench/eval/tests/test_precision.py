"""A seed and cases of our own in PrecisionMemBench's format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval import precision
from mnemic_eval.precision import Tiers, failures


def belief(name: str, aliases: list[str], **more: Any) -> dict[str, Any]:
    return {
        "_id": name,
        "user_id": "test-user",
        "type": "entity",
        "canonical_name": name,
        "aliases": aliases,
        "content": f"All about {name}.",
        "why_it_matters": "It is used.",
        "scope": ["domain:sea"],
        "pinned": False,
        "resolved_at": None,
        "superseded_by": None,
        "created_at": "2026-01-01T00:00:00Z",
        **more,
    }


SEED = [
    belief("ferry", ["boat"]),
    belief("crew_link", ["crew"], type="relation", participants=["ferry", "question"]),
    belief("old_harbour", ["pier"], superseded_by="harbour"),
    belief("harbour", ["quay"]),
    belief("closed", ["tender"], resolved_at="2026-02-01T00:00:00Z"),
    belief("question", ["tariff"], type="open_question", pinned=True),
    belief("tide", [], pinned=True),
    belief("tone", [], pinned=True, scope=["user:universal"], content="Answers directly."),
    belief("secret", ["boat"], user_id="somebody-else"),
]


def case(query: str, only: list[str], **more: Any) -> dict[str, Any]:
    return {
        "caseId": f"{query}/{more}",
        "category": "all",
        "scope": ["domain:sea"],
        "query": query,
        "expect": {"relevantBeliefs": {"shouldOnlyInclude": only}, **more.pop("expect", {})},
        **more,
    }


CASES = [
    case("Which boat goes?", ["ferry"]),
    case("Who is the crew?", ["crew_link", "ferry"]),
    case("Where is the pier?", []),
    case("Where is the quay?", ["harbour"]),
    case("And the tender?", []),
    case("And the tariff?", [], expect={"openQuestions": {"mustInclude": ["question"]}}),
    case("boat", [], scope=["domain:land"]),
    case("boat", [], budget={"maxBeliefs": 1}, expect={"pinnedFacts": {"mustInclude": ["tide"]}}),
    case("", [], expect={"personaPrelude": {"nonEmpty": True, "contains": ["directly"]}}),
    case("boat", [], userId="nobody", expect={"personaPrelude": {"isNull": True}}),
]


def folder(path: Path, cases: list[dict[str, Any]]) -> Path:
    (path / "beliefs.seed.json").write_text(json.dumps(SEED), encoding="utf-8")
    (path / "retrieval.cases.json").write_text(json.dumps(cases), encoding="utf-8")
    return path


def test_what_is_named_is_found_and_nothing_else(tmp_path: Path) -> None:
    result = precision.run(folder(tmp_path, CASES), embedder=WordEmbedder(), per_question=tmp_path / "lines.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text(encoding="utf-8").splitlines()]

    assert [line["question"] for line in lines if not line["passed"]] == []
    assert result["passes"] == len(CASES)
    assert result["overall"]["active"] == pytest.approx(3 / len(CASES))
    assert result["overall"]["similar"] < 1


def test_a_wrong_expectation_does_not_pass(tmp_path: Path) -> None:
    wrong = [case("Which boat goes?", ["ferry", "tide"]), case("Which boat goes?", [])]
    result = precision.run(folder(tmp_path, wrong), embedder=WordEmbedder())
    assert result["passes"] == 0
    assert result["overall"]["recall"] == pytest.approx((0.5 + 1) / 2)
    assert result["overall"]["precision"] == pytest.approx((1 + 0) / 2)


@pytest.mark.parametrize(
    ("expect", "failed"),
    [
        ({"relevantBeliefs": {"mustInclude": ["b"]}}, ["include"]),
        ({"relevantBeliefs": {"mustExclude": ["a"]}}, ["exclude"]),
        ({"pinnedFacts": {"mustExclude": ["p"]}}, ["pinned"]),
        ({"openQuestions": {"mustExclude": ["q"]}}, ["questions"]),
        ({"personaPrelude": {"isNull": True}}, ["no prelude"]),
        ({"personaPrelude": {"mustNotContain": ["said"]}}, ["prelude text"]),
        ({}, []),
    ],
)
def test_every_tier_can_fail_a_case(expect: dict[str, Any], failed: list[str]) -> None:
    given = Tiers(prelude="said", pinned=("p",), relevant=("a",), questions=("q",))
    assert failures(expect, given) == failed


def test_what_is_not_the_set_is_refused(tmp_path: Path) -> None:
    folder(tmp_path, [{"caseId": "x"}])
    with pytest.raises(InvalidInput) as refused:
        precision.run(tmp_path, embedder=WordEmbedder())
    assert refused.value.reason == "invalid_input:data:precision"
