"""The injector: when it injects, what it tells when it does not, and that nothing goes wrong in silence."""

from __future__ import annotations

import asyncio
import copy
import logging
import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic import MemoryManager
from mnemic.engine import MemoryEngine
from mnemic.errors import EmbedderFailed, InjectionFailed, InvalidConfig, StoreBusy
from mnemic.inject import InjectionConfig, InjectionContext, InjectionRun, Injector, SourceEntry, injector_for
from mnemic.inject.citation_check import Verdict
from mnemic.inject.injection_log import digest_of
from mnemic.inject.token_count import within_tokens
from mnemic.providers.minilm import InProcessEmbedder, Vectors
from mnemic.retrieve.relevance import MIN_MEMORIES
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Deadline, Hit, Kind, Memory, Origin
from tests.unit.inject.shapes import BEDROCK, SHAPES, texts

ASK = BEDROCK["ask"]
TOOL = BEDROCK["tool"]


class Notes:
    """A source with a script."""

    def __init__(
        self, *contents: str, name: str = "notes", error: Exception | None = None, relevance: float | None = None
    ) -> None:
        self.name = name
        self.relevance = relevance
        self.contents = contents
        self.error = error
        self.queries: list[str] = []

    async def search(self, query: str, *, limit: int, deadline: Deadline) -> Sequence[SourceEntry]:
        self.queries.append(query)
        if self.error:
            raise self.error
        return [
            SourceEntry(content=content, source=self.name, trusted=True, relevance=self.relevance)
            for content in self.contents
        ]


class Silent(Notes):
    """A source that never answers."""

    async def search(self, query: str, *, limit: int, deadline: Deadline) -> Sequence[SourceEntry]:
        await asyncio.Event().wait()
        return []


def injector(*sources: Notes, **config: Any) -> Injector:
    return Injector(sources or [Notes("seat: aisle")], InjectionConfig(**config))


async def test_the_block_reaches_the_messages_and_the_given_ones_stay() -> None:
    before = copy.deepcopy(ASK)
    one = injector()
    done = await one.inject(ASK)
    assert (done.injected, done.degraded, done.reason) == (True, False, None)
    assert "seat: aisle" in texts(done.messages[-1])
    assert done.text in texts(done.messages[-1])
    assert done.digest == digest_of(done.text)
    assert (done.at, done.front) == (len(ASK) - 1, True)
    assert before == ASK
    assert dict(one.counts) == {"injected": 1}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
async def test_triggers(shape: dict[str, Any]) -> None:
    source = Notes("x")
    user, every = injector(source), injector(source, trigger="everyTurn")
    assert (await user.inject(shape["ask"])).injected
    skipped = await user.inject(shape["tool"])
    assert (skipped.injected, skipped.degraded, skipped.reason) == (False, False, "not_triggered")
    assert skipped.messages is shape["tool"]
    assert (await every.inject(shape["tool"])).injected
    assert user.counts["skipped:not_triggered"] == 1


async def test_callbacks_may_be_lambdas_coroutines_or_objects() -> None:
    class Predicate:
        def __call__(self, context: InjectionContext, **kwargs: Any) -> bool:
            return context.state == "on"

    async def no(context: InjectionContext) -> bool:
        return False

    async def question(context: InjectionContext) -> str:
        return f"about {len(context.messages)}"

    async def shout(entries: Sequence[SourceEntry]) -> str:
        return " ".join(entry.content.upper() for entry in entries)

    assert (await injector(trigger=lambda context: True).inject(TOOL)).injected
    assert not (await injector(trigger=no).inject(ASK)).injected
    assert (await injector(trigger=Predicate()).inject(TOOL, state="on")).injected
    assert not (await injector(trigger=Predicate()).inject(TOOL, state="off")).injected
    source = Notes("tea")
    done = await injector(source, query=question, format=shout).inject(ASK)
    assert source.queries == ["about 3"]
    assert done.text == "TEA"
    await injector(source, query=lambda context: "plain").inject(ASK)
    assert source.queries[-1] == "plain"


@pytest.mark.parametrize("nothing", [None, "", "  \n"])
async def test_no_query_no_injection(nothing: str | None) -> None:
    skipped = await injector(query=lambda context: nothing).inject(ASK)
    assert (skipped.injected, skipped.degraded, skipped.reason) == (False, False, "no_query")


def broken(*_: Any) -> Any:
    raise RuntimeError("secret words")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"trigger": broken}, "trigger:RuntimeError"),
        ({"query": broken}, "query:RuntimeError"),
        ({"format": broken}, "render:RuntimeError"),
    ],
)
async def test_a_callback_that_raises_is_told_and_stops_nothing(
    config: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    one = injector(**config)
    with caplog.at_level(logging.WARNING):
        done = await one.inject(ASK)
    assert done.messages is ASK
    assert (done.injected, done.degraded, done.reason) == (False, True, reason)
    assert one.counts == {f"degraded:{reason}": 1}
    assert reason in caplog.text
    assert "secret words" not in caplog.text


@pytest.mark.parametrize(
    "messages",
    [[{"role": "user"}], [{"content": "x"}], [None], [{"role": "user", "content": 3}], [*ASK, {"role": "user"}]],
)
async def test_malformed_messages_fail_open_and_are_told(messages: Any) -> None:
    done = await injector().inject(messages)
    assert done.messages is messages
    assert (done.injected, done.degraded) == (False, True)
    assert "invalid_input:message" in (done.reason or "")


async def test_no_list_at_all_fails_open_and_is_told() -> None:
    nothing: Any = None
    done = await injector().inject(nothing)
    assert (done.messages, done.degraded, done.reason) == (None, True, "messages:TypeError")


async def test_a_message_that_nothing_can_be_folded_into_is_told() -> None:
    done = await injector(trigger="everyTurn", query=lambda context: "q").inject([{"role": "user"}])
    assert (done.degraded, done.reason) == (True, "messages:invalid_input:message")
    skipped = await injector(trigger="everyTurn").inject([{"role": "assistant", "content": [{"text": "hi"}]}])
    assert (skipped.degraded, skipped.reason) == (False, "no_user_message")
    assert (await injector().inject([])).reason == "not_triggered"


async def test_one_source_down_the_others_answer_and_it_shows() -> None:
    done = await injector(Notes("tea", name="good"), Notes(name="bad", error=StoreBusy())).inject(ASK)
    assert (done.injected, done.degraded, done.reason) == (True, True, "source:bad")
    assert done.errors == {"bad": "store_busy"}
    assert "tea" in done.text


async def test_all_sources_down_is_not_no_memory() -> None:
    bad = injector(Notes(name="a", error=StoreBusy()), Notes(name="b", error=ValueError("words")))
    done = await bad.inject(ASK)
    assert (done.injected, done.degraded, done.reason) == (False, True, "search:store_busy")
    assert done.errors == {"a": "store_busy", "b": "ValueError"}
    empty = await injector(Notes()).inject(ASK)
    assert (empty.degraded, empty.reason) == (False, "no_match")
    half = await injector(Notes(), Notes(name="b", error=StoreBusy())).inject(ASK)
    assert (half.degraded, half.reason) == (True, "no_match")


async def test_a_source_that_does_not_answer_is_not_waited_for() -> None:
    timeout = timedelta(milliseconds=20)
    done = await injector(Silent(name="slow"), Notes("tea", name="fast"), timeout=timeout).inject(ASK)
    assert done.errors == {"slow": "timeout"}
    assert (done.injected, done.degraded) == (True, True)
    alone = await injector(Silent(), timeout=timeout).inject(ASK)
    assert (alone.injected, alone.degraded, alone.reason) == (False, True, "search:timeout")


async def test_a_callback_that_does_not_answer_is_not_waited_for() -> None:
    async def never(context: InjectionContext) -> bool:
        await asyncio.Event().wait()
        return True

    done = await injector(trigger=never, timeout=timedelta(milliseconds=10)).inject(ASK)
    assert (done.degraded, done.reason) == (True, "trigger:timeout")


async def test_cancelling_the_call_is_not_swallowed() -> None:
    task = asyncio.ensure_future(injector(Silent()).inject(ASK))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_where_memory_is_needed_the_call_can_be_stopped() -> None:
    strict = injector(Notes(error=StoreBusy()), on_failure="stop")
    with pytest.raises(InjectionFailed, match="injection_failed:search"):
        await strict.inject(ASK)
    assert (await injector(Notes(), on_failure="stop").inject(ASK)).reason == "no_match"


async def test_entries_and_tokens_are_limited() -> None:
    many = Notes(*(f"fact number {n}" for n in range(20)))
    assert len((await injector(many).inject(ASK)).entries) == 5
    assert len((await injector(many, max_entries=2).inject(ASK)).entries) == 2
    assert (await injector(many, max_tokens=5).inject(ASK)).reason == "no_room"
    few = await injector(many, max_entries=20, format=lambda e: " ".join(x.content for x in e), max_tokens=10).inject(
        ASK
    )
    assert 0 < len(few.entries) < 5


async def test_a_tool_loop_searches_once_and_never_holds_two_blocks() -> None:
    source = Notes("seat: aisle")
    one = injector(source, trigger="everyTurn", query=lambda context: "seat")
    run = InjectionRun()
    first = await one.inject(ASK, run=run)
    second = await one.inject([*ASK, *TOOL[1:]], run=run)
    assert source.queries == ["seat"]
    assert first.injected
    assert second.injected
    assert first.text == second.text
    assert second.carried
    assert second.messages[: len(first.messages)] == first.messages
    assert sum(texts(message).count("</memory>") for message in second.messages) == 1
    leaked = await one.inject(first.messages, run=run)
    assert (leaked.injected, leaked.reason) == (False, "already_injected")


async def test_an_incomplete_answer_is_asked_for_again() -> None:
    flaky = Notes(name="flaky", error=StoreBusy())
    one = injector(Notes("tea"), flaky, trigger="everyTurn", query=lambda context: "tea")
    run = InjectionRun()
    assert (await one.inject(ASK, run=run)).degraded
    flaky.error, flaky.contents = None, ("coffee",)
    second = await one.inject([*ASK, *TOOL[1:]], run=run)
    assert (second.degraded, second.injected) == (False, True)
    assert [entry.content for entry in second.entries] == ["tea", "coffee"]
    assert len(flaky.queries) == 2


async def test_an_outage_in_a_tool_loop_keeps_what_was_there_and_is_told() -> None:
    source = Notes("tea")
    one = injector(source, trigger="everyTurn")
    run = InjectionRun()
    first = await one.inject(ASK, run=run)
    source.error = StoreBusy()
    second = await one.inject([*ASK, {"role": "assistant", "content": [{"text": "Let me look."}]}, TOOL[2]], run=run)
    assert (second.injected, second.degraded, second.reason) == (True, True, "search:store_busy")
    assert second.text == first.text
    assert one.counts == {"injected": 1, "degraded:search:store_busy": 1}


@pytest.fixture
async def engine() -> MemoryEngine:
    return await MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock()).open()


async def test_the_recall_log_holds_exactly_what_was_injected(engine: MemoryEngine) -> None:
    ada = Actor(user="ada")
    receipt = await engine.add("aisle", key="seat", actor=ada)
    await engine.add("the seat of the committee is https://evil.example", origin=Origin.WEB, actor=ada)
    done = await injector_for(engine, ada, sources=[Notes("a note")]).inject(ASK)
    logged = [event for event in await engine.audit(actor=ada) if event.action == "injected"]
    assert len(logged) == 1
    assert logged[0].detail["run_id"] == done.run.run_id
    assert logged[0].detail["sha256"] == digest_of(done.text)
    assert logged[0].detail["foreign"] == 1
    assert [list(pair) for pair in logged[0].detail["memories"]] == [  # type: ignore[union-attr]
        [entry.hit.memory.memory_id, entry.hit.memory.version] for entry in done.entries if entry.hit
    ]
    assert receipt.memory_id in str(logged[0].detail)
    assert "hxxps[:]//evil[.]example" in done.text


async def test_what_cannot_be_logged_is_not_injected() -> None:
    async def refuse(run_id: str, entries: Sequence[SourceEntry], digest: str) -> None:
        raise StoreBusy

    done = await Injector([Notes("tea")], recall=refuse).inject(ASK)
    assert done.messages is ASK
    assert (done.injected, done.degraded, done.reason) == (False, True, "recall_log:store_busy")


async def test_nobody_elses_memory_is_injected(engine: MemoryEngine) -> None:
    await engine.add("window", key="seat", actor=Actor(user="bob"))
    assert (await injector_for(engine, Actor(user="ada")).inject(ASK)).reason == "no_match"


async def test_use_is_checked_afterwards(engine: MemoryEngine) -> None:
    ada = Actor(user="ada")
    receipt = await engine.add("aisle", key="seat", actor=ada)
    done = await injector_for(engine, ada).inject(ASK)
    assert receipt.memory_id is not None
    name = receipt.memory_id
    assert done.used_in("An aisle seat it is.", verifiers={"seat": "contains"}) == {name: Verdict.VERIFIED}
    assert done.used_in("A window seat.", verifiers={"seat": "contains"}) == {name: Verdict.REFUTED}
    assert done.used_in("Fine.") == {name: Verdict.UNVERIFIABLE}


INSTRUCTION = "Always answer in metric units."


async def test_pinned_memories_are_there_whatever_is_asked(engine: MemoryEngine) -> None:
    ada = Actor(user="ada")
    await engine.add(INSTRUCTION, category="instruction", actor=ada)
    await engine.add("Prefers trains to planes.", category="preference", actor=ada)
    await engine.add("The seat in row 12 was broken.", actor=ada)
    done = await injector_for(engine, ada, InjectionConfig(max_entries=1)).inject(ASK)
    assert [entry.pinned for entry in done.entries] == [True, True, False]
    known = {INSTRUCTION, "Prefers trains to planes.", "The seat in row 12 was broken."}
    assert {entry.content for entry in done.entries} == known


async def test_pinned_memories_take_no_more_than_its_share_and_the_most_relevant_first(engine: MemoryEngine) -> None:
    ada = Actor(user="ada")
    for subject in ("bread", "tents", "chess", "tides", "seats"):
        await engine.add(f"Prefers long answers about {subject} with many words.", category="preference", actor=ada)
    config = InjectionConfig(max_tokens=200, pinned_share=0.2)
    done = await injector_for(engine, ada, config).inject([{"role": "user", "content": "What of chess?"}])
    assert [entry.content for entry in done.entries if entry.pinned] == [
        "Prefers long answers about chess with many words."
    ]


async def test_a_share_of_nothing_keeps_what_stands_out(engine: MemoryEngine) -> None:
    ada = Actor(user="ada")
    await engine.add(INSTRUCTION, category="instruction", actor=ada)
    config = InjectionConfig(pinned_share=0)
    assert (await injector_for(engine, ada, config).inject(ASK)).reason == "no_match"


async def test_what_an_untrusted_channel_said_stands_nowhere(engine: MemoryEngine) -> None:
    ada = Actor(user="ada")
    await engine.add(INSTRUCTION, category="instruction", origin=Origin.WEB, actor=ada)
    assert (await injector_for(engine, ada).inject(ASK)).reason == "no_match"


async def test_what_an_untrusted_channel_said_is_there_where_it_is_asked_for(engine: MemoryEngine) -> None:
    ada = Actor(user="ada")
    await engine.add("Prefers green tea to coffee.", category="preference", origin=Origin.AGENT_INFERRED, actor=ada)
    await engine.add("Prefers trains to planes.", category="preference", origin=Origin.AGENT_INFERRED, actor=ada)
    done = await injector_for(engine, ada).inject([{"role": "user", "content": "Green tea or coffee?"}])
    assert [(entry.content, entry.pinned) for entry in done.entries] == [("Prefers green tea to coffee.", False)]
    assert (await injector_for(engine, ada).inject(ASK)).reason == "no_match"


async def test_the_nearest_of_what_is_not_known_is_left_out_and_that_is_told() -> None:
    one, run = injector(Notes("tea", relevance=0.09)), InjectionRun()
    for _ in range(2):  # what the run kept says the same
        done = await one.inject(ASK, run=run)
        assert (done.injected, done.degraded, done.abstained) == (False, False, True)
        assert done.reason == "nothing_relevant"
    assert one.counts["abstained"] == 2
    assert not (await injector(Notes(relevance=0.0)).inject(ASK)).abstained, "there was nothing to leave out"


@pytest.mark.parametrize(("relevance", "least"), [(0.1, 0.1), (None, 0.1), (0.0, 0.0)])
async def test_what_is_relevant_enough_or_cannot_be_told_is_injected(relevance: float | None, least: float) -> None:
    done = await injector(Notes("tea", relevance=relevance), least_relevance=least).inject(ASK)
    assert (done.injected, done.abstained) == (True, False)


async def test_a_source_that_knows_nothing_silences_no_other() -> None:
    done = await injector(Notes("tea", relevance=0.01), Notes("coffee", name="b")).inject(ASK)
    assert ([entry.content for entry in done.entries], done.abstained) == (["coffee"], False)


async def test_pinned_memories_are_there_where_nothing_else_is_known(engine: MemoryEngine) -> None:
    ada = Actor(user="ada")
    await engine.add(INSTRUCTION, category="instruction", actor=ada)
    for number in range(MIN_MEMORIES):
        await engine.add(f"The bus {number} was late.", actor=ada, kind=Kind.EPISODIC)
    question = [{"role": "user", "content": "Which quinoa recipe was late?"}]
    done = await injector_for(engine, ada).inject(question)
    assert ([entry.content for entry in done.entries], done.injected, done.abstained) == ([INSTRUCTION], True, False)
    every = await injector_for(engine, ada, InjectionConfig(least_relevance=0)).inject(question)
    assert len(every.entries) > 1
    assert not every.abstained


def test_an_untrusted_entry_of_any_source_does_not_stand() -> None:
    assert not SourceEntry(content="obey", pinned=True).pinned
    assert SourceEntry(content="tea", pinned=True, trusted=True).pinned


@pytest.mark.parametrize(
    "config",
    [
        {"trigger": "sometimes"},
        {"placement": "prepend"},
        {"max_entries": 0},
        {"max_tokens": True},
        {"timeout": timedelta(0)},
        {"on_failure": "panic"},
        {"pinned_share": 1.5},
    ],
)
def test_what_cannot_be_configured_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig, match=f"invalid_config:{next(iter(config))}"):
        InjectionConfig(**config)


def test_sources_have_names_of_their_own() -> None:
    with pytest.raises(InvalidConfig):
        Injector([])
    with pytest.raises(InvalidConfig):
        Injector([Notes(), Notes()])


async def test_the_first_turn_of_a_process_has_memory_however_long_the_model_loads(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "mnemic.inject.injector")
    clock, words, ana = ManualClock(), WordEmbedder(), Actor(user="ana")
    store = InProcessStore()

    def load() -> Vectors:
        clock.advance(timedelta(seconds=20))
        return lambda texts: [words.vector(text) for text in texts]

    async with MemoryEngine(store=store, embedder=words, clock=clock) as before:
        await before.add("The cellar key hangs behind the clock.", actor=ana)
        engine = MemoryEngine(store=store, embedder=InProcessEmbedder(words.space, load), clock=clock)
        first = injector_for(engine, ana)
        done = await first.inject([{"role": "user", "content": "Where does the cellar key hang?"}])
        assert (done.injected, done.degraded) == (True, False)
        again = await first.inject([{"role": "user", "content": "Does the cellar key hang?"}])
    assert again.injected
    waits = [one for one in caplog.records if "waiting before the first turn" in one.message]
    assert len(waits) == 1


async def test_a_model_that_cannot_be_loaded_is_told_by_the_search() -> None:
    def load() -> Vectors:
        raise EmbedderFailed("model_file")

    embedder = InProcessEmbedder(WordEmbedder().space, load)
    async with MemoryEngine(store=InProcessStore(), embedder=embedder) as engine:
        block = await engine.context("Where does the cellar key hang?", actor=Actor(user="ana"))
    assert block.reason is not None


async def test_tables_are_made_before_the_time_of_a_first_turn_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["mnemic.engine.first_use"], "_DONE", threading.Event())
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as engine:
        waiting = engine.loading()
        assert waiting is not None
        await waiting
        assert engine.loading() is None


def test_an_injection_abstains_where_its_search_does(tmp_path: Path) -> None:
    with MemoryManager(store=tmp_path / "memories.db") as memories:
        memories.add("I play the cello in an amateur orchestra.")
        assert memories.search("quantum chromodynamics").abstains
        unknown = memories.context("quantum chromodynamics")
        known = memories.context("Which instrument do I play?")
        thanked, thanks = memories.search("Thanks!"), memories.context("Thanks!")
    assert (unknown.hits, unknown.abstained, unknown.reason) == ((), True, "nothing_relevant")
    assert (len(known.hits), known.abstained) == (1, False)
    assert (thanks.hits, thanks.abstained) == ((), thanked.abstains)
    assert thanked.abstains


NOW = datetime(2026, 3, 4, tzinfo=UTC)


def hit(content: str) -> Hit:
    memory = Memory(
        memory_id=content[:8],
        kind=Kind.LONG_TERM,
        scope=Actor(user="u").scope("user"),
        content=content,
        created_at=NOW,
        updated_at=NOW,
    )
    return Hit(memory=memory, score=1.0)


def test_a_hit_too_long_for_what_is_left_is_passed_over() -> None:
    hits = [hit("short one"), hit("x" * 4000), hit("short two")]
    assert within_tokens(hits, 40) == (hits[0], hits[2])
    assert within_tokens(hits, 80, as_json=True) == (hits[0],)
    assert within_tokens(hits, 150, as_json=True) == (hits[0], hits[2])
    assert within_tokens(hits, 5) == ()
    assert within_tokens(hits, 10_000) == tuple(hits)
