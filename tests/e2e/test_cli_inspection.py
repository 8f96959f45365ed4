"""count, context, lineage and uses on the command line."""

from __future__ import annotations

import json
from unittest.mock import AsyncMock

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, StoreUnavailable
from tests.e2e.conftest import Call, complaint


def test_memories_are_counted_now_and_then(mnemic: Call) -> None:
    mnemic("add", "I like tea.")
    assert mnemic("count").stdout == "1\n"
    assert json.loads(mnemic("count", "--as-of", "2020-01-01", "--json").stdout) == {"count": 0}


def test_what_a_model_is_given_is_shown_as_it_is_sent(mnemic: Call) -> None:
    mnemic("add", "I collect brass compasses.")
    assert "nothing that this depends on" in mnemic("context", "Find me a flight to Denver.").stdout
    told = json.loads(mnemic("add", "aisle", "--key", "seat", "--category", "preference", "--json").stdout)
    shown = mnemic("context", "Find me a flight to Denver.").stdout
    assert shown.startswith("<memory fence=")
    assert "seat: aisle" in shown
    answer = json.loads(mnemic("context", "Find me a flight to Denver.", "--top-k", "3", "--json").stdout)
    assert answer["memory_ids"] == [told["memory_id"]]
    assert (answer["degraded"], answer["abstained"]) == (False, False)
    assert json.loads(mnemic("context", "A flight?", "--max-tokens", "20", "--json").stdout)["text"] == ""


@pytest.mark.parametrize(
    ("failure", "reason", "code"),
    [
        (StoreUnavailable(), "search:store_unavailable", 4),
        (InvalidInput("scope:workspace"), "search:invalid_input:scope:workspace", 3),
        (TimeoutError(), "search:timeout", 4),
        (ValueError(), "search:ValueError", 1),
    ],
)
def test_what_could_not_be_looked_up_is_no_empty_answer(
    mnemic: Call, monkeypatch: pytest.MonkeyPatch, failure: Exception, reason: str, code: int
) -> None:
    mnemic("add", "aisle", "--key", "seat")
    monkeypatch.setattr(MemoryEngine, "recall", AsyncMock(side_effect=failure))
    plain = mnemic("context", "A flight?")
    assert (plain.stdout, plain.exit_code) == ("", code)
    assert complaint(plain).startswith(f"{reason} - ")
    told = mnemic("context", "A flight?", "--json")
    assert (json.loads(told.stdout)["reason"], told.exit_code) == (reason, code)


def test_a_level_without_an_owner_is_left_out(mnemic: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_GRANTED_LEVELS", '["user", "workspace"]')
    mnemic("add", "I keep bees in Graz.")
    assert "bees" in mnemic("search", "bees").stdout
    assert "bees" in mnemic("context", "Where do I keep bees?").stdout
    assert mnemic("run", "--goal", "Where do I keep bees?").exit_code == 0


def test_who_the_user_is_is_shown(mnemic: Call) -> None:
    memory_id = json.loads(mnemic("add", "Oslo", "--key", "home_city", "--json").stdout)["memory_id"]
    assert "home city: Oslo" in mnemic("profile").stdout
    told = json.loads(mnemic("profile", "--json").stdout)
    assert [one["memory"]["memory_id"] for one in told["known_lines"]] == [memory_id]
    assert "1 more" in mnemic("profile", "--max-tokens", "1").stderr


def test_a_rating_is_shown_with_its_effect(mnemic: Call) -> None:
    memory_id = json.loads(mnemic("add", "Oslo", "--key", "home_city", "--json").stdout)["memory_id"]
    assert mnemic("ratings").stdout.strip() == "nothing was rated yet"
    assert mnemic("rate", memory_id, "wrong").exit_code == 0
    assert mnemic("ratings").stdout.split()[:3] == ["wrong", "-0.20", memory_id]
    assert "withdrawn" in mnemic("rate", memory_id, "none").stdout
    assert json.loads(mnemic("ratings", "--json").stdout) == {"ratings": []}


def test_what_was_replaced_and_what_was_done_is_shown(mnemic: Call) -> None:
    old = json.loads(mnemic("add", "aisle", "--key", "seat", "--json").stdout)["memory_id"]
    new = json.loads(mnemic("add", "window", "--key", "seat", "--json").stdout)["memory_id"]
    lines = mnemic("lineage", new).stdout.splitlines()
    assert [line[0] for line in lines] == [" ", "*"]
    assert "superseded" in lines[0]
    assert lines[1].endswith("seat: window")
    told = json.loads(mnemic("lineage", old, "--json").stdout)
    assert ([one["memory_id"] for one in told["later"]], told["earlier"], told["complete"]) == ([new], [], True)

    mnemic("update", new, "exit row")
    uses = json.loads(mnemic("uses", new, "--json").stdout)
    assert [use["version"] for use in uses["uses"]] == [2, 1]
    first = mnemic("uses", new, "--limit", "1")
    assert "version   2" in first.stdout
    assert f"--before {uses['uses'][0]['sequence']}" in first.stderr
    assert "version   1" in mnemic("uses", new, "--before", str(uses["uses"][0]["sequence"])).stdout
    assert complaint(mnemic("uses", "nobody")).startswith("memory_not_found")
    assert complaint(mnemic("lineage", "nobody")).startswith("memory_not_found")


def test_a_correction_may_bring_other_fields(mnemic: Call) -> None:
    told = json.loads(mnemic("add", "I like tea.", "--category", "taste", "--data", '{"n": 1}', "--json").stdout)
    mnemic("update", told["memory_id"], "I like green tea.", "--data", '{"n": 2}', "--context", "from Uji")
    memory = json.loads(mnemic("get", told["memory_id"], "--json").stdout)
    assert (memory["data"], memory["context"]) == ({"n": 2}, "from Uji")
    assert complaint(mnemic("update", told["memory_id"], "tea", "--data", "[1]")).startswith("invalid_input:data")


def test_a_list_is_narrowed(mnemic: Call) -> None:
    mnemic("add", "aisle", "--key", "seat")
    mnemic("add", "I like tea.", "--category", "taste")
    assert "seat: aisle" in (found := mnemic("list", "--key", "seat").stdout)
    assert "tea" not in found
    assert "tea" in (found := mnemic("list", "--category", "taste", "--kind", "long_term").stdout)
    assert "aisle" not in found
