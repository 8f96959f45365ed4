"""Recorded messages read again: what a better reader would hold, as one change that can be taken back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MnemicError, ModelUnavailable
from mnemic.extract import Extraction
from mnemic.extract.grounding import ground
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.maintenance.background_capture import BackgroundCapture
from mnemic.maintenance.reread import Readings, RereadReport, reread, undo_reread
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Cost, Deadline, Message, Source, Status
from mnemic.unit_of_work import Unit, commit
from mnemic.write.revise import AuditedWriter

ANA = Actor(user="ana", session="s1")
BEN = Actor(user="ben", session="s2")
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def said(text: str, day: int = 0) -> Message:
    return Message(role="user", content=text, session="s1", sent_at=AT + timedelta(days=day))


class Blind:
    """A reader that finds nothing."""

    async def extract(self, message: Message, *, policy: Policy, budget: Budget, deadline: Deadline) -> Extraction:
        return Extraction()


class Whole:
    """A reader that keeps each message as it is, and labels it."""

    def __init__(self, **labels: Any) -> None:
        self.labels = labels

    async def extract(self, message: Message, *, policy: Policy, budget: Budget, deadline: Deadline) -> Extraction:
        source = Source(origin=message.origin, session=message.session, quote=message.content)
        one = Candidate(content=message.content, source=source, occurred_at=message.sent_at, **self.labels)
        return Extraction(candidates=(one,), cost=Cost(calls=1, input_tokens=30, output_tokens=5))


class Only:
    """A reader that finds these words alone."""

    def __init__(self, words: str) -> None:
        self.words = words

    async def extract(self, message: Message, *, policy: Policy, budget: Budget, deadline: Deadline) -> Extraction:
        source = Source(origin=message.origin, session=message.session, quote=self.words)
        one = ground(Candidate(content=self.words, source=source, occurred_at=message.sent_at), message)
        return Extraction(candidates=() if one is None else (one,))


@asynccontextmanager
async def engine_with(extractor: Any = None) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), extractor=extractor) as engine:
        yield engine


async def told(engine: MemoryEngine, *messages: Message) -> None:
    """Capture messages one by one and record them, as an adapter does."""
    for one in messages:
        await engine.capture(one, actor=ANA)
        await engine.record([one], actor=ANA)


async def held(engine: MemoryEngine) -> set[tuple[str | None, str]]:
    return {(one.key, one.content) for one in await engine.list(actor=ANA, limit=100) if one.category != "message"}


def changes(report: RereadReport) -> list[tuple[str, str]]:
    return [(one.change, one.content) for one in report.differences]


async def test_what_an_earlier_reader_missed_is_added_and_taken_back() -> None:
    async with engine_with(Blind()) as engine:
        await told(engine, said("I am vegetarian."), said("My sister Ruth lives in Turin.", 1), said("ok", 2))
        assert await held(engine) == set()
        shown = await reread(engine, actor=ANA, extractor=RuleExtractor())
        assert set(changes(shown)) == {("added", "vegetarian"), ("added", "My sister Ruth lives in Turin.")}
        assert (await held(engine), shown.run_id) == (set(), None), "a dry run changes nothing"
        done = await reread(engine, actor=ANA, extractor=RuleExtractor(), dry_run=False)
        assert ("diet", "vegetarian") in await held(engine)
        again = await reread(engine, actor=ANA, extractor=RuleExtractor(), dry_run=False)
        assert (changes(again), again.run_id) == ([], None)
        assert done.run_id is not None
        assert await undo_reread(engine, done.run_id, actor=ANA) == 2
        assert await held(engine) == set()


async def test_a_reading_is_taken_back_however_much_was_written_since(monkeypatch: pytest.MonkeyPatch) -> None:
    for bound in ("LINES_READ", "PAGE"):
        monkeypatch.setattr(f"mnemic.write.revise.{bound}", 2)
    async with engine_with(Whole()) as engine:
        await told(engine, said("I am left-handed."), said("I have a gym membership.", 1))
        before = await held(engine)
        await engine.record([said("I cancelled my gym membership.", 9)], actor=ANA)
        done = await reread(engine, actor=ANA, extractor=RuleExtractor(), dry_run=False)
        for number in range(5):
            await engine.add(f"Shelf {number} is full.", actor=BEN)
        assert done.run_id is not None
        await undo_reread(engine, done.run_id, actor=ANA)
        assert await held(engine) == before
        with pytest.raises(InvalidInput, match="reread:unknown"):
            await undo_reread(engine, "0" * 32, actor=ANA)


async def test_a_memory_that_an_earlier_reader_left_open_is_ended() -> None:
    async with engine_with(Whole()) as engine:
        await told(engine, said("I am left-handed."), said("I have a gym membership.", 1))
        before = await held(engine)
        await engine.record([said("I cancelled my gym membership.", 9)], actor=ANA)
        done = await reread(engine, actor=ANA, extractor=RuleExtractor(), dry_run=False)
        (ended,) = [one for one in done.differences if one.change == "ended"]
        assert (ended.content, ended.by) == ("I have a gym membership.", "I cancelled my gym membership.")
        assert (None, "I have a gym membership.") not in await held(engine)
        assert done.run_id is not None
        await undo_reread(engine, done.run_id, actor=ANA)
        assert await held(engine) == before


async def test_what_a_reader_ended_wrongly_is_reopened() -> None:
    async with engine_with(Whole()) as engine:
        await told(engine, said("I play the cello on Mondays."), said("Our boiler is serviced by Kvik.", 3))
        boiler, cello = [one for one in await engine.list(actor=ANA) if one.category != "message"]
        steward = AuditedWriter(ANA, engine.clock.now())

        async def end_wrongly(unit: Unit) -> None:
            await steward.change(unit, boiler, "created", supersedes=(cello.memory_id,))
            await steward.change(unit, cello, "superseded", status=Status.SUPERSEDED, valid_to=steward.now)

        await commit(engine.store, end_wrongly)
        assert await held(engine) == {(None, boiler.content)}
        done = await reread(engine, actor=ANA, dry_run=False)
        assert changes(done) == [("reopened", cello.content)]
        assert await held(engine) == {(None, boiler.content), (None, cello.content)}
        assert done.run_id is not None
        assert await undo_reread(engine, done.run_id, actor=ANA) == 1
        assert await held(engine) == {(None, boiler.content)}


async def test_labels_follow_the_new_reader_and_the_words_stay() -> None:
    async with engine_with(Whole()) as engine:
        await told(engine, said("Our boiler is serviced by Kvik."))
        done = await reread(engine, actor=ANA, extractor=Whole(category="relation"), dry_run=False)
        (one,) = [one for one in await engine.list(actor=ANA) if one.category != "message"]
        assert (changes(done), one.category) == ([("relabelled", "Our boiler is serviced by Kvik.")], "relation")
        assert done.run_id is not None
        await undo_reread(engine, done.run_id, actor=ANA)
        (one,) = [one for one in await engine.list(actor=ANA) if one.category != "message"]
        assert one.category is None


async def test_what_a_person_corrected_stays() -> None:
    async with engine_with(Whole()) as engine:
        await told(engine, said("Our boiler is serviced by Kvik."), said("My desk is in room 4.", 1))
        boiler = next(one for one in await engine.list(actor=ANA) if one.content.startswith("Our boiler"))
        if boiler.category == "message":
            boiler = next(
                one for one in await engine.list(actor=ANA)
                if one.content.startswith("Our boiler") and one.category != "message"
            )  # fmt: skip
        await engine.update(boiler.memory_id, "Our boiler is serviced by Kvik.", category="event", actor=ANA)
        done = await reread(engine, actor=ANA, extractor=Whole(category="relation"), dry_run=False)
        assert changes(done) == [("relabelled", "My desk is in room 4.")]
        assert done.protected == 1
        kept = await engine.get(boiler.memory_id, actor=ANA)
        assert kept.category == "event"


async def test_what_a_person_forgot_does_not_come_back() -> None:
    async with engine_with(Whole()) as engine:
        await told(engine, said("My PIN hint is the blue mug."))
        facts = [one for one in await engine.list(actor=ANA) if one.category != "message"]
        for one in facts:
            await engine.forget(one.memory_id, actor=ANA)
        done = await reread(engine, actor=ANA, extractor=Whole(), dry_run=False)
        assert (changes(done), done.protected) == ([], 1)
        assert await held(engine) == set()


async def test_what_stands_beside_forgotten_words_in_a_message_is_added() -> None:
    text = "I am vegetarian. My sister Ruth lives in Turin."
    async with engine_with(Only("I am vegetarian.")) as engine:
        await told(engine, said(text))
        (diet,) = [one for one in await engine.list(actor=ANA) if one.category != "message"]
        await engine.forget(diet.memory_id, actor=ANA)
        done = await reread(engine, actor=ANA, extractor=RuleExtractor(), dry_run=False)
        assert (changes(done), done.protected) == ([("added", "My sister Ruth lives in Turin.")], 1)


async def test_assistants_words_that_the_background_reader_deleted_are_nothing_that_a_person_forgot() -> None:
    async with engine_with(Only("I am vegetarian.")) as engine:
        later = BackgroundCapture(engine, gathering_seconds=3600)
        question = Message(role="assistant", content="Do you eat meat?", session="s1", sent_at=AT)
        await later.put(said("I am vegetarian. My sister Ruth lives in Turin."), actor=ANA, before=[question])
        assert await later.read() == 2
        await later.stop()
        done = await reread(engine, actor=ANA, extractor=RuleExtractor())
        assert ("added", "My sister Ruth lives in Turin.") in changes(done)
        assert done.protected == 0


async def test_a_reading_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    async with engine_with(Blind()) as engine:
        await told(engine, *(said(f"My locker number {n} is free.", n) for n in range(5)))
        reader, file = Whole(), tmp_path / "reading.db"
        first = await reread(engine, actor=ANA, extractor=reader, progress=file, limit=2, dry_run=False)
        assert (first.messages, first.left, first.cost.calls, first.run_id) == (2, 3, 2, None)
        assert await held(engine) == set()
        rest = await reread(engine, actor=ANA, extractor=reader, progress=file, dry_run=False)
        assert (rest.messages, rest.left, rest.cost.calls) == (5, 0, 3)
        assert len(rest.differences) == 5


async def test_a_service_goes_on_with_a_reading_that_was_stopped_and_reads_no_message_twice() -> None:
    async with engine_with(Whole()) as engine:
        await engine.record([said(f"My locker number {n} is free.", n) for n in range(5)], actor=ANA)
        readings = Readings()

        async def go_on(*, limit: int | None = None, dry_run: bool = False, actor: Actor = ANA) -> RereadReport:
            return await readings.reread(engine, actor=actor, since=None, limit=limit, dry_run=dry_run)

        first = await go_on(limit=2)
        assert (first.left, first.cost.calls, first.run_id) == (3, 2, None)
        assert (await go_on(actor=BEN)).messages == 0
        shown = await go_on(dry_run=True)
        assert (shown.left, shown.cost.calls, len(shown.differences)) == (0, 3, 5)
        done = await go_on()
        assert (done.cost.calls, len(done.differences)) == (0, 5), "what was shown is not paid for again"
        assert (await go_on()).cost.calls == 5, "after a change the next reading begins anew"
        assert [(await go_on(limit=1)).left for _ in range(2)] == [4, 3]
        readings.drop(ANA.tenant, ANA.user)
        assert (await go_on(limit=1)).left == 4


async def test_a_message_that_was_forgotten_while_a_reading_was_stopped_adds_nothing(tmp_path: Path) -> None:
    async with engine_with(Blind()) as engine:
        await told(engine, said("My locker is number 4."), said("My bicycle is red.", 1))
        file = tmp_path / "reading.db"
        await reread(engine, actor=ANA, extractor=Whole(), progress=file, limit=1)
        (locker,) = [one for one in await engine.list(actor=ANA) if "locker" in one.content]
        await engine.forget(locker.memory_id, actor=ANA)
        done = await reread(engine, actor=ANA, extractor=Whole(), progress=file, dry_run=False)
        assert changes(done) == [("added", "My bicycle is red.")]


async def test_messages_before_since_are_not_read_and_what_is_known_of_them_can_end() -> None:
    async with engine_with() as engine:
        await told(engine, said("I live in Oslo."))
        await engine.record([said("I moved to Bergen.", 9)], actor=ANA)
        done = await reread(engine, actor=ANA, since=AT + timedelta(days=5), dry_run=False)
        assert done.messages == 1
        assert {one for _, one in await held(engine)} & {"Oslo", "Bergen"} == {"Bergen"}


class Down(Whole):
    """A reader whose model is away."""

    asks_model = True

    async def extract(self, message: Message, *, policy: Policy, budget: Budget, deadline: Deadline) -> Extraction:
        raise ModelUnavailable


async def test_a_model_that_is_away_changes_nothing() -> None:
    async with engine_with(Whole()) as engine:
        await told(engine, said("Our boiler is serviced by Kvik."))
        before = await held(engine)
        report = await reread(engine, actor=ANA, extractor=Down(), dry_run=False)
        assert (report.left, report.errors, report.differences) == (1, ("llm_unavailable",), ())
        assert await held(engine) == before


async def test_another_users_messages_and_runs_are_out_of_reach() -> None:
    async with engine_with(Blind()) as engine:
        await told(engine, said("I am vegetarian."))
        assert (await reread(engine, actor=BEN, extractor=RuleExtractor())).messages == 0
        done = await reread(engine, actor=ANA, extractor=RuleExtractor(), dry_run=False)
        assert done.run_id is not None
        with pytest.raises(InvalidInput, match="reread:unknown"):
            await undo_reread(engine, done.run_id, actor=BEN)
        with pytest.raises(MnemicError, match="limit"):
            await reread(engine, actor=ANA, limit=0)
