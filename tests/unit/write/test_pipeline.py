"""The pipeline as a whole: outcomes, receipts, idempotence, batches, failures."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import BudgetSpent, EmbedderFailed, IdempotencyConflict, InvalidInput, StoreFull
from mnemic.policy.key_rules import Policy
from mnemic.policy.limits import Limits, Quota
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Deadline, Kind, Level, Outcome, Scope, Source, Status, Usage, Vector, Where
from mnemic.write.decide import is_known
from mnemic.write.draft import WriteRules
from mnemic.write.limiter import decide_consent, may_exceed_quota
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.prepare import fingerprint_of, index_text, normal_form, validate
from tests.examples import Examples

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


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (None, "english"),
        ("reply_language", "reply language: english"),
        ("reply-language", "reply language: english"),
        ("homeCity2", "home city 2: english"),
        ("язык", "язык: english"),
    ],
)
def test_index_text(key: str | None, text: str) -> None:
    assert index_text("english", key=key) == text


EXAMPLES = Examples.of_tests(__file__)
HOME = Scope(tenant="default", level=Level.USER, owner="ada")
SECRET = b"s" * 32


def of(content: str = "Likes tea", scope: Scope = HOME, secret: bytes = SECRET, **fields: Any) -> str:
    return fingerprint_of(secret, scope, Candidate(content=content, **fields))


def test_the_same_statement() -> None:
    EXAMPLES.assert_right(lambda content: of(content) == of(), "the_same_statement")


def test_another_statement() -> None:
    EXAMPLES.assert_right(lambda other: other != of(), "another_statement")


def test_composed_and_decomposed_are_one() -> None:
    assert of("cafe\u0301") == of("caf\u00e9")


def test_data_and_time_make_another_memory() -> None:
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    assert of(data={"invoice": 1}) != of(data={"invoice": 2})
    assert of(occurred_at=noon) != of(occurred_at=noon + timedelta(days=1))
    assert of(occurred_at=noon, source=Source(quote="x")) == of(source=Source(quote="x"))
    assert of(kind=Kind.STRUCTURED, data={"seat": "1A"}) != of(kind=Kind.STRUCTURED, data={"seat": "1B"})
    assert of(kind=Kind.EPISODIC, occurred_at=noon) != of(kind=Kind.EPISODIC)


def test_it_is_no_plain_hash() -> None:
    assert len(of()) == 64
    assert normal_form("...") == "..."


MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("quota", "held", "near"),
    [
        (Quota(per="tenant", rows=100_000), Usage(1_000, 0, 0), False),
        (Quota(per="tenant", rows=100_000), Usage(89_999, 0, 0), False),
        (Quota(per="tenant", rows=100_000), Usage(90_001, 0, 0), True),
        (Quota(per="tenant", rows=1_500), Usage(0, 0, 0), False),
        (Quota(per="tenant", rows=1_500), Usage(501, 0, 0), True),
        (Quota(per="tenant", rows=10), Usage(0, 0, 0), True),
        (Quota(per="tenant", bytes=1000 * MIB), Usage(0, 899 * MIB, 0), False),
        (Quota(per="tenant", bytes=1000 * MIB), Usage(0, 901 * MIB, 0), True),
        (Quota(per="tenant", bytes=10 * MIB), Usage(0, 0, 0), True),
        (Quota(per="tenant", writes_a_minute=5_000), Usage(9_999, 0, 3_900), False),
        (Quota(per="tenant", writes_a_minute=5_000), Usage(9_999, 0, 4_100), True),
        (Quota(per="user", rows=10), Usage(9, 0, 0), False),
        (Quota(per="tenant", kind=Kind.ENTITY, rows=10), Usage(9, 0, 0), False),
    ],
)
def test_a_quota_is_near_when_a_crowd_could_pass_it(quota: Quota, held: Usage, near: bool) -> None:
    candidate = Candidate(content="tea", kind=Kind.EPISODIC)
    assert may_exceed_quota(Limits(quotas=(quota,)), candidate, {Kind.EPISODIC: held}) is near


ANA = Actor(user="ana")
BAD = Candidate(content="I like tea.", confidence=0.5, data={"amount": float("nan")})


class _Embedder(WordEmbedder):
    """Notes the number of texts of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[int] = []

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        self.calls.append(len(texts))
        return await super().embed(texts, deadline=deadline)


class _Store(SqliteStore):
    """Counts the reads of the file."""

    reads = 0

    async def _read(self, work: Any) -> Any:
        self.reads += 1
        return await super()._read(work)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=_Store(tmp_path / "m.db"), embedder=_Embedder()) as opened:
        yield opened


async def test_a_write_reads_the_file_once_before_its_transaction(engine: MemoryEngine) -> None:
    await engine.add("I like tea.", actor=ANA)
    store, embedder = engine.store, engine.embedder
    assert isinstance(store, _Store)
    assert isinstance(embedder, _Embedder)
    store.reads = 0
    embedder.calls.clear()
    assert (await engine.add("My bicycle is green.", actor=ANA)).outcome is Outcome.CREATED
    assert (store.reads, embedder.calls) == (1, [1])
    assert (await engine.add("I like tea.", actor=ANA)).outcome is Outcome.REFRESHED
    assert (store.reads, embedder.calls) == (2, [1])


async def test_limits_refuse_before_the_rules_of_a_statement_do(engine: MemoryEngine) -> None:
    with pytest.raises(InvalidInput, match="data"):
        await engine.add(BAD, actor=ANA)
    await engine.erase("ana", actor=ANA, block=True)
    for candidate in (BAD, Candidate(content="I like tea.")):
        receipt = await engine.add(candidate, actor=ANA)
        assert (receipt.outcome, receipt.reason) == (Outcome.BLOCKED, "retention_denied:erased_subject")


async def test_a_key_without_consent_is_refused_by_the_same_read(engine: MemoryEngine) -> None:
    await decide_consent(
        engine.store, engine.clock, "drink", granted=False, user="ana", actor=ANA, policy=engine.policy
    )
    assert (await engine.add("tea", key="drink", actor=ANA)).reason == "consent_required:drink"
    assert isinstance(engine.embedder, _Embedder)
    assert engine.embedder.calls == []


NOW = datetime(2026, 1, 5, tzinfo=UTC)


def validated(**fields: Any) -> Candidate:
    return validate(Candidate(**{"content": "likes tea", **fields}), Policy(), NOW)


def nested(depth: int) -> Any:
    value: Any = "leaf"
    for _ in range(depth):
        value = {"in": value}
    return value


REFUSED = [
    ({"content": ""}, "content:empty"),
    ({"content": " \n\t "}, "content:empty"),
    ({"content": "\u200b\u200b"}, "content:empty"),
    ({"content": "x" * 8193}, "content:too_long"),
    ({"content": "x" * 100_000}, "content:too_long"),
    ({"content": "\U0001f600" * 8192 + "x"}, "content:too_long"),
    ({"content": "a\0b"}, "content:nul"),
    ({"content": "a\ud800b"}, "content:surrogate"),
    ({"content": 7}, "content"),
    ({"kind": "diary"}, "kind"),
    ({"kind": Kind.WORKING}, "kind:not_durable"),
    ({"kind": Kind.SHORT_TERM}, "kind:not_durable"),
    ({"key": ""}, "key"),
    ({"key": "a\u202eb"}, "key"),
    ({"confidence": math.nan}, "confidence"),
    ({"confidence": math.inf}, "confidence"),
    ({"confidence": 1.01}, "confidence"),
    ({"confidence": True}, "confidence"),
    ({"confidence": 10**400}, "confidence"),
    ({"confidence": "high"}, "confidence"),
    ({"data": {"x": 10**5000}}, "data:integer"),
    ({"data": {"x": b"bytes"}}, "data"),
    ({"data": [1]}, "data"),
    ({"ttl": timedelta(0)}, "ttl"),
    ({"ttl": timedelta(days=99_999)}, "ttl"),
    ({"valid_from": NOW, "valid_to": NOW}, "valid_to"),
    ({"valid_to": NOW - timedelta(days=1)}, "valid_to"),
    ({"data": {"x": math.nan}}, "data"),
    ({"data": {"x": object()}}, "data"),
    ({"data": nested(10)}, "data:depth"),
    ({"data": {"x": "y" * 40_000}}, "data:too_long"),
    ({"data": {"x": ["y" * 9_000] * 4}}, "data:too_long"),
    ({"data": {"": 1}}, "data"),
    ({"data": {"x": "a\0"}}, "data:nul"),
    ({"context": "x" * 8193}, "context:too_long"),
    ({"context": "\ud800"}, "context:surrogate"),
    ({"category": "x" * 129}, "category:too_long"),
    ({"category": 3}, "category"),
    ({"source": Source(origin="rumour")}, "origin"),  # type: ignore[arg-type]
    ({"source": Source(span=(3, 1))}, "span"),
    ({"source": Source(span=(True, 2))}, "span"),
    ({"source": Source(speaker="x" * 300)}, "speaker:too_long"),
    ({"source": Source(quote="x" * 20_000)}, "quote:too_long"),
]


@pytest.mark.parametrize(
    ("fields", "reason"), REFUSED, ids=[f"{reason}-{at}" for at, (_, reason) in enumerate(REFUSED)]
)
def test_refused_with_a_reason(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput) as error:
        validated(**fields)
    assert error.value.reason == f"invalid_input:{reason}"
    assert "xxxx" not in str(error.value)


def test_limits_are_measured_after_normalising() -> None:
    padded = "\u200b" * 20_000 + "x" * 8192
    assert validated(content=padded).content == "x" * 8192
    assert len(validated(content="\U0001f600" * 8192).content.encode()) == 32 * 1024


def test_texts_are_cleaned() -> None:
    source = Source(quote="  I like\u200b tea ", speaker=" Ada ", ref="  ")
    clean = validated(
        content="  Cafe\u0301 \r\n", key=" home ", category=" food ", data={"a": ["x\u200b"]}, source=source
    )
    assert (clean.content, clean.key, clean.category) == ("Café", "home", "food")
    assert clean.data["a"] == ("x\u200b",), "data stay as they are given, so that a filter finds them"
    assert (clean.source.quote, clean.source.speaker, clean.source.ref) == ("I like tea", "Ada", None)


def test_a_kind_may_be_named_by_its_value() -> None:
    assert validated(kind="episodic").kind is Kind.EPISODIC
