"""Frame of a statement: its subject, its attributes and values, and its reference to earlier statements.

Built from lists of expressions (`data/*.json`) in seven languages, without detecting the language. The vectors cover
expressions that the lists lack: a frame is one input of `change_classifier`, never the only one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from mnemic.language.frames.frame_expressions import (
    ALLOWED,
    AMENDS,
    ASIDE,
    BORN,
    BYGONE,
    CALLED,
    CALLED_OUT,
    CONDITION,
    DENIED,
    DISPUTES,
    DUTCH,
    GREETED,
    HEAD,
    IMPERSONAL,
    IS,
    MEASURES,
    NOT_ENDED,
    NOT_MEANT,
    NUMBERED,
    OFF_IT,
    ONE_OF,
    ORDINALS,
    PAST,
    PRESENT,
    QUOTED,
    SIDED,
    SINCE_NOW,
    SPELT,
    TOKEN,
    TOO_MUCH,
    TOTAL,
    TURNS,
    WEEKDAY_ALONE,
    YOU,
    is_negated,
)
from mnemic.language.frames.stated_part import said_in, sentences_of, states_all
from mnemic.language.frames.vocabulary import (
    attribute_words,
    capitals,
    cue_words_for,
    feeling_words,
    foreign_in_english,
    is_no_name,
    members_of,
    person_words,
    plain,
    value_sorts,
    word_classes,
)
from mnemic.language.frames.word_stems import relation_stems, stem
from mnemic.language.text.lazy_property import lazy_property
from mnemic.language.text.pattern import WordPatterns

__all__ = ["LONGEST", "Frame", "relation_stems", "stem"]

LONGEST = 4_000  # maximum number of characters of a text that are parsed
SHORTEST_NAMING, SHORTEST_NAME, LONG_NUMBER = 4, 3, 4
"""Words of a sentence that may be only a name ("Keely, not Kelly"); letters of a name, digits of a number."""
FIRST_WORDS = 6  # of a sentence: the subject is searched for in these
PRONOUN_WITHIN = 3  # the position up to which a pronoun is the subject; later ones refer to a name
_OCCASIONS = frozenset({"day", "morning", "week", "weekend"})  # no content elsewhere; here they distinguish occasions
_VALUED = frozenset({"diet", "smoking", "alcohol", "relationship", "phone", "seat"})  # their expressions are values
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")

_RESTATED = WordPatterns((NOT_MEANT, NOT_ENDED, SINCE_NOW, TOO_MUCH, SPELT))
"""Words that are removed from a text, or searched for besides the lists, before its cues are read."""

_one_of_each = lru_cache(maxsize=65536)(str)
"""Returns the object for a word that all texts share: thousands of cached texts contain the same words."""


@lru_cache(maxsize=1)
def _no_occasions() -> frozenset[str]:
    """Return the words that qualify no occasion."""
    empty: frozenset[str] = word_classes()["empty"]
    return (empty - _OCCASIONS).union(word_classes()["numbers"])


@dataclass(frozen=True)
class Frame:
    """Lazily parsed text: each property is computed when it is first read."""

    text: str

    def __hash__(self) -> int:
        # Of the text itself, which caches its hash: rules use frames as cache keys.
        return hash(self.text)

    @lazy_property
    def said(self) -> tuple[str, ...]:
        """Its statements: without questions, quotations and unreal mood."""
        body = self.text[:LONGEST]
        if states_all(body):
            return sentences_of(body)
        body = QUOTED.sub(" ", body)
        body = (CALLED_OUT if GREETED.is_absent(body) else CALLED).sub(" ", body)
        return said_in(ASIDE.sub("", body))

    @lazy_property
    def plain(self) -> str:
        """Its statements, in lower case and without accents."""
        return WEEKDAY_ALONE.sub(lambda day: f"{day[1] or day[2]}feira", plain(" . ".join(self.said)))

    @lazy_property
    def tokens(self) -> tuple[str, ...]:
        """Words and numbers of its statements, in order."""
        said = self.plain if _DIGIT.search(self.plain) is None else NUMBERED.sub(r"\1 ", self.plain)
        return tuple(map(_one_of_each, TOKEN.findall(said)))

    @lazy_property
    def numbers(self) -> frozenset[str]:
        """Its numbers, in digits or in words."""
        classes = word_classes()["numbers"]
        found = {token.replace(",", "") for token in self.tokens if token[0].isdigit()}
        counting = ONE_OF.sub(" ", self.plain)
        tokens = self.tokens if counting == self.plain else TOKEN.findall(counting)
        spelt = {token for token in tokens if token in classes and stem(token) not in self.names}  # "Otto"
        return frozenset(found | {str(classes[token]) for token in spelt})

    @lazy_property
    def stems(self) -> frozenset[str]:
        """Stems of its content words, and its numbers."""
        empty = self._empty
        return frozenset([stem(token) for token in self.tokens if token not in empty and len(token) > 1])

    @lazy_property
    def _empty(self) -> frozenset[str]:
        """Words without content, except those that are names here."""
        empty: frozenset[str] = word_classes()["empty"]
        return empty - self.named_as_words if self.named_as_words else empty

    @lazy_property
    def named_as_words(self) -> frozenset[str]:
        """Names in an English sentence that are words without content elsewhere: "the Plus plan", "Los Angeles"."""
        foreign = foreign_in_english(self.tokens)
        if not foreign:
            return foreign
        words = {word for part in self.said for word in capitals(part)}
        return frozenset([low for word in words if (low := plain(word)) in foreign])

    @lazy_property
    def totals(self) -> frozenset[str]:
        """Numbers that it states as totals: "so five altogether"."""
        classes = word_classes()["numbers"]
        found = (str(classes.get(word, word)) for pair in TOTAL.findall(self.plain) for word in pair)
        return frozenset(number for number in found if number.isdigit())

    @lazy_property
    def ordinals(self) -> frozenset[str]:
        """Its ordinal numbers in words: "a third nephew"."""
        return frozenset(ORDINALS[token] for token in self.tokens if token in ORDINALS)

    @lazy_property
    def unnumbered(self) -> frozenset[str]:
        """Stems of its content words without its numbers."""
        words = word_classes()
        fields = {stem(token) for token in self.tokens if token[0].isdigit() or token in words["numbers"]}
        return self.stems - fields

    @lazy_property
    def counted(self) -> frozenset[str]:
        """Stems of the words after its numbers: the counted thing or the unit. After a content word a number is more
        likely part of a name ("parcel 24 goes ..."), and nothing is counted.
        """
        words = word_classes()
        triples = zip(("", *self.tokens), self.tokens, (*self.tokens[1:], ""), strict=False)
        numbered = [(a, b, c) for a, b, c in triples if b[0].isdigit() or b in words["numbers"]]
        named = words["empty"] | MEASURES
        if any(before and before not in named and one[0].isdigit() for before, one, _ in numbered):
            return frozenset()
        return frozenset(stem(word) for _, _, word in numbered if word not in words["empty"] and len(word) > 1)

    @lazy_property
    def names(self) -> frozenset[str]:
        """Stems of names: capitalised words that do not begin a sentence."""
        found = set()
        for part in self.said:
            words = _WORD.findall(part)
            called = [plain(word) for word in words[1:] if word[0].isupper()]
            found |= {stem(word) for word in called if word not in self._empty}
        return frozenset(found)

    @lazy_property
    def denied(self) -> frozenset[str]:
        """Stems of the words that the text denies or replaces ("Savona, not Genoa", "tea instead of coffee")."""
        matches = [*DENIED.findall(self.plain), *ALLOWED.findall(self.plain)]
        return frozenset(stem(word) for word in matches if word not in word_classes()["empty"])

    @lazy_property
    def negated(self) -> bool:
        """True if it contains a negation."""
        return is_negated(self.plain)

    @lazy_property
    def called(self) -> frozenset[str]:
        """Its names and longer numbers as spelled, in lower case: words that may be misspelled. A capital at the
        beginning of a longer sentence does not mark a name, unless a verb follows.
        """
        names: set[str] = set()
        for part in self.said:
            words = re.findall(r"[^\W_]+", part)
            first = 1 if len(words) > SHORTEST_NAMING and plain(words[1]) not in person_words()["verbs"] else 0
            names |= {plain(word) for word in words[first:] if word[0].isupper() and len(word) >= SHORTEST_NAME}
            names |= {word for word in words if word.isdigit() and len(word) >= LONG_NUMBER}
        return frozenset(names - word_classes()["empty"])

    @lazy_property
    def called_stems(self) -> frozenset[str]:
        """The stems of `called`."""
        return frozenset(map(stem, self.called))

    @lazy_property
    def feeling(self) -> tuple[str, frozenset[str]]:
        """Kind of feeling (`likes`, `dislikes` or empty), and the stems of its object."""
        kinds = feeling_words()
        for kind in ("dislikes", "likes"):  # in this order: "don't like" contains "like"
            if len(found := kinds[kind].findall(self.plain)) == 1:
                rest = kinds[kind].sub(" ", self.plain, count=1)
                empty = word_classes()["empty"]
                return kind, frozenset(stem(one) for one in TOKEN.findall(rest) if one not in empty and len(one) > 1)
            if found:
                break
        return "", frozenset()

    @lazy_property
    def theme(self) -> frozenset[str]:
        """Stems of the thing that the text gives a value ("the budget is 20k")."""
        found = IS.match(self.plain)
        if found is None:
            return frozenset()
        empty = word_classes()["empty"]
        return frozenset(stem(token) for token in TOKEN.findall(found[1]) if token not in empty and len(token) > 1)

    @lazy_property
    def undisputed(self) -> Frame:
        """Frame without an opening that only disputes an earlier statement: "That's wrong, my name is Ines"."""
        opening = DISPUTES.match(self.plain)
        return self if opening is None else Frame(self.plain[opening.end() :])

    @lazy_property
    def head(self) -> Mapping[str, frozenset[int]]:
        """Members of each word class before its first verb: "Tuesday's class" in "Tuesday's class is at 10"."""
        found = HEAD.match(self.plain)
        tokens = [token.removesuffix("'s") for token in TOKEN.findall(found[1])] if found else []
        return members_of(tokens)

    @lazy_property
    def cues(self) -> frozenset[str]:
        """References to earlier statements: `end`, `change`, `correct`, `add`, `passing`, `past`, `again`."""
        if _RESTATED.are_absent(self.plain) and not ("this month" in self.plain and self.event):
            at_once = cue_words_for(self.plain).found(self.plain) - {"unreal"}
            return at_once | {"end"} if OFF_IT.search(self.plain) else at_once
        result = NOT_MEANT.sub(" ", NOT_ENDED.sub(" ", self.plain))
        lasting = SINCE_NOW.sub(" ", result)
        if self.event:  # an event of this month need not end with it
            lasting = lasting.replace("this month", " ")
        texts = {"passing": lasting, "add": TOO_MUCH.sub(" ", result), "unreal": ""}
        words = cue_words_for(self.plain)
        said = {text: words.found(text) for text in {result, *texts.values()}}
        found = {kind for kind in words.expressions if kind in said[texts.get(kind, result)]}
        found |= {kind for kind, words in (("correct", SPELT), ("end", OFF_IT)) if words.search(result)}
        return frozenset(found)

    @property
    def own(self) -> bool:
        """True if it has a pronoun or possessive of the speaker."""
        return not (person_words()["self"] | person_words()["possessive"]).isdisjoint(self.tokens)

    @lazy_property
    def turns(self) -> bool:
        """True if it has a cue for a change."""
        return not self.cues.isdisjoint(TURNS)

    @lazy_property
    def bears_child(self) -> bool:
        """True if the text reports a birth."""
        return BORN.search(self.plain) is not None

    @lazy_property
    def silent(self) -> bool:
        """True if the text supersedes nothing unless it contradicts something: it has no cue for a change, denies
        nothing, assigns no value, counts nothing, reports no feeling or birth, and is no bare correction.
        """
        cued = self.turns or "takes_back" in self.cues
        valued = (
            self.attributes or self.theme or self.denied or self.totals or (len(self.numbers) == 1 and self.counted)
        ) or AMENDS.match(self.plain)
        return not (cued or valued or self.feeling[1] or self.bears_child)

    @lazy_property
    def event(self) -> bool:
        """True if the text reports a single event rather than a state."""
        said = self.plain
        if DUTCH.search(said):  # "met" and "was" have other meanings there, and participles other endings
            return False
        return bool(PAST.search(said)) and not PRESENT.search(said)

    @lazy_property
    def bygone(self) -> bool:
        """True if the text introduces an old story: "before I met Petra I was engaged"."""
        return self.event and BYGONE.search(self.plain) is not None

    @lazy_property
    def conditions(self) -> frozenset[tuple[str, str]]:
        """Occasions that the text is limited to, each as a noun and its qualifier: "on night flights"."""
        found = CONDITION.findall(self.plain)
        pairs = [pair for pair in found if _no_occasions().isdisjoint(pair)]
        return frozenset([(stem(noun), stem(which)) for which, noun in pairs])

    @lazy_property
    def addresses(self) -> bool:
        """True if it is about the person addressed, as praise and good wishes are."""
        return bool(YOU.search(self.plain)) and self.subject != "self"

    @lazy_property
    def attributes(self) -> frozenset[str]:
        """Attributes that the text gives a value or a change."""
        return attribute_words().found(self.plain)

    def valued(self, name: str) -> frozenset[str] | None:
        """Return the words that state an attribute if they are its value ("vegan"), or None."""
        result = attribute_words().expressions[name]
        return frozenset(m[0] for m in result.finditer(self.plain)) if name in _VALUED else None

    @lazy_property
    def sorts(self) -> dict[str, frozenset[int]]:
        """Members of exclusive value classes that the text names, by class; classes without a member are omitted."""
        words, numbered = value_sorts()
        result = ((name, words.expressions[name].findall(self.plain)) for name in words.likely(self.plain))
        return {name: frozenset(map(numbered[name].__getitem__, found)) for name, found in result if found}

    def sort(self, name: str) -> frozenset[int]:
        """Return the members of a value class (`currencies`, `classes` ...) in the text."""
        return self.sorts.get(name, frozenset())

    @lazy_property
    def subject(self) -> str:
        """Person it is about: `self`, `other:<relation>`, `name:<stem>`, or empty if unknown."""
        for part in self.said:
            found = _subject(part)
            if found:
                return found
        return ""

    @lazy_property
    def relations(self) -> frozenset[str]:
        """Words for people by their relation to the speaker, anywhere in the text."""
        return frozenset(
            stem(token.removesuffix("'s"))
            for token in self.tokens
            if token.removesuffix("'s") in person_words()["relations"]
        )

    @lazy_property
    def _slots(self) -> Mapping[str, frozenset[int]]:
        sided = [token for token in self.tokens if token.startswith(("linker", "rechter"))]
        sides = [side for token in sided for side in SIDED.findall(token)]
        return members_of([*self.tokens, *sides])

    def slots(self, name: str) -> frozenset[int]:
        """Return the members of a word class (`sides`, `weekdays` ...) in the text."""
        return self._slots[name]


def _subject(sentence: str) -> str:
    people = person_words()
    words = [found[0] for found in islice(_WORD.finditer(sentence), FIRST_WORDS)]
    low = [plain(word) for word in words]
    for place, word in enumerate(low):
        bare = word.removesuffix("'s")
        if word in people["self"]:
            return "self"
        if bare in people["relations"] and people["with"].isdisjoint(low[max(0, place - 2) : place]):
            return f"other:{stem(bare)}"
        if word in people["others"] and place < PRONOUN_WITHIN:
            # "They have moved my appointment" is about mine, whoever they are.
            return "self" if word in IMPERSONAL and not people["possessive"].isdisjoint(low) else "other:"
        follows = low[place + 1] if place + 1 < len(low) else ""
        if words[place][0].isupper() and follows in people["verbs"] and not is_no_name(word, low[:place]):
            return f"name:{stem(bare)}"
    return "self" if any(word in people["possessive"] for word in low) else ""
