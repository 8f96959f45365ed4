"""Values survive the way to JSON and back; what is not JSON, or not ours, is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput, StoreCorrupt
from mnemic.stores.audit_chain import decode_event, encode_event, first_broken, link
from mnemic.stores.codec import dump, from_micros, load, memory_fields, memory_from, to_micros
from mnemic.testing.record_store import memory, scope
from mnemic.types import AuditEvent

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(MOMENTS)
def test_moments_are_kept_to_the_microsecond(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


def test_moments_before_1970_count_backwards() -> None:
    assert to_micros(datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)) == -1
    assert to_micros(None) is None


@given(st.text(), st.dictionaries(st.text(), JSON, max_size=4), st.none() | MOMENTS, st.floats(0, 1))
def test_memories_are_kept(content: str, data: dict[str, object], moment: datetime | None, confidence: float) -> None:
    kept = memory(content, data=data, occurred_at=moment, confidence=confidence, vector=None)
    for compact in (False, True):
        assert memory_from(load(dump(memory_fields(kept, compact=compact))), scope(), None) == kept


def test_a_compact_body_has_only_what_a_reader_cannot_know() -> None:
    plain, links = memory("Likes tea."), ("id-1",)
    linked = memory("Likes tea.", supersedes=links, conflicts_with=links, updated_at=plain.updated_at + timedelta(1))
    left = memory_fields(linked).keys() - memory_fields(linked, compact=True).keys()
    assert not memory_fields(plain).keys() & {"context", "data", "confidence", "agent"}
    assert memory_fields(plain).keys() - memory_fields(plain, compact=True).keys() == {
        "supersedes",
        "conflicts_with",
        "updated_at",
    }
    assert not left


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), {1, 2}, b"x", {"a": timedelta(1)}, "\udfff"])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="data"):
        dump(value)  # type: ignore[arg-type]


def test_canonical_json_does_not_depend_on_the_order_of_keys() -> None:
    assert dump({"b": 1, "a": 2}, canonical=True) == dump({"a": 2, "b": 1}, canonical=True) == '{"a":2,"b":1}'


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"kind":"no"}', "null", '"x"'])
def test_text_that_is_not_ours_is_corrupt(text: str) -> None:
    for decode in (
        lambda: memory_from(load(text), scope(), None),
        lambda: decode_event(text, ""),
    ):
        with pytest.raises(StoreCorrupt):
            decode()


def test_links_depend_on_every_part() -> None:
    assert len({link("", "a"), link("", "b"), link("a", ""), link("a", "b")}) == 4
    assert first_broken([]) is None


def test_an_audit_line_whose_hash_is_no_text_is_damaged() -> None:
    event = AuditEvent(tenant="acme", action="created", at=datetime(2026, 3, 1, tzinfo=UTC), actor="ana")
    for hashed in (b"a" * 64, 7, None):
        with pytest.raises(StoreCorrupt):
            decode_event(encode_event(event), hashed)  # type: ignore[arg-type]
