"""Google Takeout of Gemini: `MyActivity.json` of "Gemini Apps", a list of questions and answers.

It names no conversations: the activities of one day make one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from html.parser import HTMLParser
from typing import Any

from mnemic.importers.entries import entry, left_out, mapping, read
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin

_PRODUCTS = ("gemini", "bard")
"""Names in the header of an activity, which is in the user's language: `Gemini-Apps`, `Applications Gemini`."""
_ASKED = ("Prompted ", "Asked ", "Said ", "Eingegebener Prompt: ")
"""Openings of a title before the question; in a language without one here the whole title counts as the question."""
_BLOCKS = frozenset({"p", "br", "li", "div", "tr", "h1", "h2", "h3", "h4", "pre"})

_UNSEEN = frozenset({"script", "style"})


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is an activity of Gemini."""
    products = value.get("products")
    named = [value.get("header"), *(products if isinstance(products, list) else [])]
    texts = [one.casefold() for one in named if isinstance(one, str)]
    return "time" in value and "title" in value and any(one in known for one in _PRODUCTS for known in texts)


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield question and answer of each activity, oldest first."""
    entries: list[Record] = []
    for record in read(found, name, recognises, "expected MyActivity.json of Gemini Apps"):
        if isinstance(record, Item):
            yield record
        else:
            entries.append(record)
    for record in sorted(entries, key=lambda one: str(one.value.get("time"))):
        conversation = f"gemini-{str(record.value.get('time'))[:10]}"
        asked = _prompt_text(record.value)
        if asked is None:
            yield left_out(record.place, conversation, "system_message")
            continue
        yield entry(record.place, conversation, partial(_message, record.value, "user", asked, conversation))
        answer = _answer_text(record.value)
        if answer:
            yield entry(record.place, conversation, partial(_message, record.value, "assistant", answer, conversation))


def _prompt_text(value: Mapping[str, Any]) -> str | None:
    """Return the prompt; None for another activity, such as a changed setting."""
    title = value.get("title")
    if not isinstance(title, str):
        return None
    verb = next((one for one in _ASKED if title.startswith(one)), None)
    if verb is not None:
        return title.removeprefix(verb)
    return title if _answer_text(value) else None


def _answer_text(value: Mapping[str, Any]) -> str:
    parts = value.get("safeHtmlItem")
    html = [one.get("html") for one in parts if isinstance(one, Mapping)] if isinstance(parts, list) else []
    return "\n".join(filter(None, (_plain(one) for one in html if isinstance(one, str))))


def _message(value: Any, role: str, content: str, conversation: str) -> Message:
    return Message(
        role=role,
        content=content,
        session=conversation,
        sent_at=moment(mapping(value, "message").get("time"), "message:time"),
        origin=Origin.IMPORT,
    )


class _Text(HTMLParser):
    """Collects the words of HTML, a line for each block."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._unseen = 0

    def handle_data(self, data: str) -> None:
        """Collect words."""
        if not self._unseen:
            self.words.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line at a block."""
        self._unseen += tag in _UNSEEN
        if tag in _BLOCKS:
            self.words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """Continue after elements that are not displayed."""
        self._unseen -= tag in _UNSEEN and self._unseen > 0


def _plain(html: str) -> str:
    reader = _Text()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.words).splitlines())
    return "\n".join(line for line in lines if line)


IMPORTER = Importer(items=items, recognises=recognises, main_files=("myactivity.json",), rank=100)
