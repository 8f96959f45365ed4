"""An upper estimate of the tokens of a text, without any model's vocabulary.

Byte-pair vocabularies part a text at spaces, signs and digits, and a word where its letters seldom follow one another:
"information" is one token, "xqvbk" five. So a word costs one token and one more for each unusual pair of letters, which
makes names, hexadecimal and random letters dear and prose cheap. Digits are counted singly, as some vocabularies keep
them; a sign is a token; a letter outside ASCII costs what the vocabularies take at most for its script.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import pairwise

from mnemic.text.pattern import Pattern

_FOLLOWING = (
    "abcdgilmnprstuy baeilou cacehiklortu dadeilosuy eacdefglmnpqrstvx faefiou gehinrs haeio iabcdefglmnoprstvxz kei"
    " ladeilostuy mabeimopu nacdefginostuv obcdgklmnoprstuvw paeiloprtu qu racdegimnorstuy sacehilopstuy tacehiloprstuy"
    " uabceilmnprst vaei waei xept yp ze"
)
_USUAL = frozenset(letters[0] + after for letters in _FOLLOWING.split() for after in letters[1:])
"""Pairs of letters that are common in English, the first of each followed by what may come after it."""
CHARS_PER_TOKEN = 7
"""A word is no longer than this without a second token."""
SHORTEST_CODE, CODE_CHARS_PER_TOKEN = 5, 2
"""Capital letters are a code oftener than a word."""
SHORTEST_NAME = 4
"""A word with a capital may be a name, and names are rarer than words."""
_PIECE = Pattern(r"[^\W\d_]+|\d+|\s+|[^\w\s]|_")
_CASES = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[^A-Za-z]+")
_ONE_TOKEN_LETTERS = ("CYRILLIC", "GREEK", "ARABIC", "HEBREW", "HIRAGANA", "KATAKANA")


def estimated_tokens(text: str) -> int:
    """At most how many tokens `text` costs in a prompt, in the vocabularies of today's models."""
    total, spaced = 0, False
    for piece in _PIECE.findall(text):
        total += _digits(piece, spaced) if piece[0].isdecimal() else _cost(piece)
        spaced = piece.isspace()
    return total


def _digits(piece: str, spaced: bool) -> int:
    """A space before a number is a token where numbers are kept in groups of three."""
    if not piece.isascii():
        return sum(map(_letter, piece))
    return max(len(piece), -(-len(piece) // 3) + spaced)


@lru_cache(maxsize=32768)
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
    return max(least + unusual, -(-len(word) // longest))


@lru_cache(maxsize=4096)
def _letter(letter: str) -> int:
    """The tokens of one character outside ASCII: those of its script, at most its bytes."""
    name = unicodedata.name(letter, "")
    if name.startswith(_ONE_TOKEN_LETTERS):
        return 1
    if name.startswith("LATIN") or (name.startswith("CJK UNIFIED") and _is_common(letter)):
        return 2
    return len(letter.encode("utf-8", "surrogatepass"))


def _is_common(character: str) -> bool:
    """Whether a Chinese character is among the commonest, which the older national codes list first."""
    simplified, kanji = character.encode("gb2312", "replace"), character.encode("shift_jis", "replace")
    return b"\xb0" <= simplified[:1] <= b"\xd7" or b"\x88" <= kanji[:1] <= b"\x97"
