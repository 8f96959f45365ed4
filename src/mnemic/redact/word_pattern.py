"""A regular expression that is tried only on texts with a word that every match requires.

Most expressions of a language begin with a list of words, and `re` tries it at every place of a text that has none of
them. The words of an expression are read off its syntax (`mnemic.redact.required_words`): beforehand, if a package
stores them in a file and registers them (`know`), else once the expression is used often. One cached pass over the
words of a text decides for all expressions at once whether to try them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from hashlib import blake2b
from operator import or_
from sys import maxsize
from threading import Lock
from typing import Any, TypeVar

from mnemic.redact.lazy_pattern import Pattern
from mnemic.redact.required_words import required

SHORTEST = 24
"""Characters of a text below which a compiled expression is tried at once: faster than a look at the words."""
OFTEN = 40
"""Number of uses from which unknown words of an expression are read off: a short process does without."""
_LONGEST_WORD = 40
"""Characters of a word beyond which any expression may match in it."""
_KEPT, _WORDS = 4096, 16_384
"""Numbers of texts and of words with cached expressions."""
_HEAD = 3
"""Characters by which the words are looked up that may begin at a place."""
_RUN = re.compile(r"\w+")
_MATCHED = str.maketrans({"ı": "i", "İ": "I", "ſ": "s"})


def plain_letters(text: str) -> str:
    """Return `text` at the same length, with i and s for the letters that a case-insensitive pattern takes for them but
    `str.lower` does not: so that matches can be looked up.
    """
    return text.translate(_MATCHED)


T = TypeVar("T")


class WordCache(dict[str, T]):
    """Cache of the values that `make` returns for words, for as many words as a language uses."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: str) -> T:
        if len(self) >= _WORDS:
            self.clear()
        found = self[word] = self._make(word)
        return found


class WordFilter:
    """Selects by the words of a text the expressions that can match in it, each a bit of a number. Expressions are only
    ever added, by a new filter that contains all those before it.
    """

    def __init__(self, bits: dict[str, int]) -> None:
        self.bits = bits
        self._signs = {sign: bit for sign, bit in bits.items() if not (sign[1:2].isalnum() or _RUN.search(sign))}
        # Lengths, not every beginning of each: a new process would wait 10 ms for those of thousands of words.
        self._lengths: dict[str, set[int]] = {}
        for word in bits:
            self._lengths.setdefault(word[:_HEAD], set()).add(len(word))
        self._short = {word: bit for word, bit in bits.items() if len(word) < _HEAD and word not in self._signs}
        self._words = WordCache(self._of_word)
        self.of = lru_cache(maxsize=_KEPT)(self._of)

    def added(self, words: frozenset[str], bit: int) -> WordFilter:
        """Return a filter with a further expression, of which every match has one of these words: in lower case, with
        `^` where a word of the text begins with it and `$` where one ends with it; or a sign.
        """
        bits = {**self.bits, **{word: self.bits.get(word, 0) | bit for word in words}}
        return WordFilter(bits)

    def _of(self, text: str) -> int:
        low = (text if text.isascii() else plain_letters(text)).lower()
        if low != text:
            return self.of(low)
        found = reduce(or_, filter(None, map(self._words.__getitem__, _RUN.findall(low))), 0)
        for sign, bit in self._signs.items():
            if sign in low:
                found |= bit
        return found

    def _of_word(self, word: str) -> int:
        if len(word) > _LONGEST_WORD:
            return -1
        whole, bits = f"^{word}$", self.bits
        found = reduce(or_, [bit for short, bit in self._short.items() if short in whole], 0)
        for first in range(len(whole)):
            for length in self._lengths.get(whole[first : first + _HEAD], ()):
                found |= bits.get(whole[first : first + length], 0)
        return found


_filter = WordFilter({})
_count = 0
_lock = Lock()
_unread: list[Callable[[], Mapping[str, Sequence[str]]]] = []
_bits: dict[str, int] = {}


def name_of(pattern: Pattern) -> str:
    """Return the name under which the words of an expression are stored: a digest of it and its flags."""
    return blake2b(f"{pattern.flags}:{pattern.text}".encode(), digest_size=8).hexdigest()


def know(read: Callable[[], Mapping[str, Sequence[str]]]) -> None:
    """Register the words of expressions that `read` returns by their names (`name_of`), none for an expression that may
    match without any; `read` is called when the first expression is tried.
    """
    _unread.append(read)


def _read_known() -> None:
    """Assign a bit to every expression with known words."""
    global _filter, _count  # noqa: PLW0603
    with _lock:
        bits, found = dict(_filter.bits), dict[str, int]()
        while _unread:
            for name, words in _unread.pop()().items():
                bit = found[name] = 1 << _count if words else 0
                _count += bool(words)
                for word in words:
                    bits[word] = bits.get(word, 0) | bit
        _filter = WordFilter(bits)
        # Last: a thread that sees a bit meets a filter that knows it.
        _bits.update(found)


class WordPattern(Pattern):
    """Result of `re.compile(text, flags)`, with the same answers."""

    __slots__ = ("_bit", "_rare")

    def __init__(self, text: str, flags: int = 0) -> None:
        super().__init__(text, flags)
        self._rare, self._bit = OFTEN, 0

    def is_absent(self, string: str) -> bool:
        """Return True if nothing in `string` can match, False if the expression has to be tried."""
        if self._bit:
            tried = len(string) < SHORTEST and self._compiled is not None  # compiling takes longer than any look
            return not tried and not _filter.of(string) & self._bit
        if self._rare:
            if self._rare == OFTEN and self._is_known():
                return self.is_absent(string)
            self._rare -= 1
            if not self._rare:
                self._read()
        return False

    def _is_known(self) -> bool:
        """Return True if the words of the expression are known, and are checked from now on."""
        if _unread:
            _read_known()
        bit = _bits.get(name_of(self))
        if bit is not None:
            self._rare, self._bit = 0, bit
        return bit is not None

    def _read(self) -> None:
        """Read off the words that a match has."""
        global _filter, _count  # noqa: PLW0603
        words = required(self.compiled)
        with _lock:
            if words and not self._bit:
                bit = 1 << _count
                _count += 1
                _filter = _filter.added(words, bit)
                # Last: a thread that sees the bit meets a filter that knows it.
                self._bit = bit

    def search(self, string: str, start: int = 0, end: int = maxsize) -> re.Match[str] | None:
        """Return the first match between two places of `string`."""
        # A word cut by the end of the search differs from the word of the text.
        absent = end == maxsize and self.is_absent(string)
        return None if absent else self.compiled.search(string, start, end)

    def match(self, string: str, start: int = 0) -> re.Match[str] | None:
        """Return the match that begins at `start`."""
        return None if self.is_absent(string) else self.compiled.match(string, start)

    def finditer(self, string: str, start: int = 0, end: int = maxsize) -> Iterator[re.Match[str]]:
        """Every match between two places of `string`, in order."""
        absent = end == maxsize and self.is_absent(string)
        return iter(()) if absent else self.compiled.finditer(string, start, end)

    def findall(self, string: str) -> list[Any]:
        """Return the text of every match, or of its group."""
        return [] if self.is_absent(string) else self.compiled.findall(string)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], string: str, count: int = 0) -> str:
        """Return `string` with every match replaced, or the first `count`."""
        return string if self.is_absent(string) else self.compiled.sub(replacement, string, count)


class WordPatterns:
    """Several expressions, tested together for a possible match."""

    __slots__ = ("_bits", "_patterns")

    def __init__(self, patterns: Sequence[WordPattern]) -> None:
        self._patterns, self._bits = patterns, 0

    def are_absent(self, string: str) -> bool:
        """Return True if none of the expressions can match in `string`."""
        if self._bits:
            return not _filter.of(string) & self._bits
        absent = [one.is_absent(string) for one in self._patterns]
        bits = [one._bit for one in self._patterns]
        if all(bits):
            self._bits = reduce(or_, bits)
        return all(absent)
