"""What only keeps somebody company is not kept; what tells something of the speaker is."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.social_remarks import is_company

COMPANY = [
    "Here's a pic from a hike last year.",
    "Check out this photo!",
    "Way to go, Ben!",
    "Immer diese Baustellen!",
    "Prague sounds nice.",
    "Honestly I'd recommend anything by her.",
    "Woah, Ana, that sounds cool!",
    "Sorry to hear that, Ben.",
    "I believe in you.",
    "Sounds like fun!",
    "Congratulations on the new flat",
    "Family time is the best.",
    "Positive influences make a big difference.",
    "Your commitment to the choir really stands out.",
    "You've come a long way since then.",
    "I appreciate your help, Ben.",
    "I bet you were glad when it ended.",
    "Don't give up on your plans.",
    "Let's keep pushing!",
    "I'll keep you updated on the garden.",
    "Ben, long time no see!",
    "A lot has happened since we last spoke.",
    "We can all make a difference!",
    "I won't give up.",
    "Rehearsing every day takes courage.",
    "Neighbours can really help.",
    "The harbour was gorgeous!",
    "I totally agree.",
    "Wow, cool that the choir helps you.",
    "Here's us at the lake",
    "Nice one, Ana!",
    "I'll let you know when I hear more.",
    "Every question has an answer.",
    "Anything can happen with a bit of luck.",
    "Nobody is born a baker.",
    "That's my aunt and my hens.",
    "You can only draw a card when it is red.",
    "You should get as far as the bridge.",
]
TOLD = [
    "Here's my new address",
    "Awesome, I moved to Leeds",
    "Great to hear, my surgery went well too",
    "Punctuality is important to me.",
    "The Leeds office is the best",
    "Port 8080 is important",
    "I have a photo studio",
    "My sister makes videos",
    "You can call me Ben",
    "Your answers are always too long",
    "You use way too many lists.",
    "I hope you remember that my son is deaf",
    "I appreciate your help, I moved to Leeds",
    "I wanted to let you know I moved to Leeds",
    "I quit",
    "Don't send me lists",
    "He's a nurse now!!",
    "Dancing helps me relax",
    "We can walk to Leeds from here",
    "I'll send you my address, I live in Leeds",
    "Keep answering in German",
    "Don't be so formal",
    "Let's make the deadline Friday",
    "Evening flights are best",
    "Parking is behind the house",
    "The nanny can take the children",
    "Every Tuesday is bin day",
    "Everyone has a key to shed 4",
    "That's my aunt Rosa",
    "You should answer in Dutch",
    "You can skip the greetings",
    "These are my rules: no phones",
]


@pytest.mark.parametrize("text", COMPANY)
def test_it_is_left_out(text: str) -> None:
    assert is_company(text)


@pytest.mark.parametrize("text", TOLD)
def test_what_tells_something_is_not(text: str) -> None:
    assert not is_company(text)


@pytest.mark.parametrize("text", ["Ouch, bummer about the injury.", "Wow, such a view!", "Aww, what a puppy!"])
def test_a_cry_about_something_keeps_company(text: str) -> None:
    assert is_company(text)


@pytest.mark.parametrize(
    "text", ["Ouch, my knee hurts again.", "Ugh, the flight was cancelled.", "Wow, no shellfish for Noor then."]
)
def test_a_cry_that_tells_something_does_not(text: str) -> None:
    assert not is_company(text)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("Learning Danish is a fantastic idea!", True),
        ("It's always refreshing to find songs that stay with you for days.", True),
        ("My suggestion is to swim twice a week.", True),
        ("Greetings and salutations!", True),
        ("It's hard to reach me before noon.", False),
        ("Good morning, I'm vegan.", False),
    ],
)
def test_advice_greetings_and_what_is_true_for_everybody(text: str, is_one: bool) -> None:
    assert is_company(text) is is_one
