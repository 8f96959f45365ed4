"""A model's part played from labels: in the set's measurement, and through the real client."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.types import Actor, Message
from mnemic_eval.oracle import Answers, Oracle, right_items, wrong_items
from mnemic_eval.truth import run
from tests.scripted_model import ModelRequest, Reply, ScriptedModelServer


def line(
    number: int, kind: str, *said: str, asked: tuple[str, str, str], now: str, over: str, **more: Any
) -> dict[str, Any]:
    question, must, must_not = asked
    days = [f"2026-0{month}-01T10:00:00+00:00" for month in range(1, len(said) + 1)]
    return {
        "id": f"o{number}",
        "lang": "en",
        "kind": kind,
        "sessions": [
            {
                "at": at,
                "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "You own a hotel."}],
            }
            for at, text in zip(days, said, strict=True)
        ],
        "asks": [{"q": question, "at": "2026-09-01T10:00:00+00:00", "must": [must], "must_not": [must_not]}],
        "now_true": [now],
        "no_longer": [{"statement": over, "until": days[-1][:10]}] if over else [],
        "never_store": more.get("never_store", []),
        "not_users_word": ["The user owns a hotel."],
    }


LINES = [
    line(
        1,
        "moved",
        "My studio is in Ghent, above a bakery.",
        "The studio is in Bruges now, by the canal. any good cafés there?",
        asked=("Where is my studio?", "Bruges", "Ghent"),
        now="The studio is in Bruges.",
        over="The studio is in Ghent.",
        never_store=["any good cafés there?"],
    ),
    line(
        2,
        "ended",
        "I keep bees behind the house, four hives.",
        "I gave the bees away, all four hives are gone.",
        asked=("Do I keep bees?", "gone|gave", "behind the house"),
        now="The bees are gone.",
        over="The user keeps bees behind the house.",
    ),
    line(
        3,
        "switched",
        "We pay the band by cheque.",
        "Can you switch the band to bank transfers? Cheques take too long.",
        asked=("How do we pay the band?", "transfer", "by cheque"),
        now="The band is paid by bank transfers.",
        over="The band is paid by cheque.",
    ),
    line(
        4,
        "joke",
        "I drive a van for the choir.",
        "Yeah right, I'll drive the choir to the moon.",
        asked=("What do I drive?", "van", "moon"),
        now="The user drives a van for the choir.",
        over="",
    ),
]


def written(folder: Path) -> Path:
    (folder / "updates.jsonl").write_text("".join(json.dumps(one) + "\n" for one in LINES), encoding="utf-8")
    return folder


def test_right_answers_keep_what_is_true_and_close_what_is_not(tmp_path: Path) -> None:
    result = run(written(tmp_path), oracle="right")
    assert "turns" not in result
    assert result["settings"]["model"] == "right"
    for name in ("updates", "updates_with_record"):
        assert result[name]["score_ok"] == 1.0
        assert result[name]["updates"]["closed_old_rate_of_all"] == 1.0
        assert result[name]["unsupported"] == result[name]["laundering"]["memories"] == 0


def test_of_wrong_answers_nothing_is_kept_that_was_not_said(tmp_path: Path) -> None:
    result = run(written(tmp_path), oracle="wrong", per_question=tmp_path / "lines.jsonl")
    for name in ("updates", "updates_with_record"):
        assert result[name]["unsupported"] == result[name]["laundering"]["memories"] == 0
    stored = [
        text for one in (tmp_path / "lines.jsonl").read_text("utf-8").splitlines() for text in json.loads(one)["stored"]
    ]
    assert stored
    assert not [text for text in stored if any(word in text for word in ("hotel", "owl", "Ulaanbaatar"))]


def test_wrong_answers_are_of_many_kinds() -> None:
    made = wrong_items(LINES[0], "I don't like the studio.", [{"id": 1, "key": None, "text": "x"}])
    assert {one["op"] for one in made} == {"add", "update", "end"}
    assert {"Ulaanbaatar", "The user owns a hotel.", "I do like the studio."} <= {one.get("value") for one in made}


def test_a_label_told_in_a_clause_beside_another_end_is_quoted_by_it() -> None:
    row = line(
        5,
        "returned",
        "Book the sauna for me whenever there is one.",
        "my ticket for the baths expired, skip the sauna",
        "I have a new ticket for the baths, the sauna is fine again.",
        asked=("Should I book the sauna?", "fine again", "skip the sauna"),
        now="The sauna is fine again; there is a new ticket for the baths.",
        over="The user wants no sauna.",
    )
    said = row["sessions"][1]["messages"][0]["content"]
    assert [one["quote"] for one in right_items(row, said, [])] == ["skip the sauna"]


def test_what_is_told_by_no_message_is_not_answered() -> None:
    assert right_items(LINES[1], "Lovely weather.", [{"id": 1, "key": None, "text": "four hives"}]) == []


@pytest.mark.parametrize("answers", ["right", "wrong"])
async def test_over_the_wire_it_is_the_same(answers: Answers) -> None:
    oracle = Oracle(answers)

    def reply(request: ModelRequest) -> Reply:
        return Reply(content=oracle.reply(request.user))

    with ScriptedModelServer(reply) as server:
        completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
        async with MemoryEngine(
            store=InProcessStore(), embedder=MiniLmEmbedder(), extractor=ModelExtractor(completer)
        ) as engine:
            for row in LINES:
                oracle.line = row
                await _tell(engine, row)
            live = {row["id"]: await engine.list(actor=Actor(user=row["id"])) for row in LINES}
        await completer.close()
    told = {name: " ".join(one.content for one in memories) for name, memories in live.items()}
    # A wrong answer ends nothing and loses nothing that the user said.
    assert ("Ghent" in told["o1"]) is (answers == "wrong")
    assert "Bruges" in told["o1"]
    assert not any("hotel" in text or "owl" in text for text in told.values())


async def _tell(engine: MemoryEngine, row: dict[str, Any]) -> None:
    for session in row["sessions"]:
        at = datetime.fromisoformat(session["at"])
        for minute, one in enumerate(session["messages"]):
            said = Message(role=one["role"], content=one["content"], sent_at=at + timedelta(minutes=minute))
            await engine.capture(said, actor=Actor(user=row["id"]))
