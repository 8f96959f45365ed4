"""Unicode normalisation, and removal of invisible characters.

The normalisation forms are those of Unicode Standard Annex 15.
"""

from __future__ import annotations

import re
import unicodedata

_SPACE = re.compile(r"\s+")
_KEPT_CONTROLS = frozenset("\n\t")
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u180b\u180c\u180d\u180f")
"""Invisible letters and marks: joiners, Hangul and Khmer fillers, blank Braille, selectors."""
_JOINERS = frozenset("\u200c\u200d")
_JOINING_SCRIPTS = (
    "ARABIC", "SYRIAC", "MONGOLIAN", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU",
    "KANNADA", "MALAYALAM", "SINHALA", "KHMER", "MYANMAR",
)  # fmt: skip
_ALPHABETS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"})
"""Alphabets with look-alike letters; one key uses only one of them."""


def nfkc(text: str) -> str:
    """Return `text` in Unicode normalisation form KC."""
    return unicodedata.normalize("NFKC", text)


def canonical_value(value: str) -> str:
    """Return the canonical form of a value, for comparison: NFKC, case-folded, whitespace collapsed."""
    return _SPACE.sub(" ", nfkc(nfkc(value).casefold())).strip()


def bare(text: str) -> str:
    """Return `text` case-folded and without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def plain(text: str) -> str:
    """Return `text` in lower case, with straight apostrophes and without accents."""
    return text.lower() if text.isascii() else bare(text.replace("’", "'")).replace("œ", "oe").replace("æ", "ae")


def visible(text: str) -> str:
    r"""Return `text` in NFC, stripped, without invisible characters; line ends are `\n`, tabs stay.

    Joiners remain if a script or an emoji needs them.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    if not text.isascii() or not text.isprintable():
        unseen = {c for c in set(text) if c not in _KEPT_CONTROLS and _unseen(c)}
        if unseen:
            text = "".join(c for at, c in enumerate(text) if c not in unseen or not _hidden(text, at))
    return unicodedata.normalize("NFC", text).strip()


def invisible(text: str, *, strict: bool = False) -> bool:
    """Return True if `text` contains a control, zero-width, bidi, surrogate, tag or blank character.

    Joiners and emoji selectors that the script needs are not counted, unless `strict`.
    """
    if text.isascii():
        return not text.isprintable()
    unseen = {c for c in set(text) if _unseen(c)}
    return bool(unseen) and (strict or any(c in unseen and _hidden(text, at) for at, c in enumerate(text)))


def _unseen(character: str) -> bool:
    category = unicodedata.category(character)
    return (
        category in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or character in _BLANK
        or _is_selector(character)
        or _is_nothing(character)
    )


def _is_selector(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


def _is_nothing(character: str) -> bool:
    """Return True for a noncharacter, or a place in the plane of tags, assigned or not."""
    return (
        ord(character) & 0xFFFE == 0xFFFE
        or "\ufdd0" <= character <= "\ufdef"
        or "\U000e0000" <= character <= "\U000e0fff"
    )


def _hidden(text: str, at: int) -> bool:
    """Return True if the character at `at` is invisible and not needed."""
    character = text[at]
    if not _unseen(character):
        return False
    before = text[at - 1] if at else ""
    if character in _JOINERS:
        return not (_joins(before) and at + 1 < len(text) and not _unseen(text[at + 1]))
    if character in "\ufe0e\ufe0f":
        return not (before and (unicodedata.category(before) in ("So", "Sm", "Sk", "Po", "Nd")))
    return True


def _joins(before: str) -> bool:
    if not before:
        return False
    if before == "\ufe0f" or unicodedata.category(before) in ("So", "Sk"):
        return True
    return unicodedata.name(before, "").startswith(_JOINING_SCRIPTS)


def alphabets(text: str) -> set[str]:
    """Return the look-alike alphabets of the letters of `text`."""
    names = (unicodedata.name(c, "").partition(" ")[0] for c in text if c.isalpha() and not c.isascii())
    found = {name for name in names if name in _ALPHABETS}
    return found | {"LATIN"} if any(c.isascii() and c.isalpha() for c in text) else found
