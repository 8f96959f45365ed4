from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic_eval.tables import set_table
from mnemic_eval.truth import run
from mnemic_eval.truth_match import content_words, cover, is_stale, keeps, matches

AT = "2026-03-01T10:00:00+00:00"
UPDATE: dict[str, Any] = {
    "id": "u1",
    "lang": "en",
    "kind": "keep_both",
    "sessions": [
        {
            "at": AT,
            "messages": [
                {"role": "user", "content": "We have a tortoise called Shelly."},
                {"role": "assistant", "content": "You live in Antwerp, I see."},
                {"role": "user", "content": "lovely weather"},
            ],
        }
    ],
    "asks": [
        {"q": "What is the tortoise called?", "at": "2026-03-02T10:00:00+00:00", "must": ["Shelly"], "must_not": []}
    ],
    "now_true": ["tortoise called Shelly"],
    "no_longer": [],
    "never_store": ["lovely weather"],
    "not_users_word": ["lives in Antwerp"],
}
TURNS: list[dict[str, Any]] = [
    {"id": "t1", "lang": "en", "text": "Remember: the boat is in Kiel", "why": "durable",
     "keep": [{"statement": "boat in Kiel"}], "tags": ["remember"]},
    {"id": "t2", "lang": "de", "text": "hallo", "keep": [], "why": "chit_chat"},
]  # fmt: skip


def written(folder: Path, name: str, lines: list[dict[str, Any]]) -> None:
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_the_table_of_a_set_without_halves_shows_each_figure(tmp_path: Path) -> None:
    written(tmp_path, "updates.dev.jsonl", [UPDATE])
    written(tmp_path, "turns.dev.jsonl", TURNS)
    shown = [" ".join(line.split()) for line in set_table(run(tmp_path)).splitlines()]
    assert "updates: score_ok 100.0" in shown
    assert "updates: updates: closed_old_rate_of_all -" in shown
    assert "updates_with_record: by_kind: keep_both 100.0 1" in shown
    assert "turns: turns 2" in shown


def test_conversations_and_turns_are_measured_by_kind_and_language(tmp_path: Path) -> None:
    written(tmp_path, "updates.small.jsonl", [UPDATE])
    written(tmp_path, "turns.small.jsonl", TURNS)
    result = run(tmp_path, per_question=tmp_path / "lines.jsonl")
    for name in ("updates", "updates_with_record"):
        figures = result[name]
        assert figures["score_ok"] == figures["now_true_kept"] == 1.0
        assert figures["keep_both"] == {"values": 1, "stored": 1, "damaged": 0}
        assert figures["laundering"] == {"lines": 0, "memories": 0}
        assert figures["never_store_kept"] == {"quotes": 1, "memories": 0}
        assert figures["by_kind"] == {"keep_both": {"share": 1.0, "n": 1}}
    assert (result["turns"]["precision"], result["turns"]["recall"]) == (1.0, 1.0)
    assert result["turns"]["by_tag"] == {"remember": {"share": 1.0, "n": 1}}
    lines = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["set"] for line in lines] == ["updates", "updates_with_record", "turns", "turns"]


def test_data_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        run(tmp_path)
    written(tmp_path, "turns.jsonl", [{"id": "t1"}])
    with pytest.raises(InvalidInput):
        run(tmp_path)


def test_words_meet_without_accents_plurals_and_endings() -> None:
    assert content_words("The Cafés of my sister") == {"cafe", "siste"}
    assert cover("lives in Kiel", "she is living in Kiel") == 0.5
    assert cover("", "Kiel") == 0.0
    assert matches("^boat", "Boat in Kiel")


def test_what_says_that_it_is_over_is_not_stale() -> None:
    ask = {"must": ["Bremen"], "must_not": ["Kiel"]}
    assert is_stale("boat in Kiel", ask)
    assert not is_stale("the boat in Kiel is sold", ask)
    assert not is_stale("boat in Bremen, not Kiel", ask)


def test_the_whole_of_a_long_turn_keeps_nothing() -> None:
    turn = " ".join(f"{letter}oat {letter}ind" for letter in "bcdfghjklmnpqrst")
    assert not keeps(turn, "boat bind", turn)
    assert keeps("boat in Kiel", "boat Kiel", "my boat is in Kiel")
