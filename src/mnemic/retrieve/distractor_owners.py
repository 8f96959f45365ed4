"""Statements about another person's thing than the question: Ben's dog, if the question is about one's own.

"Wie heißt mein Hund?" has every word of "Bens Hund heißt Max." except the owner and the name. The owner of a thing is
read in seven languages, before it ("my sister's car", "Bens Auto") and behind it ("le chien de Ben").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from mnemic.language.frames.vocabulary import person_words, plain, word_classes
from mnemic.language.frames.word_stems import stem
from mnemic.language.text.language import language_of
from mnemic.retrieve.distractor_siblings import OWNED, sibling_groups
from mnemic.types import Memory

_LONGEST = 200
"""Characters of the longest text that is read: longer ones may be about several owners without naming them."""
_RUN = 4
"""Words after an owner among which the thing is."""
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*|[.?!;:]")
_ELIDED = re.compile(r"\b([dl])['’](?=\w)", re.IGNORECASE)
"""Matches the prefixes that French and Italian join to the next word: "d'Anna"."""
_OF = frozenset("de di du do da dos das del della dello dell von vom van".split())
"""Words between a thing and its owner."""
_ARTICLES = frozenset("la le les el los il lo i gli o a der die dem den de het l le".split())
_QUALITIES = frozenset(
    "new old first second third last next own current former best favourite favorite big little small other red blue"
    " green black white neuer neue neues neuen alter alte altes erster erste erstes kleine kleiner große großer nieuwe"
    " oude eerste nouveau nouvelle premier première nuevo nueva primer primera nuovo nuova primo prima novo".split()
)
_CONTRACTED = frozenset(
    "what who where when how why that it he she there here let this everybody everyone everything".split()
)
"""Words whose 's is a verb: "what's"."""
_LIVES_WITH = (
    "wife husband partner spouse son daughter child children kid kids family frau mann sohn tochter kind kinder femme"
    " mari fils fille enfants mujer marido hijo hija hijos moglie marito figlio figlia figli mulher filho filha filhos"
    " vrouw man zoon dochter kinderen".split()
)
_GENITIVE = frozenset({"german", "dutch", None})
"""Languages where a name with an s is an owner: "Bens Hund"; None: a short text of unknown language."""
_OWN_ROLES = frozenset({None, "", "user"})


class _Owned(NamedTuple):
    """A thing, and the names and other words of its owner; without either it is the speaker's."""

    thing: str
    names: frozenset[str]
    words: frozenset[str]

    @property
    def is_own(self) -> bool:
        return not self.names and not self.words

    def is_as(self, other: _Owned) -> bool:
        """Return True if both have the same owner."""
        if self.is_own or other.is_own:
            return self.is_own and other.is_own
        return not (self.names.isdisjoint(other.names) and self.words.isdisjoint(other.words))

    def is_apart(self, other: _Owned) -> bool:
        """Return True if the owners are certainly different ones: "Ben" may be the speaker, or "my sister's husband",
        and a wife's thing may be one's own.
        """
        if self.is_own or other.is_own:
            words = self.words | other.words
            # Members of a household share things: "our car" and "my wife's car" may be the same one.
            return bool(words) and words.isdisjoint(_household())
        return bool((self.names and other.names) or _are_siblings(self.words, other.words))


def about_other_owners(question: str, memories: Mapping[str, Memory]) -> frozenset[str]:
    """Return those of `memories` that are about the same thing of another person. If nothing is known about the thing
    in question, it must be certain that it is another person.
    """
    # With several owners in the question the requested thing is ambiguous.
    asked = _owned(question) if len(question) <= _LONGEST else ()
    if len(asked) != 1:
        return frozenset()
    (sought,) = asked
    found = {one: _things(memory, sought.thing) for one, memory in memories.items()}
    known = any(owned.is_as(sought) for things in found.values() for owned in things)
    return frozenset(
        one
        for one, things in found.items()
        if things and not any(owned.is_as(sought) or not (known or owned.is_apart(sought)) for owned in things)
    )


def _things(memory: Memory, thing: str) -> list[_Owned]:
    """Return the owners of such a thing in a memory; none for a message of another speaker, since the speaker's things
    are not the asker's.
    """
    if len(memory.content) > _LONGEST or memory.source.speaker not in _OWN_ROLES:
        return []
    return [owned for owned in _owned(memory.content) if owned.thing == thing]


@lru_cache(maxsize=4096)
def _owned(text: str) -> tuple[_Owned, ...]:
    words = _WORD.findall(_ELIDED.sub(r"\1e ", text))
    genitive = language_of(text) in _GENITIVE
    return tuple(dict.fromkeys([*_before_things(words, genitive=genitive), *_behind_things(words)]))


def _before_things(words: Sequence[str], *, genitive: bool) -> Iterator[_Owned]:
    """Yield the things with their owner before them: "my dog", "my sister Anna's dog"."""
    place = 0
    while place < len(words):
        after_of = place > 0 and words[place - 1].lower() in _OF
        if not _owns(words, place, genitive=genitive) or after_of:
            place += 1
            continue
        last = run = place
        while run + 1 < len(words) and run - last < _RUN and not _ends(words[run + 1]):
            run += 1
            if _owns(words, run, genitive=genitive):
                last = run
        things = [word for word in words[last + 1 : run + 1] if word.lower() not in _QUALITIES]
        owned = _of(things[0], words[place : last + 1]) if things else None
        if owned is not None:
            yield owned
        place = last + 1


def _behind_things(words: Sequence[str]) -> Iterator[_Owned]:
    """Yield the things with their owner behind them: "le chien de Ben", "el perro de mi hermana"."""
    for place in range(1, len(words) - 1):
        if words[place].lower() not in _OF or not words[place - 1][0].isalpha() or _is_empty(words[place - 1]):
            continue
        behind = place + 1
        while behind < len(words) - 1 and words[behind].lower() in _ARTICLES | OWNED:
            behind += 1
        owner = words[behind]
        if (owner[0].isupper() and behind == place + 1) or plain(owner) in person_words()["relations"]:
            owned = _of(words[place - 1], [owner])
            if owned is not None:
                yield owned


def _of(thing: str, owner: Sequence[str]) -> _Owned | None:
    """Return None if the owner is no person: "my pet's name"."""
    named = [_bare(word) for word in owner if word.lower() not in OWNED and word.lower() not in _QUALITIES]
    people = person_words()["relations"]
    words = frozenset(stem(plain(word)) for word in named if plain(word) in people)
    names = frozenset(stem(plain(word)) for word in named if word[0].isupper()) - words
    return None if len(words) + len(names) < len(named) else _Owned(stem(plain(thing)), names, words)


def _ends(word: str) -> bool:
    """Return True for the end of a thing's name: a stop, or a word without content."""
    return not word[0].isalpha() or (_is_empty(word) and word.lower() not in _QUALITIES)


@cache
def _household() -> frozenset[str]:
    """Return the people who mostly live with one, as stems."""
    return frozenset(stem(plain(word)) for word in _LIVES_WITH)


def _are_siblings(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return True for exclusive relations: a sister is no brother, but a boss may be a friend."""
    rows = _relation_rows()
    first, second = ({rows[word] for word in words if word in rows} for words in (one, other))
    return any(kind == with_kind and row != with_row for kind, row in first for with_kind, with_row in second)


@cache
def _relation_rows() -> Mapping[str, tuple[str, int]]:
    people = person_words()["relations"]
    return {stem(plain(word)): row for word, row in sibling_groups().items() if plain(word) in people}


def _owns(words: Sequence[str], place: int, *, genitive: bool) -> bool:
    """Return True for a word that names the owner of the next thing."""
    word = words[place]
    if word.lower() in OWNED:
        return True
    if word.endswith(("'s", "’s", "s'", "s’")):
        return word[:-2].lower() not in _CONTRACTED
    is_name = genitive and len(word) > 3 and word[0].isupper() and word.endswith("s") and word[1:].islower()
    return is_name and not _is_empty(word) and place + 1 < len(words) and words[place + 1][0].isalpha()


def _bare(word: str) -> str:
    """Return a name without the ending that makes it an owner."""
    for ending in ("'s", "’s", "s"):
        if word.endswith(ending) and word[0].isupper():
            return word.removesuffix(ending)
    return word.removesuffix("'s").removesuffix("’s")


def _is_empty(word: str) -> bool:
    return plain(word) in _empty()


@cache
def _empty() -> frozenset[str]:
    found: frozenset[str] = word_classes()["empty"]
    return found
