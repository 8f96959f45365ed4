"""Openings of a correction that only deny an earlier statement; the text after them states the correct value."""

from __future__ import annotations

from mnemic_language.frames.frame_expressions import DISPUTES
from mnemic_language.frames.vocabulary import plain
from mnemic_language.text.pattern import Pattern

LONGEST = 80
"""Maximum number of characters of an opening."""
_TWO = Pattern("[ßœæŒÆẞ]")
_GOES_ON = Pattern(r"\s{0,3}[,;:–—-]{1,3}\s{0,3}(?=\w)")


def without_dispute(text: str) -> str:
    """Return `text` without an opening that disputes an earlier statement: "That's wrong, I live in Trondheim"."""
    end = _end(text)
    stated = None if end is None else _GOES_ON.match(text, end)
    return text if stated is None else text[stated.end() :]


def only_disputes(text: str) -> bool:
    """Return True if a part of a sentence only disputes an earlier statement: "No, that's wrong"."""
    end = _end(text)
    return end is not None and not text[end:].strip(" .,!;:–—-")


def _end(text: str) -> int | None:
    """Return the end index of an opening that only disputes something, or None."""
    # A letter that becomes two would shift the indexes; no such opening has one.
    opening = _TWO.sub("_", text[:LONGEST])
    said = plain(opening)
    found = DISPUTES.match(said) if len(said) == len(opening) else None
    return None if found is None else found.start("then")
