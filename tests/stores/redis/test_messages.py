"""Messages survive the way to text and back, with their conversation; a text that is none is left out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.stores.redis.sessions import encode_entry, read_entry
from mnemic.types import Level, Message, Origin, Scope

MOMENTS = st.datetimes(timezones=st.just(UTC))
SCOPE = Scope(tenant="acme", level=Level.SESSION, owner="trip")


@given(st.text(), st.none() | st.text(), st.none() | MOMENTS, st.sampled_from(Origin))
def test_messages_are_kept(content: str, speaker: str | None, sent_at: datetime | None, origin: Origin) -> None:
    kept = Message(role="user", content=content, speaker=speaker, sent_at=sent_at, origin=origin)
    assert read_entry("acme", encode_entry(SCOPE, kept).encode()) == (SCOPE, kept)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"kind":"no"}', "null", '"x"', '{"level":"no","owner":""}'])
def test_a_text_that_is_no_message_is_left_out(text: str) -> None:
    assert read_entry("acme", b"0" * 16 + text.encode()) is None
