"""Parts of a document: HTML, text and calendars, and the date it was sent."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime
from email import message_from_string, policy
from email.message import EmailMessage

MAX_CHARS = 4 * 1024 * 1024
_HTML = re.compile(r"<(?:html|body|div|script|table|meta|span|p)\b", re.IGNORECASE)
_MAIL = re.compile(r"\A(?:[A-Za-z-]+: [^\n]*\r?\n(?:[ \t][^\n]*\r?\n)*){2,}\r?\n")


@dataclass(frozen=True, slots=True)
class Document:
    """The parts of one document, in order."""

    html: tuple[str, ...] = field(default=(), repr=False)
    text: tuple[str, ...] = field(default=(), repr=False)
    calendars: tuple[str, ...] = field(default=(), repr=False)
    sent_on: date | None = None


def document_of(text: str, *, sent_on: date | None = None) -> Document:
    """Return `text` as a document: a mail (with its date), a calendar, HTML or plain text, detected by its form."""
    text = text[:MAX_CHARS]
    if text.lstrip().startswith("BEGIN:VCALENDAR"):
        return Document(calendars=(text,), sent_on=sent_on)
    if _MAIL.match(text):
        return _mail(text, sent_on)
    if _HTML.search(text[:20_000]):
        return Document(html=(text,), sent_on=sent_on)
    return Document(text=(text,), sent_on=sent_on)


def _mail(text: str, sent_on: date | None) -> Document:
    message = message_from_string(text, policy=policy.default)
    parts: dict[str, list[str]] = {"text/html": [], "text/plain": [], "text/calendar": []}
    for part in message.walk():
        if part.get_content_type() in parts and isinstance(part, EmailMessage):
            try:
                parts[part.get_content_type()].append(str(part.get_content()))
            except (LookupError, ValueError):
                continue
    sent = getattr(message["Date"], "datetime", None)
    return Document(
        html=tuple(parts["text/html"]),
        text=tuple(parts["text/plain"]),
        calendars=tuple(parts["text/calendar"]),
        sent_on=sent.date() if isinstance(sent, datetime) else sent_on,
    )
