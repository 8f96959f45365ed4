"""Words of each language that the comparison of statements knows: one data file a language.

No file has words of another language. A text is read by the file that has most of its function words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")

SLOT, BESIDE = "_", "*"


class Phrase(tuple[frozenset[str], ...]):  # noqa: SLOT001 (a tuple of any length has none)
    """Words that follow each other, each one of some alternatives; `_` stands for the noun phrase that the
    phrase is about, `*` for another.

    `needed` are the alternatives of which each must stand in a text that has the phrase.
    """

    needed: tuple[frozenset[str], ...]

    def __new__(cls, text: str) -> Phrase:
        """Return a phrase of a data file."""
        made = super().__new__(cls, [frozenset(word.split("|")) for word in text.split()])
        made.needed = tuple(
            words for words in made if words.isdisjoint((SLOT, BESIDE)) and not any(one[-1] == "?" for one in words)
        )
        return made


class Phrases(tuple[Phrase, ...]):  # noqa: SLOT001 (a tuple of any length has none)
    """Phrases of one class, the longest first. `signs` are words of which at least one stands in every text that has
    any of the phrases.
    """

    signs: frozenset[str]

    def __new__(cls, given: Iterable[Phrase] = ()) -> Phrases:
        """Return these phrases. Raises ValueError for one that has no word of its own."""
        made = super().__new__(cls, given)
        # Of each phrase its longest word: that stands in the fewest texts.
        made.signs = frozenset().union(*(max(one.needed, key=lambda words: min(map(len, words))) for one in made))
        return made

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Return True for itself: a text remembers where it has the phrases of a class."""
        return self is other


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that a statement may say of its subject: where they live, what they drive.

    `many`: a subject may have several at a time, so another value replaces none. `safety`: ends only by a statement on
    the same attribute. `gone` end it with its value as the subject ("Odile left"). `signs` are those of its phrases.
    """

    name: str
    keys: frozenset[str]
    state: Phrases
    change: Phrases
    ends: Phrases
    gone: Phrases
    parted: Phrases
    words: frozenset[str]
    many: bool
    safety: bool
    signs: frozenset[str]


class Lexicon:
    """The words of one language, by class."""

    def __init__(self, language: str, given: Mapping[str, Any]) -> None:
        self.language = language
        self.numbers: Mapping[str, str] = given.get("numbers", {})
        self.head_first: bool = given.get("head_first", False)
        self.verb_last: bool = given.get("verb_last", False)
        self.capital_nouns: bool = given.get("capital_nouns", False)
        self.participle = re.compile(given["participle"]) if "participle" in given else None
        self.adverbs_inside: bool = given.get("adverbs_inside", False)
        self.agreeing_negations: bool = given.get("agreeing_negations", False)
        self.letters = frozenset(given.get("letters", ""))
        self._words = {name: frozenset(value) for name, value in given.items() if _is_words(value)}
        self._phrases = {
            name: Phrases(map(Phrase, value)) for name, value in given.items() if _is_words(value) and name in _PHRASES
        }
        self.antonyms = frozenset(frozenset(pair) for pair in given.get("antonyms", ()))
        self.attributes = tuple(_attribute(name, value) for name, value in given.get("attributes", {}).items())
        self.keys = frozenset[str]().union(*(one.keys for one in self.attributes))
        self._unions: dict[tuple[str, ...], frozenset[str]] = {}
        self.function = self.words(*_FUNCTION)
        self.correcting = frozenset().union(*(one[0] for one in self.phrases("corrections") if len(one) == 1))

    def words(self, *names: str) -> frozenset[str]:
        """Return the words of some classes."""
        found = self._unions.get(names)
        if found is None:
            found = frozenset().union(*(self._words.get(name, frozenset()) for name in names))
            self._unions[names] = found
        return found

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The verbs that it knows: the first words of its phrases, the last ones where a verb stands last."""
        found: set[str] = set()
        for attribute in self.attributes:
            phrases = [*attribute.change, *attribute.ends, *attribute.gone, *attribute.parted]
            if attribute.name in ("manager", "partner", "bank"):
                phrases += [phrase for phrase in attribute.state if len(phrase) < 3]
            else:
                phrases += attribute.state
            for phrase in phrases:
                found |= self._verb_of(phrase)
        for name in ("changes", "risen", "raised", "replaces"):
            for phrase in self.phrases(name):
                found |= self._verb_of(phrase)
        return frozenset(found - self.words("articles", "prepositions") - {SLOT})

    def _verb_of(self, phrase: Phrase) -> frozenset[str]:
        last = self.verb_last and len(phrase) > 1 and SLOT not in phrase[-1]
        return phrase[0] | phrase[-1] if last else phrase[0]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The words by which a text is known to be in this language."""
        phrases = [one for found in self._phrases.values() for one in found]
        for attribute in self.attributes:
            phrases += (*attribute.state, *attribute.change, *attribute.ends, *attribute.gone, *attribute.parted)
        said = frozenset(word.removesuffix("?") for one in phrases for words in one for word in words)
        opposites = frozenset().union(*self.antonyms)
        return (self.function | self.words(*_TELLING) | said | opposites) - {SLOT, BESIDE}

    @cached_property
    def every_word(self) -> frozenset[str]:
        """The words of every class, and of its phrases and attributes."""
        classes = frozenset().union(*self._words.values(), *(one.words for one in self.attributes))
        return self.vocabulary | frozenset(word for words in classes for word in re.split(r"[ |]", words))

    def phrases(self, name: str) -> Phrases:
        """Return the phrases of a class, the longest first."""
        return self._phrases.get(name, _NO_PHRASES)


_NO_PHRASES = Phrases()
_FUNCTION = ("articles", "me", "mine", "others", "auxiliaries", "negations", "prepositions", "conjunctions", "filler")
_FREQUENT = ("articles", "me", "mine", "auxiliaries", "negations")
_TELLING = ("time_words", "days", "months", "past", "unreal", "health", "habits", "single", "called", "containers")
_PHRASES = frozenset(
    {
        "newness",
        "back_then",
        "additive",
        "no_longer",
        "corrections",
        "instead_of",
        "replaces",
        "risen",
        "raised",
        "changes",
    }
)


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _attribute(name: str, given: Mapping[str, Any]) -> Attribute:
    phrases = {one: Phrases(map(Phrase, given.get(one, ()))) for one in ("state", "change", "ends", "gone", "parted")}
    return Attribute(
        name=name,
        keys=frozenset(given.get("keys", ())),
        words=frozenset(given.get("words", ())),
        many=given.get("many", False),
        safety=given.get("safety", False),
        signs=frozenset().union(*(one.signs for one in phrases.values())),
        **phrases,
    )


_PAIR = re.compile(r'(?<![\w-])([\w-]+) = "(\w+)"')


def parse(text: str) -> dict[str, Any]:
    """Return a data file: TOML, of which each line is a comment, a table or a key with a value on the same line."""
    # `tomllib` reads all seven in a tenth of a second, which every process would wait for.
    given: dict[str, Any] = {}
    table = given
    for line in text.splitlines():
        if line.startswith("["):
            table = given
            for name in line.strip("[]").split("."):
                table = table.setdefault(name, {})
        elif line and not line.startswith("#"):
            key, _, value = line.partition(" = ")
            table[key] = dict(_PAIR.findall(value)) if value.startswith("{") else json.loads(value)
    return given


@cache
def lexicon(language: str) -> Lexicon:
    """Return the words of a language. Raises KeyError for one that has no file."""
    if language not in LANGUAGES:
        raise KeyError(language)
    text = (files(__package__) / f"{language}.toml").read_text(encoding="utf-8")
    return Lexicon(language, parse(text))


@cache
def no_names() -> frozenset[str]:
    """Return further words, in small letters without accents, that are no names: see training/labels."""
    return frozenset((files(__package__) / "no_names.txt").read_text(encoding="utf-8").split())


@cache
def headings() -> frozenset[str]:
    """Return the first words of headings that a writer gives their own words, in every language: "note", "PS"."""
    return frozenset().union(*(lexicon(language).words("headings", "openings") for language in LANGUAGES))


@cache
def known_words() -> frozenset[str]:
    """Return the words of every language, without accents and in small letters."""
    return frozenset().union(*(lexicon(language).every_word for language in LANGUAGES))


@cache
def _votes() -> Mapping[str, Sequence[tuple[str, float]]]:
    """Return the languages that have a word or letter, by word, each with its share."""
    found: dict[str, dict[str, int]] = {}
    for language in LANGUAGES:
        known = lexicon(language)
        frequent = known.words(*_FREQUENT)
        for word in known.vocabulary | known.letters:
            found.setdefault(word, {})[language] = 2 if word in frequent else 1
    # A word of one language says more than one that several share.
    return {
        word: [(language, weight / sum(weights.values())) for language, weight in weights.items()]
        for word, weights in found.items()
    }


def language_shares(words: Iterable[str], text: str = "") -> Mapping[str, float]:
    """Return how much the words and letters of a text speak for each language; English wins a tie."""
    votes = _votes()
    count: dict[str, float] = dict.fromkeys(LANGUAGES, 0.0)
    letters = () if text.isascii() else {letter for letter in text.lower() if not letter.isascii()}
    for word in (*words, *letters):
        for language, share in votes.get(word, ()):
            count[language] += share
    return count


@cache
def no_places() -> frozenset[str]:
    """Return names of products and employers, in plain letters, that one may move to without living there."""
    return frozenset((files(__package__) / "no_places.txt").read_text(encoding="utf-8").splitlines())
