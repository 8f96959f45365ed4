"""Pictures, sounds and files in a message: a line of text for each, since memory keeps texts, and the file itself for
who reads it (`mnemic.extract.file_reader`). The line names the file by its hash, so that the same file is known again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from mnemic.types import AttachedFile

_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("image", "image_url", "input_image"), "image"),
    **dict.fromkeys(("audio", "input_audio"), "recording"),
    **dict.fromkeys(("video", "video_url"), "video"),
    **dict.fromkeys(("file", "input_file", "document", "media", "inline_data", "file_data"), "file"),
}
"""The word for a block of content, by its type or, in protocols without types, by its only member."""
_OF_MEDIA = {"image": "image", "audio": "recording", "video": "video"}
_NAMES, _MEDIA = ("filename", "file_name", "name", "title"), ("media_type", "mime_type", "mimeType", "format")
_DATA = ("data", "base64", "file_data", "bytes", "image_url", "url")
_ADDRESSES = ("url", "image_url", "file_url", "file_uri", "fileUri", "uri", "file_id")
_DEPTH = 3
MOST = 20
"""Notes in one message."""
_LONGEST = 200
_NOTE = re.compile(r"^\[attached (image|recording|video|file)(?:: ([^\[\]\n]{1,400}))?\]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Attached:
    """What a note says: the word for it, what is known of it, and the hash if its bytes were there."""

    word: str
    known: str
    digest: str | None


def attachment_note(block: Any) -> str | None:
    """Return the line for a block of a message's content that is a picture, a sound or a file; None for any other."""
    kind = _kind_of(block)
    if kind is None:
        return None
    found = dict(_members(block, _DEPTH))
    media, content = _content(found)
    word = _OF_MEDIA.get(media.partition("/")[0], kind)
    about = [_first(found, _NAMES), media]
    if content is not None:
        about.append(f"sha256 {hashlib.sha256(content).hexdigest()[:32]}")
    elif (address := _first(found, _ADDRESSES)) and not address.startswith("data:"):
        about.append(_without_query(address))
    told = ", ".join(" ".join(re.sub(r"[\[\]]", "", one).split())[:_LONGEST] for one in about if one)
    return f"[attached {word}: {told}]" if told else f"[attached {word}]"


def attached_file(block: Any) -> AttachedFile | None:
    """Return the file in a block of a message's content; None for any other block, and if its bytes are elsewhere."""
    kind = _kind_of(block)
    found = {} if kind is None else dict(_members(block, _DEPTH))
    media, content = _content(found)
    if kind is None or not content:
        return None
    if "/" not in media:
        family = next((family for family, word in _OF_MEDIA.items() if word == kind), "application")
        media = f"{family}/{media or 'octet-stream'}"
    return AttachedFile(media=media.lower(), base64=base64.b64encode(content).decode(), name=_first(found, _NAMES))


def split_attachments(text: str) -> tuple[str, tuple[Attached, ...]]:
    """Return the text without the notes of attachments at its end, `MOST` of them, and what they say."""
    found: list[Attached] = []
    while len(found) < MOST and (lines := text.rstrip().rpartition("\n"))[2] and (note := _NOTE.match(lines[2])):
        word, known = note.group(1), note.group(2) or ""
        digest = re.search(r"sha256 ([0-9a-f]{32})\b", known)
        found.append(Attached(word, known, digest and digest.group(1)))
        text = lines[0]
    return text, tuple(reversed(found))


def _kind_of(block: Any) -> str | None:
    """Return the word for a block that is a picture, a sound or a file; None for any other."""
    if not isinstance(block, Mapping):
        return None
    given = block.get("type")
    return _KINDS.get(given) if isinstance(given, str) else next((_KINDS[one] for one in block if one in _KINDS), None)


def _members(block: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the members of a block and of the mappings in it, the outermost last: they count."""
    for value in block.values():
        if isinstance(value, Mapping) and depth:
            yield from _members(value, depth - 1)
    yield from ((name, value) for name, value in block.items() if isinstance(value, str | bytes) and name != "type")


def _content(found: Mapping[str, Any]) -> tuple[str, bytes | None]:
    """Return the media type and the bytes, as far as they are given."""
    media = _first(found, _MEDIA)
    for name in _DATA:
        value = found.get(name)
        if isinstance(value, bytes):
            return media, value
        if not isinstance(value, str):
            continue
        head, comma, rest = value.partition(",")
        if head.startswith("data:") and comma:
            media, value = media or head[len("data:") :].partition(";")[0], rest
        elif name in ("image_url", "url"):
            continue
        try:
            return media, base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            continue
    return media, None


def _first(found: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := found.get(name), str) and value.strip()), "")


def _without_query(address: str) -> str:
    """Return an address without what may hold a key: user, query and fragment."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.hostname}{parts.path}" if parts.hostname else address
