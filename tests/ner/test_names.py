"""Names of people and places, with the real model."""

from __future__ import annotations

import pytest

from mnemic.bootstrap import build_entity_reader, with_names
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.types import Deadline, Message
from mnemic.write.prepare import Redactor

SECRET = b"k" * 32
TEXTS = [
    "My sister Maria Gonzalez lives in Lisbon with Tom.",
    "Please ask for John Smith, he works near Berlin; jane@acme.com knows him.",
    "I like tea and the aisle seat.",
]


def redactor(*names: str, **actions: str) -> Redactor:
    rules = with_names(RedactionRules(names=frozenset(names), actions=actions))
    return Redactor.under(rules)


def test_people_are_replaced_and_places_only_where_asked_for() -> None:
    people = redactor("PERSON").redact(TEXTS[0], SECRET)
    assert people.replaced.count("PERSON") == 2
    assert "Maria" not in people.text
    assert "Lisbon" in people.text
    both = redactor("PERSON", "LOCATION").redact(TEXTS[0], SECRET)
    assert both.replaced.count("LOCATION") == 1
    assert "Lisbon" not in both.text


@pytest.mark.parametrize("text", TEXTS)
def test_twice_is_once(text: str) -> None:
    both = redactor("PERSON", "LOCATION")
    once = both.redact(text, SECRET).text
    assert both.redact(once, SECRET).text == once


def test_one_person_is_one_marker_and_other_finds_stay() -> None:
    people = redactor("PERSON")
    said = people.redact(TEXTS[1], SECRET)
    assert sorted(said.replaced) == ["EMAIL", "PERSON"]
    again = people.redact("Yesterday John Smith called my office.", SECRET)
    assert said.text.partition("[PERSON#")[2][:12] == again.text.partition("[PERSON#")[2][:12]


def test_a_text_without_names_stays() -> None:
    assert redactor("PERSON", "LOCATION").redact(TEXTS[2], SECRET).text == TEXTS[2]


def test_a_person_may_be_tokenised_or_forbidden() -> None:
    assert set(redactor("PERSON", PERSON="tokenise").redact(TEXTS[1], SECRET).tokens.values()) == {"John Smith"}
    assert redactor("PERSON", PERSON="block").redact(TEXTS[1], SECRET).blocked == ("PERSON",)


async def test_entities_are_read_with_the_names_of_the_real_model() -> None:
    reader = build_entity_reader("names", None)
    said = Message(role="user", content="Tom Hanks lives in Lisbon. He works for Microsoft.")
    reading = await reader.read(said, deadline=Deadline(float("inf"), lambda: 0.0))
    labels = {one.name: one.label for one in reading.named}
    assert labels == {"Tom Hanks": "person", "Lisbon": "place", "Microsoft": "organisation"}
