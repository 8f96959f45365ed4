"""The rules of redaction: what a policy may ask for."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.errors import InvalidConfig
from mnemic.policy.redaction_policy import MAX_REGIONS, NAMES, Action, RedactionRules

ACTIONS = "one of redact, tokenise, block, allow"
ENTITIES = "entities are named in capitals: EMAIL, PHONE, ..."
ROLES = "a list of roles, in lower case"
REGIONS = "at most 8 countries by their two letters"
COUNTRIES = ("DE", "AT", "CH", "FR", "IT", "ES", "NL", "BE", "PL")


@pytest.mark.parametrize(
    ("settings", "reason", "hint"),
    [
        ({"actions": {"EMAIL": "hide"}}, "redaction.entities", ACTIONS),
        ({"actions": {"email": "block"}}, "redaction.entities", ENTITIES),
        ({"actions": {"EMAIL": "block", "E": "block"}}, "redaction.entities", ENTITIES),
        ({"actions": {"E" * 21: "block"}}, "redaction.entities", ENTITIES),
        ({"reveal": frozenset({"officer", "Officer"})}, "redaction.reveal", ROLES),
        ({"reveal": frozenset({""})}, "redaction.reveal", ROLES),
        ({"reveal": frozenset({"o" * 65})}, "redaction.reveal", ROLES),
        ({"names": frozenset({"PERSON", "CATS"})}, "redaction.names", "one or more of PERSON, LOCATION"),
        ({"regions": ("DE", "de")}, "redaction.regions", REGIONS),
        ({"regions": ("DEU",)}, "redaction.regions", REGIONS),
        ({"regions": COUNTRIES}, "redaction.regions", REGIONS),
    ],
)
def test_what_cannot_be_meant_is_refused(settings: dict[str, Any], reason: str, hint: str) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        RedactionRules(**settings)
    assert wrong.value.reason == f"invalid_config:{reason}"
    assert wrong.value.hint == hint


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
