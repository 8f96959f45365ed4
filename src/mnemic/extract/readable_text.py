"""Text of a message as the rules read it: without the words of others, character for character in its place."""

from __future__ import annotations

import re

from mnemic.language.sentences.general_knowledge_messages import speaks_of_self
from mnemic.language.sentences.pasted_text import data_spans, merge_spans
from mnemic.language.sentences.tables import straight
from mnemic.language.text.normalise import invisible
from mnemic.language.text.pattern import Pattern

SHORTEST_CONTENT_WORDS = 3
LONGEST_TITLE, LONG_IN_TITLES = 6, 4
"""Words of a title ("The Name of the Wind"), and letters of those words in it that have a capital."""
MARKER = "\ufffc"
_QUOTATION = Pattern(
    r"(?<!\w)\"[^\"\n]{1,300}\"|“[^”\n]{12,300}”|«[^»\n]{12,300}»|„[^“”\n]{12,300}[“”]"
    r"|(?<![^\s(:])'(?!s\b)(?:[^'\n]|(?<=\w)'(?=\w)){12,300}'(?!\w)"
)
"""Straight marks are paired from the first on: text between two short titles is no quotation."""
_INJECTED = Pattern(r"<memory\b.{0,8000}?</memory>", re.DOTALL | re.IGNORECASE)


def readable(text: str) -> str:
    """Return `text`, character for character, with straight apostrophes and without the words of others.

    Injected memories, pasted text and longer quotations are blanked out; a marker replaces each.
    """
    shown = [match.span() for match in _INJECTED.finditer(text)] + data_spans(text)
    shown += [match.span() for match in _QUOTATION.finditer(text) if _is_speech(match[0])]
    for start, end in merge_spans(shown):
        text = text[:start] + MARKER + "".join("\n" if c == "\n" else " " for c in text[start + 1 : end]) + text[end:]
    if invisible(text.replace("\n", " ").replace("\t", " ")):
        text = "".join(c if c in "\n\t" or not invisible(c, strict=True) else " " for c in text)
    return straight(text)


def _is_speech(quotation: str) -> bool:
    """Return True if a quoted span is another person's words rather than a short word or a title."""
    words = [word for word in quotation.strip("\"'“”«»„ ").split() if len(word) >= LONG_IN_TITLES]
    titled = len(quotation.split()) <= LONGEST_TITLE and all(word[0].isupper() for word in words)
    least = SHORTEST_CONTENT_WORDS - speaks_of_self(quotation)
    return len(quotation.split()) > least and not titled
