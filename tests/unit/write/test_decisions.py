"""What one draft and the memories near it come to: merged, joined, refreshed, superseded or put before a person.

Drafts and memories are made by hand here, so that every field and every threshold can be told apart.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.types import Actor, Candidate, Kind, Memory, Origin, Outcome, Source, Status
from mnemic.write.contradictions import by_key, contradicted, deduplicated, opposing, pending
from mnemic.write.draft import Draft
from mnemic.write.fingerprint import fingerprint_of
from mnemic.write.merge import SimilarMemory, merge, refresh, same_claim, superseded_fields
from mnemic.write.thresholds import WriteRules
from mnemic_language.compare.word_comparison import Statement

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
RULES = WriteRules(near_duplicate=0.9, conflict=0.8, nominate=0.6, denied=0.4)
EAST, NORTH = array("f", (1.0, 0.0)).tobytes(), array("f", (0.0, 1.0)).tobytes()
SHORT, LONG = "Prefers dark mode", "Prefers dark mode in the editor"
BEACH = "The dog plays wildly on the long beach near the harbour"
HARBOUR = "The dog plays on the long beach near the harbour at noon"
SAME = {"verdicts": {"old": "same", "mine": "same"}}
"""What a judge says that takes any two for one."""


def draft(content: str = SHORT, *, policy: Policy | None = None, **given: Any) -> Draft:
    told = {name: given.pop(name) for name in ("verdicts", "now", "rules", "actor", "fingerprint") if name in given}
    told.setdefault("actor", Actor(user="ada"))
    candidate = Candidate(content=content, **given)
    return Draft(
        candidate=candidate,
        policy=policy or Policy(),
        secret=b"k" * 32,
        vector=EAST,
        **{"now": NOW, "rules": RULES, "fingerprint": f"new {content}"} | told,  # type: ignore[arg-type]
    )


def known(content: str = LONG, memory_id: str = "old", *, at: datetime = NOW - DAY, **given: Any) -> Memory:
    fields = {name: given.pop(name) for name in ("version", "expires_at", "trust", "vector") if name in given}
    made = draft(content, now=at, fingerprint=f"old {content}", **given).memory(memory_id)
    return replace(made, **{"vector": NORTH} | fields)


def near(memory: Memory, cosine: float = 0.95) -> SimilarMemory:
    return SimilarMemory(memory, cosine)


def decided(new: Draft, *others: SimilarMemory) -> Any:
    return merge(new, others, "new", "kept")


# -- refreshed ---------------------------------------------------------------------------------------------------------


def test_what_is_confirmed_without_a_change_keeps_its_version() -> None:
    old = known(SHORT, confidence=0.8, at=NOW)
    same = refresh(old, draft(confidence=0.8), reason="because")
    assert (same.outcome, same.memory, same.reason, same.changed) == (Outcome.REFRESHED, old, "because", False)


@pytest.mark.parametrize(
    ("left", "renewed", "worth"),
    [
        (10 * DAY, 10 * DAY + HOUR, True),
        (10 * DAY, 10 * DAY + HOUR - MINUTE, False),
        (2 * HOUR, 2 * HOUR + 2 * MINUTE, True),  # a hundredth of what is short
        (2 * HOUR, 2 * HOUR + MINUTE, False),
        (10 * DAY, 9 * DAY, False),
    ],
)
def test_a_later_end_counts_from_an_hour_or_a_hundredth_on(left: timedelta, renewed: timedelta, worth: bool) -> None:
    done = refresh(known(SHORT, expires_at=NOW + left), draft(ttl=renewed))
    assert done.changed is worth
    assert done.memory.expires_at == NOW + (renewed if worth else left)
    assert done.memory.version == (2 if worth else 1)


def test_what_never_ends_is_later_than_any_end() -> None:
    kind = Kind.ENTITY
    assert refresh(known(SHORT, kind=kind, expires_at=NOW + DAY), draft(kind=kind)).memory.expires_at is None
    assert refresh(known(SHORT, kind=kind), draft(kind=kind, ttl=DAY)).memory.expires_at is None
    fixed = Policy(fixed_kinds=frozenset({Kind.LONG_TERM}))
    assert not refresh(known(SHORT, expires_at=NOW + DAY), draft(policy=fixed, ttl=9 * DAY)).changed


def test_what_a_confirmation_raises() -> None:
    old = known(SHORT, confidence=0.5, data={"a": 1, "b": 2}, source=Source(origin=Origin.WEB), expires_at=NOW + DAY)
    source = Source(origin=Origin.USER_STATED, quote="I do")
    done = refresh(old, draft(confidence=0.7, data={"b": 3, "c": 4}, source=source, ttl=DAY))
    assert (done.memory.confidence, done.memory.data) == (0.7, {"a": 1, "b": 3, "c": 4})
    assert (done.memory.source, done.memory.trust, done.changed) == (source, 3, True)
    assert done.memory.updated_at == NOW
    plain = refresh(replace(old, trust=done.memory.trust), draft(confidence=0.7, ttl=DAY))
    assert plain.memory.source == old.source, "the same trust brings no other source"
    assert refresh(old, draft(confidence=0.4, data={"a": 1}, source=old.source, ttl=DAY)).memory == old


# -- merged ------------------------------------------------------------------------------------------------------------


def test_the_new_and_fuller_text_absorbs_the_old() -> None:
    old = known(
        SHORT,
        confidence=0.9,
        data={"a": 1, "both": 1},
        valid_from=NOW - 9 * DAY,
        context="before",
        expires_at=NOW + 99 * DAY,
    )
    new = draft(LONG, confidence=0.5, data={"b": 2, "both": 1}, ttl=9 * DAY, occurred_at=NOW - HOUR, context="now")
    done = decided(new, near(old))
    assert (done.outcome, done.changed, done.kept) == (Outcome.MERGED, True, ())
    merged = done.memory
    assert (merged.memory_id, merged.content, merged.context) == ("new", LONG, "now")
    assert (merged.confidence, merged.data) == (0.9, {"a": 1, "b": 2, "both": 1})
    assert (merged.valid_from, merged.valid_to, merged.occurred_at) == (NOW - 9 * DAY, None, NOW - HOUR)
    assert (merged.expires_at, merged.supersedes) == (NOW + 99 * DAY, ("old",))
    assert (merged.fingerprint, merged.vector) == (f"new {LONG}", EAST)
    (closed,) = done.replaced
    assert (closed.memory_id, closed.version, closed.status) == ("old", 2, Status.SUPERSEDED)
    assert (closed.valid_to, closed.updated_at) == (NOW - 9 * DAY, NOW), "ended where the merged one begins"


def test_the_known_and_fuller_text_lives_on() -> None:
    ends = NOW + 400 * DAY
    old = known(LONG, category="screen", context="at work", valid_to=ends, source=Source(quote="dark in the editor"))
    new = draft(SHORT, category="screen", context="at home", source=Source(quote="dark"), ttl=9 * DAY)
    done = decided(new, near(replace(old, occurred_at=NOW - 3 * DAY)))
    merged = done.memory
    assert (merged.content, merged.context, merged.category) == (LONG, "at work", "screen")
    assert (merged.source.quote, merged.occurred_at, merged.valid_to) == ("dark in the editor", NOW - 3 * DAY, ends)
    assert (merged.fingerprint, merged.vector) == (f"old {LONG}", NORTH)
    assert (merged.memory_id, merged.supersedes) == ("new", ("old", "kept"))
    (kept,) = done.kept
    assert (kept.memory_id, kept.content, kept.status, kept.valid_to) == ("kept", SHORT, Status.SUPERSEDED, NOW)
    assert kept.vector == EAST
    ended = draft(SHORT, category="screen", valid_to=ends)
    assert decided(ended, near(old)).kept[0].valid_to == ends


def test_where_each_says_something_of_its_own_both_are_kept() -> None:
    old = known(BEACH, context="at sea", confidence=0.9)
    done = decided(draft(HARBOUR, context="on leave", category=None, **SAME), near(old))
    joined = done.memory
    assert (joined.content, joined.context) == (f"{BEACH}\n{HARBOUR}", "at sea\non leave")
    assert joined.supersedes == ("old", "kept")
    both = Candidate(content=f"{BEACH}\n{HARBOUR}")
    assert joined.fingerprint == fingerprint_of(b"k" * 32, joined.scope, both)
    assert array("f", joined.vector or b"").tolist() == pytest.approx([0.5**0.5, 0.5**0.5], abs=1e-4)
    assert [(one.memory_id, one.content, one.status, one.valid_to) for one in done.kept] == [
        ("kept", HARBOUR, Status.SUPERSEDED, NOW)
    ]
    assert decided(draft(HARBOUR, context="at sea", **SAME), near(old)).memory.context == "at sea"
    assert decided(draft(HARBOUR, **SAME), near(old)).memory.context == "at sea"


@pytest.mark.parametrize("cosine", [0.61, 0.95, 1.0])
def test_what_differs_is_one_memory_only_where_a_judge_says_so(cosine: float) -> None:
    assert decided(draft(HARBOUR), near(known(BEACH), cosine)) is None
    assert decided(draft(HARBOUR, **SAME), near(known(BEACH), cosine)).outcome is Outcome.MERGED


@pytest.mark.parametrize(
    ("content", "cosine", "merged"),
    [
        ("The user prefers the dark mode", 0.61, True),  # word for word the same
        ("The user prefers the dark mode", 0.6, False),
        (LONG, 0.91, True),  # it says more
        (LONG, 0.9, False),
    ],
)
def test_what_says_more_must_be_nearer(content: str, cosine: float, merged: bool) -> None:
    assert (decided(draft(content), near(known(SHORT), cosine)) is not None) is merged


def test_a_joined_memory_is_not_joined_again_but_known_by_either_line() -> None:
    joined = known(f"{BEACH}\n{HARBOUR}")
    assert decided(draft("The dog plays on the long beach near the harbour in boots", **SAME), near(joined)) is None
    again = decided(draft(HARBOUR.upper()), near(joined))
    assert again.memory.content == f"{BEACH}\n{HARBOUR}"
    long = BEACH + " and so on" * 100
    assert decided(draft(HARBOUR, **SAME), near(known(long))) is None, "too long to be joined"
    keyed = Policy.of(KeyRule("seen", on_change="accumulate"))
    assert decided(draft(HARBOUR, key="seen", policy=keyed, **SAME), near(known(BEACH, key="seen"))) is None


@pytest.mark.parametrize(
    ("field", "mine", "theirs", "merges"),
    [
        ("category", "a", "a", True),
        ("category", "a", None, False),
        ("data", {"x": 1}, {"x": 1, "y": 2}, True),
        ("data", {"x": 1}, {"x": 2}, False),
        ("valid_from", NOW, NOW, True),
        ("valid_from", NOW, None, True),
        ("valid_from", None, NOW, True),
        ("valid_from", NOW, NOW - DAY, False),
        ("valid_to", NOW + DAY, NOW + 2 * DAY, False),
        ("valid_to", None, NOW + 2 * DAY, True),
    ],
)
def test_what_two_must_have_in_common(field: str, mine: Any, theirs: Any, merges: bool) -> None:
    done = decided(draft(LONG, **{field: mine}), near(known(SHORT, **{field: theirs})))
    assert (done is not None) is merges


def test_two_speakers_are_two_claims() -> None:
    speakers = [Source(speaker=name) for name in ("Ann", "Bob")]
    assert decided(draft(LONG, source=speakers[0]), near(known(SHORT, source=speakers[1]))) is None
    assert decided(draft(LONG, source=speakers[0]), near(known(SHORT, source=speakers[0]))) is not None


def test_trust_is_never_traded() -> None:
    web = Source(origin=Origin.WEB)
    said = decided(draft(SHORT, source=web), near(known(LONG)))
    assert (said.outcome, said.reason, said.memory.content) == (Outcome.REFRESHED, "near_duplicate", LONG)
    more = decided(draft(LONG, source=web), near(known(SHORT)), near(known("Prefers the dark mode", "web", source=web)))
    assert (more.outcome, more.reason) == (Outcome.PENDING_REVIEW, "lower_trust")
    assert (more.memory.status, more.memory.conflicts_with) == (Status.PENDING_REVIEW, ("old",))
    assert more.memory.memory_id == "new"
    risen = decided(draft(SHORT), near(known(LONG, source=web)))
    assert risen is None, "what is trusted less does not stand in for what is trusted more"
    assert decided(draft(HARBOUR, source=web, **SAME), near(known(BEACH))) is None


def test_a_judge_that_was_asked_decides() -> None:
    for verdict, merges in (("same", True), ("other", False), ("opposite", False)):
        new = draft(LONG, verdicts={"old": verdict})
        assert (decided(new, near(known(SHORT))) is not None) is merges
    assert decided(draft(LONG, verdicts={}), near(known(SHORT))) is None
    apart, judge = "She sails at weekends", {"verdicts": {"old": "same"}}
    assert decided(draft("Weekends are for her boat"), near(known(apart))) is None
    joined = decided(draft("Weekends are for her boat", **judge), near(known(apart), 0.61))
    assert joined.memory.content == f"{apart}\nWeekends are for her boat"
    assert decided(draft("Weekends are for her boat", **judge), near(known(apart), 0.6)) is None


def test_all_that_it_covers_is_absorbed_and_the_first_that_can_be_is_joined() -> None:
    both = decided(draft(LONG), near(known(SHORT)), near(known("Prefers the dark mode", "second")))
    assert both.memory.supersedes == ("old", "second")
    assert len(both.replaced) == 2
    web = known(BEACH, source=Source(origin=Origin.WEB))
    first = decided(draft(HARBOUR, **SAME), near(web), near(known(BEACH, "mine")))
    assert first.memory.supersedes == ("mine", "kept")
    assert decided(draft(LONG)) is None


def test_an_end_is_the_latest_of_all_unless_it_is_fixed() -> None:
    old = known(SHORT, expires_at=NOW + 9 * DAY)
    assert decided(draft(LONG, ttl=99 * DAY), near(old)).memory.expires_at == NOW + 99 * DAY
    assert decided(draft(LONG, ttl=DAY), near(old)).memory.expires_at == NOW + 9 * DAY
    fixed = Policy(fixed_kinds=frozenset({Kind.LONG_TERM}))
    assert decided(draft(LONG, ttl=99 * DAY, policy=fixed), near(old)).memory.expires_at == NOW + 9 * DAY
    endless = known(SHORT, kind=Kind.ENTITY)
    assert decided(draft(LONG, kind=Kind.ENTITY, ttl=DAY), near(endless)).memory.expires_at is None


def test_what_ended_by_itself_does_not_end_later() -> None:
    assert superseded_fields(known(), NOW) == {"status": Status.SUPERSEDED, "valid_to": NOW}
    assert superseded_fields(known(valid_to=NOW - HOUR), NOW)["valid_to"] == NOW - HOUR
    assert superseded_fields(known(valid_to=NOW + HOUR), NOW)["valid_to"] == NOW


@pytest.mark.parametrize(
    ("one", "other", "cosine", "same"),
    [
        (SHORT, LONG, 0.91, True),
        (LONG, SHORT, 0.91, True),
        (BEACH, HARBOUR, 0.99, False),
        (SHORT, "She sails at weekends", 0.99, False),
    ],
)
def test_one_claim_is_known_in_either_order(one: str, other: str, cosine: float, same: bool) -> None:
    assert same_claim(Statement.of(one), Statement.of(other), cosine, RULES) is same
    assert same_claim(Statement.of(other), Statement.of(one), cosine, RULES) is same


# -- under one key -----------------------------------------------------------------------------------------------------


def keyed(new: Draft, *others: Memory) -> Any:
    return by_key(new, others, "new")


def test_a_new_value_ends_every_old_one_where_it_begins() -> None:
    old = [known(value, value, key="home") for value in ("Rome", "Bern")]
    done = keyed(draft("Oslo", key="home", valid_from=NOW - HOUR), *old)
    assert (done.outcome, done.memory.memory_id, done.memory.supersedes) == (
        Outcome.SUPERSEDED,
        "new",
        ("Rome", "Bern"),
    )
    assert [(one.memory_id, one.valid_to, one.version) for one in done.replaced] == [
        ("Rome", NOW - HOUR, 2),
        ("Bern", NOW - HOUR, 2),
    ]


def test_where_the_rule_has_nothing_to_say() -> None:
    assert keyed(draft("Oslo", key="home")) is None
    assert keyed(draft("Oslo"), known("Rome", key="home")) is None
    many = Policy.of(KeyRule("home", on_change="accumulate"))
    assert keyed(draft("Oslo", key="home", policy=many), known("Rome", key="home")) is None


def test_what_waits_for_a_person_names_what_it_stands_against() -> None:
    asked = Policy.of(KeyRule("home", on_change="review"))
    old = known("Rome", key="home")
    done = keyed(draft("Oslo", key="home", policy=asked), old)
    assert (done.outcome, done.reason, done.replaced) == (Outcome.PENDING_REVIEW, "key_needs_review", ())
    assert (done.memory.status, done.memory.conflicts_with) == (Status.PENDING_REVIEW, ("old",))
    lower = keyed(draft("Oslo", key="home", source=Source(origin=Origin.WEB)), known("Bern", "b", key="home"), old)
    assert (lower.outcome, lower.reason, lower.memory.conflicts_with) == (
        Outcome.PENDING_REVIEW,
        "lower_trust",
        ("b", "old"),
    )
    assert pending(draft(), [], "m", "why").memory.memory_id == "m"


def test_what_comes_late_is_history_and_the_next_value_knows_of_it() -> None:
    first = known("Rome", "rome", key="home", occurred_at=NOW - 5 * DAY)
    second = known("Oslo", "oslo", key="home", occurred_at=NOW - 3 * DAY)
    done = keyed(draft("Bern", key="home", occurred_at=NOW - 9 * DAY), second, replace(first, supersedes=("x",)))
    assert (done.outcome, done.reason) == (Outcome.CREATED, "already_superseded")
    assert (done.memory.status, done.memory.valid_to) == (Status.SUPERSEDED, NOW - 5 * DAY)
    (linked,) = done.replaced
    assert (linked.memory_id, linked.supersedes, linked.status) == ("rome", ("x", "new"), Status.ACTIVE)
    between = keyed(draft("Bern", key="home", occurred_at=NOW - 4 * DAY), first, second)
    assert [one.memory_id for one in between.replaced] == ["oslo"]
    ended = keyed(draft("Bern", key="home", valid_from=NOW - 9 * DAY, valid_to=NOW - 8 * DAY), first)
    assert ended.memory.valid_to == NOW - 8 * DAY
    over = keyed(draft("Bern", key="home", valid_from=NOW - 9 * DAY, valid_to=NOW - DAY), first)
    assert over.memory.valid_to == NOW - 5 * DAY


@pytest.mark.parametrize(
    ("told", "history"),
    [
        ({"occurred_at": NOW - 5 * DAY}, False),  # as old, and no older
        ({"occurred_at": NOW - 6 * DAY}, True),
        ({"valid_from": NOW - 6 * DAY}, True),
        ({"valid_from": NOW - 9 * DAY, "occurred_at": NOW}, False),  # has held since then, and is told today
        ({"valid_from": NOW - 9 * DAY, "occurred_at": NOW, "valid_to": NOW - 8 * DAY}, True),
        ({"occurred_at": NOW - 9 * DAY, "valid_to": NOW - 8 * DAY}, True),
        ({}, False),
    ],
)
def test_which_moment_a_value_speaks_for(told: dict[str, datetime], history: bool) -> None:
    done = keyed(draft("Bern", key="home", **told), known("Rome", key="home", occurred_at=NOW - 5 * DAY))
    assert (done.reason == "already_superseded") is history


# -- contradicted ------------------------------------------------------------------------------------------------------

TEA, NO_TEA = "The user drinks green tea", "The user does not drink green tea"


def against(new: Draft, *others: SimilarMemory) -> list[tuple[str, str]]:
    return [(memory.memory_id, how) for memory, how in contradicted(new, others)]


def test_who_contradicts_whom_and_how() -> None:
    others = [near(known(TEA)), near(known("She sails at weekends", "boat")), near(known("User drinks green tea", "b"))]
    assert against(draft(NO_TEA), *others) == [("old", "negation"), ("b", "negation")]
    assert against(draft(TEA), near(known(NO_TEA)), near(known("The user drinks black tea", "c"))) == [
        ("old", "negation"),
        ("c", "value"),
    ]
    ann, bob = Source(speaker="Ann"), Source(speaker="Bob")
    assert against(draft(NO_TEA, source=ann), near(known(TEA, source=bob)), near(known(TEA, "x", source=ann))) == [
        ("x", "negation")
    ]
    # Of the same person's statements the category is a guess; of somebody else's it must be the same.
    theirs = replace(known(TEA, "y"), author="somebody")
    mine = [near(known(TEA)), near(known(TEA, "x", category="a")), near(theirs)]
    assert against(draft(NO_TEA, category="a"), *mine) == [("old", "negation"), ("x", "negation")]


def test_values_that_stand_beside_each_other_do_not_contradict() -> None:
    keys = {"key": "drinks", "policy": Policy.of(KeyRule("drinks", on_change="accumulate"))}
    assert against(draft(NO_TEA, **keys), near(known(TEA, category="a", **keys), 0.1)) == [("old", "negation")]
    assert against(draft(TEA, **keys), near(known("The user drinks black tea", **keys))) == []


@pytest.mark.parametrize(
    ("one", "other", "cosine", "how"),
    [
        (TEA, NO_TEA, 0.61, "negation"),
        (TEA, NO_TEA, 0.6, "negation"),
        (TEA, NO_TEA, 0.41, "negation"),
        (TEA, NO_TEA, 0.4, None),
        (TEA, "The user drinks black tea", 0.61, "value"),
        (TEA, "The user drinks black tea", 0.6, None),
        (TEA, "She sails at weekends", 0.99, None),
    ],
)
def test_how_near_what_contradicts_must_be(one: str, other: str, cosine: float, how: str | None) -> None:
    assert opposing(Statement.of(one), Statement.of(other), cosine, RULES) == how
    assert [found for _, found in against(draft(one), near(known(other), cosine))] == ([how] if how else [])


def test_a_judge_may_call_two_opposite() -> None:
    new = draft("She sails at weekends", verdicts={"old": "opposite", "b": "same"})
    others = [near(known("She is at home on Sundays")), near(known("She likes weekends", "b"))]
    assert against(new, *others) == [("old", "judged")]


class Waiting:
    """The one question that is asked of a transaction here."""

    def __init__(self, twin: Memory | None) -> None:
        self.twin, self.asked = twin, list[Any]()

    async def find_pending(self, *asked: Any) -> Memory | None:
        self.asked.append(asked)
        return self.twin


async def test_the_same_person_puts_the_same_before_the_reviewers_once() -> None:
    new = draft(NO_TEA)
    decision = pending(new, [known(TEA)], "new", "contradiction:negation")
    twin = replace(known(NO_TEA, "twin"), status=Status.PENDING_REVIEW)
    tx = Waiting(twin)
    waits = await deduplicated(tx, new, decision)  # type: ignore[arg-type]
    assert (waits.memory, waits.changed, waits.reason) == (twin, False, "already_waiting")
    assert waits.outcome is Outcome.PENDING_REVIEW
    assert tx.asked == [(new.scope, new.fingerprint)]
    for other in (None, replace(twin, author="ben"), replace(twin, trust=type(twin.trust)(twin.trust - 1))):
        assert await deduplicated(Waiting(other), new, decision) is decision  # type: ignore[arg-type]
    merged = decided(draft(LONG), near(known(SHORT)))
    assert await deduplicated(tx, new, merged) is merged  # type: ignore[arg-type]
