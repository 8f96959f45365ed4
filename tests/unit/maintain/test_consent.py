"""Consent, quotas and retention, as a caller meets them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.policy.limits import Limits, Quota, Retention
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Kind, Message, Outcome


@asynccontextmanager
async def opened(path: Path, clock: ManualClock, **limits: object) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(
        store=SqliteStore(path),
        embedder=WordEmbedder(),
        clock=clock,
        limits=Limits(**limits),  # type: ignore[arg-type]
    ) as engine:
        yield engine


def on_disk(folder: Path, text: bytes) -> bool:
    return any(text in path.read_bytes() for path in folder.iterdir())


async def contents(engine: MemoryEngine, actor: Actor) -> set[str]:
    hits = (await engine.search("diet vegan seat aisle", actor=actor)).hits
    return {hit.memory.content for hit in hits}


async def test_what_is_revoked_is_hidden_and_refused_at_once_in_every_process(
    engine: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor, tmp_path: Path
) -> None:
    for actor in (ana, ben):
        await engine.add("vegan", actor=actor, key="diet")
        await engine.add("aisle", actor=actor, key="seat")
    async with opened(tmp_path / "m.db", clock) as elsewhere:
        revoked = await elsewhere.revoke_consent(" diet ", actor=ana)
        assert (revoked.key, revoked.hidden, revoked.erased) == ("diet", 1, None)
    assert await contents(engine, ana) == {"aisle"}
    assert [memory.content for memory in await engine.list(actor=ana)] == ["aisle"]
    assert await engine.count(actor=ana) == 1
    report = await engine.run(actor=ana, goal="diet vegan seat?")
    assert "vegan" not in [entry["value"] for entry in report.as_dict()["memory_state"]]
    refused = await engine.add("omnivore", actor=ana, key="diet")
    assert (refused.outcome, refused.reason) == (Outcome.BLOCKED, "consent_required:diet")
    (many,) = await engine.add_many([Candidate(content="omnivore", key="diet")], actor=ana)
    assert many.reason == "consent_required:diet"
    assert await contents(engine, ben) == {"vegan", "aisle"}
    await engine.grant_consent("diet", actor=ana)
    assert await contents(engine, ana) == {"vegan", "aisle"}
    assert await engine.consents(actor=ana) == {"diet": True}
    assert [event.action for event in await engine.audit(actor=ana)][-1] == "consent_granted"


async def test_a_message_is_not_kept_that_tells_what_needs_a_consent(
    engine: MemoryEngine, ana: Actor, ben: Actor
) -> None:
    await engine.revoke_consent("diet", actor=ana)
    talk = [
        Message(role="user", content="I am vegan and love tofu.", session="s1"),
        Message(role="assistant", content="Noted.", session="s1"),
        Message(role="user", content="I keep bees in Graz.", session="s1"),
    ]
    refused, *kept = await engine.record(talk, actor=ana)
    assert (refused.outcome, refused.reason) == (Outcome.BLOCKED, "consent_required:diet")
    assert [one.outcome for one in kept] == [Outcome.CREATED, Outcome.CREATED]
    held = [(one.content, one.context) for one in await engine.list(actor=ana)]
    assert held == [("I keep bees in Graz.", "Noted."), ("Noted.", "")]
    assert all(one.stored for one in await engine.record(talk[:1], actor=ben))
    (other,) = await engine.add_many([Candidate(content="I am vegan.", category="note")], actor=ana)
    assert other.outcome is Outcome.CREATED, "said on purpose, under no key"


async def test_where_every_key_needs_a_consent_so_do_messages(tmp_path: Path, clock: ManualClock, ana: Actor) -> None:
    async with opened(tmp_path / "required.db", clock, consent="required") as engine:
        message = Message(role="user", content="I am vegan.")
        (refused,) = await engine.record([message], actor=ana)
        assert refused.reason == "consent_required:diet"
        await engine.grant_consent("diet", actor=ana)
        (kept,) = await engine.record([message], actor=ana)
        assert kept.outcome is Outcome.CREATED


async def test_an_update_needs_consent_too(engine: MemoryEngine, ana: Actor) -> None:
    memory_id = (await engine.add("vegan", actor=ana, key="diet")).memory_id
    assert memory_id is not None
    await engine.revoke_consent("diet", actor=ana)
    assert (await engine.update(memory_id, "omnivore", actor=ana)).reason == "consent_required:diet"


async def test_revoking_can_erase(engine: MemoryEngine, ana: Actor, tmp_path: Path) -> None:
    await engine.add("Zyxwvutcanary", actor=ana, key="diet")
    await engine.add("aisle", actor=ana, key="seat")
    assert on_disk(tmp_path, b"Zyxwvutcanary")
    revoked = await engine.revoke_consent("diet", actor=ana, erase_held=True)
    assert revoked.erased is not None
    assert revoked.erased.complete
    assert revoked.erased.counts["memories"] == 1
    assert await engine.consents(actor=ana) == {"diet": False}
    assert not on_disk(tmp_path, b"Zyxwvutcanary")
    assert [memory.content for memory in await engine.list(actor=ana)] == ["aisle"]


async def test_the_default_is_the_installations(tmp_path: Path, clock: ManualClock, ana: Actor) -> None:
    async with opened(tmp_path / "m.db", clock, consent="required") as engine:
        assert (await engine.add("vegan", actor=ana, key="diet")).reason == "consent_required:diet"
        assert (await engine.add("I like trains.", actor=ana)).stored
        await engine.grant_consent("diet", actor=ana)
        assert (await engine.add("vegan", actor=ana, key="diet")).stored
    async with opened(tmp_path / "m.db", clock, consent_keys=frozenset({"seat"})) as engine:
        assert (await engine.add("aisle", actor=ana, key="seat")).reason == "consent_required:seat"
        assert (await engine.add("red", actor=ana, key="colour")).stored


@pytest.mark.parametrize("verb", ["grant_consent", "revoke_consent"])
async def test_a_key_that_is_none_is_refused(engine: MemoryEngine, ana: Actor, verb: str) -> None:
    with pytest.raises(InvalidInput):
        await getattr(engine, verb)("  ", actor=ana)


async def test_rows_warn_softly_and_end_hard(tmp_path: Path, clock: ManualClock, ana: Actor, ben: Actor) -> None:
    async with opened(tmp_path / "m.db", clock, quotas=(Quota(rows=5, soft=0.6),)) as engine:
        receipts = [await engine.add(f"Fact {number} about ships.", actor=ana) for number in range(6)]
        assert [bool(receipt.warnings) for receipt in receipts] == [False, False, True, True, True, False]
        assert receipts[2].warnings == ("user.rows",)
        assert receipts[5].reason == "quota_exceeded:user.rows"
        assert (await engine.add("Ben's own.", actor=ben)).stored
        assert await engine.count(actor=ana) == 5


async def test_a_batch_cannot_pass_what_each_alone_would_keep(tmp_path: Path, clock: ManualClock, ana: Actor) -> None:
    async with opened(tmp_path / "m.db", clock, quotas=(Quota(rows=3),)) as engine:
        batch = [Candidate(content=f"Item {number} of a list.") for number in range(5)]
        receipts = await engine.add_many(batch, actor=ana)
        assert [receipt.stored for receipt in receipts] == [True, True, True, False, False]
        assert await engine.count(actor=ana) == 3


async def test_tenant_kind_bytes_and_rate(tmp_path: Path, clock: ManualClock, ana: Actor, ben: Actor) -> None:
    quotas = (
        Quota(per="tenant", kind=Kind.ENTITY, rows=1),
        Quota(per="tenant", writes_a_minute=4),
        Quota(per="user", kind=Kind.STRUCTURED, bytes=1100),
    )
    async with opened(tmp_path / "m.db", clock, quotas=quotas) as engine:
        assert (await engine.add("A ship.", actor=ana, kind="entity")).stored
        blocked = await engine.add("A harbour.", actor=ben, kind="entity")
        assert blocked.reason == "quota_exceeded:tenant.entity.rows"
        assert (await engine.add("x" * 100, actor=ana, kind="structured", category="Seat", data={"row": "x"})).stored
        assert (await engine.add("y" * 100, actor=ana, kind="structured", category="Seat", data={"row": "y"})).stored
        refused = await engine.add("z" * 100, actor=ana, kind="structured", category="Seat", data={"row": "z"})
        assert refused.reason == "quota_exceeded:user.structured.bytes"
        assert (await engine.add("Four in a minute.", actor=ben)).stored
        assert (await engine.add("Five in a minute.", actor=ben)).reason == "quota_exceeded:tenant.writes_a_minute"
        clock.advance(timedelta(seconds=61))
        assert (await engine.add("Five in two minutes.", actor=ben)).stored


async def test_retention_shortens_what_would_be_kept_longer(tmp_path: Path, clock: ManualClock, ana: Actor) -> None:
    rule = Retention(longest=timedelta(days=30), hard=True)
    async with opened(tmp_path / "m.db", clock, retention={Kind.LONG_TERM: rule}) as engine:
        kept = await engine.add("The code is 1.", actor=ana, ttl=timedelta(days=30))
        shortened = await engine.add("The code is 2.", actor=ana, ttl=timedelta(days=31))
        unsaid = await engine.add("The locker is 3.", actor=ana)
        assert [one.clamped for one in (kept, shortened, unsaid)] == [(), ("ttl_days",), ()]
        ends = {one.expires_at for one in await engine.list(actor=ana)}
        assert ends == {clock.now() + timedelta(days=30)}
        assert engine.gateway.limits.hard_kinds == {Kind.LONG_TERM}


@pytest.mark.parametrize("quota", [{}, {"rows": 0}, {"rows": True}, {"rows": 1, "soft": 0}, {"rows": 1, "per": "x"}])
def test_a_quota_that_says_nothing_is_refused(quota: dict[str, object]) -> None:
    with pytest.raises(InvalidConfig):
        Quota(**quota)  # type: ignore[arg-type]
