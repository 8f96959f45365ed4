"""The pipeline as a whole: outcomes, receipts, idempotence, batches, failures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from mnemic.errors import BudgetSpent, EmbedderFailed, IdempotencyConflict, InvalidInput, StoreFull
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Deadline, Kind, Level, Outcome, Status, Vector, Where
from mnemic.write.decide import is_known
from mnemic.write.draft import WriteRules
from mnemic.write.pipeline import MemoryWritePipeline

STEPS = ["validate", "redact", "fingerprint", "embed", "conflict", "merge", "commit", "publish"]


async def test_a_new_memory(desk: Any) -> None:
    receipt = await desk.add("Likes tea", category="drink", confidence=0.9, data={"via": "chat"})
    memory = await desk.get(receipt.memory_id)
    assert (receipt.outcome, receipt.version, receipt.durable, receipt.degraded) == (Outcome.CREATED, 1, False, ())
    assert [step.name for step in receipt.steps] == STEPS
    assert all(step.decision and step.ms >= 0 for step in receipt.steps)
    assert (memory.status, memory.content, memory.confidence, memory.data) == (
        Status.ACTIVE,
        "Likes tea",
        0.9,
        {"via": "chat"},
    )
    assert memory.expires_at is None
    assert memory.vector is not None
    assert memory.fingerprint
    assert await desk.actions() == ["created"]
    assert [(entry.action, entry.version) for entry in await desk.store.pending()] == [("upsert", 1)]


@pytest.mark.parametrize(
    ("kind", "days"), [(Kind.LONG_TERM, None), (Kind.EPISODIC, 90), (Kind.ENTITY, None), (Kind.STRUCTURED, None)]
)
async def test_retention_comes_from_the_catalog(desk: Any, kind: Kind, days: int | None) -> None:
    memory = await desk.get((await desk.add("Likes tea", kind=kind)).memory_id)
    assert memory.expires_at == (None if days is None else desk.clock.now() + timedelta(days=days))


async def test_a_duplicate_costs_no_row_and_no_embedding(desk: Any) -> None:
    first = await desk.add("Likes tea")
    again = await desk.add(" likes  TEA. ")
    assert (again.outcome, again.was_duplicate, again.memory_id) == (Outcome.REFRESHED, True, first.memory_id)
    assert desk.embedder.texts == 1
    assert len(await desk.all()) == 1
    assert [step.decision for step in again.steps if step.name == "embed"] == ["known"]


async def test_two_identical_writes_at_once_make_one_memory(desk: Any) -> None:
    receipts = await asyncio.gather(*(desk.add("Likes tea") for _ in range(8)))
    assert len(await desk.all()) == 1
    assert sorted(receipt.outcome for receipt in receipts) == [Outcome.CREATED] + [Outcome.REFRESHED] * 7


async def test_an_identical_memory_that_vanishes_is_embedded_after_all(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await desk.add("Likes tea")

    async def known_then_lost(store: Any, draft: Any) -> bool:
        known = await is_known(store, draft)
        await store.transact(lambda tx: tx.remove(first.memory_id, scope=draft.scope))
        return known

    monkeypatch.setattr("mnemic.write.pipeline.is_known", known_then_lost)
    again = await desk.add("Likes tea")
    assert again.outcome is Outcome.CREATED
    assert (await desk.get(again.memory_id)).vector is not None


async def test_the_same_request_is_answered_once(desk: Any) -> None:
    first = await desk.add("Likes tea", idempotency_key="k1")
    await desk.add("Never drinks coffee")
    again = await desk.add("Likes tea", idempotency_key="k1")
    assert again.replayed
    assert (again.outcome, again.memory_id, again.version) == (first.outcome, first.memory_id, first.version)
    assert await desk.actions() == ["created", "created"]


async def test_a_replay_outlives_the_memory(desk: Any) -> None:
    first = await desk.add("Likes tea", idempotency_key="k1")
    await desk.store.transact(lambda tx: tx.remove(first.memory_id, scope=desk.actor.scope("user")))
    again = await desk.add("Likes tea", idempotency_key="k1")
    assert (again.replayed, again.memory_id) == (True, first.memory_id)
    assert await desk.all() == []


@pytest.mark.parametrize("other", [{"content": "Likes coffee"}, {"confidence": 0.1}, {"category": "drink"}])
async def test_one_key_for_two_requests_is_refused(desk: Any, other: dict[str, Any]) -> None:
    await desk.add("Likes tea", idempotency_key="k1")
    with pytest.raises(IdempotencyConflict):
        await desk.add(**{"content": "Likes tea", "idempotency_key": "k1", **other})
    assert len(await desk.all()) == 1


async def test_idempotency_keys_of_two_users_do_not_meet(desk: Any) -> None:
    await desk.add("Likes tea", idempotency_key="k1")
    other = await desk.add("Likes coffee", idempotency_key="k1", actor=Actor(user="bob"))
    assert other.outcome is Outcome.CREATED


@pytest.mark.parametrize("key", ["", "x" * 513, 7])
async def test_a_bad_idempotency_key_is_refused(desk: Any, key: Any) -> None:
    with pytest.raises(InvalidInput, match="idempotency_key"):
        await desk.add("Likes tea", idempotency_key=key)


async def test_scopes_share_nothing(desk: Any) -> None:
    mine = await desk.add("Likes tea")
    others = [
        await desk.add("Likes tea", level=Level.AGENT),
        await desk.add("Likes tea", actor=Actor(user="bob")),
        await desk.add("Likes tea", actor=Actor(user="ada", tenant="other")),
    ]
    assert [receipt.outcome for receipt in others] == [Outcome.CREATED] * 3
    assert len({mine.memory_id, *(receipt.memory_id for receipt in others)}) == 4


async def test_a_memory_past_its_time_is_not_refreshed_but_born_again(desk: Any) -> None:
    old = await desk.add("Likes tea", ttl=timedelta(days=1))
    desk.clock.advance(timedelta(days=2))
    new = await desk.add("Likes tea", ttl=timedelta(days=1))
    assert (new.outcome, new.superseded) == (Outcome.CREATED, ())
    assert new.memory_id != old.memory_id
    assert (await desk.get(old.memory_id)).status is Status.EXPIRED
    assert await desk.actions() == ["created", "expired", "created"]


class Broken(WordEmbedder):
    async def embed(self, texts: Sequence[str], **options: Any) -> list[Vector]:
        if any("poison" in text for text in texts):
            raise EmbedderFailed("response")
        return await super().embed(texts, **options)


async def nothing_stored(desk: Any) -> bool:
    return (
        await desk.all() == []
        and await desk.store.audit("default") == []
        and await desk.store.pending() == []
        and await desk.store.requests("default") == []
    )


async def test_an_embedder_failure_leaves_nothing(desk: Any) -> None:
    desk.pipeline = MemoryWritePipeline(desk.store, Broken(), desk.clock)
    with pytest.raises(EmbedderFailed):
        await desk.add("poison", idempotency_key="k1")
    assert await nothing_stored(desk)


async def test_a_vector_of_the_wrong_size_is_a_failure(desk: Any) -> None:
    class Short(WordEmbedder):
        async def embed(self, texts: Sequence[str], **options: Any) -> list[Vector]:
            return [b"\0" * 8 for _ in texts]

    desk.pipeline = MemoryWritePipeline(desk.store, Short(), desk.clock)
    with pytest.raises(EmbedderFailed, match="dimension"):
        await desk.add("Likes tea")


@pytest.mark.parametrize("method", ["insert", "append_audit", "enqueue", "remember_request"])
async def test_a_failure_inside_the_transaction_leaves_nothing(desk: Any, method: str, monkeypatch: Any) -> None:
    from mnemic.stores.row_store_adapter.transaction import LayeredTransaction

    async def fail(*_: Any, **__: Any) -> None:
        raise StoreFull

    with monkeypatch.context() as patched:
        patched.setattr(LayeredTransaction, method, fail)
        with pytest.raises(StoreFull):
            await desk.add("Likes tea", idempotency_key="k1")
    assert await nothing_stored(desk)
    assert (await desk.add("Likes tea", idempotency_key="k1")).outcome is Outcome.CREATED


async def test_work_that_runs_twice_leaves_one_memory(desk: Any) -> None:
    once = desk.store.transact

    async def twice(work: Any, **options: Any) -> Any:
        class Lost(Exception):
            pass

        async def lost(tx: Any) -> None:
            await work(tx)
            raise Lost

        with pytest.raises(Lost):
            await once(lost)
        return await once(work, **options)

    desk.store.transact = twice
    receipt = await desk.add("Likes tea")
    assert [step.name for step in receipt.steps] == STEPS
    assert len(await desk.all()) == 1


async def test_a_spent_deadline_stops_before_the_embedder(desk: Any) -> None:
    deadline = Deadline.after(timedelta(seconds=1), desk.clock.monotonic)
    desk.clock.advance(timedelta(seconds=2))
    with pytest.raises(BudgetSpent) as error:
        await desk.pipeline.write(
            Candidate(content="Likes tea"), actor=desk.actor, policy=desk.policy, deadline=deadline
        )
    assert error.value.reason == "max_seconds"
    assert desk.embedder.texts == 0


@pytest.mark.parametrize("level", ["team", "workspace"])
async def test_a_level_at_which_the_actor_has_no_owner_is_refused(desk: Any, level: str) -> None:
    with pytest.raises(InvalidInput, match=f"scope:{level}"):
        await desk.add("Likes tea", level=level)
    assert await desk.all() == []


async def many(desk: Any, *contents: str, **options: Any) -> list[Any]:
    candidates = [Candidate(content=content) for content in contents]
    return await desk.pipeline.write_many(candidates, actor=desk.actor, policy=desk.policy, **options)


async def test_one_bad_item_stops_no_other(desk: Any) -> None:
    receipts = await many(desk, "Likes tea", "", "Plays chess", "a\0b", "likes tea")
    assert [receipt.outcome for receipt in receipts] == [
        Outcome.CREATED,
        Outcome.BLOCKED,
        Outcome.CREATED,
        Outcome.BLOCKED,
        Outcome.REFRESHED,
    ]
    assert [receipts[1].reason, receipts[3].reason] == ["invalid_input:content:empty", "invalid_input:content:nul"]
    assert not receipts[1].stored


async def test_a_batch_embeds_only_what_is_new(desk: Any) -> None:
    await many(desk, *(f"number {n} of the list" for n in range(40)))
    before = desk.embedder.texts
    receipts = await many(desk, *(f"number {n} of the list" for n in range(40)), "Likes tea")
    assert desk.embedder.texts == before + 1
    assert [receipt.outcome for receipt in receipts] == [Outcome.REFRESHED] * 40 + [Outcome.CREATED]


async def test_receipts_of_a_batch_are_in_order(desk: Any) -> None:
    receipts = await many(desk, *(f"memory {n}" for n in range(70)))
    contents = [(await desk.get(receipt.memory_id)).content for receipt in receipts]
    assert contents == [f"memory {n}" for n in range(70)]


async def test_an_embedder_failure_blocks_its_batch_but_not_what_is_known(desk: Any) -> None:
    desk.pipeline = MemoryWritePipeline(desk.store, Broken(), desk.clock)
    await many(desk, "Likes tea")
    receipts = await many(desk, "Likes tea", "poison", "Plays chess")
    assert [receipt.outcome for receipt in receipts] == [Outcome.REFRESHED, Outcome.BLOCKED, Outcome.BLOCKED]
    assert receipts[1].reason == "embedder_failed:response"


async def test_a_conflicting_key_blocks_one_item(desk: Any) -> None:
    await many(desk, "Likes tea", idempotency_keys=["k1"])
    receipts = await many(desk, "Plays chess", "Reads novels", idempotency_keys=["k1", "k2"])
    assert sorted(receipt.outcome for receipt in receipts) == [Outcome.BLOCKED, Outcome.CREATED]
    assert receipts[0].reason == "idempotency_key_reused"


async def test_keys_and_candidates_must_match(desk: Any) -> None:
    with pytest.raises(InvalidInput, match="idempotency_keys"):
        await many(desk, "a", "b", idempotency_keys=["k"])


async def test_nothing_is_read_of_a_memory_of_another_user(desk: Any) -> None:
    await desk.add("Likes tea", actor=Actor(user="bob"))
    assert await desk.store.count(Where(scopes=(desk.actor.scope("user"),))) == 0


@pytest.mark.parametrize(
    "rules", [{"near_duplicate": 1.2}, {"conflict": 0.0}, {"conflict": float("nan")}, {"neighbours": 0}]
)
def test_rules_must_make_sense(rules: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="write_rules"):
        WriteRules(**rules)
