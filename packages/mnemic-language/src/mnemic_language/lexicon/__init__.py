"""Words of each language that the comparison of statements knows: one data file a language.

No file has words of another language. A text is read by the file that has most of its function words.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")

Phrase = tuple[frozenset[str], ...]
"""Words that follow each other, each one of some alternatives; `_` stands for a noun phrase."""
SLOT = "_"


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that a statement may say of its subject: where they live, what they drive.

    `many`: a subject may have several at a time, so another value replaces none. `safety`: ends only by a statement on
    the same attribute. `gone` end it with its value as the subject ("Odile left").
    """

    name: str
    keys: frozenset[str]
    state: tuple[Phrase, ...]
    change: tuple[Phrase, ...]
    ends: tuple[Phrase, ...]
    gone: tuple[Phrase, ...]
    parted: tuple[Phrase, ...]
    words: frozenset[str]
    many: bool
    safety: bool


class Lexicon:
    """The words of one language, by class."""

    def __init__(self, language: str, given: Mapping[str, Any]) -> None:
        self.language = language
        self.numbers: Mapping[str, str] = given.get("numbers", {})
        self.head_first: bool = given.get("head_first", False)
        self.verb_last: bool = given.get("verb_last", False)
        self._words = {name: frozenset(value) for name, value in given.items() if _is_words(value)}
        self._phrases = {
            name: tuple(map(phrase, value)) for name, value in given.items() if _is_words(value) and name in _PHRASES
        }
        self.antonyms = frozenset(frozenset(pair) for pair in given.get("antonyms", ()))
        self.attributes = tuple(_attribute(name, value) for name, value in given.get("attributes", {}).items())
        self.function = frozenset().union(*(self.words(name) for name in _FUNCTION))

    def words(self, name: str) -> frozenset[str]:
        """Return the words of a class."""
        return self._words.get(name, frozenset())

    def phrases(self, name: str) -> tuple[Phrase, ...]:
        """Return the phrases of a class, the longest first."""
        return self._phrases.get(name, ())


_FUNCTION = ("articles", "me", "mine", "others", "auxiliaries", "negations", "prepositions", "conjunctions", "filler")
_PHRASES = frozenset(
    {"newness", "additive", "no_longer", "corrections", "instead_of", "replaces", "risen", "raised", "changes"}
)


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def phrase(text: str) -> Phrase:
    """Return a phrase of a data file."""
    return tuple(frozenset(word.split("|")) for word in text.split())


def _attribute(name: str, given: Mapping[str, Any]) -> Attribute:
    phrases = {one: tuple(map(phrase, given.get(one, ()))) for one in ("state", "change", "ends", "gone", "parted")}
    return Attribute(
        name=name,
        keys=frozenset(given.get("keys", ())),
        words=frozenset(given.get("words", ())),
        many=given.get("many", False),
        safety=given.get("safety", False),
        **phrases,
    )


@cache
def lexicon(language: str) -> Lexicon:
    """Return the words of a language. Raises KeyError for one that has no file."""
    if language not in LANGUAGES:
        raise KeyError(language)
    text = (files(__package__) / f"{language}.toml").read_text(encoding="utf-8")
    return Lexicon(language, tomllib.loads(text))


@cache
def _votes() -> Mapping[str, Sequence[str]]:
    """Return the languages that have a function word, by word."""
    found: dict[str, list[str]] = {}
    for language in LANGUAGES:
        for word in lexicon(language).function:
            found.setdefault(word, []).append(language)
    return found


def lexicon_for(words: Iterable[str]) -> Lexicon:
    """Return the words of the language that a text is in; of English, if its words do not tell."""
    votes = _votes()
    count: dict[str, float] = {}
    for word in words:
        languages = votes.get(word, ())
        for language in languages:
            # A word of one language says more than one that several share.
            count[language] = count.get(language, 0.0) + 1 / len(languages)
    best = max(LANGUAGES, key=lambda language: count.get(language, 0.0))
    return lexicon(best)
