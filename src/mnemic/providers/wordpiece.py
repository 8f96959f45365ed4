"""BERT's uncased WordPiece tokeniser in the standard library.

The steps and their order are those of "BERT: Pre-training of Deep Bidirectional Transformers" (Devlin et al., 2018)
as the `tokenizers` library carries them out: clean, set CJK apart, strip accents, lower, split at white space and
punctuation, then the longest match from the left. One difference is wanted: a special token written in a text (`[SEP]`)
stays ordinary text. Characters younger than Unicode 9 may be taken differently; they all end as `[UNK]` or are dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from copy import copy
from functools import lru_cache
from importlib.resources import files

MAX_TOKENS = 256
MAX_WORD_CHARS = 100
CACHED_CHUNKS = 8_192
CACHED_CHUNK_CHARS = 32

_UNKNOWN, _START, _END = "[UNK]", "[CLS]", "[SEP]"
_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DROPPED = frozenset({"Cc", "Cf", "Co", "Cs"})
_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def bundled_vocabulary() -> dict[str, int]:
    """Return the 30,522 pieces of `bert-base-uncased`, shipped with mnemic, by their ids."""
    text = files("mnemic.providers").joinpath("data/vocab.txt").read_text(encoding="utf-8")
    return {piece: number for number, piece in enumerate(text.removesuffix("\n").split("\n"))}


class WordPiece:
    """Turns text into at most `max_tokens` piece ids, `[CLS]` and `[SEP]` included. Safe to share between threads.

    Short chunks of text are remembered with their pieces (at most 8,192), since language repeats its words.
    """

    def __init__(self, vocabulary: Mapping[str, int], *, max_tokens: int = MAX_TOKENS) -> None:
        self._vocabulary = vocabulary
        self._room = max_tokens - 2
        self._longest_piece = max(map(len, vocabulary))
        self._start, self._end, self._unknown = (vocabulary[token] for token in (_START, _END, _UNKNOWN))
        # Per instance: a decorator on the method would keep every tokeniser alive.
        self._cached_pieces = lru_cache(CACHED_CHUNKS)(self._pieces)

    @property
    def cached_chunks(self) -> int:
        """Number of chunks that are remembered now."""
        return self._cached_pieces.cache_info().currsize

    def limited(self, max_tokens: int) -> WordPiece:
        """Return this tokeniser with another limit; both remember chunks together."""
        limited = copy(self)
        limited._room = max_tokens - 2
        return limited

    def ids(self, text: str) -> list[int]:
        """Return the ids of `text`, from `[CLS]` to `[SEP]`, truncated at the end."""
        ids = [self._start]
        for chunk in _plain(text).split():
            ids += self._cached_pieces(chunk) if len(chunk) <= CACHED_CHUNK_CHARS else self._pieces(chunk)
            if len(ids) > self._room:
                del ids[self._room + 1 :]
                break
        ids.append(self._end)
        return ids

    def _pieces(self, chunk: str) -> list[int]:
        pieces: list[int] = []
        for word in _split_punctuation(chunk):
            pieces += self._word_pieces(word)
            if len(pieces) >= self._room:
                break
        return pieces

    def _word_pieces(self, word: str) -> list[int]:
        if len(word) > MAX_WORD_CHARS:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            # Longest match first, never longer than the longest piece: otherwise long words take quadratic time.
            for end in range(min(len(word), start + self._longest_piece), start, -1):
                number = self._vocabulary.get(prefix + word[start:end])
                if number is not None:
                    pieces.append(number)
                    start = end
                    break
            else:
                return [self._unknown]
        return pieces


@lru_cache(maxsize=1)
def bundled_tokeniser() -> WordPiece:
    """Return the process's tokeniser of the bundled vocabulary, which its networks share."""
    return WordPiece(bundled_vocabulary())


def _plain(text: str) -> str:
    """Return `text` cleaned, without accents, in lower case, with spaces around each CJK character."""
    if text.isascii():
        return _ASCII_CONTROL.sub("", text).lower()
    decomposed = unicodedata.normalize("NFD", "".join(map(_clean, text)))
    # Character by character: str.lower() of a whole word writes a final sigma, which the vocabulary does not know.
    return "".join([char.lower() for char in decomposed if unicodedata.category(char) != "Mn"])


@lru_cache(4_096)
def _clean(char: str) -> str:
    if char in "\t\n\r":
        return " "
    category = unicodedata.category(char)
    if category in _DROPPED or char == "\ufffd":
        return ""
    if category[0] == "Z":
        return " "
    code = ord(char)
    return f" {char} " if any(first <= code <= last for first, last in _CJK) else char


def _split_punctuation(chunk: str) -> Iterator[str]:
    if chunk.isalnum():
        yield chunk
        return
    begin = 0
    for place, char in enumerate(chunk):
        if _is_punctuation(char):
            if begin < place:
                yield chunk[begin:place]
            yield char
            begin = place + 1
    if begin < len(chunk):
        yield chunk[begin:]


@lru_cache(4_096)
def _is_punctuation(char: str) -> bool:
    # BERT counts every visible ASCII character that is no letter or digit, "$" and "+" among them.
    return (char.isascii() and not char.isalnum()) or unicodedata.category(char)[0] == "P"
