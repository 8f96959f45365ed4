"""Measurements on each question, and the report that is made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnemic_eval.metrics import summary

SPLITS = ("dev", "test")
SEED = 20_240_229


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question: where it belongs, its figures, and what was found against what was wanted (ids of messages)."""

    question_id: str
    category: str
    split: str
    figures: Mapping[str, float]
    question: str = field(repr=False)
    wanted: tuple[str, ...]
    ranked: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the question as one JSON line."""
        return {
            "question_id": self.question_id,
            "category": self.category,
            "split": self.split,
            **self.figures,
            "question": self.question,
            "wanted": list(self.wanted),
            "ranked": list(self.ranked),
        }


def report(asked: Sequence[Asked], names: Sequence[str], settings: Mapping[str, Any], *, seed: int) -> dict[str, Any]:
    """`overall`, `categories`, `dev` and `test` (each of these with its categories) and `settings`, as JSON data."""
    halves = {split: [one for one in asked if one.split == split] for split in SPLITS}
    return {
        "overall": _mean(asked, names, seed),
        "categories": _by_category(asked, names, seed),
        **{
            split: {**_mean(half, names, seed), "categories": _by_category(half, names, seed)}
            for split, half in halves.items()
        },
        "settings": dict(settings),
    }


def write_lines(asked: Sequence[Asked], path: Path) -> None:
    """One JSON line a question."""
    lines = (json.dumps(one.as_dict(), ensure_ascii=False) + "\n" for one in asked)
    path.write_text("".join(lines), encoding="utf-8")


def _by_category(asked: Sequence[Asked], names: Sequence[str], seed: int) -> dict[str, Any]:
    categories = sorted({one.category for one in asked})
    return {name: _mean([one for one in asked if one.category == name], names, seed) for name in categories}


def _mean(asked: Sequence[Asked], names: Sequence[str], seed: int) -> dict[str, Any]:
    return summary([one.figures for one in asked], names, seed)
