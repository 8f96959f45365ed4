"""What may stand in a graph."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from mnemic.errors import InvalidInput
from mnemic.types import Fragment, Node, Relation

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "a\0b", "\ud800", "x" * 257])
def test_names_are_text_that_every_store_can_hold(text: str) -> None:
    with pytest.raises(InvalidInput, match="invalid_input:name"):
        Node(node="n", name=text)
    with pytest.raises(InvalidInput, match="invalid_input:aliases"):
        Node(node="n", name="n", aliases=("fine", text))


@pytest.mark.parametrize("word", ["", "Works_At", "works at", "works-at", "1st", "x" * 65, "naïve", None])
def test_relations_and_labels_are_words(word: str) -> None:
    with pytest.raises(InvalidInput, match="invalid_input:relation"):
        Relation(source="a", relation=word, target="b")
    with pytest.raises(InvalidInput, match="invalid_input:label"):
        Node(node="n", name="n", label=word)


def test_a_fragment_names_every_end_once() -> None:
    a, b = Node(node="a", name="a"), Node(node="b", name="b")
    knows = Relation(source="a", relation="knows", target="b")
    for nodes in ((a,), (a, b, a), ()):
        with pytest.raises(InvalidInput, match="invalid_input:fragment"):
            Fragment(memory_id="m", seen_at=NOON, nodes=nodes, relations=(knows,))
    with pytest.raises(InvalidInput, match="invalid_input:fragment"):
        Fragment(memory_id="m", seen_at=NOON, nodes=(a, b), relations=(knows,) * 257)
    assert Fragment(memory_id="m", seen_at=NOON, nodes=(a, b), relations=(knows,)).relations == (knows,)


def test_times_are_aware_and_in_utc() -> None:
    east = NOON.astimezone(timezone(timedelta(hours=5)))
    assert str(Relation(source="a", relation="knows", target="b", valid_from=east).valid_from) == str(NOON)
    with pytest.raises(InvalidInput, match="invalid_input:valid_to"):
        Relation(source="a", relation="knows", target="b", valid_to=NOON.replace(tzinfo=None))


def test_what_people_said_is_in_no_repr() -> None:
    node = Node(node="person:ana", name="Ana", aliases=("Anita",))
    relation = Relation(source="person:ana", relation="knows", target="person:ana")
    fragment = Fragment(memory_id="m", seen_at=NOON, nodes=(node,), relations=(relation,))
    assert "ana" not in repr(fragment).lower()
