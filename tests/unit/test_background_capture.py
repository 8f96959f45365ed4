"""Capture in the background: a queue in the store, few calls, and nothing lost."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.agents.turns import TurnMemory
from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.inject.token_count import estimated_tokens
from mnemic.language.sentences.extraction_filter import has_nothing_to_keep
from mnemic.maintenance.background_capture import MAX_TRIES, BackgroundCapture, Lease, messages_of, waiting
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.policy.limits import Limits
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Kind, Message, Origin
from mnemic.unit_of_work import Mutation, apply
from tests.scripted_model import Fault, ModelRequest, Reply, ScriptedModelServer

ANA = Actor(user="ana", session="s1")
BEN = Actor(user="ben", session="s2")
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def said(text: str, minute: int = 0, **more: Any) -> Message:
    return Message(
        **{"role": "user", "content": text, "session": "s1", "sent_at": AT + timedelta(minutes=minute), **more}
    )


TALK = [
    said("I keep two goats near Bergen."),
    said("Which seat do you like?", 1, role="assistant"),
    said("I sail a dinghy on the fjord each summer.", 2),
]


def parrot(request: ModelRequest) -> Reply:
    """Proposes each readable turn as it was said."""
    shown = json.loads(request.user)
    turns = shown.get("turns") or [{"number": 0, "content": shown["user_message"]}]
    items = [
        {"turn": one["number"], "op": "add", "key": None, "value": one["content"], "quote": one["content"]}
        for one in turns
        if one["number"] in shown.get("readable", [0])
    ]
    return Reply(content=json.dumps({"items": items}))


@asynccontextmanager
async def engine_of(folder: Path, server: ScriptedModelServer) -> AsyncIterator[MemoryEngine]:
    completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
    extractor = LayeredExtractor(ModelExtractor(completer))
    store = SqliteStore(folder / "m.db")
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=ManualClock(), extractor=extractor) as engine:
        yield engine
    await completer.close()


@asynccontextmanager
async def rules_engine(folder: Path, **limits: Any) -> AsyncIterator[MemoryEngine]:
    store = SqliteStore(folder / "m.db")
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=ManualClock(), limits=Limits(**limits)) as made:
        made.background = True
        yield made


async def texts(engine: MemoryEngine, actor: Actor = ANA) -> list[str]:
    return sorted(one.content for one in await engine.list(actor=actor, kinds=[Kind.LONG_TERM]))


async def test_a_turn_waits_for_nothing_and_several_are_read_in_one_call(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            for message in TALK:
                await later.put(message, actor=ANA)
            assert (await texts(engine), server.requests) == ([TALK[0].content], [])  # what rules are sure of
            assert await later.read() == 3
            assert await texts(engine) == [TALK[0].content, TALK[2].content]
            assert (len(server.requests), later.counts["read"]) == (1, 3)
            assert await waiting(engine.store, "default") == []
            await later.put(*TALK, actor=ANA)
            assert await later.read() == 3
            assert await texts(engine) == [TALK[0].content, TALK[2].content]
            await later.stop()


async def test_a_crash_between_recording_and_leaving_it_for_the_reader_loses_nothing(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            await engine.record([TALK[0]], actor=ANA)  # all that a process had done when it ended
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(TALK[0], actor=ANA)
            assert await later.read() == 1
            assert await texts(engine) == [TALK[0].content]
            await later.stop()


async def test_maintenance_reads_what_nobody_has_read(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(*TALK, actor=ANA)
            await later.stop()
            assert (await engine.maintain(actor=ANA, dry_run=True)).captured == 3
            assert await texts(engine) == [TALK[0].content]
            assert (await engine.maintain(actor=ANA)).captured == 3
            assert await texts(engine) == [TALK[0].content, TALK[2].content]
            assert (await engine.maintain(actor=ANA)).captured == 0


async def test_the_reader_is_woken_by_what_is_put(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=0)
            await later.wait_until_read()
            await later.put(*TALK, actor=ANA)
            await later.wait_until_read()
            assert len(await texts(engine)) == 2


async def test_a_reader_that_fails_says_so_and_reads_again(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=0)
            await later.put(TALK[0], actor=ANA)
            await engine.store.close()
            await later.wait_until_read()
            assert [name for name in later.counts if name.startswith("failed:store_")]


async def test_a_model_that_finds_nothing_takes_nothing_away(tmp_path: Path) -> None:
    messages = [said("I am vegetarian."), said("My flat is on the third floor.", 1)]
    with ScriptedModelServer(lambda _: Reply(content='{"items": []}')) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(*messages, actor=ANA)
            assert await later.read() == 2
            held = {(one.kind, one.content) for one in await engine.list(actor=ANA)}
            assert {(Kind.EPISODIC, one.content) for one in messages} <= held
            assert {(Kind.LONG_TERM, "vegetarian"), (Kind.LONG_TERM, messages[1].content)} <= held
            assert len(server.requests) == 1
            await later.stop()


async def test_what_was_put_before_a_crash_is_read_after_it(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(TALK[0], actor=ANA)
            await later.put(said("I sail a dinghy on the fjord.", session="s2"), actor=BEN)
            await later.stop()
            await later.stop()
        async with engine_of(tmp_path, server) as engine:
            assert await BackgroundCapture(engine).read() == 2
            assert await texts(engine) == [TALK[0].content]
            assert await texts(engine, BEN) == ["I sail a dinghy on the fjord."]


async def test_small_talk_costs_no_call(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine)
            await later.put(said("Good morning!"), said("Hello, how can I help?", 1, role="assistant"), actor=ANA)
            assert await later.read() == 2
            assert (server.requests, later.counts["small_talk"]) == ([], 2)
            await later.stop()


@pytest.mark.parametrize("background", [False, True])
async def test_a_greeting_costs_no_call_in_a_turn_either(tmp_path: Path, background: bool) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            engine.background = background
            memory = TurnMemory(engine, ANA)
            for text in ("hi", "Thanks a lot!", "ok, good night"):
                await memory.capture(text)
            if memory.later is not None:
                assert await memory.later.read() == 3
                await memory.later.stop()
            assert server.requests == []
            await memory.capture("Thanks! I keep two goats near Bergen.")
            assert len(server.requests) == (0 if background else 1)
            if memory.later is not None:
                await memory.later.stop()


PROGRAM = """
import sys
from mnemic import Actor, Settings, build_engine
from mnemic.agents.turns import TurnMemory
settings = Settings.load(store=sys.argv[1], model="scripted", model_url=sys.argv[2], background_seconds="0.01")
memory = TurnMemory(build_engine(settings), Actor(user="ana"))
memory.now(memory.capture, "I keep two goats near Bergen.")
for line in sys.stdin:
    break
"""


def test_a_program_that_ends_while_a_model_reads_ends_in_silence(tmp_path: Path) -> None:
    """Its queue stays; nothing is to be mended, and there is no traceback."""
    asked = threading.Event()

    def hangs(request: ModelRequest) -> Reply:
        asked.set()
        return Reply.broken(Fault.HANG)

    with ScriptedModelServer(hangs) as server:
        command = [sys.executable, "-c", PROGRAM, str(tmp_path / "m.db"), server.base_url]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, **pipes) as running:
            assert asked.wait(60)
            _, complaints = running.communicate("end\n", timeout=60)
    assert (running.returncode, len(server.requests)) == (0, 1)
    assert complaints == ""


def kill_while_a_model_reads(folder: Path) -> None:
    asked = threading.Event()

    def hangs(request: ModelRequest) -> Reply:
        asked.set()
        return Reply.broken(Fault.HANG)

    with ScriptedModelServer(hangs) as server:
        command = [sys.executable, "-c", PROGRAM, str(folder / "m.db"), server.base_url]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as running:
            assert asked.wait(60)
            running.kill()


async def test_what_a_killed_program_had_not_read_is_read_after_it(tmp_path: Path) -> None:
    await asyncio.to_thread(kill_while_a_model_reads, tmp_path)
    actor, quote = Actor(user="ana"), TALK[0].content
    item = {"quote": quote, "value": "two goats", "key": "pets", "subject": "me", "holds": "now"}
    with ScriptedModelServer(model_says(item)) as server:
        named = {"model": "scripted", "model_url": server.base_url, "api_key": "test"}
        async with build_engine(Settings.load(store=str(tmp_path / "m.db"), **named)) as engine:
            assert await texts(engine, actor) == [quote]  # what rules had read was stored before the kill
            assert len(await waiting(engine.store, "default")) == 1
            # As five minutes later, when the killed reader's lease has expired.
            await apply(engine.store, Mutation(tenant="default", marks={"waiting-reader": None}))
            assert (await engine.maintain(actor=actor)).captured == 1
            assert len(server.requests) == 1
            (labelled,) = await engine.list(actor=actor, kinds=[Kind.LONG_TERM])
            assert (labelled.content, "pets" in labelled.context) == (quote, True)
            assert await waiting(engine.store, "default") == []


async def test_an_outage_leaves_the_queue_as_it_is(tmp_path: Path) -> None:
    replies: list[Callable[[ModelRequest], Reply]] = [lambda _: Reply.broken(Fault.RESET), parrot]
    with ScriptedModelServer(lambda request: replies.pop(0)(request)) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(TALK[0], actor=ANA)
            assert await later.read() == 0
            assert later.counts == {"failed:llm_unavailable": 1}
            assert len(await waiting(engine.store, "default")) == 1
            assert await texts(engine) == [TALK[0].content]  # the rules have read it in the meantime
            assert await later.read() == 1
            assert await texts(engine) == [TALK[0].content]
            await later.stop()


@pytest.mark.parametrize("poisoned", [1, 3])
async def test_a_message_that_no_model_can_read_does_not_stop_the_messages_after_it(
    tmp_path: Path, poisoned: int
) -> None:
    def reply(request: ModelRequest) -> Reply:
        return Reply.broken(Fault.RESET) if "TABLE" in request.user else parrot(request)

    with ScriptedModelServer(reply) as server:
        async with engine_of(tmp_path, server) as engine:
            assert isinstance(engine.clock, ManualClock)
            later = BackgroundCapture(engine, gathering_seconds=3600)
            tables = [said("Read my TABLE, I sail a dinghy.", one, session=f"t{one}") for one in range(poisoned)]
            await later.put(*tables, *TALK, actor=ANA)
            for _ in range(3):
                await later.read()
            assert len(await waiting(engine.store, "default")) == poisoned
            assert TALK[0].content in await texts(engine)
            calls = len(server.requests)
            await later.read()
            assert len(server.requests) == calls  # they rest
            for hours in range(2 * MAX_TRIES):
                engine.clock.advance(timedelta(hours=7))
                await later.put(said(f"My locker has the number {hours}.", session=f"l{hours}"), actor=ANA)
                await later.read()
            assert await waiting(engine.store, "default") == []
            assert later.counts["given_up:llm_unavailable"] == poisoned
            kept = [one.content for one in await engine.list(actor=ANA, limit=100)]
            assert kept.count(tables[0].content) == poisoned
            await later.stop()


@pytest.mark.parametrize(
    ("texts_said", "sessions"),
    [
        pytest.param("TGGGT", "abcde", id="the first and the newest"),
        pytest.param("TG", "aa", id="one conversation, read in one call"),
        pytest.param("GTGTG", "aaaaa", id="between others in one conversation"),
    ],
)
async def test_messages_are_learnt_from_wherever_those_are_that_no_model_can_read(
    tmp_path: Path, texts_said: str, sessions: str
) -> None:
    def reply(request: ModelRequest) -> Reply:
        shown = json.loads(request.user)
        turns = shown.get("turns") or [{"number": 0, "content": shown["user_message"]}]
        read = [one["content"] for one in turns if one["number"] in shown.get("readable", [0])]
        return Reply.broken(Fault.RESET) if any("TABLE" in one for one in read) else parrot(request)

    messages = [
        said("Read my TABLE, I sail." if kind == "T" else f"I keep goat number {n}.", n, session=session)
        for n, (kind, session) in enumerate(zip(texts_said, sessions, strict=True))
    ]
    with ScriptedModelServer(reply) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(*messages, actor=ANA)
            for _ in range(5):
                await later.read()
            assert len(await waiting(engine.store, "default")) == texts_said.count("T")
            assert {one.content for one in messages if "goat" in one.content} <= set(await texts(engine))
            assert len(server.requests) <= 3 * len(messages)
            await later.stop()


async def test_one_reads_a_queue_at_a_time(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(TALK[0], actor=ANA)
            other = Lease(engine.store, engine.clock, "default")
            assert await other.take()
            assert await other.take()
            assert await later.read() == 0
            assert isinstance(engine.clock, ManualClock)
            engine.clock.advance(timedelta(minutes=6))
            assert await later.read() == 1
            await later.stop()


async def test_what_is_forgotten_or_erased_is_not_read(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            (receipt,) = await later.put(TALK[0], actor=ANA)
            assert receipt.memory_id is not None
            await engine.forget(receipt.memory_id, actor=ANA)
            assert await later.read() == 1
            await later.put(said("I sail a dinghy on the fjord.", session="s2"), actor=BEN)
            await engine.erase("ben", actor=ANA)
            assert (await waiting(engine.store, "default"), server.requests) == ([], [])
            await later.stop()


async def test_what_another_person_says_is_never_read_as_the_users(tmp_path: Path) -> None:
    async with rules_engine(tmp_path) as engine:
        later = BackgroundCapture(engine, gathering_seconds=3600)
        other = said("I keep bees in Graz.", role="participant", speaker="Ben")
        await later.put(other, said("I'm allergic to bees.", 1, speaker="Ana"), actor=ANA)
        found = list((await messages_of(engine.store, await waiting(engine.store, "default"))).values())
        assert [(one.role, one.speaker) for one in found] == [("participant", "Ben"), ("user", "Ana")]
        await later.read()
        assert "I'm allergic to bees." in await texts(engine)
        assert not any("Graz" in text for text in await texts(engine))
        await later.stop()


async def test_messages_come_back_as_they_were_said(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            imported = said("I keep bees.", 5, speaker="Ana", origin=Origin.IMPORT, message_id="m5")
            await later.put(*TALK, said("{}", 3, role="tool"), imported, actor=ANA)
            entries = await waiting(engine.store, "default")
            found = list((await messages_of(engine.store, entries)).values())
            assert sorted((one.role, one.speaker or "") for one in found) == [
                ("assistant", ""), ("tool", ""), ("user", ""), ("user", ""), ("user", "Ana"),
            ]  # fmt: skip
            assert await messages_of(engine.store, []) == {}
            await later.stop()


async def test_adapters_capture_in_the_background_where_the_engine_says_so(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            engine.background = True
            memory = TurnMemory(engine, ANA)
            await memory.capture("I keep two goats near Bergen.")
            assert server.requests == []
            assert memory.later is not None
            assert await memory.later.read() == 1
            assert await texts(engine) == ["I keep two goats near Bergen."]
            await memory.later.stop()


async def test_turns_of_a_chat_that_come_one_after_another_share_a_call(tmp_path: Path) -> None:
    """By default, and with the model's answers between them: twelve are read as soon as they are there."""
    with ScriptedModelServer(parrot) as server:
        named = {"model": "scripted", "model_url": server.base_url, "api_key": "test"}
        async with build_engine(Settings.load(store=str(tmp_path / "m.db"), **named)) as engine:
            memory = TurnMemory(engine, ANA)
            for number in range(12):
                assert server.requests == []
                await memory.capture(
                    f"I keep {number + 2} goats near Bergen.", answer="How nice! What are they called?"
                )
            assert memory.later is not None
            await memory.later.wait_until_read()
            assert len(server.requests) == 1
            assert await waiting(engine.store, "default") == []
            await memory.later.stop()


ANSWER = """That sounds like a good plan, and I am happy to help with it. We could start with a short list of what you
need, then look at the times that suit you best, and put off the rest until later in the week. Shall I write that down
for you now, or would you rather wait until everybody has said what they think of it?"""


async def test_a_turn_of_an_ordinary_chat_costs_at_most_250_tokens_in_the_background(tmp_path: Path) -> None:
    with ScriptedModelServer(lambda _: Reply(content='{"items": []}')) as server:
        named = {"model": "scripted", "model_url": server.base_url, "api_key": "test"}
        async with build_engine(Settings.load(store=str(tmp_path / "m.db"), **named)) as engine:
            for number in range(10):
                await engine.add(f"The user keeps item number {number} in the cupboard beside the window.", actor=ANA)
            memory = TurnMemory(engine, ANA)
            for number in range(12):
                said_now = f"On day {number} I teach pottery to children at the library from four until about six."
                await memory.capture(said_now, answer=ANSWER)
            assert memory.later is not None
            await memory.later.wait_until_read()
            await memory.later.stop()
    (request,) = server.requests
    prompt = [one["content"] for one in request.body["messages"]]
    assert sum(map(estimated_tokens, prompt)) / 12 <= 250


@pytest.mark.parametrize(
    ("model", "more", "waits"),
    [
        (False, {}, True),  # rules read within the turn: they cost next to nothing
        (True, {}, False),
        (True, {"background": False}, True),
        (True, {"extractor": "rules"}, True),
        (False, {"background": True}, False),
    ],
)
async def test_a_turn_waits_for_a_model_only_if_asked_to(
    tmp_path: Path, model: bool, more: dict[str, Any], waits: bool
) -> None:
    with ScriptedModelServer(parrot) as server:
        named = {"model": "scripted", "model_url": server.base_url, "api_key": "test"} if model else {}
        async with build_engine(Settings.load(store=str(tmp_path / "m.db"), **named, **more)) as engine:
            memory = TurnMemory(engine, ANA)
            await memory.capture("I keep two goats near Bergen.")
            assert (memory.later is None) is waits
            assert len(server.requests) == (1 if model and waits and not more.get("extractor") else 0)
            if memory.later is not None:
                await memory.later.read()
                await memory.later.stop()
            assert "Bergen" in " ".join(await texts(engine))


async def test_what_the_model_asked_is_read_with_the_answer_and_forgotten(tmp_path: Path) -> None:
    async with rules_engine(tmp_path) as engine:
        memory = TurnMemory(engine, ANA)
        await memory.capture("Good evening.", answer="What's your brother's name?")
        await memory.capture("Álvaro.", answer="I see.")
        assert memory.later is not None
        await memory.later.read()
        assert await texts(engine) == ["My brother's name is Álvaro."]
        held = await engine.list(actor=ANA, kinds=[Kind.EPISODIC])
        assert [one.content for one in held] == ["Álvaro."]
        assert await waiting(engine.store, "default") == []
        await memory.later.stop()


async def test_a_request_about_memory_is_answered_in_its_turn(tmp_path: Path) -> None:
    async with rules_engine(tmp_path) as engine:
        memory = TurnMemory(engine, ANA)
        await engine.add("I keep bees in Graz.", actor=ANA)
        await memory.capture("Forget everything you know about me.")
        assert [(one.kind, len(one.memory_ids)) for one in memory.asked] == [("forget_all", 1)]
        assert memory.later is None
        assert [one.content for one in await engine.list(actor=ANA)] == ["I keep bees in Graz."]


@pytest.mark.parametrize("rest", ["", " I keep bees in Graz."])
async def test_a_request_about_memory_waits_for_no_model(tmp_path: Path, rest: str) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            await engine.add("I lived in Oslo.", actor=ANA)
            engine.background = True
            memory = TurnMemory(engine, ANA)
            await memory.capture(f"Forget what I told you about Oslo.{rest}")
            assert [(one.kind, len(one.memory_ids)) for one in memory.asked] == [("forget", 1)]
            assert server.requests == []
            if memory.later is not None:
                await memory.later.read()
                await memory.later.stop()
            assert await texts(engine) == [*([rest.strip()] if rest else []), "I lived in Oslo."]
            held = await engine.list(actor=ANA, kinds=[Kind.EPISODIC])
            assert [one.content for one in held] == ([rest.strip()] if rest else [])


async def test_what_needs_a_consent_is_read_before_anything_is_kept(tmp_path: Path) -> None:
    async with rules_engine(tmp_path, consent_keys=frozenset({"diet"})) as engine:
        memory = TurnMemory(engine, ANA)
        await memory.capture("I am vegan.")
        assert await engine.list(actor=ANA) == []
        await engine.grant_consent("diet", actor=ANA)
        await memory.capture("I am vegan.")
        assert memory.later is not None
        await memory.later.stop()


async def test_what_would_not_be_recorded_beside_a_capture_is_gone_once_it_is_read(tmp_path: Path) -> None:
    async with rules_engine(tmp_path) as engine:
        later = BackgroundCapture(engine, gathering_seconds=3600)
        page = said("Here is the page:\n```\nOur bank is Evil, pay there.\n```", 1)
        await later.put(said("I keep bees in Graz."), page, said("Which bees?", 2, role="assistant"), actor=ANA)
        assert await later.read() == 3
        held = await engine.list(actor=ANA, kinds=[Kind.EPISODIC])
        assert sorted(one.content for one in held) == ["I keep bees in Graz.", "Which bees?"]
        assert await waiting(engine.store, "default") == []
        await later.stop()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("thanks a lot!", True), ("My daughter is allergic to nuts.", False), ("no more coffee for me", False)],
)
def test_small_talk_is_told_without_a_model(text: str, expected: bool) -> None:
    assert has_nothing_to_keep(text) is expected


async def held_facts(engine: MemoryEngine) -> list[str]:
    return sorted(one.content for one in await engine.list(actor=ANA, kinds=[Kind.LONG_TERM]))


def model_says(*items: dict[str, Any]) -> Callable[[ModelRequest], Reply]:
    """Return a model that proposes these items of the message that holds the quote."""

    def answer(request: ModelRequest) -> Reply:
        shown = json.loads(request.user)
        turns = shown.get("turns") or [{"number": 0, "content": shown["user_message"]}]
        known = {one["text"]: one["id"] for one in shown["known"]}
        made = []
        for item in items:
            place = next((one["number"] for one in turns if item["quote"] in one["content"]), None)
            if place is not None:
                of = {"id": known[item["of"]]} if item.get("of") in known else {}
                made.append({"op": "add", **{k: v for k, v in item.items() if k != "of"}, "turn": place, **of})
        return Reply(content=json.dumps({"items": made}))

    return answer


async def test_a_fact_is_found_while_the_model_has_not_answered(tmp_path: Path) -> None:
    with ScriptedModelServer(lambda _: Reply.broken(Fault.HANG)) as server:
        async with engine_of(tmp_path, server) as engine:
            engine.background, engine.background_seconds = True, 0.0
            memory = TurnMemory(engine, ANA)
            await memory.capture("Hi! I am allergic to peanuts.")
            found = await engine.search("What am I allergic to?", actor=ANA, kinds=[Kind.LONG_TERM])
            assert any("peanuts" in hit.memory.content for hit in found.hits)
            assert memory.later is not None
            await memory.later.stop()


async def test_a_model_adds_to_what_was_stored_at_once_and_repeats_nothing(tmp_path: Path) -> None:
    item = {"quote": "my boat is called Skua", "value": "The boat of the user is called Skua"}
    with ScriptedModelServer(model_says(item, {"quote": TALK[0].content, "value": TALK[0].content})) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(TALK[0], said("Well, my boat is called Skua by the way.", 1), actor=ANA)
            at_once = await held_facts(engine)
            assert TALK[0].content in at_once
            assert await later.read() == 2
            afterwards = await held_facts(engine)
            assert set(at_once) <= set(afterwards)
            assert [one for one in afterwards if "goats" in one] == [TALK[0].content]
            assert any("Skua" in one for one in afterwards)
            await later.stop()


async def test_what_the_user_corrects_or_forgets_before_the_model_reads_stays_so(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(TALK[0], actor=ANA)
            await later.put(said("I keep bees in Graz.", 1), actor=ANA)
            by_text = {one.content: one for one in await engine.list(actor=ANA, kinds=[Kind.LONG_TERM])}
            await engine.update(by_text[TALK[0].content].memory_id, "I keep three goats near Bergen.", actor=ANA)
            await engine.forget(by_text["I keep bees in Graz."].memory_id, actor=ANA)
            assert await later.read() == 2
            assert await held_facts(engine) == ["I keep three goats near Bergen."]
            await later.stop()


TWO_AND_MORE = "I keep two goats near Bergen. I am vegetarian. What I drive: a Kia, bright red."
MORE = {"quote": "What I drive: a Kia, bright red.", "value": "What I drive: a Kia, bright red."}


@pytest.mark.parametrize("touch", ["forget", "update"])
async def test_a_model_adds_the_other_statements_of_a_message_of_which_the_user_has_touched_one(
    tmp_path: Path, touch: str
) -> None:
    again = {"quote": "I keep two goats near Bergen. I am vegetarian.", "value": "two goats near Bergen", "key": "pets"}
    with ScriptedModelServer(model_says(again, MORE, {**MORE, "quote": "I am vegetarian.", "key": "diet"})) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(said(TWO_AND_MORE), actor=ANA)
            read = await engine.list(actor=ANA, kinds=[Kind.LONG_TERM])
            assert {one.content for one in read} == {"I keep two goats near Bergen.", "vegetarian"}
            for one in read:
                if touch == "forget":
                    await engine.forget(one.memory_id, actor=ANA)
                else:
                    await engine.update(one.memory_id, f"not {one.content}", actor=ANA)
            before = await held_facts(engine)
            assert await later.read() == 1
            assert await held_facts(engine) == sorted([*before, MORE["quote"]])
            await later.stop()


async def test_words_that_the_user_has_forgotten_do_not_come_back_by_their_repetition(tmp_path: Path) -> None:
    text = "I keep two goats near Bergen. Yes: I keep two goats near Bergen, and the fence leaks."
    repeated = {"quote": "Yes: I keep two goats near Bergen, and the fence leaks.", "value": "goats"}
    with ScriptedModelServer(model_says(repeated)) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(said(text), actor=ANA)
            for one in await engine.list(actor=ANA, kinds=[Kind.LONG_TERM]):
                await engine.forget(one.memory_id, actor=ANA)
            await later.read()
            assert len(server.requests) == 1
            assert await held_facts(engine) == []
            await later.stop()


async def test_an_earlier_message_read_late_does_not_undo_a_later_one(tmp_path: Path) -> None:
    item = {"quote": "a Kia", "key": "car", "value": "Kia"}
    with ScriptedModelServer(model_says(item)) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(said("What I drive: a Kia, bright red."), actor=ANA)
            await later.put(said("My car is a Volvo.", 1), actor=ANA)
            assert await later.read() == 2
            cars = [one for one in await engine.list(actor=ANA, kinds=[Kind.LONG_TERM]) if one.key == "car"]
            assert not any("Kia" in one.content for one in cars)
            assert any("Volvo" in one for one in await held_facts(engine))
            await later.stop()


async def test_a_model_ends_by_the_words_that_were_stored_at_once(tmp_path: Path) -> None:
    quote = "My dentist is on Main Street."
    item = {"op": "update", "quote": quote, "value": quote, "of": "My dentist is Dr Vos."}
    with ScriptedModelServer(model_says(item)) as server:
        async with engine_of(tmp_path, server) as engine:
            await engine.add("My dentist is Dr Vos.", actor=ANA)
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(said(quote, 1), actor=ANA)
            walk = next(one for one in await engine.list(actor=ANA, kinds=[Kind.LONG_TERM]) if one.content == quote)
            await later.read()
            assert [one["text"] for one in json.loads(server.requests[0].user)["known"]] == ["My dentist is Dr Vos."]
            (now,) = await engine.list(actor=ANA, kinds=[Kind.LONG_TERM])
            assert (now.memory_id, now.content, len(now.supersedes)) == (walk.memory_id, quote, 1)
            await engine.undo(now.memory_id, actor=ANA)
            assert await held_facts(engine) == ["My dentist is Dr Vos.", quote]
            await later.stop()


async def test_a_model_labels_the_words_that_were_stored_at_once(tmp_path: Path) -> None:
    item = {"quote": TALK[0].content, "value": TALK[0].content, "category": "animals"}
    with ScriptedModelServer(model_says(item)) as server:
        completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
        extractor = LayeredExtractor(ModelExtractor(completer, categories=["animals"]))
        store = SqliteStore(tmp_path / "m.db")
        async with MemoryEngine(store=store, embedder=WordEmbedder(), extractor=extractor) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(TALK[0], actor=ANA)
            (at_once,) = await engine.list(actor=ANA, kinds=[Kind.LONG_TERM])
            await later.read()
            (labelled,) = await engine.list(actor=ANA, kinds=[Kind.LONG_TERM])
            assert (labelled.memory_id, labelled.category) == (at_once.memory_id, "animals")
            assert at_once.category != "animals"
            await later.stop()
        await completer.close()


async def test_what_is_erased_before_the_model_reads_is_not_written_by_it(tmp_path: Path) -> None:
    with ScriptedModelServer(parrot) as server:
        async with engine_of(tmp_path, server) as engine:
            later = BackgroundCapture(engine, gathering_seconds=3600)
            await later.put(TALK[0], actor=ANA)
            assert await held_facts(engine) == [TALK[0].content]
            await engine.erase("ana", actor=ANA)
            await later.read()
            assert (await engine.list(actor=ANA), server.requests) == ([], [])
            await later.stop()


async def test_what_turns_left_that_each_ran_on_a_loop_of_its_own_is_read(tmp_path: Path) -> None:
    """As Strands' `agent(...)` runs them."""
    async with rules_engine(tmp_path) as engine:
        engine.background_seconds = 0.0
        memory = TurnMemory(engine, ANA)
        for text in ("I keep two goats near Bergen.", "I sail a dinghy on the fjord each summer."):
            await asyncio.to_thread(asyncio.run, memory.capture(text))
        assert memory.later is not None
        await memory.later.wait_until_read()
        assert await waiting(engine.store, "default") == []
        await memory.later.stop()
