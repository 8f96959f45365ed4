"""The memory that adapters are made of: runs of a turn, captures that are made up for, tools that answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mnemic.agents.turns import TurnMemory, asks_of_turn, latest_ask, latest_asks
from mnemic.engine import MemoryEngine
from mnemic.errors import InjectionFailed, StoreUnavailable
from mnemic.inject import InjectionConfig
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Kind, Origin

ANA = Actor(user="ana")
ASK = {"role": "user", "content": "Which seat do I prefer?"}
CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "t", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "two flights"}]}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as one:
        yield one


async def runs(engine: MemoryEngine) -> list[Any]:
    return [event.detail["run_id"] for event in await engine.audit(actor=ANA) if event.action == "injected"]


async def down(*_: Any, **__: Any) -> Any:
    raise StoreUnavailable


async def test_a_tool_loop_is_one_run_and_the_next_ask_another(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    memory = TurnMemory(engine, ANA)
    first, loop, again = [await memory.inject(messages) for messages in ([ASK], [ASK, CALL, RESULT], [ASK])]
    assert first.injected
    assert loop.carried
    assert list(loop.messages) == [first.messages[0], CALL, RESULT]
    assert loop.entries == first.entries
    assert again.text != first.text
    assert await runs(engine) == [first.run.run_id, again.run.run_id]
    assert memory.counts == {"injected": 2, "carried": 1}


async def test_the_turn_is_what_is_told_last(engine: MemoryEngine) -> None:
    memory = TurnMemory(engine, ANA)
    await memory.inject([ASK])
    await memory.inject([ASK, CALL, RESULT])
    assert memory.last is not None
    assert (memory.last.injected, memory.last.reason) == (False, "no_match")
    assert memory.counts == {"skipped:no_match": 1, "carried": 0}
    await engine.add("aisle", key="seat", actor=ANA)
    kept = (await memory.inject([ASK])).messages
    leaked = await memory.inject([*kept, CALL, RESULT])
    assert leaked.messages == [*kept, CALL, RESULT]
    assert memory.last is not None
    assert [entry.content for entry in memory.last.entries] == ["seat: aisle"]


async def test_a_call_that_looks_again_keeps_what_was_there_and_adds_what_is_new(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    await engine.add("Marta flies to Denver on Friday.", actor=ANA)
    memory = TurnMemory(engine, ANA, InjectionConfig(trigger="everyTurn"))
    first = await memory.inject([ASK])
    looking = {"role": "assistant", "content": "Let me see when Marta flies to Denver."}
    second = await memory.inject([ASK, looking, RESULT])
    assert [entry.content for entry in first.entries] == ["seat: aisle"]
    assert [entry.content for entry in second.entries] == ["seat: aisle", "Marta flies to Denver on Friday."]
    assert second.messages[0] == first.messages[0]
    assert "Friday" in str(second.messages[2])
    assert [block.at for block in second.blocks] == [0, 2]
    third = await memory.inject([ASK, looking, RESULT, CALL, RESULT])
    assert list(third.messages[:3]) == list(second.messages)
    assert len(await runs(engine)) == 2


async def test_a_block_follows_its_message_and_then_the_turn(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    old = {"role": "user", "content": "Hello."}
    memory = TurnMemory(engine, ANA)
    run_of = [old, {"role": "assistant", "content": "Hi."}, ASK]
    first = await memory.inject(run_of)
    assert first.at == 2
    trimmed = await memory._injector.inject([ASK, CALL, RESULT], run=first.run)
    assert (trimmed.at, trimmed.injected) == (0, True)
    gone = await memory._injector.inject([CALL, RESULT], run=first.run)
    assert (gone.injected, gone.at, gone.trailing, gone.messages[0]) == (True, 1, 1, CALL)
    assert gone.messages[1]["content"][0] == RESULT["content"][0]
    assert first.text in gone.messages[1]["content"][1]["text"]
    nowhere = [CALL, {"type": "function_call_output", "call_id": "c", "output": "two flights"}]
    left_out = await memory._injector.inject(nowhere, run=first.run)
    assert (left_out.injected, list(left_out.messages)) == (False, nowhere)


SAID_BEFORE = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
SUMMARY = {"role": "user", "content": "Summary of the conversation: greetings."}
STEERING = {"role": "user", "content": "Be quick about it."}


@pytest.mark.parametrize(
    ("later", "at"),
    [
        ([ASK, CALL, RESULT], 0),
        ([{"role": "system", "content": "Be kind."}, *SAID_BEFORE, ASK, CALL, RESULT], 3),
        ([SUMMARY, ASK, CALL, RESULT], 1),
        ([*SAID_BEFORE, ASK, CALL, RESULT, STEERING], 2),
        ([*SAID_BEFORE, ASK, CALL, RESULT, STEERING, CALL, RESULT], 2),
    ],
    ids=["trimmed", "longer", "summary", "steered", "steered loop"],
)
async def test_the_block_stays_in_the_ask_wherever_the_ask_is(engine: MemoryEngine, later: list[Any], at: int) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    memory = TurnMemory(engine, ANA)
    first = await memory.inject([*SAID_BEFORE, ASK])
    loop = await memory.inject(later)
    assert loop.messages[at] == first.messages[2]
    assert [one for place, one in enumerate(loop.messages) if place != at] == [*later[:at], *later[at + 1 :]]
    assert memory.last is loop
    assert loop.entries == first.entries
    assert await runs(engine) == [first.run.run_id]


async def test_what_is_added_in_a_loop_brings_only_what_is_new(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    await engine.add("Marta flies to Denver on Friday.", actor=ANA)
    memory = TurnMemory(engine, ANA)
    first = await memory.inject([ASK])
    more = {"role": "user", "content": "And when does Marta fly to Denver?"}
    steered = await memory.inject([ASK, CALL, RESULT, more])
    assert steered.messages[0] == first.messages[0]
    assert "Friday" in steered.messages[3]["content"]
    assert steered.messages[3]["content"].count("aisle") == 0
    again = await memory.inject([ASK, CALL, RESULT, more, CALL, RESULT])
    assert list(again.messages[:4]) == list(steered.messages)


async def test_a_turn_whose_ask_was_cut_away_is_told_still(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    memory = TurnMemory(engine, ANA)
    first = await memory.inject([ASK], thread="monday")
    await memory.inject([ASK, CALL, RESULT], thread="monday")
    cut = [SUMMARY, CALL, RESULT, CALL, {**RESULT, "id": "2"}]
    told = await memory.inject(cut, thread="monday")
    assert (told.at, told.entries, list(told.messages[1:])) == (0, first.entries, cut[1:])
    assert first.text in told.messages[0]["content"]
    assert memory.last is told
    later = await memory.inject([*cut, CALL, {**RESULT, "id": "3"}], thread="monday")
    assert list(later.messages[:5]) == list(told.messages)
    await memory.inject(cut, thread="friday")
    assert memory.last is not None
    assert (memory.last.injected, memory.last.reason) == (False, "not_triggered")


async def test_a_window_that_leaves_answers_of_tools_alone_keeps_the_block(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    memory = TurnMemory(engine, ANA)
    first = await memory.inject([ASK])
    results = [{"role": "user", "content": [{**RESULT["content"][0], "content": f"flight {n}"}]} for n in range(4)]
    for end in range(1, 4):
        loop = [one for result in results[:end] for one in (CALL, result)]
        before = await memory.inject([ASK, *loop])
    window = await memory.inject([results[2], CALL, results[3]])
    assert (before.at, window.at, window.text) == (0, 2, first.text)
    again = await memory.inject([results[2], CALL, results[3], CALL, RESULT])
    assert (again.at, list(again.messages[:3])) == (2, list(window.messages))
    assert memory.counts == {"injected": 1, "carried": 5}


async def test_what_was_found_for_an_answer_of_a_tool_goes_with_it(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    memory = TurnMemory(engine, ANA, InjectionConfig(trigger="everyTurn"))
    looking = {"role": "assistant", "content": "Let me see which seat."}
    first = await memory.inject([looking, RESULT])
    assert [block.is_asks for block in first.blocks] == [False]
    other = {"role": "user", "content": "Thanks."}
    gone = await memory._injector.inject([other, CALL], run=first.run)
    assert (gone.injected, list(gone.messages)) == (False, [other, CALL])


async def test_a_retry_of_the_first_call_is_sent_the_same_text(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    memory = TurnMemory(engine, ANA)
    first, retry, third = [await memory.inject([ASK]) for _ in range(3)]
    assert first.messages == retry.messages == third.messages
    assert len(set(await runs(engine))) == 3
    await engine.update((await engine.list(actor=ANA))[0].memory_id, "window", actor=ANA)
    changed = await memory.inject([ASK])
    assert "window" in changed.text
    assert "aisle" not in changed.text
    assert changed.text[:30] != first.text[:30]


def test_what_belongs_to_the_open_turn() -> None:
    answer = {"role": "assistant", "content": "yes"}
    assert asks_of_turn([ASK, answer, STEERING]) == (["Be quick about it."], False)
    assert asks_of_turn([ASK, answer, ASK, CALL, RESULT, STEERING, ASK]) == (
        [ASK["content"], STEERING["content"], ASK["content"]],
        True,
    )
    assert asks_of_turn([answer, CALL, RESULT]) == ([], True)
    assert asks_of_turn([None, ASK, {"role": "user", "content": 3}]) == ([ASK["content"]], False)
    assert asks_of_turn([]) == ([], False)


async def test_what_a_model_searched_for_itself_is_in_the_audit(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    memory = TurnMemory(engine, ANA)
    answer = await memory.search_memory("Which seat do I prefer?")
    (event,) = [event for event in await engine.audit(actor=ANA) if event.action == "injected"]
    pairs: Any = event.detail["memories"]
    logged = [list(pair) for pair in pairs]
    assert logged == [[shown["memory_id"], 1] for shown in answer["memories"]]


async def test_what_cannot_be_accounted_for_is_not_shown_to_a_model(
    engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    monkeypatch.setattr(engine.store, "transact", down)
    answer = await TurnMemory(engine, ANA).search_memory("Which seat do I prefer?")
    assert answer == {"memories": [], "error": "store_unavailable"}


async def test_the_same_words_asked_again_are_searched_again(engine: MemoryEngine) -> None:
    memory = TurnMemory(engine, ANA)
    assert (await memory.inject([ASK])).reason == "no_match"
    await memory.capture("I prefer aisle seats.")
    assert "seat: aisle" in (await memory.inject([ASK])).text


async def test_threads_have_runs_of_their_own(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    memory = TurnMemory(engine, ANA, InjectionConfig(trigger="everyTurn"))
    for thread in ("monday", "friday"):
        await memory.inject([ASK], thread=thread)
    for thread in ("monday", "friday"):
        await memory.inject([ASK, CALL, RESULT], thread=thread)
    first, second = await runs(engine)
    assert first != second


async def test_what_failed_is_captured_with_the_next_turn_in_order(
    engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    memory = TurnMemory(engine, ANA)
    with monkeypatch.context() as outage, caplog.at_level(logging.WARNING):
        outage.setattr(engine.store, "transact", down)
        await memory.capture("I prefer aisle seats.")
        await memory.capture("I live in Oslo.")
    assert [name for name in memory.counts if "capture_failed" in name]
    assert "aisle" not in caplog.text
    assert await engine.count(actor=ANA) == 0
    await memory.capture("I prefer window seats.")
    assert memory.counts["captured"] == 3
    assert {one.content for one in await engine.list(actor=ANA, kinds=["long_term"])} == {"window", "Oslo"}

    said = [one.content for one in await engine.list(actor=ANA, kinds=["episodic"])]
    assert said == ["I prefer window seats.", "I live in Oslo.", "I prefer aisle seats."], "each once"


async def messages(engine: MemoryEngine) -> list[str]:
    return [one.content for one in await engine.list(actor=ANA, categories=["message"])]


async def test_what_the_rules_do_not_understand_is_found_in_the_message(engine: MemoryEngine) -> None:
    memory = TurnMemory(engine, ANA)
    await memory.capture("Yesterday we shipped the beta to 40 customers, and two of them complained.")
    assert "40 customers" in (await memory.inject([{"role": "user", "content": "Who got the beta?"}])).text


async def test_a_message_is_not_shown_beside_the_fact_that_was_made_of_it(engine: MemoryEngine) -> None:
    memory = TurnMemory(engine, ANA)
    await memory.capture("I prefer aisle seats.")
    assert await messages(engine) == ["I prefer aisle seats."]
    assert (await memory.inject([ASK])).text.count("aisle") == 1


@pytest.mark.parametrize(
    "said",
    ["Find me a flight to Denver.", "Thanks!", "Is this right?\n```\nI live in Rome.\n```"],
    ids=["request", "small talk", "pasted"],
)
async def test_what_says_nothing_of_the_user_is_not_recorded(engine: MemoryEngine, said: str) -> None:
    await TurnMemory(engine, ANA).capture(said)
    assert await messages(engine) == []


async def test_what_policy_leaves_out_is_not_recorded_either() -> None:
    policy = Policy(keys={"declared_tier": KeyRule("declared_tier", sensitive=True)}, open_keys=True, keyless=True)
    grant, store = Grant.from_policy(policy), InProcessStore()
    async with MemoryEngine(store=store, embedder=WordEmbedder(), policy=policy, grant=grant) as engine:
        await TurnMemory(engine, ANA).capture("My tier is enterprise.")
        assert await engine.count(actor=ANA) == 0


async def test_a_request_about_memory_is_handed_to_the_program(engine: MemoryEngine) -> None:
    memory = TurnMemory(engine, ANA)
    await memory.capture("My passport is in the blue bag.")
    assert memory.asked == ()
    await memory.capture("Please forget what I told you about my passport.")
    (asked,) = memory.asked
    await engine.carry_out(asked, actor=ANA)
    kept = [one.content for one in await engine.list(actor=ANA)]
    assert not [text for text in kept if "passport" in text]
    await memory.capture("I live in Oslo.")
    assert memory.asked == ()


async def test_policy_keeps_no_messages() -> None:
    policy = Policy(keep_messages=False)
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), policy=policy) as engine:
        await TurnMemory(engine, ANA).capture("I prefer aisle seats.")
        assert [one.kind for one in await engine.list(actor=ANA)] == [Kind.LONG_TERM]


async def test_what_the_policy_refuses_is_not_tried_again(engine: MemoryEngine) -> None:
    memory = TurnMemory(engine, ANA)
    await memory.capture("ok", " ", "Hello there.")
    await memory.capture()
    assert memory.counts == {"captured": 2}


@pytest.mark.parametrize(
    "messages", [[{"content": "no role"}], [{"role": "user"}], [None], [{"role": "user", "content": 3}]]
)
async def test_messages_of_no_known_shape_are_told(engine: MemoryEngine, messages: list[Any]) -> None:
    memory = TurnMemory(engine, ANA)
    injection = await memory.inject(messages)
    assert (injection.degraded, injection.messages) == (True, messages)
    assert memory.last is injection


async def test_a_task_that_needs_memory_may_stop(engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "recall", down)
    with pytest.raises(InjectionFailed):
        await TurnMemory(engine, ANA, InjectionConfig(on_failure="stop")).inject([ASK])


def test_what_was_asked_in_the_latest_turn() -> None:
    said = [{"role": "user", "content": text} for text in ("old", "first", "second")]
    answer = {"role": "assistant", "content": "yes"}
    conversation = [said[0], answer, said[1], said[2], CALL, RESULT, answer]
    assert latest_asks(conversation) == ["first", "second"]
    assert latest_ask(conversation) == (3, "second")
    assert latest_asks([answer]) == []
    assert latest_ask([RESULT]) is None


# -- the tools ---------------------------------------------------------------------------------------------------------


async def test_a_search_shows_no_live_address_of_untrusted_origin(engine: MemoryEngine) -> None:
    await engine.add("see https://evil.example/x\u200b for seats", actor=ANA, origin=Origin.WEB)
    (found,) = (await TurnMemory(engine, ANA).search_memory("seats"))["memories"]
    assert found["content"] == "see hxxps[:]//evil[.]example/x for seats"
    assert found["trusted"] is False


@pytest.mark.parametrize(("asked_for", "given"), [(-1, 1), (0, 1), (2, 2), (10_000, 3)])
async def test_a_model_cannot_ask_for_everything(engine: MemoryEngine, asked_for: int, given: int) -> None:
    for key, colour in (("badge", "blue"), ("badge_lab", "red"), ("badge_gym", "green")):
        await engine.add(colour, key=key, actor=ANA)
    assert len((await TurnMemory(engine, ANA).search_memory("badge", asked_for))["memories"]) == given


async def test_a_model_may_say_when_it_asks(engine: MemoryEngine) -> None:
    await engine.add("The boiler was serviced.", actor=ANA)
    memory = TurnMemory(engine, ANA)
    when = "2026-05-11T12:00:00"
    assert "error" not in await memory.search_memory("What was serviced last week?", asked_at=f"{when}Z")
    refused = await memory.search_memory("What was serviced last week?", asked_at=when)
    assert refused["error"] == "invalid_input:asked_at"


async def test_what_a_model_adds_is_the_models(engine: MemoryEngine) -> None:
    answer = await TurnMemory(engine, ANA).add_memory("Ana travels with a cat.")
    assert (answer["stored"], answer["outcome"]) == (True, "created")
    assert (await engine.get(answer["memory_id"], actor=ANA)).source.origin is Origin.AGENT_INFERRED


async def test_a_tool_answers_an_outage(engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = TurnMemory(engine, ANA)
    monkeypatch.setattr(engine, "recall", down)
    monkeypatch.setattr(engine, "add", down)
    assert await memory.search_memory("seat") == {"memories": [], "error": "store_unavailable"}
    assert await memory.add_memory("aisle") == {"stored": False, "reason": "store_unavailable"}
    assert memory.counts["tool_failed:store_unavailable"] == 2


# -- synchronous programs ----------------------------------------------------------------------------------------------


def test_threads_share_a_memory(tmp_path: Path) -> None:
    engine = MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder())
    memory = TurnMemory(engine, ANA)
    told = ["Plays the violin.", "Owns a red bicycle.", "Studies geology.", "Drinks green tea."]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda one: memory.now(memory.add_memory, one), told))
    assert memory.now(engine.count, actor=ANA) == 4
    memory.now(engine.close)


def test_a_synchronous_call_inside_a_running_loop(tmp_path: Path) -> None:
    engine = MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder())
    memory = TurnMemory(engine, ANA)

    async def program() -> int:
        memory.now(memory.capture, "I prefer aisle seats.")
        return memory.counts["captured"]

    assert asyncio.run(program()) == 1
    memory.now(engine.close)


ASKED, ANSWERED = "What's your brother's name?", "My brother's name is Álvaro."
FACTS = [Kind.LONG_TERM]


async def facts(engine: MemoryEngine) -> list[str]:
    return [one.content for one in await engine.list(actor=ANA, kinds=FACTS)]


async def test_an_answer_is_heard_with_what_the_model_asked_in_the_turn_before(engine: MemoryEngine) -> None:
    memory = TurnMemory(engine, ANA)
    await memory.capture("Good evening.", answer=ASKED)
    await memory.capture("Álvaro.", answer="I see.")
    assert await facts(engine) == [ANSWERED]


async def test_an_answer_is_heard_with_the_question_in_the_messages_of_its_call(engine: MemoryEngine) -> None:
    memory = TurnMemory(engine, ANA)
    ask = {"role": "user", "content": "Álvaro."}
    await memory.inject([{"role": "assistant", "content": ASKED}, ask])
    await memory.inject([{"role": "assistant", "content": ASKED}, ask, CALL, RESULT])
    await memory.capture("Álvaro.", answer="I see.")
    assert await facts(engine) == [ANSWERED]


@pytest.mark.parametrize("threads", [(None, None), ("a", "b")])
async def test_a_question_of_another_conversation_is_not_heard(engine: MemoryEngine, threads: Any) -> None:
    memory = TurnMemory(engine, ANA)
    first, second = threads
    await memory.inject([{"role": "user", "content": "Good evening."}], thread=first)
    await memory.capture("Good evening.", answer=ASKED)
    await memory.inject([{"role": "user", "content": "Álvaro."}], thread=second)
    await memory.capture("Álvaro.", answer="I see.")
    assert await facts(engine) == []


async def test_a_thread_goes_on_where_its_calls_have_the_users_words_alone(engine: MemoryEngine) -> None:
    memory = TurnMemory(engine, ANA)
    for text, answer in (("Good evening.", ASKED), ("Álvaro.", "I see.")):
        await memory.inject([{"role": "user", "content": text}], thread="a")
        await memory.capture(text, answer=answer)
    assert await facts(engine) == [ANSWERED]


async def test_what_is_captured_later_is_heard_with_the_talk_of_its_time(
    engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = TurnMemory(engine, ANA)
    await memory.capture("Good evening.", answer=ASKED)
    with monkeypatch.context() as outage:
        outage.setattr(memory, "open", down)
        await memory.capture("Álvaro.", answer="And how old are you?")
    assert await facts(engine) == []
    await memory.capture("Good night.")
    assert await facts(engine) == [ANSWERED]
