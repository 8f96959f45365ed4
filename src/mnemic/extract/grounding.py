"""Grounding: find the user's words that support a candidate, and reject a candidate without any.

A candidate is grounded by its quote, found in the message, or by its value, all of whose words occur in the message.
The comparison ignores case, accents, white space, typographic quotes and endings ("aisle seats" for "aisle seat"),
nothing else. A candidate that cannot be shown to the user in their own words is not stored.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from mnemic.language.sentences.clauses import clause_around
from mnemic.language.text.normalise import canonical_value
from mnemic.language.text.pattern import Pattern
from mnemic.types import Candidate, Message

MAX_QUOTE_CHARS = 1_000
SHORTEST_QUOTE_WORDS = 3
"""Minimum length in words of a quote that does not contain the value; "I am" supports nothing."""
_SHORTEST_STEM = 4
_LONGEST_ENDING = 3

_WORD = Pattern(r"\w+")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "‐": "-", "–": "-", "—": "-", "-": "-"})
_WIDE = Pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
"""Scripts that are written without spaces, or that attach particles to words: compared as running text."""


def ground(candidate: Candidate, message: Message) -> Candidate | None:
    """`candidate` with `source.quote` and `source.span` taken from the message, or None if no words support it.

    The span counts characters of `message.content`, and the quote is exactly that text.
    """
    folded = NormalisedText(message.content)
    # The quote first: it is the model's own evidence, whereas a value may also occur by chance elsewhere.
    span = _find_quote(candidate, folded) or _find_value(candidate, folded)
    if span is None:
        return None
    return replace(candidate, source=replace(candidate.source, quote=message.content[span[0] : span[1]], span=span))


def says_again(text: str, mine: Sequence[int] | None, theirs: Sequence[int] | None) -> bool:
    """Return True if the words at `mine` in a message are those at `theirs`, a part of them, or repeat them elsewhere;
    also if one of the places is not known.
    """
    if mine is None or theirs is None or (mine[0] < theirs[1] and theirs[0] < mine[1]):
        return True
    said, before = (f" {' '.join(_WORD.findall(canonical_value(text[first:end])))} " for first, end in (mine, theirs))
    return before in said or said in before


class NormalisedText:
    """A text in its form for comparison, and the way back: `places[i]` is the origin of character i."""

    __slots__ = ("original", "places", "text")

    def __init__(self, original: str) -> None:
        characters: list[str] = []
        places: list[int] = []
        for place, character in enumerate(original.translate(_QUOTES)):
            # One character may fold to several ("ﬁ" to "fi"); each of them points to its origin, so that spans stay
            # exact.
            for part in _fold(character):
                if part == " " and (not characters or characters[-1] == " "):
                    continue
                characters.append(part)
                places.append(place)
        self.original = original
        self.text = "".join(characters)
        self.places = places

    def find(self, other: str) -> tuple[int, int] | None:
        """Return the place of `other` in the original as whole words, or None."""
        wanted = NormalisedText(other).text.strip()
        at = self.text.find(wanted) if wanted else -1
        # A match inside a word supports nothing: "art" does not occur in "start". The next occurrence may be a word.
        while at >= 0:
            if self._whole(at, at + len(wanted)):
                return self.span(at, at + len(wanted))
            at = self.text.find(wanted, at + 1)
        return None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original characters that correspond to the folded ones from `start` to `end`."""
        return self.places[start], self.places[end - 1] + 1

    def _whole(self, start: int, end: int) -> bool:
        before, after = self.text[start - 1 : start], self.text[end : end + 1]
        return not (_is_joined(before, self.text[start]) or _is_joined(self.text[end - 1], after))


def _fold(character: str) -> str:
    if character.isspace():
        return " "
    # NFKC before casefold, as casefold leaves compatibility forms; NFKD after it, to drop accents that models omit.
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character).casefold())
    return "".join(c for c in parts if not unicodedata.combining(c))


def _is_joined(left: str, right: str) -> bool:
    # Scripts without spaces have no word boundary to check.
    return left.isalnum() and right.isalnum() and not _WIDE.match(left) and not _WIDE.match(right)


def _find_quote(candidate: Candidate, folded: NormalisedText) -> tuple[int, int] | None:
    quote = candidate.source.quote
    if not quote or len(quote) > MAX_QUOTE_CHARS:
        return None
    # Models often quote the quotation marks as well.
    quote = quote.strip().strip("\"'“”‘’ ")
    span = folded.find(quote)
    if span is None:
        return None
    # A short quote must contain the value, since a few common words occur in any message.
    long_enough = len(quote.split()) >= SHORTEST_QUOTE_WORDS or bool(_WIDE.search(quote))
    return span if long_enough or NormalisedText(quote).find(candidate.content) else None


def _find_value(candidate: Candidate, folded: NormalisedText) -> tuple[int, int] | None:
    """Return the clauses that contain the value, literally or by all of its words."""
    found = folded.find(candidate.content)
    if found is None:
        found = _find_scattered(candidate.content, folded)
    return None if found is None else clause_around(folded.original, *found)


def _find_scattered(value: str, folded: NormalisedText) -> tuple[int, int] | None:
    wanted = _WORD.findall(NormalisedText(value).text)
    if not wanted:
        return None
    words = [(match[0], *match.span()) for match in _WORD.finditer(folded.text)]
    places: list[tuple[int, int]] = []
    for word in dict.fromkeys(wanted):
        # The first occurrence is enough: the quote becomes the whole clause around all of the words.
        match = next(((start, end) for text, start, end in words if same_word(word, text)), None)
        if match is None:
            return None
        places.append(match)
    return folded.span(min(start for start, _ in places), max(end for _, end in places))


def same_word(one: str, other: str) -> bool:
    """Equal, or the same stem with another short ending."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    return (
        len(shorter) >= _SHORTEST_STEM and len(longer) - len(shorter) <= _LONGEST_ENDING and longer.startswith(shorter)
    )
