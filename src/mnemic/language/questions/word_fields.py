"""Words of everyday life by subject, in seven languages: "Geschwister" and "Bruder" are about siblings.

A model for mostly English places all texts of another language close to each other, so words have to decide if a
statement answers a question. The two seldom share them: "Wo wohne ich?" is answered by "Ich bin nach Leipzig gezogen".
The table (`word_fields.json`, written for this project) has about seventy subjects with their words in English, German,
Dutch, French, Spanish, Italian and Portuguese; the words under `light` have no subject.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pkgutil import get_data
from typing import NamedTuple

from mnemic.language.questions.question_words import INVERTED
from mnemic.language.text.language import common_words, in_latin_letters, language_of, stem_in

LIGHT = "light"
_ENGLISH = "english"
_READ = 1_000
"""Maximum number of characters of a text that are parsed."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_JOINED = frozenset({"german", "dutch"})
"""Languages with compound nouns: "Blutgruppe"."""
_MIN_PART, _MIN_JOINED = 4, 8
"""Minimum letters of a part of a compound noun, and of the whole."""
_ALIKE = 5
"""Minimum number of equal first letters of two inflections in the other languages."""
_SHORT = 5
"""Maximum words of a short statement: in a longer one more words match those of a question by chance."""

_NOTHING: frozenset[str] = frozenset()


class WordEvidence(NamedTuple):
    """Number of content words of a question by their match in a statement: the word, another of its subject, words of
    other subjects alone, or no known word; and the natural logarithm of the statement's length, 0 for a short one.
    """

    same: int
    related: int
    other: int
    unknown: int
    length: float


@lru_cache(maxsize=1024)
def language_asked_in(text: str) -> str | None:
    """Return the language of a question, by the name of its Snowball stemmer; None for English and unknown languages.

    The most frequent words of a language decide (`language_of`). A short question may have none of them ("¿Cuántos
    hermanos tengo?"), and is in the language that knows most of its words, if English knows fewer.
    """
    if (language := language_of(text)) is not None:
        return language
    words = _WORD.findall(text[:_READ].lower())
    known = {one: sum(word in vocabulary for word in words) for one, vocabulary in _vocabularies().items()}
    best = max(known.values())
    likely = [one for one, count in known.items() if count == best > known[_ENGLISH]]
    return likely[0] if len(likely) == 1 else None


def is_in_english(text: str) -> bool:
    """Return True unless a text is in another language that is known, or in other letters."""
    return in_latin_letters(text) and language_asked_in(text) is None


def asked_in(text: str) -> str | None:
    """Return the language of a question if it is not English and in the table."""
    language = language_asked_in(text)
    return language if language is not None and language in _table() else None


def evidence(question: str, statement: str, language: str, key: str | None = None) -> WordEvidence:
    """Return the matches of the words of `question` in `statement`, both in a language of the table. The words of a
    key, under which a value may be all of the statement, are English.
    """
    asked, said = _content(question[:_READ], language), _content(statement[:_READ], language)
    keyed = {} if key is None else _content(key.replace("_", " "), _ENGLISH)
    about = _NOTHING.union(*(_subjects(word, stem, language) for stem, word in said.items()))
    about = about.union(*(_subjects(word, stem, _ENGLISH) for stem, word in keyed.items()))
    same = related = other = unknown = 0
    for stem, word in asked.items():
        subjects = _subjects(word, stem, language)
        if any(_are_alike(stem, one, language) for one in said):
            same += 1
        elif not subjects.isdisjoint(about):
            related += 1
        elif subjects:
            other += 1
        else:
            unknown += 1
    return WordEvidence(same, related, other, unknown, math.log(max(len(said), _SHORT) / _SHORT))


@cache
def _vocabularies() -> Mapping[str, frozenset[str]]:
    """Return the words of the table and the most frequent ones, by language."""
    found: dict[str, set[str]] = {}
    for by_language in _read().values():
        for language, words in by_language.items():
            found.setdefault(language, set(common_words(language))).update(words.split())
    return {language: frozenset(words) for language, words in found.items()}


@cache
def _read() -> Mapping[str, Mapping[str, str]]:
    """Return the words of each subject, by language."""
    read: dict[str, dict[str, str]] = json.loads(get_data(__package__, "word_fields.json") or b"{}")
    return read


@cache
def _table() -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Return the subjects of each word as written, and of each stem in capitals, by language."""
    found: dict[str, dict[str, set[str]]] = {}
    for subject, by_language in _read().items():
        for language, words in by_language.items():
            table = found.setdefault(language, {})
            for word in words.split():
                table.setdefault(word, set()).add(subject)
                table.setdefault(_as_stem(stem_in(language, word)), set()).add(subject)
    return {
        language: {word: frozenset(subjects) for word, subjects in words.items()} for language, words in found.items()
    }


def _as_stem(stem: str) -> str:
    """Return a stem in a form that is no word: two words of different subjects may have one stem."""
    return stem.upper()


@lru_cache(maxsize=4096)
def _content(text: str, language: str) -> Mapping[str, str]:
    """Return the words with a subject, by their stems."""
    common = common_words(language)
    table = _table()[language]
    found = [INVERTED.sub("", word) for word in _WORD.findall(text.lower())]
    words = [part for word in found for part in ((word,) if word in table else word.split("-"))]
    stems = {stem_in(language, word): word for word in words if len(word) > 1 and word not in common}
    return {stem: word for stem, word in stems.items() if LIGHT not in _fields_of_word(word, stem, language)}


def _fields_of_word(word: str, stem: str, language: str) -> frozenset[str]:
    table = _table()[language]
    return table.get(word) or table.get(_as_stem(stem), _NOTHING)


@lru_cache(maxsize=8192)
def _subjects(word: str, stem: str, language: str) -> frozenset[str]:
    """Return the subjects of a word; a compound noun has those of its parts."""
    found = _fields_of_word(word, stem, language)
    if found or language not in _JOINED or len(stem) < _MIN_JOINED:
        return found
    cuts = range(_MIN_PART, len(stem) - _MIN_PART + 1)
    parts = [part for cut in cuts for part in (stem[:cut], stem[cut:])]
    return _NOTHING.union(*(_fields_of_word(part, part, language) for part in parts)) - {LIGHT}


def _are_alike(one: str, other: str, language: str) -> bool:
    """Return True for one word in two inflections, or a compound noun and a part of it."""
    if one == other:
        return True
    if language in _JOINED:
        short, long = sorted((one, other), key=len)
        return len(short) >= _MIN_PART and (long.startswith(short) or long.endswith(short))
    return len(one) >= _ALIKE and one[:_ALIKE] == other[:_ALIKE]
