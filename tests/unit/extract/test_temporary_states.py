"""States of a day and jokes that say so are left out, in seven languages; what only looks like them is not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.language.sentences.temporary_states import is_in_jest, is_passing_state, takes_back_in_jest
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.types import Deadline, Message

STATES = [
    "Can't sleep tonight, ugh",
    "I've caught a nasty cold",
    "home with a fever",
    "my daughter has a sore throat",
    "tonight I'm just exhausted",
    "I'm a bit swamped this week",
    "kann heute nicht schlafen",
    "ich liege mit Grippe im Bett",
    "hab schon wieder Kopfweh",
    "j'arrive pas à dormir",
    "clouée au lit avec la grippe",
    "no consigo dormir",
    "me duele la garganta",
    "non riesco a prendere sonno",
    "a letto con la febbre",
    "não consigo dormir hoje",
    "estou de cama com febre",
    "ik kan weer niet slapen",
    "mijn zoon ligt met koorts op bed",
]
LASTING = [
    "I can't sleep without earplugs",
    "I can't sleep on planes",
    "I often have headaches",
    "I get a headache when I drink red wine",
    "I've had a cold store in the shop since May",
    "I have a cold brew every morning",
    "I have hay fever",
    "I'm away this year",
    "Ich habe oft Kopfschmerzen",
    "Ich habe einen Kater namens Fritz",
    "j'ai mal à la tête quand je lis trop",
    "siempre me duele la cabeza",
    "kan niet slapen zonder masker",
]
JOKES = [
    "We're moving to Mars next week, just kidding",
    "I'm pregnant jk",
    "no joke, I married my dentist (okay, joke)",
    "Ich ziehe auf den Mond, kleiner Scherz",
    "je divorce, je rigole",
    "me caso mañana, es broma",
    "mi sposo domani, scherzo",
    "vou casar, estou a brincar",
    "ik ga trouwen, grapje",
]
EARNEST = [
    "I'm moving to Oslo, no joke",
    "I'm not joking about the nuts",
    "Kidding aside, I'm vegan",
    "I love practical jokes",
    "Kein Scherz, ich habe gekündigt",
    "sans blague, je déménage",
    "no es broma, me mudo",
    "non scherzo, mi trasferisco",
    "não é brincadeira, mudei",
    "geen grapje, ik verhuis",
    "Der Spaß kostet 20 Euro",
]


@pytest.mark.parametrize("text", STATES)
def test_a_state_of_the_day_passes(text: str) -> None:
    assert is_passing_state(text)


@pytest.mark.parametrize("text", LASTING)
def test_what_returns_or_depends_on_something_does_not(text: str) -> None:
    assert not is_passing_state(text)


@pytest.mark.parametrize("text", JOKES)
def test_a_joke_says_that_it_is_one(text: str) -> None:
    assert is_in_jest(text)


@pytest.mark.parametrize("text", EARNEST)
def test_the_denial_of_a_joke_and_talk_about_jokes_are_no_sign_of_one(text: str) -> None:
    assert not is_in_jest(text)


def test_only_a_short_sentence_takes_back_the_one_before_it() -> None:
    assert takes_back_in_jest("Haha, just kidding!")
    assert not takes_back_in_jest("I told my boss that I quit, just kidding")


@pytest.mark.parametrize(
    ("text", "kept", "reason"),
    [
        ("I am married to a lighthouse. Just kidding!", [], "joke"),
        ("I am allergic to bees. I quit to become a pirate, jk.", ["I am allergic to bees."], "joke"),
        ("Just kidding, I don't own a lighthouse.", [], "joke"),
        ("Just kidding! I am allergic to bees.", ["I am allergic to bees."], "joke"),
        ("I have the flu and a fever", [], "transient"),
    ],
)
async def test_the_report_names_the_reason(text: str, kept: list[str], reason: str) -> None:
    message = Message(role="user", content=text, sent_at=datetime(2026, 5, 4, tzinfo=UTC))
    found = await RuleExtractor().extract(
        message, policy=Policy(), budget=Budget(), deadline=Deadline(10.0, lambda: 0.0)
    )
    assert [one.content for one in found.candidates if one.key is None] == kept
    assert reason in [one.reason for one in found.skipped]
