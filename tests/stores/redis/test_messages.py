"""Messages survive the way to text and back; a text that is none is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import StoreCorrupt
from mnemic.stores.redis.sessions import decode_message, encode_message
from mnemic.types import Message, Origin

MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(st.text(), st.none() | st.text(), st.none() | MOMENTS, st.sampled_from(Origin))
def test_messages_are_kept(content: str, speaker: str | None, sent_at: datetime | None, origin: Origin) -> None:
    kept = Message(role="user", content=content, speaker=speaker, sent_at=sent_at, origin=origin)
    assert decode_message(encode_message(kept)) == kept


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"kind":"no"}', "null", '"x"'])
def test_a_text_that_is_no_message_is_corrupt(text: str) -> None:
    with pytest.raises(StoreCorrupt):
        decode_message(text)
