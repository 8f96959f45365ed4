"""Vocabulary of the frames: expressions and word classes from `data/*.json`, in seven languages."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from pkgutil import get_data
from typing import Any

from mnemic.language.frames.lexicon import Branch, Lexicon, branches_of_pattern, letters_of_phrase, mark_of_phrase
from mnemic.language.text.pattern import Pattern, WordPattern

SLOTS = ("weekdays", "dayparts", "seasons", "months")
MEMBERS = ("sides", "directions", "practices", *SLOTS)
"""Classes of words that distinguish similar things: a north and a south entrance, Monday's and Tuesday's class."""

_VERBS_FIRST = frozenset(
    "vive vit habite abita lavora travaille trabaja mora trabalha wohnt lebt arbeitet woont".split()
)
_LETTER = re.compile(r"[^\W_]")
_CAPITAL = re.compile(r"(?<![^\W_])[^\W\d_a-z][^\W_]*")
MIN_ENGLISH = 2
"""Minimum number of English words without content in an English sentence."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def _data(name: str) -> dict[str, Any]:
    text = get_data(__package__, f"data/{name}.json") or b"{}"
    found: dict[str, Any] = json.loads(text)
    found.pop("about", None)
    return found


def plain(text: str) -> str:
    """Return `text` in lower case, with straight apostrophes and without accents."""
    if text.isascii():
        return text.lower()
    text = text.replace("’", "'").replace("ß", "ss").casefold().replace("œ", "oe").replace("æ", "ae")
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def capitals(sentence: str) -> list[str]:
    """Return the capitalised words, except the first word of the sentence."""
    first = _LETTER.search(sentence)
    return [] if first is None else [w for w in _CAPITAL.findall(sentence, first.end()) if w[0].isupper()]


def _expression(phrase: str) -> str:
    words = [r"[^\W\d_]+(?:['-][^\W\d_]+)?" if word == "*" else _starred(word) for word in phrase.split(" ")]
    return r"\s+".join(words)


def _starred(word: str) -> str:
    return re.escape(word[:-1]) + r"[\w'-]*" if word.endswith("*") else re.escape(word)


def _any_of(phrases: Iterable[str], kind: type[Pattern] = WordPattern) -> Pattern:
    ordered = sorted({*phrases}, key=lambda phrase: (-len(phrase), phrase))
    return kind(r"(?<![\w'])(?:" + "|".join(map(_expression, ordered)) + r")(?![\w])")


def _lexicon(phrases: Mapping[str, Iterable[str]]) -> Lexicon:
    fields = {name: list(listed) for name, listed in phrases.items()}
    branches = {
        name: [
            Branch([mark_of_phrase(phrase)], _any_of([phrase], Pattern), letters_of_phrase(phrase)) for phrase in listed
        ]
        for name, listed in fields.items()
    }
    return Lexicon({name: _any_of(listed) for name, listed in fields.items()}, branches)


@lru_cache(maxsize=1)
def cue_words() -> Lexicon:
    """Return the expressions of each reference to an earlier statement."""
    return _lexicon({kind: [p for words in by.values() for p in words] for kind, by in _data("cues").items()})


@lru_cache(maxsize=1)
def english_cue_words() -> Lexicon:
    """Return the English expressions only: some words of other languages are English words with another meaning."""
    return _lexicon({kind: by.get("en", ()) for kind, by in _data("cues").items()})


@lru_cache(maxsize=1)
def unreal_words() -> Lexicon:
    """Return the expressions of unreal mood in all languages, apart: every sentence is searched for them."""
    return _lexicon({"unreal": [p for words in _data("cues")["unreal"].values() for p in words]})


@lru_cache(maxsize=4096)
def cue_words_for(text: str) -> Lexicon:
    """Return the expressions to search for in `text`, in lower case and without accents: only the English ones if its
    words without content are English.
    """
    words, classes = set(_WORD.findall(text)), word_classes()
    english = len(words & classes["english_only"])
    is_english = english >= MIN_ENGLISH and english > 2 * len(words & classes["foreign"])
    return english_cue_words() if is_english else cue_words()


@lru_cache(maxsize=1)
def feeling_words() -> Mapping[str, Pattern]:
    """Return the expressions of likes and of dislikes."""
    return {kind: _any_of(p for words in by.values() for p in words) for kind, by in _data("feelings").items()}


def _by_first_letter(numbers: Iterable[str]) -> str:
    """Return an expression for a number in digits or words that checks the first letter of a word once, not once for
    each word.
    """
    rest: dict[str, list[str]] = {}
    for word in sorted(numbers):
        if not word.isdigit():  # up to three digits are literal
            rest.setdefault(word[0], []).append(re.escape(word[1:]))
    grouped = "|".join(f"{letter}(?:{'|'.join(ends)})" for letter, ends in rest.items())
    return rf"\d{{1,3}}|{grouped}"


@lru_cache(maxsize=1)
def attribute_words() -> Lexicon:
    """Return the expressions that state an attribute or its change, by the name of the attribute."""
    number = "|".join(sorted({r"\d{1,3}", *word_classes()["numbers"]}))
    names = "|".join(re.escape(name) for name in sorted(product_names()))
    months = "|".join(sorted(word_classes()["months"]))
    words = {
        name: "|".join(words)
        .replace("NUMBER", f"(?:{number})")
        .replace("PRODUCT", f"(?:{names})")
        .replace("MONTH", months)
        for name, words in _data("attributes").items()
    }
    by_letter = _by_first_letter(word_classes()["numbers"])
    branches = {
        name: [one._replace(pattern=WordPattern(one.pattern.text.replace(number, by_letter))) for one in listed]
        for name, listed in ((name, branches_of_pattern(pattern)) for name, pattern in words.items())
    }
    return Lexicon({name: Pattern(pattern) for name, pattern in words.items()}, branches)


@lru_cache(maxsize=1)
def word_classes() -> Mapping[str, Any]:
    """Return the words without content, and the words of each class with their index in it."""
    data = _data("words")
    classes = {
        name: {plain(word): number for number, group in enumerate(data[name]) for word in group} for name in MEMBERS
    }
    classes["numbers"] = {plain(word): int(group[0]) for group in data["numbers"] for word in group}
    english, elsewhere = (frozenset(map(plain, data[name])) for name in ("empty", "empty_elsewhere"))
    return {
        "empty": english | elsewhere,
        "english": english,
        "elsewhere": elsewhere,
        "foreign": elsewhere - english,
        "english_only": english - elsewhere,
        **classes,
    }


@lru_cache(maxsize=1)
def _members() -> Mapping[str, Sequence[tuple[str, int]]]:
    """Return for each word its classes of `MEMBERS`, and its index in each."""
    found: dict[str, list[tuple[str, int]]] = {}
    for name in MEMBERS:
        for word, number in word_classes()[name].items():
            found.setdefault(word, []).append((name, number))
    return found


_NO_MEMBERS: dict[str, frozenset[int]] = dict.fromkeys(MEMBERS, frozenset())


def members_of(tokens: Iterable[str]) -> Mapping[str, frozenset[int]]:
    """Return the indexes of these words in each class of `MEMBERS`."""
    members = _members()
    found = [pair for token in tokens if token in members for pair in members[token]]
    if not found:
        return _NO_MEMBERS
    return _NO_MEMBERS | {name: frozenset([n for of, n in found if of == name]) for name, _ in found}


def foreign_in_english(tokens: Iterable[str]) -> frozenset[str]:
    """Return the words of an English sentence that have no content in another language."""
    classes = word_classes()
    found: frozenset[str] = classes["foreign"].intersection(tokens)
    return found if found and len(classes["english"].intersection(tokens)) >= MIN_ENGLISH else frozenset()


def is_no_name(word: str, before: list[str]) -> bool:
    """Return True for an empty word, a verb ("Vive à Rome mon frère") or a place ("Moving to Rome was hard")."""
    return word in word_classes()["empty"] or word in _VERBS_FIRST or not BEFORE_PLACES.isdisjoint(before[-1:])


@lru_cache(maxsize=1)
def value_sorts() -> tuple[Lexicon, Mapping[str, Mapping[str, int]]]:
    """Return the expressions of each exclusive value class, and the number of each, shared by synonyms."""
    sorts = {
        name: {plain(phrase): number for number, group in enumerate(groups) for phrase in group}
        for name, groups in _data("words")["values"].items()
    }
    return _lexicon(sorts), sorts


@lru_cache(maxsize=1)
def states() -> Mapping[str, Sequence[Pattern]]:
    """Return the expressions of each set of exclusive states of a person, by topic."""
    return {name: [_any_of(map(plain, group)) for group in groups] for name, groups in _data("states").items()}


@lru_cache(maxsize=1)
def products() -> tuple[Lexicon, Mapping[str, Mapping[str, int]], frozenset[str]]:
    """Return, for each sort of product of which people use one, its expressions, its synonyms, and the words that name
    a product only when capitalised.
    """
    data = _data("products")
    capitals = frozenset(data.pop("capitals"))
    del data["kinds"]
    sorts = {
        name: {plain(spelling): number for number, spellings in enumerate(listed) for spelling in spellings.split("|")}
        for name, listed in data.items()
    }
    return _lexicon(sorts), sorts, capitals


@lru_cache(maxsize=1)
def product_names() -> frozenset[str]:
    """Return the product names that are neither other words nor places."""
    _, sorts, capitals = products()
    return frozenset(name for names in sorts.values() for name in names) - capitals


@lru_cache(maxsize=1)
def product_kinds() -> Mapping[str, Sequence[str]]:
    """Return the possible sorts of product for each word for a kind ("car")."""
    kinds: Mapping[str, Sequence[str]] = _data("products")["kinds"]
    return kinds


@lru_cache(maxsize=1)
def animal_words() -> Mapping[str, Lexicon]:
    """Return the words for each kind of animal: those for the kind itself (`called`), and for its breeds (`sorts`)."""
    kinds = _data("animals").items()
    return {part: _lexicon({kind: words[part].split("|") for kind, words in kinds}) for part in ("called", "sorts")}


@lru_cache(maxsize=1)
def same_relation() -> Mapping[str, str]:
    """Return the representative of each word for a relation: "grandmother" for "grandma"."""
    return {word: line.split()[0] for line in _data("people")["same"] for word in line.split()}


@lru_cache(maxsize=1)
def person_words() -> Mapping[str, frozenset[str]]:
    """Return the words for people, by relation."""
    return {name: frozenset(map(plain, words)) for name, words in _data("people").items() if name != "same"}


BEFORE_PLACES = frozenset("to nach naar".split())
"""Words after which a name is a destination and no subject: "Moving to Bergen was hard"."""


def speaks_as_i(tokens: Collection[str]) -> bool:
    """Return True if these words contain a first-person subject: "I", "we", "tengo"."""
    return not person_words()["self"].isdisjoint(tokens)
