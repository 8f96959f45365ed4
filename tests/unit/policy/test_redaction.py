"""The rules of redaction: what a policy may ask for."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.errors import InvalidConfig
from mnemic.policy.redaction_policy import MAX_REGIONS, NAMES, Action, RedactionRules

COUNTRIES = ("DE", "AT", "CH", "FR", "IT", "ES", "NL", "BE", "PL")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"actions": {"EMAIL": "hide"}}, "redaction.entities"),
        ({"actions": {"email": "block"}}, "redaction.entities"),
        ({"actions": {"EMAIL": "block", "E": "block"}}, "redaction.entities"),
        ({"actions": {"E" * 21: "block"}}, "redaction.entities"),
        ({"reveal": frozenset({"officer", "Officer"})}, "redaction.reveal"),
        ({"reveal": frozenset({""})}, "redaction.reveal"),
        ({"reveal": frozenset({"o" * 65})}, "redaction.reveal"),
        ({"names": frozenset({"PERSON", "CATS"})}, "redaction.names"),
        ({"regions": ("DE", "de")}, "redaction.regions"),
        ({"regions": ("DEU",)}, "redaction.regions"),
        ({"regions": COUNTRIES}, "redaction.regions"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        RedactionRules(**settings)
    assert wrong.value.reason == f"invalid_config:{reason}"
    assert wrong.value.hint


def test_every_action_is_known_by_its_word() -> None:
    rules = RedactionRules(actions={"EMAIL": "redact", "IBAN": "tokenise", "SSN": "block", "PHONE": "allow"})
    assert dict(rules.actions) == {
        "EMAIL": Action.REDACT,
        "IBAN": Action.TOKENISE,
        "SSN": Action.BLOCK,
        "PHONE": Action.ALLOW,
    }
    with pytest.raises(TypeError):
        rules.actions["EMAIL"] = "allow"  # type: ignore[index]


def test_only_what_is_tokenised_needs_a_key() -> None:
    assert RedactionRules(actions={"EMAIL": "tokenise"}).tokenises
    assert not RedactionRules(actions={"EMAIL": "redact", "SSN": "block"}).tokenises
    assert not RedactionRules().tokenises


def test_the_longest_that_is_allowed_is_allowed() -> None:
    rules = RedactionRules(
        actions={"E" * 20: "block", "ID": "block"},
        reveal=frozenset({"o" * 64, "a.b:c-d_9"}),
        names=frozenset(NAMES),
        regions=COUNTRIES[:MAX_REGIONS],
    )
    assert (len(rules.actions), len(rules.reveal), rules.names) == (2, 2, {"PERSON", "LOCATION"})
    assert rules.regions == COUNTRIES[:8]
