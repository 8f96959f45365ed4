from __future__ import annotations

from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.retrieve.result_assembly import NameLookup, names_of, one_slip
from mnemic.runtime.clock import SystemClock
from mnemic.types import Actor, Kind, Level, Memory

NOW = SystemClock().now()


def memory(key: str | None = None, names: object = None) -> Memory:
    return Memory(
        memory_id="m",
        kind=Kind.LONG_TERM,
        scope=Actor(user="ana").scope(Level.USER),
        content="x",
        created_at=NOW,
        updated_at=NOW,
        key=key,
        data={} if names is None else {"names": names},
    )


@pytest.mark.parametrize(
    ("query", "key", "names"),
    [
        ("Which update channel is it?", "update_channel", None),
        ("our update channels", "update_channel", None),
        ("What does the DLQ hold?", "dead_letter_queue", ["DLQ", "dead letter"]),
        ("who reads dead letters", None, ["dead letter"]),
        ("BERGEN?", None, ["Bergen"]),
        ("the ferry to Begren", None, ["Bergen"]),
        ("the ferry to Berrgen", None, ["Bergen"]),
        ("cafe Bergene", None, ["Bergen"]),
        ("东京的天气", None, ["东京"]),
    ],
)
def test_a_name_is_found_in_any_form_of_its_words(query: str, key: str | None, names: list[str] | None) -> None:
    assert NameLookup(query).names(memory(key, names))


@pytest.mark.parametrize(
    ("query", "key", "names"),
    [
        ("the channel of the last update", "update_channel", None),
        ("the ferry to Dergen", None, ["Bergen"]),
        ("the ferry to Bxxgen", None, ["Bergen"]),
        ("k9s", None, ["k8s"]),
        ("everything", None, []),
        ("everything", None, "everything"),
        ("everything", None, [7, "", " "]),
        ("", None, ["Bergen"]),
    ],
)
def test_what_is_only_like_a_name_is_none(query: str, key: str | None, names: object) -> None:
    assert not NameLookup(query).names(memory(key, names))


def test_a_key_is_a_name_spelled_as_words() -> None:
    assert names_of(memory("update_channel", ["Slack"])) == ["update channel", "Slack"]


WORDS = st.text(ascii_lowercase, min_size=2, max_size=8)


@given(WORDS, st.data())
def test_every_single_slip_is_one(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 2))
    letter = data.draw(st.sampled_from(ascii_lowercase))
    for said in (
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    ):
        assert one_slip(word, said)


@given(WORDS, WORDS)
def test_a_slip_works_both_ways(one: str, other: str) -> None:
    assert one_slip(one, other) == one_slip(other, one)


def test_two_slips_are_too_many() -> None:
    assert not one_slip("typescript", "tipescrpt")
    assert not one_slip("abcd", "badc")
