from __future__ import annotations

import json
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidConfig
from mnemic.policy.policy_file import (
    load_policy,
    load_policy_bundle,
    policy_bundle_data,
    read_policy_bundle,
)
from mnemic.types import Kind

EXAMPLES = Path(__file__).parents[3] / "examples"


def write(folder: Path, text: str, name: str = "policy.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_incident_example_is_the_published_setting() -> None:
    bundle = load_policy_bundle(EXAMPLES / "incident" / "policy.toml")
    assert set(bundle.policy.keys or ()) == {"language", "response_style", "update_channel", "declared_tier"}
    assert bundle.policy.levels == {"user", "workspace"}
    assert bundle.policy.on_violation == "stop"
    assert bundle.grant.keys == {"language", "response_style", "update_channel"}
    assert bundle.grant.levels == {"user"}
    assert bundle.budget.max_seconds == 25


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ("# trust =", "trust =", "declared_tier"),
        (
            "# [keys.timezone]\n# preference = true\n# verifier",
            "[keys.timezone]\npreference = true\nverifier",
            "timezone",
        ),
        ('levels = ["user"]', 'levels = ["user", "workspace"]', "workspace"),
    ],
)
def test_what_the_example_suggests_works_by_configuration_alone(tmp_path: Path, old: str, new: str, check: str) -> None:
    text = (EXAMPLES / "incident" / "policy.toml").read_text(encoding="utf-8")
    assert old in text
    grant = load_policy_bundle(write(tmp_path, text.replace(old, new))).grant
    assert check in (grant.keys or frozenset()) | grant.levels


def test_the_travel_example_skips_what_it_does_not_know() -> None:
    policy = load_policy(EXAMPLES / "travel" / "policy.toml")
    assert policy.on_violation == "skip"
    assert policy.rule("seat").spelling("AISLE") == "aisle"
    assert policy.rule("allergies").on_change == "accumulate"
    assert policy.rule("diet").pinned


def test_json_says_the_same_as_toml(tmp_path: Path) -> None:
    settings = {
        "keys": {"seat": {"allowed_values": ["aisle"], "preference": True}},
        "open_keys": True,
        "kinds": ["long_term", "entity"],
        "pinned_kinds": ["persona"],
        "grant": {"keys": ["seat"]},
        "budget": {"max_seconds": 2.5},
    }
    bundle = load_policy_bundle(write(tmp_path, json.dumps(settings), "policy.json"))
    assert bundle.policy.kinds == {Kind.LONG_TERM, Kind.ENTITY}
    assert bundle.policy.pinned_kinds == {Kind.PERSONA}
    assert bundle.grant.keys == {"seat"}
    assert bundle.budget.max_seconds == 2.5


def test_an_empty_file_is_the_default_policy(tmp_path: Path) -> None:
    bundle = load_policy_bundle(write(tmp_path, ""))
    assert bundle.policy.keys is None
    assert bundle.grant.keys is None


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("p.toml", "keys = [", "invalid_config:policy_file"),
        ("p.json", '{"keys": {}, "keys": {}}', "invalid_config:policy_file"),
        ("p.json", "[]", "invalid_config:policy:"),
        ("p.toml", 'unknown = "x"', "invalid_config:policy:unknown"),
        ("p.toml", "[keys.a]\nsensitive = 1", "invalid_config:policy:keys.a.sensitive"),
        ("p.toml", '[keys.a]\non_change = "merge"', "invalid_config:policy:keys.a.on_change"),
        ("p.toml", 'on_violation = "ignore"', "invalid_config:policy:on_violation"),
        ("p.toml", 'kinds = ["nothing"]', "invalid_config:kinds"),
        ("p.toml", 'levels = ["planet"]', "invalid_config:levels"),
        ("p.toml", "[budget]\nmax_seconds = -1", "invalid_config:max_seconds"),
        ("p.toml", "[budget]\nmax_capture_items = true", "invalid_config:policy:budget.max_capture_items"),
        ("p.toml", '[grant]\nlevels = ["planet"]', "invalid_config:grant.levels"),
        ("p.toml", "#" * (1024 * 1024 + 1), "invalid_config:policy_file"),
    ],
)
def test_each_mistake_has_its_reason(tmp_path: Path, name: str, text: str, reason: str) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        load_policy_bundle(write(tmp_path, text, name))
    assert wrong.value.reason == reason
    assert wrong.value.hint


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('on_violatoin = "stop"', "on_violation"),
        ("[keys.language]\npreferense = true", "preference"),
        ('[[limits.quotas]]\nper = "user"\nrow = 3', "rows"),
        ("[limits.retention.episodic]\nlongest_day = 3", "longest_days"),
    ],
)
def test_a_field_that_is_misspelt_names_the_one_that_is_meant(tmp_path: Path, text: str, meant: str) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        load_policy_bundle(write(tmp_path, text, "p.toml"))
    assert (wrong.value.hint or "").startswith("unknown field; did you mean ")
    assert meant in (wrong.value.hint or "")


def test_a_field_like_no_other_names_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        load_policy_bundle(write(tmp_path, "[entities]\nxyzzy = 1", "p.toml"))
    assert wrong.value.hint == "unknown field; known: read"


def test_a_file_that_cannot_be_read_is_named_so(tmp_path: Path) -> None:
    broken = tmp_path / "latin.toml"
    broken.write_bytes(b"a = '\xff'")
    for path, said in ((tmp_path / "absent.toml", "No such file"), (broken, "UTF-8")):
        with pytest.raises(InvalidConfig) as wrong:
            load_policy_bundle(path)
        assert wrong.value.reason == "invalid_config:policy_file"
        assert said in (wrong.value.hint or "")


def test_a_file_may_be_as_large_as_it_may_be(tmp_path: Path) -> None:
    most = 1024 * 1024
    assert load_policy_bundle(write(tmp_path, "#" * most)).policy.keys is None
    assert load_policy_bundle(write(tmp_path, "{}" + " " * (most - 2), "policy.json")).policy.keys is None


def test_limits_are_read(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(
        '[limits]\nconsent = "required"\nconsent_keys = ["health"]\n'
        '[[limits.quotas]]\nper = "tenant"\nkind = "episodic"\nrows = 5\n'
        "[limits.retention.episodic]\nlongest_days = 90\nhard = true\n",
        encoding="utf-8",
    )
    limits = load_policy_bundle(path).limits
    assert (limits.consent, limits.consent_keys) == ("required", frozenset({"health"}))
    assert [quota.name("rows") for quota in limits.quotas] == ["tenant.episodic.rows"]
    assert limits.hard_kinds == {Kind.EPISODIC}
    assert limits.retention[Kind.EPISODIC].longest == timedelta(days=90)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[limits]\nconsent = "maybe"\n', "policy:limits.consent"),
        ("[[limits.quotas]]\n", "quota"),
        ('[[limits.quotas]]\nkind = "odd"\nrows = 1\n', "limits.quotas"),
        ("[limits.retention.episodic]\nlongest_days = -1\n", "limits.retention"),
        ("[limits.retention.episodic]\nlongest_days = 36501\n", "limits.retention"),
        ("[limits.retention.episodic]\nlongest_days = nan\n", "limits.retention"),
        ("[limits.retention.odd]\nhard = true\n", "limits.retention"),
        ("[limits]\nreview_longest_days = 0\n", "limits.review_longest_days"),
    ],
)
def test_limits_that_say_nonsense_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidConfig) as wrong:
        load_policy_bundle(path)
    assert wrong.value.reason == f"invalid_config:{reason}"
    assert wrong.value.hint


def test_a_grant_of_the_file_keeps_to_the_policy(tmp_path: Path) -> None:
    text = '[keys.tier]\nsensitive = true\n[keys.seat]\n[grant]\nkeys = ["seat", "tier"]\nlevels = ["workspace"]\n'
    grant = load_policy_bundle(write(tmp_path, text)).grant
    assert (grant.keys, grant.denied_keys, grant.levels) == ({"seat", "tier"}, {"tier"}, {"workspace"})
    assert (grant.keyless, grant.allows_key("seat"), grant.allows_key("tier")) == (False, True, False)
    trusted = load_policy_bundle(write(tmp_path, text.replace("keys = [", 'trust = ["tier"]\nkeys = ['))).grant
    assert trusted.allows_key("tier")
    days = load_policy_bundle(write(tmp_path, "[limits]\nreview_longest_days = 0.5\n")).limits
    assert days.review_longest == timedelta(hours=12)


def test_what_is_done_with_each_entity(tmp_path: Path) -> None:
    text = '[redaction]\nreveal = ["privacy_officer"]\n[redaction.entities]\nEMAIL = "tokenise"\nSSN = "block"\n'
    rules = load_policy_bundle(write(tmp_path, text)).redaction
    assert dict(rules.actions) == {"EMAIL": "tokenise", "SSN": "block"}
    assert rules.reveal == {"privacy_officer"}
    assert rules.tokenises
    assert not load_policy_bundle(write(tmp_path, "")).redaction.tokenises


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[redaction.entities]\nEMAIL = "hide"', "invalid_config:redaction.entities"),
        ('[redaction.entities]\nemail = "block"', "invalid_config:redaction.entities"),
        ('[redaction]\nreveal = ["Not A Role"]', "invalid_config:redaction.reveal"),
        ('[redaction]\nnames = ["CATS"]', "invalid_config:redaction.names"),
        ("[redaction]\nshow = true", "invalid_config:policy:redaction.show"),
    ],
)
def test_a_redaction_rule_that_means_nothing_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        load_policy_bundle(write(tmp_path, text))
    assert refused.value.reason == reason


EVERY_SECTION = """
levels = ["user", "workspace"]
kinds = ["episodic", "long_term"]
on_violation = "stop"
preference_bias = 0.2
pinned_kinds = ["long_term"]
pinned_categories = ["wish"]
open_keys = true
keyless = false
default_ttl_days = 30
fixed_kinds = ["episodic"]
judged = true
on_model_failure = "stop"
on_refuted = "stop"
sensitive_words = ["trade union"]
keep_messages = false
keep_turns = true
operators_read_turns = false

[keys.diet]
on_change = "accumulate"
allowed_values = ["vegan", "vegetarian"]
sensitive = true
pinned = true
preference = true
verifier = "contains"
ttl_days = 7
expiry = "fixed"

[grant]
keys = ["diet"]
trust = ["diet"]
levels = ["user"]

[budget]
max_capture_items = 3
max_retrieve_top_k = 4
max_query_chars = 500
max_answer_chars = 600
max_value_chars = 70
max_seconds = 8

[limits]
consent = "required"
consent_keys = ["diet"]
review_longest_days = 3

[[limits.quotas]]
per = "user"
kind = "episodic"
rows = 10
bytes = 1000
writes_a_minute = 5
soft = 0.5
on_full = "evict"

[limits.retention.episodic]
longest_days = 90
hard = true

[redaction]
reveal = ["privacy_officer"]
names = ["PERSON"]
regions = ["DE", "AT"]

[redaction.entities]
EMAIL = "tokenise"

[entities]
read = "model"
"""


def read_again(shown: dict[str, Any]) -> dict[str, Any]:
    """What the file says, with what it leaves unsaid in no section."""
    return {name: tomllib.loads(EVERY_SECTION)[name] for name in shown}


def test_what_is_shown_of_a_guard_reads_as_that_guard(tmp_path: Path) -> None:
    bundle = load_policy_bundle(write(tmp_path, EVERY_SECTION))
    shown = policy_bundle_data(bundle)
    assert read_policy_bundle(shown) == bundle
    assert read_policy_bundle(json.loads(json.dumps(shown))) == bundle
    default = policy_bundle_data(read_policy_bundle({}))
    assert shown == read_again(shown), "and it is what stands in the file"
    assert [name for name in default if default[name] == shown[name]] == [], "each setting here says something"
    assert set(shown) == set(tomllib.loads(EVERY_SECTION))
    assert read_policy_bundle(default) == read_policy_bundle({})
