"""Memories about a thing of another kind than a question asks for: tennis, if it asks for instruments.

Such a memory has the verb of the question and so part of its words, like an instance. The table of everyday kinds
distinguishes them: the object of the verb belongs to kinds without a common member with the requested kind. Things
outside the table are judged as before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from mnemic.language.questions.question_words import COMMON, content_words
from mnemic.language.text.analyse import terms
from mnemic.retrieve.category_members import asked_kind, kinds_of_things
from mnemic.types import Memory

_LONGEST = 80
"""Maximum length, in characters, of a memory that is read: a longer one may name the thing in question in other words.
"""
_NEAR = 3
"""Words after the verb among which its object is."""
_DETERMINERS = frozenset(terms("a an the my our some of in on with to lots many any several also only both"))
"""Words between a verb and its object, as terms."""
_OVERLAPPING = ("sport", "game")
"""Kinds without a common member in the table that overlap all the same: tennis is both."""


def about_other_kinds(question: str, memories: Mapping[str, Memory]) -> frozenset[str]:
    """Return the memories that state the requested attribute only for a thing of another kind."""
    kind = asked_kind(question)
    if kind is None:
        return frozenset()
    verbs = _verbs(question, kind)
    if not verbs:
        return frozenset()
    return frozenset(one for one, memory in memories.items() if _is_of_another(kind, verbs, memory.content))


@lru_cache(maxsize=64)
def _verbs(question: str, kind: str) -> frozenset[str]:
    """Return the words of a question other than the kind that it asks for, as terms."""
    return frozenset(terms(" ".join(content_words(question)))) - {kind} - _common()


@cache
def _common() -> frozenset[str]:
    return frozenset(terms(" ".join(sorted(COMMON))))


def _is_of_another(kind: str, verbs: frozenset[str], content: str) -> bool:
    if len(content) > _LONGEST:
        return False
    words = terms(content)
    asked = _asked(kind)
    if kind in words or not asked.isdisjoint(words):
        return False
    return any(_is_apart(asked, words[place + 1 :]) for place, word in enumerate(words) if word in verbs)


@cache
def _asked(kind: str) -> frozenset[str]:
    """Return the members of a kind and of those that overlap with it."""
    kinds = kinds_of_things()
    return frozenset().union(*(kinds[one] for one in (_OVERLAPPING if kind in _OVERLAPPING else (kind,))))


def _is_apart(asked: frozenset[str], after: Sequence[str]) -> bool:
    """Return True if the first word of a kind `after` a verb belongs to kinds that share nothing with `asked`."""
    for word in [one for one in after if one not in _DETERMINERS][:_NEAR]:
        if kinds := _kinds_by_member().get(word):
            return all(asked.isdisjoint(one) for one in kinds)
    return False


@cache
def _kinds_by_member() -> Mapping[str, tuple[frozenset[str], ...]]:
    """Return the members of each kind that a word belongs to."""
    found: dict[str, list[frozenset[str]]] = {}
    for members in kinds_of_things().values():
        for word in members:
            found.setdefault(word, []).append(members)
    return {word: tuple(kinds) for word, kinds in found.items()}
