"""Statements about another person than the question: the sister's home, if the question is about one's own.

They have the words of the question and its attribute, so that similarity takes one for the other. The person and the
attribute of a statement are read as when statements are compared (`mnemic.language.frames`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

from mnemic.language.changes.change_classifier import frame_of
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import person_words, plain, speaks_as_i
from mnemic.language.questions.key_questions import asked_keys
from mnemic.language.questions.word_fields import asked_in, evidence
from mnemic.types import Memory

_READ = 300
"""Characters of a question that are read."""
_ATTRIBUTES: Mapping[str, str] = MappingProxyType(
    {"home_city": "residence", "employer": "job", "job": "job", "age": "age", "name": "name"}
)
"""The attribute of a statement that gives a key's value."""
_GIVEN = frozenset(_ATTRIBUTES.values())
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)?")


def about_other_persons(question: str, memories: Mapping[str, Memory]) -> frozenset[str]:
    """Return those of `memories` that give another person's attribute: a relative's or, if the asker's own is known, a
    named person's; and the asker's own if the question is about a relative's.
    """
    asked = question[:_READ]
    own = frozenset(_ATTRIBUTES[key] for key in asked_keys(asked) if key in _ATTRIBUTES)
    relatives = frozenset() if own else _relatives(asked)
    if not own and not relatives:
        return frozenset()
    frames = {one: frame_of(memory) for one, memory in memories.items()}
    if relatives:
        return frozenset(
            one for one, frame in frames.items() if _is_own(frame) and relatives.isdisjoint(frame.relations)
        )
    language = asked_in(asked)
    giving = {
        one: frame
        for one, frame in frames.items()
        if not own.isdisjoint(frame.attributes) or _meets(asked, frame, language)
    }
    known = any(frame.subject == "self" for frame in giving.values())
    others = ("other:", "name:") if known else ("other:",)
    return frozenset(
        one for one, frame in giving.items() if frame.subject.startswith(others) and not speaks_as_i(frame.tokens)
    )


@lru_cache(maxsize=64)
def _relatives(question: str) -> frozenset[str]:
    """Return the relatives that a question is about, as stems; none if the asker is also a subject of it."""
    words = [plain(word) for word in _WORD.findall(question)]
    people = person_words()
    if not people["self"].isdisjoint(words):
        return frozenset()
    found = [
        word
        for before, word in pairwise(words)
        if word.removesuffix("'s") in people["relations"] and (before in people["possessive"] or before.endswith("'s"))
    ]
    return frozenset(stem(word.removesuffix("'s")) for word in found)


def _meets(question: str, frame: Frame, language: str | None) -> bool:
    """Return True if a statement in another language than English has a word of the question: the expressions for
    attributes are mostly those for one's own there.
    """
    return language is not None and evidence(question, frame.text, language).same > 0


def _is_own(frame: Frame) -> bool:
    return frame.subject == "self" and not _GIVEN.isdisjoint(frame.attributes)
