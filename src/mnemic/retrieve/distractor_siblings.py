"""Memories about a sibling of the thing in question: the dog, if the question is about the hamster.

Siblings are near in meaning and share the question's other words ("what is my ... called"), so that similarity mistakes
one for the other. A small table of everyday groups (`sibling_kinds.json`, words in a row mean the same) distinguishes
them: a memory of having a sibling that does not name the thing itself does not answer. Nor does somebody's favourite of
a kind answer for that attribute of a thing ("my favourite colour" for the colour of the bathroom), nor a statement
about another thing of the table for such an attribute. Words outside the table are judged as before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pkgutil import get_data

from mnemic.language.frames.vocabulary import products
from mnemic.types import Memory, Scored

BEHIND, BEHIND_STATED = 0.8, 0.5
"""Factor for the score of such a message, and of such a statement, which names its subject itself."""
_READ = 300
"""Characters of a question, and of a memory, that are read."""
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
OWNED = frozenset(
    "my our mine mein meine meiner meinem meinen meines unser unsere unseren mon ma mes notre nos mi mis nuestro"
    " nuestra mio mia miei mie nostro nostra meu minha meus minhas nosso nossa mijn ons onze".split()
)
"""Words before a possession of the asker, in seven languages; so is a name with 's."""
_OF_OTHERS = frozenset("his her their your".split())
"""Words before another person's possession: a statement is about it only if it begins so ("Her husband is a nurse")."""
_HAS = OWNED | frozenset(
    "a an have has had another one two three ein eine einen habe hat un une uno una um uma een heb"
    " tengo tenho ho".split()
)
"""Words before a possession."""
_FAVOURITE = re.compile(
    r"\bfavou?rites? (\w+)(?: (\w+))?|\blieblings(\w+)|\blievelings(\w+)"
    r"|\b(\w+) (?:préférée?s?|favorit[oa]s?|preferid[oa]s?|preferit[oaie])\b"
)
"""Matches a person's favourite of a kind, with the word for the kind; one of `_FAVOURED` is in each."""
_FAVOURED = ("favo", "liebling", "lieveling", "préfér", "prefer")
_OF_TASTE = re.compile(
    r"favou?rite|liebling|lieveling|préfér|favorit|prefer|\b(?:likes?|loves?|enjoys?|want|should|could|would|shall|might"
    r"|best|suits?|recommend\w*|suggest\w*|paint|choose|pick|mag|soll|sollte|würde|empf\w+|devrais|debería|dovrei)\b"
)
"""Matches a question for taste or for a choice, to which a favourite is relevant."""
_OF_LOOKS = re.compile(
    r"\b(?:colou?r|size|brand|make|model|breed|called|named|names?|old|tall|heavy|farbe|größe|marke|heißt|alt|couleur"
    r"|taille|marque|âge|color|tamaño|marca|llama|edad|colore|taglia|chiama|età|cor|tamanho|chama|kleur|maat|merk|heet)\b"
)
"""Matches a question for an attribute of one thing, which another thing has, too."""
_IS = frozenset(
    "is are was were has had isn't ist sind hat heißt est sont a s'appelle es son tiene se è sono ha si é são tem chama"
    " chama-se heet heeft".split()
)
"""Words after the thing that a statement is about."""
_NEAR = 2
"""Words between an owner's word and the possession ("my new red car")."""


@cache
def sibling_groups() -> Mapping[str, tuple[str, int]]:
    """Return the group and the number of the row of each word; a make of cars is in the row of the word "car"."""
    read: dict[str, list[str]] = json.loads(get_data("mnemic.retrieve", "sibling_kinds.json") or b"{}")
    groups = {
        word: (kind, row) for kind, rows in read.items() for row, words in enumerate(rows) for word in words.split()
    }
    _, sorts, capitals = products()
    makes = sorts["cars"].keys() - capitals
    return dict.fromkeys(makes, groups["car"]) | groups


def about_siblings(question: str, memories: Mapping[str, Memory]) -> frozenset[str]:
    """Return the memories about a sibling of the thing that `question` asks for, and not about the thing itself."""
    read = question[:_READ].lower()
    asked, things = _owned(read, asking=True), _things(read)
    if not things:
        return frozenset()
    looks, of_taste = _OF_LOOKS.search(read) is not None, _OF_TASTE.search(read) is not None
    if not asked and of_taste:
        return frozenset()
    return frozenset(
        one
        for one, memory in memories.items()
        if (asked and _is_of_sibling(asked, memory.content[:_READ], looks=looks))
        or (not of_taste and _is_favourite(read, things, memory.content[:_READ].lower()))
    )


def asks_attribute(question: str) -> bool:
    """Return True if `question` asks for an attribute of a person's thing that other things have as well."""
    read = question[:_READ].lower()
    return bool(_things(read)) and _OF_LOOKS.search(read) is not None


def set_aside(lists: Mapping[str, Sequence[Scored]], apart: frozenset[str]) -> Mapping[str, Sequence[Scored]]:
    """Return `lists` with the scores of `apart` at zero, so that they do not count as knowledge."""
    if not apart:
        return lists
    return {
        name: [Scored(one.memory_id, 0.0) if one.memory_id in apart else one for one in entries]
        for name, entries in lists.items()
    }


def lowered(values: Mapping[str, float], apart: frozenset[str], part: float) -> dict[str, float]:
    """Return `values` with that part of those of `apart`."""
    return {one: value * part if one in apart else value for one, value in values.items()}


def behind(scores: Mapping[str, float], apart: frozenset[str], messages: Collection[str]) -> dict[str, float]:
    """Return `scores` with those of `apart` lowered."""
    if not apart:
        return dict(scores)
    said = frozenset(one for one in apart if one in messages)
    return lowered(lowered(scores, said, BEHIND), apart - said, BEHIND_STATED)


def _is_of_sibling(asked: frozenset[tuple[str, int]], content: str, *, looks: bool) -> bool:
    named, owned = _named(content), _owned(content, asking=False)
    if looks and asked.isdisjoint(named) and _is_about_one(content):
        return True
    return any(one not in named and any(kind == one[0] and row != one[1] for kind, row in owned) for one in asked)


def _is_about_one(content: str) -> bool:
    """Return True if a statement names a person's thing of the table: "Our kitchen is green"."""
    words = _WORD.findall(content.lower())[: _NEAR + 3]
    if not words or words[0] not in OWNED:
        return False
    return any(word in _IS and _bare(before) in sibling_groups() for before, word in pairwise(words))


def _is_favourite(question: str, things: frozenset[str], content: str) -> bool:
    """Return True if `content` gives a favourite of the kind that `question` asks for as an attribute of a person's
    thing.
    """
    if not any(map(content.__contains__, _FAVOURED)):  # most memories: a search for the pattern costs thirty such tests
        return False
    found = _FAVOURITE.search(content)
    if found is None:
        return False
    kinds = {one for one in found.groups() if one}
    return not kinds.isdisjoint(_words(question) - things) and things.isdisjoint(_words(content))


@lru_cache(maxsize=64)
def _things(text: str) -> frozenset[str]:
    """Return the words after those that show an owner, in lower case."""
    words = _WORD.findall(text)
    places = [place for place, one in enumerate(words) if one in OWNED or one.endswith(("'s", "’s"))]
    return frozenset(_bare(word) for place in places for word in words[place + 1 : place + 1 + _NEAR])


@lru_cache(maxsize=2048)
def _owned(text: str, *, asking: bool) -> frozenset[tuple[str, int]]:
    """Return the things of the table that a person in `text` has; of a question (`asking`), those of its asker or of a
    named person.
    """
    table, owners = sibling_groups(), OWNED if asking else _HAS
    words = _WORD.findall(text.lower())
    if not asking and words and words[0] in _OF_OTHERS:
        words[0] = "my"
    found = set()
    for place, word in enumerate(words):
        thing = table.get(_bare(word))
        before = words[max(0, place - 1 - _NEAR) : place]
        if thing is not None and any(one in owners or one.endswith(("'s", "’s")) for one in before):
            found.add(thing)
    return frozenset(found)


@lru_cache(maxsize=2048)
def _named(text: str) -> frozenset[tuple[str, int]]:
    """Return the things of the table that `text` names."""
    table = sibling_groups()
    return frozenset(table[word] for word in _words(text) if word in table)


def _words(text: str) -> frozenset[str]:
    return frozenset(map(_bare, _WORD.findall(text.lower())))


def _bare(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")
