"""Speakers of a conversation, and the user among them.

A chat between people does not always name the user who exported it. Only the user's statements become facts, so the
user must be named.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from mnemic.importers.file_readers.item import Item
from mnemic.types import Message

_LISTED = 12
_PEOPLE = frozenset({"user", "participant"})


@dataclass(slots=True)
class Speakers:
    """Speakers of an export: its number of items, whether a message is the user's, and the messages of each person."""

    items: int = 0
    knows_user: bool = False
    people: Counter[str] = field(default_factory=Counter)

    @property
    def lacks_user(self) -> bool:
        """True if people speak and none of them is known to be the user."""
        return bool(self.people) and not self.knows_user

    def count_speakers(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, and count their speakers."""
        for item in items:
            self.items += 1
            if isinstance(item.content, Message) and item.content.role in _PEOPLE:
                self.knows_user = self.knows_user or item.content.role == "user"
                if item.content.speaker is not None:
                    self.people[item.content.speaker] += 1
            yield item

    def has(self, name: str) -> bool:
        """Return True if a speaker has this name."""
        return any(_same(name, one) for one in self.people)

    def names(self) -> list[str]:
        """Return a dozen names, the most frequent first."""
        return [name for name, _ in self.people.most_common(_LISTED)]

    def list_names(self) -> str:
        """Return the names as a text."""
        return ", ".join(self.names()) + (", ..." if len(self.people) > _LISTED else "")


def speakers_in(items: Iterable[Item], *, whole: bool = True) -> Speakers:
    """Return the speakers of these items. Unless `whole`, stop at the first message of the user: then nobody is asked
    for the user's name.
    """
    found = Speakers()
    for _ in found.count_speakers(items):
        if found.knows_user and not whole:
            break
    return found


def with_user(items: Iterable[Item], name: str) -> Iterator[Item]:
    """Yield the items with the messages of the speaker `name` as the user's and all other people's as participants'."""
    for item in items:
        said = item.content
        if isinstance(said, Message) and said.role in _PEOPLE and said.speaker is not None:
            role = "user" if _same(name, said.speaker) else "participant"
            item = item if said.role == role else replace(item, content=replace(said, role=role))
        yield item


def _same(one: str, other: str) -> bool:
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())
