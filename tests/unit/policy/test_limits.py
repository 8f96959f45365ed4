"""Consent, quotas and retention as rules of their own, on numbers that are told them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mnemic.errors import InvalidConfig
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.policy.limits import Consents, LimitCheck, Limits, Per, Quota, Retention, makes_room
from mnemic.types import Candidate, Kind, Usage

OF_WHOM = "per tenant or user, at least one limit, soft above 0 and up to 1"
WHOLE = "limits are whole numbers from 1"
ON_FULL = "on_full is refuse, or evict for the quota of a user"
DAY = timedelta(days=1)
NOTE = Candidate(content="a note")
KEYED = Candidate(content="a", key=" seat ")
EPISODE = Candidate(content="an episode", kind=Kind.EPISODIC)
SHARED = Candidate(content="for all", level="workspace")
USAGES: Mapping[Kind, Usage] = {Kind.LONG_TERM: Usage(3, 300, 1), Kind.EPISODIC: Usage(5, 700, 2)}


def check(*quotas: Quota, usages: Mapping[Per, Mapping[Kind, Usage]] | None = None, **given: Any) -> LimitCheck:
    return LimitCheck(Limits(quotas=quotas, **given), Consents(), usages or {})


class TestQuota:
    @pytest.mark.parametrize(
        ("settings", "hint"),
        [
            ({}, OF_WHOM),
            ({"per": "planet", "rows": 1}, OF_WHOM),
            ({"rows": 0}, WHOLE),
            ({"bytes": -1}, WHOLE),
            ({"writes_a_minute": True}, WHOLE),
            ({"rows": 1.0}, WHOLE),
            ({"rows": 1, "bytes": 0}, WHOLE),
            ({"rows": 1, "soft": 0}, OF_WHOM),
            ({"rows": 1, "soft": 1.01}, OF_WHOM),
            ({"rows": 1, "on_full": "drop"}, ON_FULL),
            ({"rows": 1, "on_full": "evict", "per": "tenant"}, ON_FULL),
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, settings: dict[str, Any], hint: str) -> None:
        with pytest.raises(InvalidConfig) as wrong:
            Quota(**settings)
        assert wrong.value.reason == "invalid_config:quota"
        assert wrong.value.hint == hint

    def test_only_the_quota_of_a_user_evicts(self) -> None:
        assert Quota(rows=1).on_full == "refuse"
        assert Quota(rows=1, on_full="evict").on_full == "evict"
        assert Quota(rows=1, per="tenant", on_full="refuse").per == "tenant"

    @pytest.mark.parametrize(
        ("quota", "limit", "room"),
        [
            (Quota(rows=1), "rows", (None,)),
            (Quota(bytes=1), "bytes", (None,)),
            (Quota(rows=1, kind=Kind.EPISODIC), "rows", (Kind.EPISODIC,)),
            (Quota(bytes=1, kind=Kind.LONG_TERM), "bytes", (Kind.LONG_TERM,)),
            (Quota(writes_a_minute=1), "writes_a_minute", None),
            (Quota(writes_a_minute=1, kind=Kind.EPISODIC), "writes_a_minute", None),
            (Quota(rows=1, per="tenant"), "rows", None),
            (Quota(bytes=1, per="tenant", kind=Kind.EPISODIC), "bytes", None),
        ],
    )
    def test_what_may_be_evicted_after_its_refusal(
        self, quota: Quota, limit: str, room: tuple[Kind | None] | None
    ) -> None:
        assert makes_room(f"quota_exceeded:{quota.name(limit)}") == room

    @pytest.mark.parametrize("reason", ["consent_required:user.rows", "retention_denied:erased_subject", "lower_trust"])
    def test_no_other_refusal_evicts(self, reason: str) -> None:
        assert makes_room(reason) is None

    def test_the_least_and_the_most_are_allowed(self) -> None:
        assert Quota(rows=1, soft=1).soft == 1
        assert Quota(bytes=1, soft=0.001).bytes == 1
        assert Quota(writes_a_minute=1).rows is None

    def test_it_warns_from_four_fifths_of_a_users_share_on_where_nothing_is_said(self) -> None:
        quota = Quota(rows=10)
        assert (quota.per, quota.kind, quota.soft) == ("user", None, 0.8)

    def test_its_name_says_what_it_limits(self) -> None:
        assert Quota(rows=1).name("rows") == "user.rows"
        assert Quota(per="tenant", kind=Kind.EPISODIC, bytes=1).name("bytes") == "tenant.episodic.bytes"

    @pytest.mark.parametrize(
        ("quota", "note", "episode", "shared"),
        [
            (Quota(rows=1), True, True, False),
            (Quota(rows=1, per="tenant"), True, True, True),
            (Quota(rows=1, kind=Kind.EPISODIC), False, True, False),
            (Quota(rows=1, kind=Kind.LONG_TERM, per="tenant"), True, False, True),
        ],
    )
    def test_what_counts_towards_it(self, quota: Quota, note: bool, episode: bool, shared: bool) -> None:
        assert [quota.applies(one) for one in (NOTE, EPISODE, SHARED)] == [note, episode, shared]

    def test_how_far_each_limit_is_used_up(self) -> None:
        assert Quota(rows=16, bytes=4000, writes_a_minute=6).nearest(USAGES) == {
            "user.rows": 0.5,
            "user.bytes": 0.25,
            "user.writes_a_minute": 0.5,
        }
        assert Quota(kind=Kind.EPISODIC, rows=10, bytes=1000).nearest(USAGES) == {
            "user.episodic.rows": 0.5,
            "user.episodic.bytes": 0.7,
        }
        assert Quota(rows=4).nearest({}) == {"user.rows": 0}


class TestLimits:
    @pytest.mark.parametrize(
        ("settings", "reason", "hint"),
        [
            ({"consent": "maybe"}, "consent", "implied or required"),
            ({"consent_keys": {"a\u200b"}}, "consent_keys", "a key may contain visible characters only"),
            ({"review_longest": timedelta(0)}, "review_longest", "must be greater than zero"),
            ({"review_longest": -DAY}, "review_longest", "must be greater than zero"),
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, settings: dict[str, Any], reason: str, hint: str) -> None:
        with pytest.raises(InvalidConfig) as wrong:
            Limits(**settings)
        assert wrong.value.reason == f"invalid_config:{reason}"
        assert wrong.value.hint == hint

    def test_keys_are_compared_in_their_normal_form(self) -> None:
        assert Limits(consent_keys=frozenset({" ｈealth "})).consent_keys == {"health"}
        assert Limits(review_longest=timedelta(seconds=1)).review_longest == timedelta(seconds=1)

    def test_what_is_purged_without_grace(self) -> None:
        rules = {Kind.EPISODIC: Retention(hard=True), Kind.LONG_TERM: Retention(longest=DAY)}
        assert Limits(retention=rules).hard_kinds == {Kind.EPISODIC}
        assert Limits().hard_kinds == frozenset()

    def test_a_limit_is_overshot_beyond_it_and_not_at_it(self) -> None:
        limits = Limits(quotas=(Quota(rows=8), Quota(per="tenant", kind=Kind.EPISODIC, bytes=699)))
        assert limits.overshot(NOTE, "user", USAGES) is None, "all of it, and no more"
        assert limits.overshot(NOTE, "user", {**USAGES, Kind.ENTITY: Usage(1, 1, 0)}) == "quota_exceeded:user.rows"
        assert limits.overshot(SHARED, "user", {Kind.ENTITY: Usage(99)}) is None, "it is nobody's own"
        assert limits.overshot(EPISODE, "tenant", USAGES) == "quota_exceeded:tenant.episodic.bytes"
        assert limits.overshot(NOTE, "tenant", USAGES) is None, "of another kind"

    def test_the_first_quota_that_holds_does_not_hide_the_second(self) -> None:
        limits = Limits(quotas=(Quota(per="tenant", rows=1), Quota(rows=100), Quota(bytes=999, writes_a_minute=3)))
        assert limits.overshot(NOTE, "user", USAGES) == "quota_exceeded:user.bytes"
        assert limits.overshot(NOTE, "user", {Kind.ENTITY: Usage(1, 1, 4)}) == "quota_exceeded:user.writes_a_minute"


class TestConsents:
    def test_what_holds_where_nothing_was_said(self) -> None:
        asked = Limits(consent_keys=frozenset({"health"}))
        assert Consents().allows("seat", asked)
        assert not Consents().allows("health", asked)
        assert not Consents().allows("seat", Limits(consent="required"))

    def test_what_was_said_counts(self) -> None:
        said = Consents(decided={"seat": False, "health": True})
        asked = Limits(consent_keys=frozenset({"health"}))
        assert (said.allows("seat", asked), said.allows("health", asked)) == (False, True)
        assert said.allows("health", Limits(consent="required"))

    def test_which_keys_are_not_found(self) -> None:
        said = Consents(decided={"seat": False, "diet": True})
        policy = Policy.of("seat", "diet", KeyRule("language"))
        assert said.hidden(Policy(), Limits()) == {"seat"}
        assert said.hidden(policy, Limits(consent="required")) == {"seat", "language"}
        assert said.hidden(policy, Limits(consent_keys=frozenset({"health", "diet"}))) == {"seat", "health"}


class TestLimitCheck:
    def test_retention_comes_before_consent_and_consent_before_quota(self) -> None:
        asked = check(Quota(rows=1), usages={"user": USAGES}, consent="required")
        assert replace(asked, consents=Consents(erased=True))(KEYED) == "retention_denied:erased_subject"
        assert asked(KEYED) == "consent_required:seat"
        assert asked(Candidate(content="a")) == "quota_exceeded:user.rows"
        assert asked.admitted == []

    def test_a_longest_time_shortens_and_forbids_nothing(self) -> None:
        asked = check(retention={Kind.LONG_TERM: Retention(longest=DAY), Kind.EPISODIC: Retention(hard=True)})
        assert asked(replace(NOTE, ttl=2 * DAY)) is None
        assert asked.limits.longest == {Kind.LONG_TERM: DAY}

    def test_of_who_was_erased_for_good_nothing_is_kept(self) -> None:
        asked = LimitCheck(Limits(), Consents(erased=True))
        assert asked(NOTE) == "retention_denied:erased_subject"

    def test_what_it_lets_through_counts(self) -> None:
        asked = check(Quota(rows=2), Quota(kind=Kind.EPISODIC, rows=1))
        assert [asked(one) for one in (SHARED, EPISODE, EPISODE, NOTE, NOTE)] == [
            None,
            None,
            "quota_exceeded:user.episodic.rows",
            None,
            "quota_exceeded:user.rows",
        ]
        assert asked.admitted == [SHARED, EPISODE, NOTE]

    @pytest.mark.parametrize(
        ("quota", "name"), [(Quota(bytes=16), "bytes"), (Quota(writes_a_minute=2), "writes_a_minute")]
    )
    def test_bytes_and_writes_count_too(self, quota: Quota, name: str) -> None:
        asked = check(quota)
        two = [Candidate(content="tëa tea")] * 2  # seven characters, eight bytes
        assert [asked(one) for one in (*two, NOTE)] == [None, None, f"quota_exceeded:user.{name}"]

    def test_what_is_held_already_counts(self) -> None:
        asked = check(Quota(rows=9), usages={"user": USAGES, "tenant": {Kind.LONG_TERM: Usage(99)}})
        assert [asked(NOTE), asked(NOTE)] == [None, "quota_exceeded:user.rows"]
        tenant = check(Quota(per="tenant", rows=9), usages={"user": {Kind.LONG_TERM: Usage(99)}, "tenant": USAGES})
        assert [tenant(SHARED), tenant(NOTE)] == [None, "quota_exceeded:tenant.rows"]

    def test_it_warns_from_the_soft_part_on(self) -> None:
        asked = check(
            Quota(rows=10, soft=0.8), Quota(bytes=2000, soft=0.6), Quota(per="tenant", rows=1), usages={"user": USAGES}
        )
        assert asked.warnings(NOTE) == ("user.rows",), "eight of ten, half of the bytes, nobody else's"
        assert asked.warnings(SHARED) == ()
        assert check(Quota(rows=10, soft=0.81), usages={"user": USAGES}).warnings(NOTE) == ()

    def test_half_a_surrogate_pair_counts_and_breaks_nothing(self) -> None:
        asked = check(Quota(bytes=3))
        assert [asked(Candidate(content="\ud800")), asked(NOTE)] == [None, "quota_exceeded:user.bytes"]
