"""Ends of one of several known things, named only by the word for its kind: "The cat died", of two cats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from mnemic.language.changes import KEPT
from mnemic.language.changes.change_classifier import framed
from mnemic.language.changes.products import HAS, KIND, named_products
from mnemic.language.compare.animals import kind_of, sorts_named
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import person_words, plain, product_kinds, word_classes
from mnemic.language.text.pattern import WordPattern

SEVERAL = 2
"""Minimum number of things for an ambiguous end."""
_ALL = WordPattern(
    r"\b(?:both|all|every\w*|each|cars|pets|cats|dogs|beide[sn]?|alle[sn]?|autos|les deux|tou(?:te)?s|amb[oa]s|tod[oa]s"
    r"|l[oa]s dos|entramb[ie]|tutt[ie]|as duas|os dois|allebei)\b"
)
"""Matches a reference to all of them."""
_ONE_OF = WordPattern(r"\b(?:one of|ein\w{0,2} (?:meiner|unserer|der)|un[aeo]? d(?:e|ei|elle)|uma? d[oa]s|een van)\b")
_MORE = (
    r"\b(?:(?:another|(?:my|our|a|the) (?:second|third|other)|noch eine?n?|weitere[nrs]?|zweite[nrs]?|andere[nrs]?"
    r"|autre|deuxieme|second|otr[oa]|segund[oa]|altr[oa]|second[oa]|outr[oa]|nog een|tweede|andere?) (?:\w+ )?KIND"
    r"|(?:also|auch|aussi|tambien|anche|tambem|ook) (?:\w+ ){0,3}KIND|KIND (?:\w+ ){0,2}(?:too|as well))\b"
)
"""Matches one more of a kind."""
_MAY_BE_MORE = WordPattern(
    r"\b(?:another|second[oa]?|third|other|noch|weitere[nrs]?|zweite[nrs]?|andere[nrs]?|autre|deuxieme|otr[oa]|segund[oa]"
    r"|altr[oa]|outr[oa]|nog|tweede|andere?|also|auch|aussi|tambien|anche|tambem|ook|too|as well)\b"
)
"""Matches a word without which a text has none of `_MORE`."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CALLED = re.compile(
    r"(?:,|:| \(|(?: (?:and|that|who|qui|que|che|die|der|das))? (?:is |are )?(?:called|named|is|namens|heißt|genannt"
    r"|s'appelle"
    r"|appelée?|nommée?|se llama|llamad[oa]|es|si chiama|chiamat[oa]|è|se chama|chama-se|chamad[oa]|é|heet|genaamd))"
    r" (?P<name>[A-ZÀ-Þ][\w'-]+)"
)
"""Matches the name of a thing after the word for its kind: "a cat called Tom", "a cat, Tom"."""
_NAMED = re.compile(
    r"\b(?P<name>[A-ZÀ-Þ][\w'-]{1,40}), (?:an?|my|our|mein\w*|unser\w*|mon|ma|mi|il mio|la mia|mijn) (?:\w+ )?\Z"
)
"""Matches the name before that word: "Tom, my cat"."""


class _Mention(NamedTuple):
    """Things of one kind in a statement: their minimum number, their names, and True if it mentions "another"."""

    number: int
    names: frozenset[str]
    more: bool


def ended_one_of(new: Frame, statements: Sequence[str]) -> list[int]:
    """Return the indexes of the statements about things of the kind that `new` ends, if these are several things and
    `new` does not identify one; empty otherwise.
    """
    if _ALL.search(new.plain) and not _ONE_OF.search(new.plain):
        return []
    stems = [_stems_of(text) for text in statements]
    for noun in dict.fromkeys(KIND.findall(new.plain)):
        kind, further = stem(noun), _has_further_names(noun)
        mentions = {
            place: found
            for place, text in enumerate(statements)
            # A thing without further names is mentioned only where its word is.
            if (further or kind in stems[place]) and (found := _mention_of(text, noun)) is not None
        }
        if _are_several(mentions.values()) and not _says_which(new, noun, [statements[place] for place in mentions]):
            return list(mentions)
    return []


@lru_cache(maxsize=KEPT)
def _mention_of(text: str, noun: str) -> _Mention | None:
    """Return the things of a kind that a statement of the speaker mentions; None if there are none."""
    kind, sorts = stem(noun), product_kinds().get(noun, ())
    words = _WORD.finditer(text) if kind in _stems_of(text) else ()
    mentioned = [found for found in words if stem(plain(found[0])) == kind]
    animal = kind_of(noun)
    if not mentioned and not sorts and animal is None:  # most statements, which need no parsing for it
        return None
    frame = framed(text)
    if frame.negated or (frame.relations and not frame.own) or HAS.search(frame.plain) is None:
        return None
    named = named_products(frame) if sorts else {}
    products = {f"{sort} {number}" for sort in sorts for number in named.get(sort, ())}
    products |= sorts_named(frame).get(animal, frozenset()) if animal else set()
    if not mentioned and not products:
        return None
    numbers = word_classes()["numbers"]
    pairs = zip(frame.tokens, frame.tokens[1:], strict=False)
    counts = [int(numbers.get(one, one if one.isdigit() else 1)) for one, other in pairs if stem(other) == kind]
    introduced = len(re.findall(rf"\b(?:an?|ein\w{{0,2}}|une?|un[ao]?|uma?|een) (?:\w+ )?{noun}\b", frame.plain))
    called = [_CALLED.match(text, found.end()) or _NAMED.search(text, 0, found.start()) for found in mentioned]
    names = {stem(plain(one["name"])) for one in called if one is not None}
    return _Mention(
        number=max(len(products), introduced, *(min(count, SEVERAL) for count in counts), 1),
        names=frozenset(names | products),
        # Compiled for each noun, so only where a text has a word of it.
        more=_MAY_BE_MORE.search(frame.plain) is not None
        and re.search(_MORE.replace("KIND", noun), frame.plain) is not None,
    )


@lru_cache(maxsize=KEPT)
def _has_further_names(noun: str) -> bool:
    """Return True if a product or an animal may be meant by another word than `noun`."""
    return bool(product_kinds().get(noun)) or kind_of(noun) is not None


@lru_cache(maxsize=2048)
def _stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words of a text, cached for one noun after the other."""
    return frozenset([stem(plain(word)) for word in _WORD.findall(text)])


def _are_several(mentions: Iterable[_Mention]) -> bool:
    """Return True if the statements mention more than one thing: a number of them, one with another name, or "another"
    in addition to one.
    """
    known = list(mentions)
    if any(one.number >= SEVERAL for one in known):
        return True
    if len(known) < SEVERAL:
        return False
    if any(one.more for one in known) and any(not one.more for one in known):
        return True
    names = [one.names for one in known if one.names]
    return any(one.isdisjoint(other) for one in names for other in names)


def _says_which(new: Frame, noun: str, statements: Sequence[str]) -> bool:
    """Return True if `new` has a content word of some of the statements, but not of all."""
    mentions = [Frame(text).stems for text in statements]
    shared = frozenset.intersection(*mentions) if len(mentions) > 1 else frozenset()
    own = frozenset(map(stem, person_words()["possessive"])) | {stem(noun)}
    return bool((new.stems & frozenset.union(*mentions)) - shared - own)
