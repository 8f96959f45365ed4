"""A second opinion before the write: heard, bounded, and never trusted with what the rules call opposite."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.errors import ModelTimeout
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.policy.policy_file import load_policy
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.types import Candidate, Deadline, Kind, Origin, Outcome, Status, WriteReceipt
from mnemic.write.model_judge import Judgement, ModelJudge, ModelTranslator
from mnemic.write.pipeline import MemoryWritePipeline
from tests.scripted_model import Fault, ScriptedModelServer
from tests.unit.write.conftest import Blind, Desk

BUS = "Takes the bus to the office"
TRAM = "Rides public transport to work"


@pytest.fixture
def answers() -> list[Any]:
    """What the model says, one call after the other."""
    return []


@pytest.fixture
def server(answers: list[Any]) -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer(lambda _: answers.pop(0)) as server:
        yield server


class Court:
    """A desk whose judge is a real client of a scripted server."""

    def __init__(self, server: ScriptedModelServer, answers: list[Any], wait: timedelta = timedelta(minutes=2)) -> None:
        self.server, self.answers = server, answers
        self.completer = OpenAICompleter(model="scripted", base_url=server.base_url, api_key="test")
        self.desk = Desk(Blind(), judge=ModelJudge(self.completer, time.monotonic, longest_wait=wait))

    async def told(self, answer: Any, first: str = BUS, second: str = TRAM, **fields: Any) -> WriteReceipt:
        """The receipt of the second statement, with this answer of the model."""
        await self.desk.open()
        await self.desk.add(first)
        self.answers.append(answer)
        return await self.desk.add(second, **fields)


@pytest.fixture
async def court(server: ScriptedModelServer, answers: list[Any]) -> AsyncIterator[Court]:
    court = Court(server, answers)
    yield court
    await court.completer.close()


def step(receipt: WriteReceipt) -> str:
    return next(one.decision for one in receipt.steps if one.name == "judge")


async def test_statements_it_calls_the_same_are_both_kept_in_their_words(court: Court) -> None:
    receipt = await court.told({"verdicts": ["same"]})
    assert receipt.outcome is Outcome.CREATED
    assert step(receipt).startswith("1 asked, ")
    assert court.server.requests[0].user.count(BUS) == 1


async def test_a_statement_it_calls_opposite_replaces_the_persons_own_word(court: Court) -> None:
    receipt = await court.told({"verdicts": ["opposite"]}, second="Takes the tram to the office")
    assert (receipt.outcome, receipt.reason) == (Outcome.SUPERSEDED, "opposed")


async def test_a_statement_it_calls_opposite_that_is_about_something_else_replaces_nothing(court: Court) -> None:
    receipt = await court.told({"verdicts": ["opposite"]}, second="Had pasta for lunch")
    assert receipt.outcome is Outcome.CREATED


@pytest.mark.parametrize("verdict", ["other", "unsure"])
async def test_otherwise_nothing_is_merged(court: Court, verdict: str) -> None:
    receipt = await court.told({"verdicts": [verdict]}, second="The user takes the bus to the office")
    assert receipt.outcome is Outcome.CREATED


async def test_the_rules_say_what_is_opposite(court: Court) -> None:
    receipt = await court.told({"verdicts": ["same"]}, second="Does not take the bus to the office")
    assert receipt.outcome is Outcome.SUPERSEDED


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("no JSON", "llm_invalid_json"),
        ({"verdicts": []}, "llm_invalid_schema"),
        ({"verdicts": ["same", "same"]}, "llm_invalid_schema"),
        (Fault.EMPTY, "llm_empty"),
        (Fault.RESET, "llm_unavailable"),
    ],
)
async def test_a_judge_that_fails_merges_nothing(court: Court, answer: Any, reason: str) -> None:
    receipt = await court.told(answer, second="The user takes the bus to the office")
    assert (receipt.outcome, step(receipt)) == (Outcome.CREATED, reason)
    assert len(await court.desk.active()) == 2


@pytest.mark.parametrize("answer", [["same"], {"verdicts": ["Same"], "why": "x"}, 'Sure: {"result": ["same"]}'])
async def test_a_verdict_is_understood_in_another_form(court: Court, answer: Any) -> None:
    receipt = await court.told(answer)
    assert (receipt.outcome, step(receipt)[:7]) == (Outcome.CREATED, "1 asked")


@pytest.mark.parametrize("answer", [{"verdicts": ["alike"]}, {"verdicts": [["same"]]}, {"verdicts": [None]}])
async def test_a_word_that_is_no_verdict_merges_nothing(court: Court, answer: Any) -> None:
    assert (await court.told(answer)).outcome is Outcome.CREATED
    assert len(await court.desk.active()) == 2


async def test_it_is_not_waited_for(server: ScriptedModelServer, answers: list[Any]) -> None:
    court = Court(server, answers, timedelta(milliseconds=50))
    receipt = await court.told(Fault.HANG)
    assert (receipt.outcome, step(receipt)) == (Outcome.CREATED, "llm_timeout")
    await court.completer.close()


async def test_it_sees_redacted_texts_only(court: Court) -> None:
    await court.told({"verdicts": ["other"]}, "Write to canary@example.org", "Reach me under canary@example.org")
    assert "canary@" not in court.server.requests[0].user
    assert "[EMAIL#" in court.server.requests[0].user


@pytest.mark.parametrize(
    "fields", [{"key": "commute"}, {"kind": Kind.EPISODIC}, {"category": "other"}, {"kind": Kind.PERSONA}]
)
async def test_it_is_asked_only_where_a_merge_could_be(court: Court, fields: dict[str, Any]) -> None:
    court.desk.policy = Policy(keys={"commute": KeyRule("commute")}, open_keys=True)
    receipt = await court.told({"verdicts": ["same"]}, **fields)
    assert receipt.outcome is not Outcome.MERGED
    assert court.server.requests == []


async def test_trust_is_not_its_to_give(court: Court) -> None:
    receipt = await court.told({"verdicts": ["same"]}, origin=Origin.WEB)
    assert receipt.outcome is Outcome.CREATED
    assert [memory.content for memory in await court.desk.all(Status.ACTIVE)] == [BUS, TRAM]


async def test_a_policy_file_asks_for_it(tmp_path: Path, server: ScriptedModelServer) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("judged = true\n", encoding="utf-8")
    assert load_policy(file).judged
    settings = Settings(store="memory:", policy=file, model_url=server.base_url, api_key="test")
    judged = build_engine(settings)
    plain = build_engine(Settings(store="memory:", model_url=server.base_url, api_key="test"))
    assert isinstance(judged.store, InProcessStore)
    assert isinstance(judged.gateway.pipeline._judge, ModelJudge)
    assert plain.gateway.pipeline._judge is None


class Slow:
    """A judge that uses all the time it is given, and then fails."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.asked = desk, 0

    async def judge(self, said: str, known: Sequence[str], *, deadline: Deadline | None = None) -> Judgement:
        self.asked += 1
        assert deadline is not None
        self.desk.clock.advance(timedelta(seconds=deadline.remaining()))
        raise ModelTimeout("no answer in time")


@pytest.mark.parametrize("many", [1, 4])
async def test_a_slow_judge_does_not_cost_the_statements_their_place_in_memory(many: int) -> None:
    desk = Desk(Blind())
    judge = Slow(desk)
    desk.pipeline = MemoryWritePipeline(desk.store, desk.embedder, desk.clock, judge=judge)
    await desk.open()
    await desk.add(BUS)
    within = Deadline.after(timedelta(seconds=5), desk.clock.monotonic)
    told = [Candidate(content=f"{TRAM} {place}") for place in range(many)]
    receipts = await desk.pipeline.write_many(told, actor=desk.actor, policy=desk.policy, deadline=within)
    assert [one.outcome for one in receipts] == [Outcome.CREATED] * many
    assert judge.asked == 1, "the time for judges is spent"
    assert len(await desk.active()) == many + 1


class Reader(Blind):
    """An embedder that reads two English statements, and calls each pair a change."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[tuple[str, str]] = []

    async def judge_changes(self, pairs: Sequence[tuple[str, str]], *, deadline: Deadline | None = None) -> list[float]:
        self.read += pairs
        return [3.0] * len(pairs)


BANK, MOVED = "O meu banco é o Millennium.", "Passei o ordenado e as contas todas para a Caixa."
ENGLISH = {BANK: "My bank is Millennium.", MOVED: "I moved my salary and all the accounts to Caixa."}


class Translated:
    """A desk with a translator that is a real client of a scripted server."""

    def __init__(self, server: ScriptedModelServer, answers: list[Any]) -> None:
        self.server, self.answers = server, answers
        self.completer = OpenAICompleter(model="scripted", base_url=server.base_url, api_key="test")
        self.desk = Desk(Reader(), translator=ModelTranslator(self.completer, time.monotonic))

    async def told(self, answer: Any, first: str = BANK, second: str = MOVED, *, ends: bool = False) -> WriteReceipt:
        """The receipt of a statement whose proposer says that it replaces the one before."""
        await self.desk.open()
        known = await self.desk.add(first)
        self.answers.append(answer)
        return await self.desk.add(second, replaces=(known.memory_id,), ends=ends)

    @property
    def read(self) -> list[tuple[str, str]]:
        assert isinstance(self.desk.embedder, Reader)
        return self.desk.embedder.read


@pytest.fixture
async def translated(server: ScriptedModelServer, answers: list[Any]) -> AsyncIterator[Translated]:
    made = Translated(server, answers)
    yield made
    await made.completer.close()


async def test_an_update_in_unlike_words_of_another_language_is_read_in_translation(translated: Translated) -> None:
    receipt = await translated.told({"english": [ENGLISH[one] for one in sorted(ENGLISH)]})
    assert receipt.outcome is Outcome.SUPERSEDED
    assert [one.content for one in await translated.desk.active()] == [MOVED]
    assert translated.read == [(ENGLISH[BANK], ENGLISH[MOVED])]
    asked = translated.server.requests[0]
    assert json.loads(asked.user) == {"texts": sorted(ENGLISH)}, "the model is not told what for"


@pytest.mark.parametrize(
    "answer",
    [
        "no JSON",
        {"english": ["My bank is Millennium."]},
        {"english": [None, 3]},
        {"english": sorted(ENGLISH)},
        Fault.EMPTY,
        Fault.RESET,
    ],
)
@pytest.mark.parametrize("ends", [False, True])
async def test_what_could_not_be_translated_ends_nothing(translated: Translated, answer: Any, ends: bool) -> None:
    receipt = await translated.told(answer, ends=ends)
    assert receipt.outcome is Outcome.CREATED
    assert len(await translated.desk.active()) == 2


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ("My bank is Millennium.", "I moved all the accounts to Caixa.", Outcome.SUPERSEDED),
        ("O meu banco é o Millennium.", "Deixei o Millennium, o meu banco agora é a Caixa.", Outcome.SUPERSEDED),
        ("O meu banco é o Millennium.", "Será que mudo as contas todas para a Caixa?", Outcome.CREATED),
    ],
    ids=["english", "plain by its words", "a question"],
)
async def test_only_what_needs_it_is_translated(
    translated: Translated, first: str, second: str, outcome: Outcome
) -> None:
    assert (await translated.told({"english": []}, first, second)).outcome is outcome
    assert translated.server.requests == []


async def test_what_nobody_may_forget_does_not_end_by_words_in_translation(translated: Translated) -> None:
    told = {"Sou alérgico a camarão.": "I am allergic to shrimp.", "Já comi de tudo na festa.": "I ate it all there."}
    receipt = await translated.told({"english": [told[one] for one in sorted(told)]}, *told, ends=True)
    assert receipt.outcome is Outcome.CREATED
    assert len(await translated.desk.active()) == 2


def test_a_model_that_is_asked_for_quotes_alone_translates_nothing(server: ScriptedModelServer) -> None:
    given: dict[str, Any] = {"store": "memory:", "model_url": server.base_url, "api_key": "test"}
    assert isinstance(build_engine(Settings(**given)).gateway.pipeline._translator, ModelTranslator)
    assert build_engine(Settings(**given, model="smollm2-135m")).gateway.pipeline._translator is None
