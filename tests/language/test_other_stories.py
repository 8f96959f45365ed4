"""Statements of which a word looks like a change and none is: old stories, other occasions, jokes, English words that
are cues in another language.
"""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_classifier import judge
from mnemic.language.frames.statement_frame import Frame

UNCHANGED = (
    ("I'm married to Petra.", "Before I met Petra I was engaged to Julia."),
    ("I work at Bosch.", "Back in 2012 I worked at Siemens."),
    ("My car is a Volvo.", "My first car was a Fiat Panda."),
    ("I like window seats on day flights.", "On night flights I'd rather sit on the aisle."),
    ("I prefer the train for short trips.", "For long trips I'd rather fly."),
    ("I have two kids.", "Ha, I sold the kids on eBay, just kidding."),
    ("I'm a teacher.", "I quit teaching to become an astronaut, only joking!"),
    ("I love creating art!", "I'm game for trying new art."),
    ("My online shop sells scarves.", "I started my own online shop not so long ago."),
    ("I've got a cat called Luna.", "My mother's cat came to me when my mother passed away."),
    ("I keep a folder for my trip to Lisbon.", "I'll keep a separate folder for the trip to Porto."),
    ("I handle errors in the router.", "I'd like an example with proper error handling in the router."),
    ("I check that labels say dairy-free.", "I also love a dairy-free mousse."),
    (
        "I find it hard to say which Potter book I like best.",
        "Actually the flower of our country is the Water Lily, which may be why I took to it so fast.",
    ),
    ("We go to Lakewood on Sundays.", "I decorate the whole house, after all it comes but once a year in December."),
    ("My second child plays football.", "My fifth child makes that team from now on."),
    ("I'm a Weight Watchers coach.", "I attended a Weight Watchers meeting yesterday."),
    ("We document our process by hand.", "Our process is for documents that are augmented by hand."),
    ("We have two children.", "My sister's third baby was born on Monday."),
)
CHANGED = (
    ("We have two children.", "Our third baby was born on Monday."),
    ("I have three grandchildren.", "We just got our fourth grandchild!"),
    ("I have run three marathons.", "I ran my fourth marathon on Sunday."),
    ("We're having our barbecue on 12 July.", "The barbecue is off, we called it off."),
    ("I have a drum kit in the garage.", "I gave my drum kit away to a school."),
    ("Our cat Biscuit needs insulin twice a day.", "We had to put Biscuit down on Tuesday."),
    ("I'm vegetarian.", "I eat meat again these days."),
    ("I prefer a room on the second floor.", "Make that the fifth floor from now on."),
    ("I earn 52,000 a year.", "I got a raise, I'm on 58,000 now."),
    ("I like window seats on day flights.", "I changed my mind, on day flights I want an aisle seat from now on."),
    ("I have a flat in Turin.", "The flat in Turin was sold."),
    ("Ich wohne in Kassel.", "Wir sind nach Göttingen gezogen."),
    ("Trabalho na Sonae.", "Já não trabalho na Sonae."),
)


@pytest.mark.parametrize("pair", UNCHANGED, ids=lambda pair: pair[1])
@pytest.mark.parametrize("cosine", [0.4, 0.6])
def test_what_tells_no_change_lets_the_earlier_be(pair: tuple[str, str], cosine: float) -> None:
    old, new = map(Frame, pair)

    assert judge(old, new, cosine, among=2) is None


@pytest.mark.parametrize("pair", CHANGED, ids=lambda pair: pair[1])
def test_what_tells_a_change_still_does(pair: tuple[str, str]) -> None:
    old, new = map(Frame, pair)

    assert judge(old, new, 0.6, among=2) is not None


def test_words_of_another_language_are_cues_in_that_language_alone() -> None:
    assert not Frame("The error is in a separate part of the code, which I ate up.").cues & {
        "correct",
        "end",
        "passing",
    }
    assert "correct" in Frame("Fue un error mío.").cues
    assert "unreal" not in Frame("My birthday falls on the third of May.").cues
