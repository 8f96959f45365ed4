"""Messages of a conversation in progress as texts."""

from __future__ import annotations

from mnemic.errors import StoreCorrupt
from mnemic.stores.codec import dump, from_micros, load, to_micros
from mnemic.types import Message, Origin


def encode_message(message: Message) -> str:
    """Return a message of a conversation as JSON."""
    names = ("role", "content", "message_id", "session", "speaker", "origin", "author")
    fields = {name: getattr(message, name) for name in names} | {"sent_at": to_micros(message.sent_at)}
    fields["derived_from"] = list(message.derived_from) or None
    return dump({name: value for name, value in fields.items() if value is not None}, "message")


def decode_message(text: str) -> Message:
    """Return the message of `encode_message`. Raises StoreCorrupt if the text is not one."""
    fields = load(text)
    try:
        fields["sent_at"] = from_micros(fields.get("sent_at"))
        fields["origin"] = Origin(fields["origin"])
        fields["derived_from"] = tuple(fields.get("derived_from", ()))
        return Message(**fields)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreCorrupt("message") from error
