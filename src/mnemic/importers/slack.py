"""Slack's export: a folder for each channel with a file for each day, and `users.json`; or one such file.

The export does not name the user: all are participants. Mentions are written as names, the common codes of emoji as
emoji; the others are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.entries import entry, left_out, mapping
from mnemic.importers.file_readers.fields import text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.multi_file_exports import Packed
from mnemic.importers.file_readers.records import Record, records
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin

_MARKED = re.compile(r"<([^<>|]{1,2000})(?:\|([^<>]{0,2000}))?>")
_EMOJI_CODE = re.compile(
    # A gap begins where white space begins, and is possessive: otherwise long ones take quadratic time.
    r"(?:(?P<gap>(?<![ \t])[ \t]++)|(?<![\w:/]))"
    r"(?P<codes>(?::(?:100|(?=[a-z0-9_+'-]*[a-z+])[a-z0-9_+'-]{1,100}):)+)(?![\w/])"
)
_EMOJI: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("+1", "thumbsup"), "👍"), **dict.fromkeys(("-1", "thumbsdown"), "👎"),
        **dict.fromkeys(("heart", "heart_eyes"), "❤️"), **dict.fromkeys(("joy", "rolling_on_the_floor_laughing"), "😂"),
        **dict.fromkeys(("slightly_smiling_face", "smile", "grinning", "blush"), "🙂"), "laughing": "😆", "wink": "😉",
        "sweat_smile": "😅", "sunglasses": "😎", "thinking_face": "🤔", "cry": "😢", "sob": "😭", "disappointed": "😞",
        "slightly_frowning_face": "🙁", "wave": "👋", "clap": "👏", "pray": "🙏", "raised_hands": "🙌", "ok_hand": "👌",
        "muscle": "💪", "eyes": "👀", "tada": "🎉", "rocket": "🚀", "fire": "🔥", "100": "💯", "warning": "⚠️",
        **dict.fromkeys(("white_check_mark", "heavy_check_mark"), "✅"), "x": "❌", "bulb": "💡", "coffee": "☕",
    }
)  # fmt: skip
"""Slack's codes for an answer or a mood; a team's custom pictures have no character."""
_SPOKEN = frozenset({None, "thread_broadcast", "me_message", "file_share", "bot_message"})


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a message of Slack."""
    return value.get("type") == "message" and isinstance(value.get("ts"), str)


def items(found: Iterator[Record], name: str, people: Mapping[str, str] | None = None) -> Iterator[Item]:
    """Yield the messages of a file in their order; joins, topics and the like are left out. `people`: names by id."""
    for record in found:
        value = record.value
        if record.problem is not None:
            yield Item(place=record.place, conversation=name, problem=record.problem)
        elif isinstance(value, Mapping) and value.get("subtype") not in _SPOKEN:
            yield left_out(record.place, name, "system_message")
        else:
            yield entry(record.place, name, partial(_message, value, name, people or {}))


def people_in(users: Any) -> dict[str, str]:
    """Return the names of an export's `users.json` by id."""
    named: dict[str, str] = {}
    for one in users if isinstance(users, list) else []:
        if isinstance(one, Mapping) and isinstance(one.get("id"), str):
            profile = one.get("profile")
            entries = [profile.get("display_name"), profile.get("real_name")] if isinstance(profile, Mapping) else []
            known = (
                name for name in (*entries, one.get("real_name"), one.get("name")) if isinstance(name, str) and name
            )
            named[one["id"]] = next(known, one["id"])
    return named


def _message(value: Any, channel: str, people: Mapping[str, str]) -> Message:
    said = mapping(value, "message")
    sent = text(said, "ts")
    try:
        at = moment(float(sent or ""), "message:ts")
    except ValueError:
        raise InvalidInput("message:ts", hint="expected seconds since 1970, as text") from None
    thread = text(said, "thread_ts")
    return Message(
        role="participant",
        content=_plain(text(said, "text") or "", people),
        message_id=f"{channel}:{sent}",
        session=channel if thread is None else f"{channel}:{thread}",
        speaker=_speaker(said, people),
        sent_at=at,
        origin=Origin.IMPORT,
    )


def _speaker(said: Mapping[str, Any], people: Mapping[str, str]) -> str | None:
    user = text(said, "user")
    if user in people:
        return people[user or ""]
    profile = said.get("user_profile")
    result = profile.get("real_name") if isinstance(profile, Mapping) else None
    return result if isinstance(result, str) and result else user or text(said, "username")


def _plain(words: str, people: Mapping[str, str]) -> str:
    """Return the words, with names for mentions and texts for links."""

    def mention_text(mark: re.Match[str]) -> str:
        target, label = mark[1], mark[2]
        if target.startswith("@"):
            return "@" + (label or people.get(target[1:], target[1:]))
        if target.startswith(("#", "!")):
            return target[0].replace("!", "@") + (label or target[1:])
        return label or target

    plain = _EMOJI_CODE.sub(_emoji, _MARKED.sub(mention_text, words))
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _emoji(found: re.Match[str]) -> str:
    """Return the characters of the codes that have one; nothing, not even the gap before, if none has."""
    characters = "".join(_EMOJI.get(code, "") for code in found["codes"].split(":"))
    return (found["gap"] or "") + characters if characters else ""


def folder(files: Packed, asked: bool) -> Iterator[Item] | None:
    """Return the items of an export, each file by its channel; None for any other folder."""
    users = next(files.names_ending("users.json"), None)
    if not asked and (users is None or not any(files.names_ending("channels.json"))):
        return None
    return _channels(files, users)


def _channels(files: Packed, users: str | None) -> Iterator[Item]:
    people: dict[str, str] = {}
    if users is not None:
        with files.open(users) as stream:
            people = people_in([one.value for one in records(stream)])
    root = (users or "").rpartition("/")[0]
    for name in files.names_ending(".json"):
        folder, _, file = name.removeprefix(f"{root}/").rpartition("/")
        channel = folder.rpartition("/")[2]
        if channel and name != users:
            yield from _file(files, name, f"{channel}/{file}", channel, people)


def _file(files: Packed, name: str, place: str, channel: str, people: Mapping[str, str]) -> Iterator[Item]:
    """Yield the messages of one day; a file that cannot be read affects no other."""
    try:
        with files.open(name) as stream:
            found = (replace(one, place=f"{place}, {one.place}") for one in records(stream))
            yield from items(found, channel, people)
    except InvalidInput as problem:
        yield Item(place=place, conversation=channel, problem=problem)


IMPORTER = Importer(items=items, recognises=recognises, folder=folder, rank=110)
