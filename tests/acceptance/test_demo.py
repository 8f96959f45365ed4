"""`mnemic demo`: what a stranger sees first must happen, in real processes, without a key and through a model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnemic.cli.demonstrations import DATA, QUESTIONS
from tests.scripted_model import Fault, ModelRequest, ScriptedModelServer

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.acceptance

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def demo(tmp_path: Path) -> Run:
    """Runs `mnemic demo` with these words and settings, and no other setting of this machine."""

    def call(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
        return subprocess.run(
            [sys.executable, "-m", "mnemic", "demo", *words],
            env={**clean, **settings},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=300,
        )

    return call


def data(run: subprocess.CompletedProcess[str]) -> Any:
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def assert_incident(incident: Any) -> None:
    report = incident["report"]
    first, second = incident["processes"]
    published = ["run_id", "status", "stop_reason", "outcome", "answer", "used_memory_keys", "applied_memory"]
    published += ["memory_state", "trace", "history"]

    assert first != second
    assert [name for name in report if name in published] == published
    assert (report["status"], report["stop_reason"], report["outcome"]) == ("ok", "success", "memory_applied")
    assert set(report["used_memory_keys"]) == {"language", "response_style", "update_channel"}
    assert {entry["key"]: entry["value"] for entry in report["applied_memory"]} == {
        "language": "english",
        "response_style": "concise",
        "update_channel": "email",
    }
    assert {entry["key"] for entry in report["memory_state"]} == set(report["used_memory_keys"])
    assert [step["phase"] for step in report["trace"]] == ["capture_store", "retrieve", "apply"]
    assert [step["step"] for step in report["trace"]] == [1, 2, 3]
    capture, retrieve, apply = report["trace"]
    assert (capture["candidates"], capture["written"], capture["blocked"]) == (4, 3, 1)
    assert (retrieve["requested_scopes"], retrieve["memory_hits"]) == (["user"], 3)
    assert apply["applied_memory_count"] == 3
    told, planned, composed = report["history"]
    assert told["blocked"] == [{"key": "declared_tier", "reason": "key_denied_execution"}]
    assert (told["session"], planned["session"]) == ("session_1", "session_2")
    assert composed["action"] == "compose_memory_augmented_answer"
    assert set(report["audit"]["verified"]) <= set(report["audit"]["cited"]) <= set(report["audit"]["injected"])
    assert len(report["audit"]["verified"]) == 3


def assert_travel(travel: Any) -> None:
    told, asked = travel["reports"]
    assert len(set(travel["processes"])) == 2
    assert {entry["key"]: entry["value"] for entry in told["memory_state"]} == {
        "seat": "aisle",
        "flight_time": "morning",
    }
    assert set(asked["used_memory_keys"]) == {"seat", "flight_time"}
    assert "morning" in asked["answer"]
    assert "aisle" in asked["answer"]
    assert "Denver" in asked["answer"]
    assert len(asked["memory_state"]) == 2


def test_without_a_key(demo: Run) -> None:
    shown = data(demo("--json"))

    assert shown["proved"] is True
    assert_incident(shown["incident"])
    assert_travel(shown["travel"])
    assert "transient" in {entry["reason"] for entry in shown["travel"]["reports"][1]["skipped"]}
    talk = shown["conversation"]
    assert talk["import"]["recorded"] == 40
    assert talk["import"]["failed"] == []
    answers = [" ".join(hit["memory"]["content"] for hit in asked["hits"]) for asked in talk["questions"]]
    assert len(answers) == len(QUESTIONS) == 3
    for answer, told in zip(answers, ("Bica", "climb", "hazelnuts"), strict=True):
        assert told in answer
    assert all(hit["ranks"] for asked in talk["questions"] for hit in asked["hits"])


def test_for_people(demo: Run) -> None:
    run = demo()

    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert run.stdout.count("Proved:") == 3
    assert "NOT PROVED" not in run.stdout
    assert "No language model is configured" in run.stdout
    assert "refused: declared_tier (key_denied_execution)" in run.stdout
    assert "{" not in run.stdout, "reports are for --json"
    assert len(run.stdout.splitlines()) <= 26, "with the two frameworks it is forty lines"


def model(request: ModelRequest) -> dict[str, Any]:
    """A language model that keeps to the contracts, as the prompts ask."""
    asked = json.loads(request.user)
    if "user_message" in asked:
        return {"items": [item for item in _ITEMS if item["quote"] in asked["user_message"]]}
    if "memory_items" not in asked:
        return {"kind": "retrieve_memory", "query": asked["goal"], "top_k": 4, "scopes": None}
    used = [entry["ref"] for entry in asked["memory_items"]]
    answer = "Incident update: the payment gateway is degraded. Customers hear from us via email."
    if "Denver" in asked["goal"]:
        answer = "I will look for morning flights to Denver with aisle seats."
    return {"answer": answer, "used_memory_keys": used}


def _item(key: str, value: str, quote: str) -> dict[str, Any]:
    return {"key": key, "value": value, "scope": "user", "ttl_days": 180, "confidence": 0.9, "quote": quote}


_ITEMS = (
    _item("language", "english", "write in English"),
    _item("response_style", "concise", "keep replies concise"),
    _item("update_channel", "email", "use email as the primary channel"),
    _item("declared_tier", "enterprise", "I am enterprise tier"),
    _item("flight_time", "morning", "morning flights"),
    _item("seat", "aisle", "aisle seats"),
)


def test_through_a_model_on_the_same_path(demo: Run) -> None:
    with ScriptedModelServer(model) as server:
        settings = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "test", "MNEMIC_MODEL": "scripted"}
        incident = data(demo("incident", "--json", **settings))["incident"]
        travel = data(demo("travel", "--json", **settings))["travel"]
        asked = [next(iter(json.loads(request.user))) for request in server.requests]

    assert_incident(incident)
    assert_travel(travel)
    assert incident["report"]["answer"].startswith("Incident update: the payment gateway")
    assert len(asked) == 3 + 4


def test_variables_of_openais_client_alone_ask_nobody(demo: Run) -> None:
    with ScriptedModelServer(lambda _: Fault.EMPTY) as server:
        settings = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "test", "OPENAI_MODEL": "scripted"}
        travel = data(demo("travel", "--json", **settings))["travel"]
    assert_travel(travel)
    assert server.requests == []


def test_a_model_that_fails_is_told_and_nothing_is_proved(demo: Run) -> None:
    with ScriptedModelServer(lambda _: Fault.EMPTY) as server:
        run = demo("travel", OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="test", MNEMIC_MODEL="scripted")

    assert run.returncode == 1
    assert "NOT PROVED" in run.stdout
    assert "llm_empty" in run.stdout
    assert run.stderr.splitlines() == [
        "mnemic: demo_not_proved - what was to be shown did not happen; the report above says why"
    ]


def test_kept_files_hold_what_was_shown(demo: Run, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    assert demo("travel", "--keep", str(folder)).returncode == 0
    command = [sys.executable, "-m", "mnemic", "--store", str(folder / "travel.db"), "--user", "user-123", "list"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "seat: aisle" in shown.stdout

    again = demo("travel", "--keep", str(folder))
    assert again.returncode == 3
    assert again.stderr.startswith("mnemic: invalid_input:keep:not_empty")


def test_a_conversation_of_ones_own(demo: Run, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text('{"role": "user", "content": "My violin is called Greta."}\n')
    shown = data(
        demo("conversation", "--json", "--conversation-file", str(file), "--ask", "what is the violin called?")
    )
    assert shown["conversation"]["questions"][0]["hits"][0]["memory"]["content"] == "My violin is called Greta."


@pytest.mark.parametrize("name", ["incident", "travel"])
def test_the_demo_runs_with_the_policy_of_the_examples(name: str) -> None:
    policy = "policy.toml"
    assert (DATA / name / policy).read_text() == (EXAMPLES / name / policy).read_text()
