"""Token counts of a text, by the model's own tokenizer if one is given, else an upper estimate without any vocabulary;
and the cut of a recall's hits to a token budget.

Byte-pair vocabularies split a text at spaces, signs and digits, and a word where its letters rarely follow one another:
"information" is one token, "xqvbk" five. So a word costs one token and one more for each unusual pair of letters, which
makes names, hexadecimal and random letters expensive and prose cheap. Digits are counted singly, as some vocabularies
keep them; a sign is a token; a letter outside ASCII costs the vocabularies' maximum for its script.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from mnemic.errors import InvalidConfig
from mnemic.inject.citation_check import memory_item
from mnemic.language.text.pattern import Pattern
from mnemic.types import Hit

TokenCount = Callable[[str], int]
"""A function from a text to its number of tokens."""
_FOLLOWING = (
    "abcdgilmnprstuy baeilou cacehiklortu dadeilosuy eacdefglmnpqrstvx faefiou gehinrs haeio iabcdefglmnoprstvxz kei"
    " ladeilostuy mabeimopu nacdefginostuv obcdgklmnoprstuvw paeiloprtu qu racdegimnorstuy sacehilopstuy tacehiloprstuy"
    " uabceilmnprst vaei waei xept yp ze"
)
_USUAL = frozenset(letters[0] + after for letters in _FOLLOWING.split() for after in letters[1:])
"""Common pairs of English letters: the first letter, followed by those that may come after it."""
CHARS_PER_TOKEN = 7
"""A word is no longer than this without a second token."""
SHORTEST_CODE, CODE_CHARS_PER_TOKEN = 5, 2
"""Capital letters are a code oftener than a word."""
SHORTEST_NAME = 4
"""A word with a capital may be a name, and names are rarer than words."""
_PIECE = Pattern(r"[^\W\d_]+|\d+|\s+|[^\w\s]|_")
_CASES = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[^A-Za-z]+")
_ONE_TOKEN_LETTERS = ("CYRILLIC", "GREEK", "ARABIC", "HEBREW", "HIRAGANA", "KATAKANA")


def counter_of(tokenizer: Any) -> TokenCount:
    """Return the counter of `tokenizer`: a function from a text to its number of tokens, or an object that encodes, as
    those of `tiktoken`, `tokenizers` and `transformers`; None for the estimate.

    A text that it cannot read costs its estimate. Raises InvalidConfig (`invalid_config:tokenizer`) for one that cannot
    count a plain word.
    """
    if tokenizer is None:
        return estimated_tokens
    count = _counting(tokenizer)
    try:
        # Tried once at the start: a tokenizer that cannot count would otherwise be noticed only by its estimates.
        plain = count("seat")
    except Exception as failure:
        raise InvalidConfig("tokenizer", hint=type(failure).__name__) from failure
    if type(plain) is not int or plain < 1:
        raise InvalidConfig("tokenizer", hint="a function from a text to a number, or an object with encode(text)")

    def count_tokens(text: str) -> int:
        try:
            return int(count(text))
        except Exception:  # noqa: BLE001 - as above; an uncounted text must not count as 0
            return estimated_tokens(text)

    return count_tokens


def _counting(tokenizer: Any) -> Callable[[str], Any]:
    # An encoding of tiktoken refuses the names of control tokens in a text, unless it is to read them as text.
    encode = getattr(tokenizer, "encode_ordinary", None) or getattr(tokenizer, "encode", None)
    if encode is not None:
        return lambda text: len(encode(text))
    return tokenizer if callable(tokenizer) else lambda _: None


def estimated_tokens(text: str) -> int:
    """At most how many tokens `text` costs in a prompt, in the vocabularies of today's models."""
    total, spaced = 0, False
    for piece in _PIECE.findall(text):
        total += _digits(piece, spaced) if piece[0].isdecimal() else _cost(piece)
        spaced = piece.isspace()
    return total


def _digits(piece: str, spaced: bool) -> int:
    """Count the tokens of a number: the space before it is one if the vocabulary has numbers in groups of three."""
    if not piece.isascii():
        return sum(map(_letter, piece))
    return max(len(piece), -(-len(piece) // 3) + spaced)


@lru_cache(maxsize=4096)
def _cost(piece: str) -> int:
    if piece.isspace():
        return 0 if piece == " " else len(piece)
    if not piece.isascii():
        return sum(_word(part) if part.isascii() else sum(map(_letter, part)) for part in _CASES.findall(piece))
    return sum(map(_word, _CASES.findall(piece))) if piece.isalpha() else 1


def _word(word: str) -> int:
    unusual = sum(first + second not in _USUAL for first, second in pairwise(word.lower()))
    longest = CHARS_PER_TOKEN if not word.isupper() or len(word) < SHORTEST_CODE else CODE_CHARS_PER_TOKEN
    least = 2 if len(word) >= SHORTEST_NAME and word[0].isupper() else 1
    # `-(-a // b)` divides and rounds up.
    return max(least + unusual, -(-len(word) // longest))


@lru_cache(maxsize=4096)
def _letter(letter: str) -> int:
    """Return the tokens of one character outside ASCII: those of its script, at most its bytes."""
    name = unicodedata.name(letter, "")
    if name.startswith(_ONE_TOKEN_LETTERS):
        return 1
    if name.startswith("LATIN") or (name.startswith("CJK UNIFIED") and _is_common(letter)):
        return 2
    return len(letter.encode("utf-8", "surrogatepass"))


def _is_common(character: str) -> bool:
    """Return True if a Chinese character is among the commonest, which the older national codes list first."""
    simplified, kanji = character.encode("gb2312", "replace"), character.encode("shift_jis", "replace")
    return b"\xb0" <= simplified[:1] <= b"\xd7" or b"\x88" <= kanji[:1] <= b"\x97"


__all__ = ["ENTRY_OVERHEAD_TOKENS", "estimated_tokens", "within_tokens"]

ENTRY_OVERHEAD_TOKENS = 12
"""Source, sign of the list and line break around one entry of a block."""


def within_tokens(
    hits: Sequence[Hit], max_tokens: int, *, as_json: bool = False, count: TokenCount = estimated_tokens
) -> tuple[Hit, ...]:
    """Return the longest run of best hits that fit `max_tokens`, each as a line of a block or, with `as_json`, as the
    object that `run` shows; a hit that is too long for the rest of the budget is skipped.
    """
    kept: list[Hit] = []
    left = max_tokens
    for number, hit in enumerate(hits, start=1):
        cost = _json_cost(number, hit, count) if as_json else _line_cost(hit, count)
        if cost <= left:
            kept.append(hit)
            left -= cost
    return tuple(kept)


def _line_cost(hit: Hit, count: TokenCount) -> int:
    return ENTRY_OVERHEAD_TOKENS + count(hit.memory.content) + count(hit.memory.key or "")


def _json_cost(number: int, hit: Hit, count: TokenCount) -> int:
    shown = memory_item(hit.memory.key or f"m{number}", hit)
    return count(json.dumps(shown, ensure_ascii=False)) + 1
