"""Step 5: refreshed, merged, or kept apart."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.types import Deadline, Kind, Origin, Outcome, Source, Status
from mnemic.write.model_judge import Judgement, Verdict
from mnemic.write.thresholds import WriteRules
from mnemic_language.compare.word_comparison import Statement
from mnemic_testing.embedder import WordEmbedder
from mnemic_testing.statement_pairs import OPPOSITES, SWAPS
from tests.unit.write.conftest import Blind, Desk

DAY = timedelta(days=1)


def stems(text: str) -> frozenset[str]:
    return frozenset(Statement.of(text).stems)


async def test_a_refresh_never_lowers(desk: Any) -> None:
    first = await desk.add("Likes tea", confidence=0.9, ttl=20 * DAY)
    again = await desk.add("Likes tea", confidence=0.4, ttl=2 * DAY)
    memory = await desk.get(first.memory_id)
    assert (again.outcome, again.version) == (Outcome.REFRESHED, 1)
    assert (memory.confidence, memory.expires_at, memory.version) == (0.9, desk.clock.now() + 20 * DAY, 1)


async def test_a_refresh_raises_and_extends_in_a_new_version(desk: Any) -> None:
    first = await desk.add("Likes tea", confidence=0.4, ttl=2 * DAY, data={"via": "chat"})
    desk.clock.advance(DAY)
    again = await desk.add("Likes tea", confidence=0.9, ttl=2 * DAY, data={"page": 3})
    memory = await desk.get(first.memory_id)
    assert (again.version, memory.version, memory.confidence) == (2, 2, 0.9)
    assert memory.expires_at == desk.clock.now() + 2 * DAY
    assert memory.updated_at == desk.clock.now()
    assert memory.data == {"via": "chat", "page": 3}
    assert len(await desk.store.versions(memory.memory_id, scopes=[memory.scope])) == 2
    assert [entry.action for entry in await desk.store.pending()] == ["upsert", "upsert"]


async def test_repetition_leaves_evidence_but_no_noise(desk: Any) -> None:
    receipt = await desk.add("Likes tea")
    for _ in range(5):
        desk.clock.advance(timedelta(minutes=1))
        await desk.add("Likes tea")
    assert (await desk.get(receipt.memory_id)).version == 1
    assert (await desk.actions()).count("refreshed") == 5


async def test_never_expiring_stays_so(desk: Any) -> None:
    receipt = await desk.add("Likes tea", kind=Kind.ENTITY)
    await desk.add("Likes tea", kind=Kind.ENTITY, ttl=DAY)
    assert (await desk.get(receipt.memory_id)).expires_at is None


async def test_lower_trust_confirms_and_changes_nothing(desk: Any) -> None:
    first = await desk.add("Likes tea", confidence=0.3, ttl=DAY)
    again = await desk.add("Likes tea", confidence=1.0, ttl=100 * DAY, data={"x": 1}, origin=Origin.WEB)
    memory = await desk.get(first.memory_id)
    assert again.outcome is Outcome.REFRESHED
    assert (memory.version, memory.confidence, memory.data) == (1, 0.3, {})


async def test_higher_trust_lifts_the_memory(desk: Any) -> None:
    first = await desk.add("Likes tea", origin=Origin.WEB)
    await desk.add("Likes tea", source=Source(origin=Origin.USER_STATED, quote="I like tea"))
    memory = await desk.get(first.memory_id)
    assert (memory.trust, memory.source.quote) == (3, "I like tea")


async def test_the_fuller_new_statement_absorbs_the_old(blind: Any) -> None:
    old = await blind.add("Prefers dark mode", confidence=0.9, data={"a": 1})
    new = await blind.add("The user prefers dark mode in the editor", confidence=0.5, data={"b": 2})
    merged = await blind.get(new.memory_id)
    before = await blind.get(old.memory_id)
    assert (new.outcome, new.superseded, new.was_merged) == (Outcome.MERGED, (old.memory_id,), True)
    assert merged.content == "The user prefers dark mode in the editor"
    assert (merged.supersedes, merged.confidence, merged.data) == ((old.memory_id,), 0.9, {"a": 1, "b": 2})
    assert (before.status, before.version, before.content) == (Status.SUPERSEDED, 2, "Prefers dark mode")
    assert [memory.memory_id for memory in await blind.active()] == [new.memory_id]
    assert await blind.actions() == ["created", "superseded", "created"]


async def test_the_fuller_old_statement_lives_on(blind: Any) -> None:
    old = await blind.add("Prefers dark mode in the editor")
    new = await blind.add("Prefers dark mode")
    merged = await blind.get(new.memory_id)
    kept = [m for m in await blind.all(Status.SUPERSEDED) if m.memory_id != old.memory_id]
    assert (new.outcome, merged.content) == (Outcome.MERGED, "Prefers dark mode in the editor")
    assert [memory.content for memory in kept] == ["Prefers dark mode"]
    assert set(merged.supersedes) == {old.memory_id, kept[0].memory_id}
    assert new.superseded == (old.memory_id,)


@pytest.mark.parametrize("first", ["Prefers dark mode", "Prefers dark mode in the editor"])
async def test_what_was_merged_is_not_merged_again(blind: Any, first: str) -> None:
    second = "Prefers dark mode in the editor" if first == "Prefers dark mode" else "Prefers dark mode"
    await blind.add(first)
    merged = await blind.add(second)
    rows = len(await blind.all())
    for content in (first, second, first):
        again = await blind.add(content)
        assert (again.outcome, again.memory_id) == (Outcome.REFRESHED, merged.memory_id)
    assert len(await blind.all()) == rows


async def test_all_near_duplicates_are_absorbed_not_three(blind: Any) -> None:
    for kind in (Kind.ENTITY, Kind.LONG_TERM):
        await blind.add("Prefers dark mode", kind=kind)
    texts = ["Prefers dark mode daily", "Prefers dark mode daily here"]
    for text in texts:
        await blind.add(text)
    assert sorted((m.kind, m.content) for m in await blind.active()) == [
        (Kind.ENTITY, "Prefers dark mode"),
        (Kind.LONG_TERM, texts[-1]),
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"category": "work"},
        {"source": Source(speaker="Bob")},
        {"data": {"via": "mail"}},
        {"kind": Kind.ENTITY},
        {"key": "editor"},
    ],
)
async def test_what_differs_otherwise_is_kept_apart(blind: Any, other: dict[str, Any]) -> None:
    await blind.add("Prefers dark mode", data={"via": "chat"})
    receipt = await blind.add("The user prefers the dark mode", **other)
    assert receipt.outcome is Outcome.CREATED
    assert len(await blind.active()) == 2


@pytest.mark.parametrize(("one", "other"), OPPOSITES + SWAPS, ids=[one[:30] for one, _ in OPPOSITES + SWAPS])
async def test_opposites_are_never_merged(one: str, other: str) -> None:
    for first, second in ((one, other), (other, one)):
        desk = await Desk(Blind()).open()
        await desk.add(first)
        receipt = await desk.add(second)
        assert receipt.outcome in (Outcome.CREATED, Outcome.SUPERSEDED)
        before, after = sorted(await desk.all(), key=lambda memory: memory.memory_id)
        assert before.content.translate(str.maketrans("()", "[]")) == first
        assert after.content.translate(str.maketrans("()", "[]")) == second
        assert (before.status is Status.SUPERSEDED) is (receipt.outcome is Outcome.SUPERSEDED)


async def test_episodes_are_never_merged(blind: Any) -> None:
    first = await blind.add("Went running", kind=Kind.EPISODIC, occurred_at=blind.clock.now())
    again = await blind.add("Went running", kind=Kind.EPISODIC, occurred_at=blind.clock.now())
    later = await blind.add("Went running", kind=Kind.EPISODIC, occurred_at=blind.clock.now() + DAY)
    opposite = await blind.add("Did not go running", kind=Kind.EPISODIC)
    assert (again.outcome, again.memory_id) == (Outcome.REFRESHED, first.memory_id)
    assert (later.outcome, opposite.outcome) == (Outcome.CREATED, Outcome.CREATED)
    assert len(await blind.active()) == 3


async def test_lower_trust_never_absorbs(blind: Any) -> None:
    mine = await blind.add("Prefers dark mode")
    fuller = await blind.add("Prefers dark mode in the editor", origin=Origin.WEB)
    same = await blind.add("The user prefers the dark mode", origin=Origin.WEB, confidence=1.0)
    assert (fuller.outcome, fuller.reason, fuller.conflicts_with) == (
        Outcome.PENDING_REVIEW,
        "lower_trust",
        (mine.memory_id,),
    )
    assert (same.outcome, same.memory_id, same.reason) == (Outcome.REFRESHED, mine.memory_id, "near_duplicate")
    memory = await blind.get(mine.memory_id)
    assert (memory.version, memory.status, memory.content) == (1, Status.ACTIVE, "Prefers dark mode")


async def test_values_of_a_key_merge_only_among_themselves(blind: Any) -> None:
    blind.policy = Policy.of(KeyRule("likes", on_change="accumulate"), keyless=True)
    await blind.add("dark roast coffee", key="likes")
    other = await blind.add("green tea", key="likes")
    merged = await blind.add("the dark roast coffee", key="likes")
    assert (other.outcome, merged.outcome) == (Outcome.CREATED, Outcome.MERGED)
    assert len(await blind.active()) == 2


words = st.sampled_from("likes green tea coffee daily milk strong Berlin 3 never sometimes office quiet".split())


@settings(max_examples=60)
@given(st.lists(st.lists(words, min_size=1, max_size=5).map(" ".join), min_size=2, max_size=6))
async def test_no_word_is_ever_lost(texts: list[str]) -> None:
    desk = await Desk(Blind()).open()
    for text in texts:
        receipt = await desk.add(text)
        if receipt.outcome is Outcome.MERGED:
            merged = await desk.get(receipt.memory_id)
            for memory_id in merged.supersedes:
                assert stems((await desk.get(memory_id)).content) <= stems(merged.content)
            assert stems(text) <= stems(merged.content)
    # Every text is still there as it was said: active, waiting, or kept as an original.
    stored = {memory.content.casefold() for memory in await desk.all()}
    assert {text.casefold() for text in texts} <= stored


BEACH = "The dog plays wildly on the long beach near the harbour"
HARBOUR = "The dog plays on the long beach near the harbour at noon"


class Same:
    """A judge that takes any two for one."""

    async def judge(self, said: str, known: Sequence[str], *, deadline: Deadline | None = None) -> Judgement:
        return Judgement(verdicts=(Verdict.SAME,) * len(known))


@pytest.fixture
async def lenient() -> Desk:
    """A desk with such a judge, for which all texts lie side by side."""
    return await Desk(Blind(), judge=Same()).open()


async def test_what_each_tells_alone_is_kept_word_for_word(lenient: Any) -> None:
    old = await lenient.add(BEACH, context="at sea", confidence=0.9, data={"a": 1})
    new = await lenient.add(HARBOUR, context="on leave", confidence=0.4, data={"b": 2})
    joined = await lenient.get(new.memory_id)
    kept = [memory for memory in await lenient.all(Status.SUPERSEDED) if memory.memory_id != old.memory_id]
    assert (new.outcome, joined.content) == (Outcome.MERGED, f"{BEACH}\n{HARBOUR}")
    assert (joined.context, joined.confidence, joined.data) == ("at sea\non leave", 0.9, {"a": 1, "b": 2})
    assert [memory.content for memory in kept] == [HARBOUR]
    assert set(joined.supersedes) == {old.memory_id, kept[0].memory_id}
    for text in (BEACH, HARBOUR, f"{BEACH}\n{HARBOUR}"):
        again = await lenient.add(text)
        assert (again.outcome, again.memory_id) == (Outcome.REFRESHED, joined.memory_id)


async def test_a_joined_memory_lies_between_its_two() -> None:
    desk = await Desk(WordEmbedder(), judge=Same()).open()
    await desk.add(BEACH)
    joined = await desk.get((await desk.add(HARBOUR)).memory_id)
    (one, other) = [memory.vector for memory in await desk.all(Status.SUPERSEDED)]
    near = [nearness(joined.vector, vector) for vector in (one, other)]
    assert min(near) > nearness(one, other)
    assert near[0] == pytest.approx(near[1], abs=1e-4)


def nearness(one: Any, other: Any) -> float:
    return sum(a * b for a, b in zip(array("f", one), array("f", other), strict=True))


async def test_a_joined_memory_never_grows(lenient: Any) -> None:
    for text in (BEACH, HARBOUR, "The dog plays on the long beach near the harbour in boots"):
        await lenient.add(text)
    assert max(len(memory.content.splitlines()) for memory in await lenient.all()) == 2
    assert len(await lenient.active()) == 2


async def test_without_a_judge_what_differs_is_kept_apart(blind: Any) -> None:
    outcomes = [(await blind.add(text)).outcome for text in (BEACH, HARBOUR)]
    assert outcomes == [Outcome.CREATED, Outcome.CREATED]


async def test_merging_ends_somewhere(blind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.write.decision.MAX_LINEAGE", 2)
    texts = ["Prefers dark mode", "Prefers dark mode daily", "Prefers dark mode daily here"]
    outcomes = [(await blind.add(text)).outcome for text in texts]
    assert outcomes == [Outcome.CREATED, Outcome.MERGED, Outcome.MERGED]
    more = await blind.add("Prefers dark mode daily here indoors")
    assert (more.outcome, len(await blind.active())) == (Outcome.CREATED, 2)


@pytest.mark.parametrize("bound", ["valid_from", "valid_to"])
async def test_what_was_true_at_other_times_is_kept_apart(blind: Any, bound: str) -> None:
    await blind.add("Prefers dark mode", **{bound: blind.clock.now() + DAY})
    receipt = await blind.add("The user prefers the dark mode", **{bound: blind.clock.now() + 9 * DAY})
    assert receipt.outcome is Outcome.CREATED


async def test_other_trust_is_never_joined(lenient: Any) -> None:
    await lenient.add(BEACH)
    receipt = await lenient.add(HARBOUR, origin=Origin.WEB)
    assert receipt.outcome is Outcome.CREATED


async def test_what_is_far_off_is_neither_merged_nor_joined() -> None:
    rules = WriteRules(near_duplicate=1.0, conflict=1.0, nominate=1.0)
    desk = await Desk(WordEmbedder(), rules=rules, judge=Same()).open()
    await desk.add(BEACH)
    assert (await desk.add(HARBOUR)).outcome is Outcome.CREATED


SAID = st.lists(
    st.sampled_from("the user likes green tea in a quiet office near Berlin with 3 friends on Monday".split()),
    min_size=2,
    max_size=9,
).map(" ".join)


@settings(max_examples=60)
@given(SAID, st.integers(0, 8), st.sampled_from(["not", "never", "no longer", "hardly", "unable to", "failed to"]))
async def test_the_negation_of_a_memory_never_merges_with_it(said: str, place: int, negation: str) -> None:
    words = said.split()
    denied = " ".join([*words[:place], *negation.split(), *words[place:]])
    for first, second in ((said, denied), (denied, said)):
        desk = await Desk(Blind()).open()
        await desk.add(first)
        receipt = await desk.add(second)
        assert receipt.outcome in (Outcome.CREATED, Outcome.SUPERSEDED)
        assert {memory.content for memory in await desk.all()} == {first, second}


@settings(max_examples=60)
@given(SAID, st.integers(1, 50), st.integers(1, 50), st.sampled_from(["costs", "on the", "at", "number"]))
async def test_another_number_never_merges(said: str, one: int, more: int, frame: str) -> None:
    desk = await Desk(Blind()).open()
    await desk.add(f"{said} {frame} {one}")
    receipt = await desk.add(f"{said} {frame} {one + more}")
    assert receipt.outcome in (Outcome.CREATED, Outcome.SUPERSEDED)
    assert len(await desk.all()) == 2
