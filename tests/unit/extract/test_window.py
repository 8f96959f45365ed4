"""A window of turns read in one call, through the real client: what each message gives, what it costs, who fails."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.message_context import WINDOW_TURNS
from mnemic.extract.model_extractor import WINDOW_CHARS, ModelExtractor, windows
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import BETWEEN_PEOPLE, Actor, Message
from mnemic.types.trace import RunReport
from tests.scripted_model import Fault, Reply, ScriptedModelServer

ANA = Actor(user="ana", session="s1")
TALK = [
    Message(role="user", content="I keep two goats near Bergen.", session="s1", message_id="m0"),
    Message(role="assistant", content="Which seat do you like?", session="s1", message_id="m1"),
    Message(role="user", content="Always the aisle, please.", session="s1", message_id="m2"),
]
STOPS = Policy(on_model_failure="stop")


def item(turn: int, key: str, value: str, quote: str, **more: Any) -> dict[str, Any]:
    return {"turn": turn, "key": key, "value": value, "quote": quote, **more}


@asynccontextmanager
async def engine_of(
    folder: Path, server: ScriptedModelServer, policy: Policy | None = None
) -> AsyncIterator[MemoryEngine]:
    completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
    async with MemoryEngine(
        store=SqliteStore(folder / "m.db"),
        embedder=WordEmbedder(),
        clock=ManualClock(),
        policy=policy,
        extractor=LayeredExtractor(ModelExtractor(completer)),
    ) as engine:
        yield engine
    await completer.close()


def own(reports: Sequence[RunReport | None]) -> list[RunReport]:
    return [report for report in reports if report is not None]


async def test_one_call_reads_several_turns_and_each_keeps_its_own(tmp_path: Path) -> None:
    answer = {
        "items": [
            item(0, "goats", "two goats", "I keep two goats near Bergen", category="fact"),
            item(2, "seat", "aisle", "Always the aisle", category="preference"),
        ]
    }
    with ScriptedModelServer([answer]) as server:
        async with engine_of(tmp_path, server) as engine:
            reports = await engine.capture_many(TALK, actor=ANA)
            held = {one.content: one for one in await engine.list(actor=ANA)}
        (request,) = server.requests
    assert reports[1] is None
    first, second = own(reports)
    assert [report.status for report in (first, second)] == ["ok", "ok"]
    assert {text: one.source.ref for text, one in held.items()} == {
        "I keep two goats near Bergen.": "m0",
        "Always the aisle.": "m2",
    }
    assert held["Always the aisle."].source.quote == "Always the aisle"
    assert (first.cost.calls, second.cost.calls) == (1, 0)
    assert first.cost.input_tokens > 0
    assert first.as_dict()["cost"] == first.cost.as_dict()
    payload = json.loads(request.user)
    assert payload["readable"] == [0, 2]
    assert [turn["role"] for turn in payload["turns"]] == ["user", "assistant", "user"]
    assert request.response_format == "json_schema"


async def test_what_no_turn_of_the_user_says_is_not_kept(tmp_path: Path) -> None:
    answer = {
        "items": [
            item(1, "seat", "window", "Which seat do you like?"),
            item(2, "tier", "gold", "I am gold"),
        ]
    }
    with ScriptedModelServer([answer]) as server:
        async with engine_of(tmp_path, server) as engine:
            reports = own(await engine.capture_many(TALK, actor=ANA))
            texts = [one.content for one in await engine.list(actor=ANA)]
    assert not any("window" in text or "gold" in text for text in texts)
    assert sum(one.reason == "unsupported" for report in reports for one in report.skipped) == 2


async def test_a_breach_stops_the_run_of_its_own_message_alone(tmp_path: Path) -> None:
    policy = Policy.of("city", KeyRule("seat", allowed_values=frozenset({"aisle", "window"})))
    answer = {"items": [item(0, "diet", "vegan", "I moved"), item(2, "seat", "aisle", "Always the aisle")]}
    with ScriptedModelServer([answer]) as server:
        async with engine_of(tmp_path, server, policy) as engine:
            first, second = own(await engine.capture_many(TALK, actor=ANA))
            assert [one.key for one in await engine.list(actor=ANA)] == ["seat"]
    assert (first.status, first.stop_reason) == ("stopped", "memory_key_not_allowed_policy:diet")
    assert second.status == "ok"


@pytest.mark.parametrize("failing", [Fault.RESET, "no JSON"], ids=["unreachable", "prose"])
async def test_where_the_model_fails_the_rules_have_read(tmp_path: Path, failing: Any) -> None:
    said = [replace(TALK[0], content="I am vegetarian."), replace(TALK[2], content="My name is Ana.")]
    with ScriptedModelServer([failing] * 3) as server:
        async with engine_of(tmp_path, server) as engine:
            reports = own(await engine.capture_many(said, actor=ANA))
            single = await engine.capture("I live in Bergen.", actor=ANA)
            held = {one.content for one in await engine.list(actor=ANA)}
    assert {report.status.value for report in (*reports, single)} == {"ok"}
    assert all(report.errors and report.errors[0].startswith("extract:model: llm_") for report in (*reports, single))
    assert any("vegetarian" in text for text in held)
    assert any("Bergen" in text for text in held)


async def test_an_answer_of_another_shape_is_a_failure_of_the_model(tmp_path: Path) -> None:
    said = [replace(TALK[0], content="I am vegetarian.")]
    with ScriptedModelServer([{"things": "none"}]) as server:
        async with engine_of(tmp_path, server) as engine:
            (report,) = own(await engine.capture_many(said, actor=ANA))
            assert len(await engine.list(actor=ANA)) == 1
    assert (report.status.value, report.errors) == ("ok", ("extract:model: llm_invalid_schema",))


async def test_a_failing_model_stops_every_run_of_its_call_if_policy_says_so(tmp_path: Path) -> None:
    with ScriptedModelServer([Fault.RESET]) as server:
        async with engine_of(tmp_path, server, STOPS) as engine:
            reports = own(await engine.capture_many(TALK, actor=ANA))
            assert await engine.list(actor=ANA) == []
    assert {(report.status.value, report.stop_reason) for report in reports} == {("stopped", "llm_unavailable")}


async def test_a_message_that_is_too_long_for_a_model_costs_no_other(tmp_path: Path) -> None:
    broken = replace(TALK[0], content="x" * 40_000)
    with ScriptedModelServer([{"items": [item(1, "seat", "aisle", "Always the aisle")]}]) as server:
        async with engine_of(tmp_path, server) as engine:
            first, second = own(await engine.capture_many([broken, *TALK[1:]], actor=ANA))
            assert [one.content for one in await engine.list(actor=ANA)] == ["Always the aisle."]
    assert (first.status, first.errors) == ("ok", ("extract:model: invalid_input:message",))
    assert second.status == "ok"


async def test_without_a_window_each_message_is_read_by_itself(tmp_path: Path) -> None:
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        reports = await engine.capture_many([replace(TALK[0], content="I am vegetarian."), TALK[1]], actor=ANA)
        assert [report and report.status.value for report in reports] == ["ok", None]
        assert len(await engine.list(actor=ANA)) == 1


def test_windows_keep_to_a_session_a_count_and_a_size() -> None:
    many = [replace(TALK[0], session="a") for _ in range(WINDOW_TURNS + 3)]
    assert [len(places) for places in windows(many)] == [WINDOW_TURNS, 3]
    two = [replace(TALK[0], session="a"), replace(TALK[0], session="b"), replace(TALK[0], session="b")]
    assert list(windows(two)) == [range(1), range(1, 3)]
    long = [replace(TALK[0], content="x" * (WINDOW_CHARS - 10)) for _ in range(2)]
    assert [len(places) for places in windows(long)] == [1, 1]
    assert list(windows([])) == []


async def test_the_turns_before_a_window_are_shown_and_not_read_again(tmp_path: Path) -> None:
    talk = [replace(TALK[0], content=f"Hm, number {number}?", message_id=str(number)) for number in range(14)]
    with ScriptedModelServer([{"items": []}] * 2) as server:
        async with engine_of(tmp_path, server) as engine:
            await engine.capture_many(talk, actor=ANA)
        shown = json.loads(server.requests[1].user)
    assert [turn["content"] for turn in shown["before"]] == [one.content for one in talk[10:12]]
    assert [turn["content"] for turn in shown["turns"]] == [one.content for one in talk[12:]]
    assert shown["readable"] == [0, 1]


async def test_a_model_that_never_answers_leaves_the_reading_to_rules(tmp_path: Path) -> None:
    with ScriptedModelServer([Reply.broken(Fault.HANG)] * 3) as server:
        completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test", timeout=0.2)
        async with MemoryEngine(
            store=SqliteStore(tmp_path / "m.db"),
            embedder=WordEmbedder(),
            clock=ManualClock(),
            extractor=LayeredExtractor(ModelExtractor(completer)),
        ) as engine:
            report = await engine.capture("I live in Bergen.", actor=ANA)
            held = [one.content for one in await engine.list(actor=ANA)]
        await completer.close()
    assert report.status == "ok"
    assert any("llm_timeout" in one for one in report.errors)
    assert any("Bergen" in one for one in held)


async def test_rules_that_read_for_a_failed_model_hear_the_talk_as_they_do_without_one(tmp_path: Path) -> None:
    talk = [
        Message(role="participant", content="What's your brother's name?", session="s1"),
        Message(role="user", content="Álvaro.", session="s1"),
    ]
    with ScriptedModelServer(["no JSON"] * 6) as server:
        async with engine_of(tmp_path, server) as engine:
            await engine.capture_many(talk, actor=ANA)
            (kept,) = [one for one in await engine.list(actor=ANA) if one.key is None]
        assert server.requests
    assert kept.content == "My brother's name is Álvaro."
    assert kept.context == "What's your brother's name"
    assert kept.data[BETWEEN_PEOPLE]
