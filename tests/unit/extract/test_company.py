"""What only keeps somebody company is not kept; what tells something of the speaker is."""

from __future__ import annotations

import pytest

from mnemic.extract.signals import is_company

COMPANY = [
    "Here's a pic from a hike last year.",
    "Check out this photo!",
    "Way to go, Ben!",
    "Woah, Ana, that sounds cool!",
    "Sorry to hear that, Ben.",
    "I believe in you.",
    "Sounds like fun!",
    "Congratulations on the new flat",
    "Family time is the best.",
    "Positive influences make a big difference.",
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
]


@pytest.mark.parametrize("text", COMPANY)
def test_it_is_left_out(text: str) -> None:
    assert is_company(text)


@pytest.mark.parametrize("text", TOLD)
def test_what_tells_something_is_not(text: str) -> None:
    assert not is_company(text)
