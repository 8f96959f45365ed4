"""Two statements that only share their topic change nothing; another value of one thing does."""

from __future__ import annotations

import pytest

from mnemic.providers.minilm import MiniLmEmbedder
from mnemic_language.changes.change_classifier import cosine_of, framed, judge
from mnemic_language.changes.change_features import indifferent, new_value, revalues

TOPIC = [
    ("I'm really into ceramics, it calms me.", "On Sunday I finally took my nephews to a ceramics class."),
    ("I'm passionate about clean rivers in our valley.", "Next week we're discussing clean rivers and trail upgrades."),
    ("I've been painting signs for the bike shop with a friend for months.", "I started my own bike shop last spring."),
    ("I have a choir project about the sea.", "It's a town with an awesome history and sea views, choir or not."),
    ("I never went sailing.", "I have never gone on a sailing trip before."),
    ("I love oat milk in my coffee.", "You can use oat cream instead of butter in that cake."),
    ("I spoke about reform of the school meals at the town hall.", "Recently, school reform and new buses."),
    ("I'm fond of owls.", "I've always liked owls since I was a girl."),
    (
        "I haven't sailed with any club, but hope to.",
        "We sailed around and built a raft with a club inspired by Moana.",
    ),
]
VALUES = [
    ("I live in Turin.", "So we're finally unpacked in Genoa."),
    ("My dentist is Anna.", "My new dentist is Petra."),
    ("My home airport is Stansted.", "Since the new job I fly from Gatwick, Stansted is too far."),
    ("I'm on the basic plan.", "I'm on the premium plan now."),
    ("I'm a vegetarian.", "I eat meat again."),
    ("Bitte siezen Sie mich.", "Ach, wir können uns jetzt ruhig duzen."),
]


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


@pytest.mark.parametrize(("old", "new"), TOPIC)
async def test_one_topic_is_no_change(embedder: MiniLmEmbedder, old: str, new: str) -> None:
    one, other = await embedder.embed([old, new])
    assert judge(framed(old), framed(new), cosine_of(one, other)) is None


@pytest.mark.parametrize(("old", "new"), VALUES)
async def test_another_value_is(embedder: MiniLmEmbedder, old: str, new: str) -> None:
    one, other = await embedder.embed([old, new])
    assert judge(framed(old), framed(new), cosine_of(one, other)) is not None


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("I drink no dairy.", "I found a dairy shop.", True),  # one denies it
        ("I like dairy-free cakes.", "I just need a dairy-free cake.", False),
        ("I live in Turin.", "I live in Genoa.", True),
        ("I live in Turin.", "I play chess.", False),
    ],
)
def test_an_attribute_has_another_value_unless_its_words_are_the_same(old: str, new: str, expected: bool) -> None:
    assert new_value(framed(old), framed(new)) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("The trip starts on 3 June.", "Now September.", True),  # another day, and nothing else
        ("The trip starts on 3 June.", "We met a lot of very nice people again in September.", False),
        ("Standup at ten.", "The standup at ten is fun again.", False),  # all of it is said again
        ("I don't use the lift.", "The lift is ok.", True),
        ("Locker 12 is blue.", "Locker 14 is blue now.", True),
        ("I row.", "I cook now.", False),
    ],
)
def test_what_replaces_a_value(old: str, new: str, expected: bool) -> None:
    assert revalues(framed(old), framed(new)) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("I bake with butter.", "You can bake with oil instead of lard.", True),
        ("I bake with butter.", "You can stop sending me butter recipes.", False),
        ("I love rivers.", "We all love rivers for good.", True),
        ("I love tea.", "I love cocoa instead of tea.", False),
    ],
)
def test_advice_and_shared_likes_change_nothing(old: str, new: str, expected: bool) -> None:
    assert indifferent(framed(old), framed(new)) is expected
