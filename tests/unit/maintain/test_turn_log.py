"""Texts of turns: kept where policy allows it, redacted and sealed, and gone with the person and with each memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.maintenance.expiry_job import ExpiryRules
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import Policy
from mnemic.policy.limits import Limits
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Kind
from mnemic.write import turn_log
from mnemic.write.turn_log import TurnTexts, keep_turn, turns_of

ANA, BEN = Actor(user="ana", workspace="w"), Actor(user="ben", workspace="w")
OPERATOR = Actor(user="zoe")
START = datetime(2026, 11, 26, tzinfo=UTC)
LEVELS = Grant(levels=frozenset({"user", "workspace"}))


@pytest.fixture(params=[False, True], ids=["plain", "sealed"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    keyring = None
    if request.param:
        MasterKeys.make(tmp_path / "master.key")
        keyring = KeyFolder(tmp_path / "keys", tmp_path / "master.key")
    store = SqliteStore(tmp_path / "m.db", durability="fast", keyring=keyring, seals=request.param)
    options: dict[str, Any] = {"clock": ManualClock(START), "grant": LEVELS, "keyring": keyring}
    async with MemoryEngine(store=store, embedder=WordEmbedder(), **options) as opened:
        yield opened


async def kept(engine: MemoryEngine, actor: Actor = ANA) -> list[TurnTexts]:
    return list((await turns_of(engine.store, engine.vault, actor)).values())


async def asked(engine: MemoryEngine, actor: Actor = ANA, question: str = "Which seat do I prefer?") -> None:
    report = await engine.run(actor=actor, goal=question)
    assert report.stop_reason == "success", report


async def test_a_run_keeps_question_and_answer_redacted_and_sealed(engine: MemoryEngine, tmp_path: Path) -> None:
    seat = await engine.add("aisle", key="seat", actor=ANA)
    await asked(engine, question="Which zyxwvut seat do I prefer? Tell ana@example.com.")
    (turn,) = await kept(engine)
    assert turn.question.startswith("Which zyxwvut seat do I prefer? Tell [EMAIL#")
    assert turn.answer
    assert turn.shown == (seat.memory_id,)
    assert await kept(engine, BEN) == []
    await engine.store.tidy(whole=True)
    in_clear = b"zyxwvut" in (tmp_path / "m.db").read_bytes()
    assert in_clear is (engine.vault is None)


async def test_a_card_number_at_the_cut_is_redacted_as_a_whole(engine: MemoryEngine) -> None:
    card = "4111 1111 1111 1111"
    question = "Is this my card? ".ljust(turn_log.LONGEST - 12, "x") + " " + card
    await keep_turn(engine, ANA, TurnTexts(run_id="r", at=START, question=question))
    (turn,) = await kept(engine)
    assert card[:4] not in turn.question
    assert len(turn.question) <= turn_log.LONGEST


@pytest.mark.parametrize(
    ("policy", "limits", "program", "wanted"),
    [
        (Policy(), Limits(), True, True),
        (Policy(), Limits(), False, False),
        (Policy(keep_turns=True), Limits(), False, True),
        (Policy(keep_turns=False), Limits(), True, False),
        (Policy(keep_messages=False), Limits(), True, False),
        (Policy(), Limits(consent="required"), True, False),
        (Policy(keep_turns=True), Limits(consent="required"), True, True),
    ],
)
async def test_policy_decides(
    engine: MemoryEngine, policy: Policy, limits: Limits, program: bool, wanted: bool
) -> None:
    under = engine.under(policy=policy, grant=LEVELS, budget=engine.rules.budget, limits=limits)
    under.keeps_turns = program
    await keep_turn(under, ANA, TurnTexts(run_id="r", at=START, question="Which seat?"))
    assert bool(await kept(engine)) is wanted


async def test_an_erased_person_leaves_no_turn_and_a_late_one_is_not_kept(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    await asked(engine)
    begun_at = engine.clock.now()
    receipt = await engine.erase("ana", actor=OPERATOR)
    assert (receipt.counts["turns"], receipt.complete) == (1, True)
    await keep_turn(engine, ANA, TurnTexts(run_id="late", at=begun_at, question="Which seat?"))
    assert await engine.store.marks("default", turn_log.ALL_TURNS) == {}


async def test_a_turn_that_comes_while_the_erasure_looks_for_turns_is_not_kept(
    engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun_at, store = engine.clock.now(), engine.store
    marks = store.marks

    async def slow(tenant: str, prefix: str, **page: Any) -> dict[str, str]:
        found = await marks(tenant, prefix, **page)
        if prefix.startswith(turn_log.ALL_TURNS):
            monkeypatch.undo()
            await keep_turn(engine, ANA, TurnTexts(run_id="late", at=begun_at, question="Which seat?"))
        return found

    monkeypatch.setattr(store, "marks", slow)
    await engine.erase("ana", actor=OPERATOR)
    assert await store.marks("default", turn_log.ALL_TURNS) == {}


async def test_nothing_is_kept_of_somebody_who_is_blocked(engine: MemoryEngine) -> None:
    await engine.erase("ana", actor=OPERATOR, block=True)
    later = engine.clock.now() + timedelta(days=1)
    await keep_turn(engine, ANA, TurnTexts(run_id="r", at=later, question="Which seat?"))
    assert await engine.store.marks("default", turn_log.ALL_TURNS) == {}


async def test_a_turn_goes_with_a_memory_that_it_showed_and_no_other_does(engine: MemoryEngine) -> None:
    seat = await engine.add("aisle", key="seat", actor=ANA)
    await asked(engine)
    await keep_turn(engine, ANA, TurnTexts(run_id="other", at=START, question="And now?"))
    await engine.forget(str(seat.memory_id), actor=ANA)
    assert [turn.run_id for turn in await kept(engine)] == ["other"]


@pytest.mark.parametrize(
    "question", ["Forget what I told you about my seat.", "Where do I sit?\nForget what I told you about my seat."]
)
async def test_no_question_that_asks_something_of_memory_is_kept_on_any_path(
    engine: MemoryEngine, question: str
) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    await asked(engine, question=question)
    assert (await engine.context(question, actor=ANA)).text
    await keep_turn(engine, ANA, TurnTexts(run_id="r", at=engine.clock.now(), question=question))
    assert await kept(engine) == []


async def test_a_turn_goes_with_a_memory_that_was_purged(engine: MemoryEngine) -> None:
    seat = await engine.add("aisle", key="seat", ttl=timedelta(days=1), actor=ANA)
    turn = TurnTexts(run_id="r", at=START, question="Which?", shown=(str(seat.memory_id),))
    await keep_turn(engine, ANA, turn)
    await keep_turn(engine, ANA, replace(turn, run_id="other", shown=()))
    rules = ExpiryRules(hard_kinds=frozenset({Kind.LONG_TERM}))
    purged = 0
    for _ in range(2):
        engine.clock.advance(timedelta(days=2))  # type: ignore[attr-defined]
        purged += (await engine.expire(actor=ANA, rules=rules)).purged
    assert purged == 1
    assert [one.run_id for one in await kept(engine)] == ["other"]


async def test_the_turns_of_some_runs_are_read_alone(engine: MemoryEngine) -> None:
    for run_id in ("one", "two"):
        await keep_turn(engine, ANA, TurnTexts(run_id=run_id, at=START, question="Which seat?"))
    assert set(await turns_of(engine.store, engine.vault, ANA, run_ids={"two", "none"})) == {"two"}


async def test_what_others_were_shown_of_a_shared_memory_goes_with_it(engine: MemoryEngine) -> None:
    shared = await engine.add("The office is open on Sundays.", level="workspace", actor=ANA)
    turn = TurnTexts(run_id="bens", at=START, question="When?", answer="On Sundays.", shown=(str(shared.memory_id),))
    await keep_turn(engine, BEN, turn)
    await keep_turn(engine, BEN, replace(turn, run_id="own", shown=()))
    receipt = await engine.erase("ana", actor=OPERATOR)
    assert receipt.counts["turns"] == 1
    assert [one.run_id for one in await kept(engine, BEN)] == ["own"]


async def test_old_turns_go_and_so_do_those_that_are_too_many(
    engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_log, "MOST", 2)
    for number in range(3):
        await keep_turn(engine, ANA, TurnTexts(run_id=str(number), at=START + timedelta(seconds=number)))
    assert [turn.run_id for turn in await kept(engine)] == ["1", "2"]
    engine.clock.advance(timedelta(days=31))  # type: ignore[attr-defined]
    await engine.maintain(actor=ANA)
    assert await kept(engine) == []


@pytest.mark.parametrize("engine", [True], indirect=True, ids=["sealed"])
async def test_a_rotated_data_key_still_opens_a_turn(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    await asked(engine)
    before = await kept(engine)
    rotation = await engine.rotate_data_keys(actor=OPERATOR, subject="ana")
    assert rotation.destroyed == 1
    assert await kept(engine) == before


async def test_the_export_of_a_person_has_their_turns(engine: MemoryEngine) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    await asked(engine)
    document = "".join([chunk async for chunk in engine.export_subject("ana", actor=ANA)])
    assert '"question": "Which seat do I prefer?"' in document.replace('":"', '": "')
