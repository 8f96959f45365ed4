"""Small chats of our own in BEAM's format, told to the real engine in a real SQLite file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval import beam
from mnemic_eval.tables import set_table

SAID = (
    "I have repaired the lighthouse telescope with a brass screw.",
    "Sourdough for the harbour market takes a whole week.",
    "My brother keeps three greyhounds in Tallinn.",
    "My brother has never kept greyhounds in Tallinn.",
)


def beam_chat(name: str) -> dict[str, Any]:
    said = [
        {"id": place, "role": "assistant" if place == 1 else "user", "time": None, "batch": 1, "content": text}
        for place, text in enumerate(SAID)
    ]
    return {
        "chat": name,
        "messages": said,
        "questions": {
            "abstention": [{"question": "What is never said?"}],
            "summarization": [{"question": "Which week was it?", "source_chat_ids": []}],
            "information_extraction": [{"question": "What repaired the telescope?", "source_chat_ids": [0]}],
            "event_ordering": [{"question": "telescope, then sourdough", "source_chat_ids": [[0], [1, 1]]}],
            "contradiction_resolution": [
                {
                    "question": "Does my brother keep greyhounds in Tallinn?",
                    "source_chat_ids": {"first_statement": [2], "second_statement": [3, 99]},
                }
            ],
        },
    }


def test_beam_asks_for_every_source(tmp_path: Path) -> None:
    packed = "".join(json.dumps(beam_chat(name)) + "\n" for name in ("100K/1", "100K/2", "100K/3"))
    (tmp_path / "beam_100k.jsonl.gz").write_bytes(gzip.compress(packed.encode()))
    result = beam.run(tmp_path, embedder=WordEmbedder())

    assert result["overall"]["questions"] == 9
    assert result["categories"]["information_extraction"]["recall@5"] == 1
    assert result["categories"]["contradiction_resolution"]["recall@10"] == pytest.approx(2 / 3, abs=1e-4)
    assert result["categories"]["contradiction_resolution"]["all@10"] == 0
    assert result["categories"]["event_ordering"]["all@10"] == 1
    assert result["settings"]["split"] == {"dev": ["100K/1", "100K/2"], "test": ["100K/3"]}


def test_beam_looks_into_the_context_for_what_has_to_be_followed(tmp_path: Path) -> None:
    chat = beam_chat("1M/1")
    wanted = "Always answer me in metric units."
    chat["messages"].append({"id": 4, "role": "user", "batch": 2, "content": wanted})
    chat["messages"].append({"id": 5, "role": "teacher", "batch": 2, "content": "Nobody knows this role."})
    tested = {"question": "Which bread is best?", "instruction_being_tested": wanted, "source_chat_ids": [4]}
    unsaid = {"question": "And then?", "preference_being_tested": "I prefer velvet curtains.", "source_chat_ids": []}
    chat["questions"] |= {"instruction_following": [tested], "preference_following": [unsaid]}
    (tmp_path / "beam_1m.jsonl").write_text(json.dumps(chat), encoding="utf-8")
    result = beam.run(tmp_path, embedder=WordEmbedder(), per_question=tmp_path / "lines.jsonl")

    parts = result["standing"]["categories"]
    assert (parts["instruction_following"]["in_context"], parts["instruction_following"]["standing"]) == (1, 1)
    assert (parts["preference_following"]["in_context"], parts["preference_following"]["standing"]) == (0, 0)
    lines = (tmp_path / "lines.jsonl").read_text(encoding="utf-8")
    assert "1M/1/instruction_following/0/context" in lines
    assert "in_context" in set_table(result)


def test_what_is_not_beam_is_refused(tmp_path: Path) -> None:
    chat = {"chat": "x", "messages": beam_chat("x")["messages"], "questions": 7}
    (tmp_path / "beam_100k.jsonl").write_text(json.dumps(chat), encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        beam.run(tmp_path, embedder=WordEmbedder())
    assert refused.value.reason == "invalid_input:data:beam"


ODD_MESSAGES: list[Any] = [
    7,
    None,
    {"id": 10, "role": "system", "batch": 2, "content": "You are kind."},
    {"id": 11, "role": "user", "batch": 2, "time": "the day before", "content": "When was that?"},
    {"id": 12, "role": "user", "batch": 2, "content": ["not", "text"]},
    {"id": 13, "role": "user", "batch": 2, "content": "   "},
    {"id": 14, "role": "user", "content": "灯台の望遠鏡を真鍮のねじで直した。"},
    {"id": 15, "role": "user", "batch": None, "content": "Телескоп на маяке снова работает. 🔭"},
    {"role": "user", "batch": 3, "content": "A message without a number."},
    {"id": 16, "role": "assistant", "batch": 3, "content": "lighthouse " * 4_000},
]
ODD_QUESTIONS: dict[str, Any] = {
    "missing": [{"question": "Which telescope?"}, {"question": "Which telescope?", "source_chat_ids": None}],
    "strange": [7, None, {"source_chat_ids": [1]}, {"question": None, "source_chat_ids": [1]}, {"question": " "}],
    "single": {"question": "What repaired the telescope?", "source_chat_ids": {"first": [[0]], "second": "0"}},
    "nowhere": [{"question": "What is on the moon?", "source_chat_ids": [4711, "x"]}],
    "elsewhere": [
        {"question": "望遠鏡は？", "source_chat_ids": [14]},
        {"question": "?" * 9_000, "source_chat_ids": [15]},
    ],
    "instruction_following": [{"question": "telescope?", "instruction_being_tested": ["a", "list"]}],
    "none": None,
}


def test_odd_beam_chats_are_counted_and_the_rest_is_measured(tmp_path: Path) -> None:
    odd = beam_chat("odd")
    odd["messages"] += ODD_MESSAGES
    odd["questions"] = ODD_QUESTIONS
    empty = {"chat": "empty", "messages": [], "questions": {"a": [{"question": "Who?", "source_chat_ids": [1]}]}}
    lines = [json.dumps(one) for one in (odd, empty, {"chat": "x", "questions": 7}, [], 7, beam_chat("fine"))]
    (tmp_path / "beam_1m.jsonl").write_text("\n".join([lines[0], "{broken", *lines[1:]]), encoding="utf-8")
    result = beam.run(tmp_path, embedder=WordEmbedder())

    assert result["settings"]["unread"] == {"messages": 9, "chats": 4, "questions": 6}
    assert "could not be read: messages 9, questions 6, chats 4" in set_table(result)
    assert result["settings"]["split"] == {"dev": ["odd", "empty"], "test": ["fine"]}
    assert {name: one["questions"] for name, one in result["dev"]["categories"].items()} == {
        "a": 1,
        "elsewhere": 2,
        "nowhere": 1,
        "single": 1,
    }
    assert result["categories"]["single"]["recall@5"] == 1
    assert result["categories"]["nowhere"]["recall@20"] == result["categories"]["a"]["recall@20"] == 0
    assert result["test"]["questions"] == 3
