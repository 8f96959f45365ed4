"""A statement, read: its clauses, and of each the words with their classes.

Reading decides nothing; `mnemic.language.comparison` does. A word with a dot, slash, hyphen, underscore or digit inside
is one word, so that `api.billing` is not `billing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import NamedTuple

from mnemic.language.lexicon import BESIDE, SLOT, Attribute, Lexicon, Phrase, Phrases, language_shares, lexicon
from mnemic.language.text.language import language_of
from mnemic.language.text.normalise import bare, nfkc

MAX_CHARS = 1000
"""A longer text states many things; it is never taken for one statement."""
MAX_CLAUSES = 12
MAX_PHRASE = 7
"""Words of a noun phrase."""
READ = 4096
"""Statements whose whole reading is cached, some 7 KB each: those that may concern one another."""
OUTLINED = 8192
"""Statements of which an outline is cached: a write meets the same neighbours again and again."""

_WORD = re.compile(
    r"(?P<money>[€$£])?(?P<number>\d+(?:[.,:]\d+)*)(?P<after>[a-z]{1,3}(?![\w/-])|[%€$£])?(?![\w/_-]{0,24}[^\W\d_])"
    r"|(?P<word>[@#/]?[^\W_]+(?:[./_:@+#'’&\\-]+[^\W_]+)*[+#]*)"
    r"|(?P<mark>[.;!?…]+|,|:|[()]|[-–—](?=\s))"
)
_ELIDED = re.compile(
    r"^(l|d|j|m|t|s|c|n|qu|jusqu|un|dell|all|nell|dall|sull|quest|dov|com|gliel)['’](?=\w)", re.IGNORECASE
)
_CONTRACTED = {
    "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would",
}  # fmt: skip
_PRONOUN_IS = frozenset({"it", "that", "he", "she", "what", "there", "who", "here", "where", "how", "let"})
_END = frozenset(".;!?…()")
_INSIDE = re.compile(r"[\W\d_]")
_CAMEL = re.compile(r"[a-z][A-Z]")
_DETERMINERS = ("articles", "mine", "indefinite")
_OPENINGS = ("filler", "conjunctions", "time_words", "days", "months", "openings")
_TIMES = ("time_words", "days", "months")
_COMMON = ("time_words", "openings", "days", "months", "units")
_NOUNS = (*_COMMON, "containers", "single", "health", "leaving", "habits")
LAST_DAY = 31
LEAST_LEAD = 1.0
"""One word: by less, a text is in no language rather than in another."""
MAX_ADVERBS = 3
"""Words of time or degree that may stand inside a phrase: "Ich wohne seit Mai in Bonn"."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a statement. `plain` is in lower case without accents; `value` is a number in digits."""

    text: str
    plain: str
    stem: str
    value: str | None = None
    name: bool = False
    possessive: bool = False
    mark: bool = False


@dataclass(frozen=True)
class Phrased:
    """A noun phrase at a place of a clause. `definite`: it means one known thing ("the Panda", "my Panda", "Odile");
    `indefinite`: any or some of its sort ("a panda").
    """

    words: tuple[Word, ...]
    head: Word
    definite: bool
    indefinite: bool
    own: bool
    others: bool
    start: int
    end: int

    @cached_property
    def is_name(self) -> bool:
        """True if a name is in it."""
        return any(word.name for word in self.words)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(word.stem for word in self.words)


class Place(NamedTuple):
    """Place of a phrase in a clause, with the noun phrase of its slot, if it has one."""

    phrase: Phrase
    start: int
    end: int
    slot: Phrased | None


SOMEBODY = frozenset({"?"})
"""Owner of a clause whose subject is a pronoun for somebody else."""


class Clause:
    """A clause: a part of a statement that can change or end something by itself.

    What is read of it is kept: a statement is compared with many.
    """

    def __init__(
        self,
        words: Sequence[Word],
        lexicon: Lexicon,
        *,
        asks: bool = False,
        before: Clause | None = None,
        told: bool = False,
    ) -> None:
        self.words, self.lexicon, self.asks, self.before = tuple(words), lexicon, asks, before
        self.told = told
        self.plain = tuple(word.plain for word in words)
        self.set = frozenset(self.plain)
        self._places: dict[Phrases, tuple[Place, ...]] = {}

    def has(self, name: str) -> bool:
        """Return True if it has a word of a class."""
        return not self.set.isdisjoint(self.lexicon.words(name))

    def says(self, name: str) -> bool:
        """Return True if it has a phrase of a class."""
        return bool(self.find(self.lexicon.phrases(name)))

    @cached_property
    def unreal(self) -> bool:
        """True if it states no fact of today: a question, a wish, a plan."""
        unreal = self.lexicon.words("unreal")
        # "se" and "als" are "if" only where a clause begins: "ik werk als kok".
        said = self.set - self.lexicon.words("unreal_first")
        if self.asks or not said.isdisjoint(unreal) or self.plain[0] in unreal:
            return True
        # "I dreamt that I sold it"
        return self.told and self.before is not None and self.before.unreal

    @cached_property
    def negated(self) -> bool:
        """True if it has a negation."""
        return self.has("negations")

    def is_content(self, word: Word) -> bool:
        """Return True for a word that carries meaning of its own."""
        lexicon = self.lexicon
        return not (
            word.mark
            or word.plain in lexicon.function
            or word.plain in lexicon.words("called")
            or (not word.name and word.plain in lexicon.words("time_words", "habits"))
        )

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes of which it may have a phrase."""
        return tuple(one for one in self.lexicon.attributes if not one.signs.isdisjoint(self.set))

    @property
    def has_key(self) -> bool:
        """True if it has a word under which the values of an attribute are stored."""
        return not self.lexicon.keys.isdisjoint(self.set)

    def find(self, phrases: Phrases) -> tuple[Place, ...]:
        """Return the places of the phrases of a class, phrase by phrase."""
        if phrases.signs.isdisjoint(self.set):
            return ()
        found = self._places.get(phrases)
        if found is None:
            found = self._places[phrases] = tuple(place for phrase in phrases for place in self._find_phrase(phrase))
        return found

    def _find_phrase(self, phrase: Phrase) -> Iterator[Place]:
        for words in phrase.needed:
            if words.isdisjoint(self.set):
                return
        first = phrase[0]
        # "my rent", "a drive": after a determiner the word is no verb.
        verb = len(phrase) == 2 and SLOT in phrase[1]
        for start, plain in enumerate(self.plain):
            if plain not in first and not (SLOT in first and self._begins(start)):
                continue
            if verb and start and self.plain[start - 1] in self.lexicon.words(*_DETERMINERS):
                continue
            end, slot = self._match(phrase, start)
            if end is not None and not (verb and self._is_perfect(start, end)):
                yield Place(phrase, start, end, slot)

    def _begins(self, at: int) -> bool:
        """Return True if a noun phrase may begin at a place: not in the midst of one, and where a verb stands last, not
        after a preposition, which makes it another part of the clause.
        """
        if at == 0:
            return True
        before, lexicon = self.plain[at - 1], self.lexicon
        if before in lexicon.words(*_DETERMINERS) or (
            self.is_content(self.words[at - 1]) and before not in lexicon.verbs
        ):
            return False
        return not (lexicon.verb_last and before in lexicon.words("prepositions"))

    def _is_perfect(self, start: int, end: int) -> bool:
        """Return True if the verb at a place only helps a participle at the end: "Ich habe Oma besucht"."""
        participle = self.lexicon.participle
        if participle is None or self.plain[start] not in self.lexicon.words("auxiliaries"):
            return False
        called = self.lexicon.words("called")
        return any(
            not word.name and word.plain not in called and participle.fullmatch(word.plain) for word in self.words[end:]
        )

    def _match(self, phrase: Phrase, start: int) -> tuple[int | None, Phrased | None]:
        at, slot = start, None
        for place, words in enumerate(phrase):
            if SLOT in words or BESIDE in words:
                stop = phrase[place + 1] if place + 1 < len(phrase) else None
                found = self.noun_phrase(at, stop=stop) or self.noun_phrase(self.after_adverbs(at, place), stop=stop)
                if found is None:
                    return None, None
                # Of two slots the first is what the phrase is about.
                slot, at = slot or (found if SLOT in words else None), found.end
                # "gave the flat on Quay Street back": what qualifies the thing stands between.
                while stop is not None and at < len(self.plain) and self.plain[at] not in stop:
                    if self.words[at].mark or at - found.end > MAX_PHRASE:
                        return None, None
                    at += 1
                continue
            # "changed back to": a word with a question mark may be left out.
            optional = {word[:-1] for word in words if word.endswith("?")}
            if at < len(self.plain) and self.plain[at] not in words | optional and not optional:
                at = self.after_adverbs(at, place)
            if at < len(self.plain) and (self.plain[at] in words or self.plain[at] in optional):
                at += 1
            elif not optional:
                return None, None
        return at, slot

    def after_adverbs(self, at: int, place: int = 1) -> int:
        """Return the place after words of time or degree, and a subject behind its verb, inside a phrase."""
        lexicon, limit = self.lexicon, at + MAX_ADVERBS
        if not lexicon.adverbs_inside or place == 0:
            return at
        while at < min(limit, len(self.words)) and not self.words[at].name:
            if self.plain[at] in lexicon.words("time_words", "days", "filler", "speaker"):
                at += 1
            elif (end := self.time_end(at)) is not None:
                at = end
            else:
                break
        return at

    def time_end(self, at: int) -> int | None:
        """Return the place after a preposition with a time: "since last May"; None if there is none."""
        lexicon = self.lexicon
        if at >= len(self.words) or self.plain[at] not in lexicon.words("prepositions"):
            return None
        end = at + 1
        while end < len(self.words) and self.plain[end] in lexicon.words(*_DETERMINERS):
            end += 1
        first = end
        while end < len(self.words) and (
            self.words[end].value is not None or self.plain[end] in lexicon.words(*_TIMES)
        ):
            end += 1
        return end if end > first else None

    def noun_phrase(self, start: int, stop: frozenset[str] | None = None, until: int | None = None) -> Phrased | None:
        """Return the noun phrase that begins at a place; None if there is none. It ends before a word of `stop`, and at
        a place.
        """
        lexicon, words = self.lexicon, self.words
        limit = len(words) if until is None else until
        first, said = self._skip_determiners(start, limit)
        at = self._noun_end(first, start, stop, limit)
        taken = tuple(word for word in words[first:at] if self.is_content(word))
        if not taken or words[at - 1].possessive:
            return None  # "Rumba's" without its noun
        # "the house of my father" is a house.
        parts = takewhile(lambda word: word.plain not in lexicon.words("linking"), words[first:at])
        own_words = tuple(word for word in parts if self.is_content(word)) or taken
        named = all(word.name or word.value is not None for word in taken) or any(word.possessive for word in taken)
        # "il gatto suo", "o gato dela"
        others = lexicon.head_first and at < len(words) and words[at].plain in lexicon.words("theirs")
        return Phrased(
            words=taken,
            head=own_words[0] if lexicon.head_first else own_words[-1],
            definite=("definite" in said or named) and said.isdisjoint({"indefinite", "some"}),
            indefinite="indefinite" in said,
            own="own" in said,
            others=others or "others" in said,
            start=start,
            end=at,
        )

    def _skip_determiners(self, start: int, limit: int) -> tuple[int, frozenset[str]]:
        """Return the place after the articles and their like at a place, and what they say of the noun."""
        lexicon, at = self.lexicon, start
        said: set[str] = set()
        # "vom Panda", "du canapé": the article is in the preposition.
        if start > 0 and self.plain[start - 1] in lexicon.words("contracted"):
            said.add("definite")
        while at < limit and not self.words[at].mark:
            plain, named = self.plain[at], self.words[at].name
            if plain in lexicon.words("mine"):
                said |= {"definite", "own"}
            elif plain in lexicon.words("theirs") and not named:
                said |= {"definite", "others"}
            elif at == start and plain in lexicon.words("linking"):
                said.add("some")  # "du café"
            elif plain in lexicon.words("indefinite") and not named:
                said.add("indefinite")
            elif plain in lexicon.words("articles") or (plain in lexicon.words("others") and not named):
                said.add("definite")
            elif plain not in lexicon.words("predeterminers"):
                break
            at += 1
        # "my new seat", "our monthly rent"
        while said and at < limit and self.plain[at] in lexicon.words("filler", "habits") and not self.words[at].name:
            at += 1
        return at, frozenset(said)

    def _noun_end(self, first: int, start: int, stop: frozenset[str] | None, limit: int) -> int:
        """Return the place where the nouns and adjectives that begin at a place end."""
        lexicon, at = self.lexicon, first
        linking, linked = lexicon.words("linking"), lexicon.words("linking", "articles", "mine", "others")
        ends = lexicon.words("days", "months", "called")
        while at < limit and at - first < MAX_PHRASE:
            word = self.words[at]
            if stop is not None and word.plain in stop and not (at == first > start):
                break
            if at > first:
                if word.plain in ends or (lexicon.verb_last and word.plain in lexicon.verbs and not word.name):
                    break
                if word.plain in linking or (self.plain[at - 1] in linking and word.plain in linked):
                    at += 1
                    continue
            if not self.is_content(word):
                break
            at += 1
        while at > first and not self.is_content(self.words[at - 1]):
            at -= 1
        return at

    def phrase_before(self, end: int) -> Phrased | None:
        """Return the noun phrase before a place that follows no preposition, for languages whose verb is last."""
        at, lexicon = end, self.lexicon
        while True:
            while at > 0 and not self.is_content(self.words[at - 1]) and not self.words[at - 1].mark:
                at -= 1
            start = stop = at
            while start > 0 and self.is_content(self.words[start - 1]) and at - start < MAX_PHRASE:
                start -= 1
            while start > 0 and self.plain[start - 1] in lexicon.words(*_DETERMINERS):
                start -= 1
            if start == at:
                return None
            before = self.plain[start - 1] if start else ""
            if before in lexicon.words("linking") and self.words[at - 1].value is None:
                at = start - 1
                while at > 0 and self.is_content(self.words[at - 1]):
                    at -= 1
                while at > 0 and self.plain[at - 1] in lexicon.words(*_DETERMINERS):
                    at -= 1
                return self.noun_phrase(at, until=stop)
            if before not in lexicon.words("prepositions"):
                return self.noun_phrase(start, until=stop)
            # "den Panda an Petra verkauft": to whom stands between.
            at = start - 1

    @cached_property
    def of_other(self) -> bool:
        """True if its subject is somebody or something else that it does not name: "she", a verb of the third person,
        or a subject that cannot be told from what opens it.
        """
        lexicon, at = self.lexicon, self.opening
        if at >= len(self.words) or self.subject is not None:
            return False
        if self._is_behind(at):
            at += 1
        plain = self.plain[at] if at < len(self.plain) else ""
        if plain in lexicon.words("speaker"):
            return False
        if plain in lexicon.words("others") or not self.set.isdisjoint(lexicon.words("third")):
            return True
        speaks = not self.set.isdisjoint(lexicon.words("speaker"))
        if not speaks and self.before is not None and self.before.of_other and plain not in lexicon.words("me", "mine"):
            return True
        return not speaks and plain in lexicon.words("prepositions") and plain not in lexicon.verbs

    @cached_property
    def subject(self) -> Phrased | None:
        """Its subject; None if that is the speaker, or is left out."""
        lexicon, at = self.lexicon, self.opening
        if at >= len(self.words) or self.plain[at] in lexicon.words("me"):
            return None
        if self._is_behind(at):
            at += 1
        elif lexicon.verb_last and self._speaks_behind():
            return None
        found = self.noun_phrase(at, stop=lexicon.words("auxiliaries", "third") | lexicon.verbs)
        return None if found is not None and self.joins_speaker(found.end) else found

    def joins_speaker(self, at: int) -> bool:
        """Return True if "and I" stands at a place."""
        lexicon = self.lexicon
        return (
            at + 1 < len(self.words)
            and self.plain[at] in lexicon.words("conjunctions")
            and self.plain[at + 1] in lexicon.words("speaker")
        )

    @cached_property
    def whose(self) -> Phrased | None:
        """Its subject, or the one of the clause before it, if it has none: "My brother came and sold the Panda"."""
        found = self.subject
        at = self.opening
        if found is not None or self.before is None or at >= len(self.words) or self.of_other:
            return found
        # The speaker, named anywhere: "My lease ended, so I moved".
        if self.plain[at] in self.lexicon.words("me") or not self.set.isdisjoint(self.lexicon.words("speaker")):
            return None
        return self.before.whose

    def _is_behind(self, at: int) -> bool:
        """Return True if the subject stands behind the verb at a place: "Gestern hat Tom ..."."""
        if not self.lexicon.verb_last or self.words[at].name or at + 1 >= len(self.words):
            return False
        if self.plain[at] in self.lexicon.words("third"):
            return True
        return at > 0 and self.plain[at] in self.lexicon.words("auxiliaries") | self.lexicon.verbs

    def _speaks_behind(self) -> bool:
        """Return True if the speaker stands behind the verb: "Den Panda habe ich ..."."""
        lexicon = self.lexicon
        return any(
            plain in lexicon.words("speaker") and self.plain[at] in lexicon.words("auxiliaries") | lexicon.verbs
            for at, plain in enumerate(self.plain[1:])
        )

    def _counts_time(self, at: int) -> bool:
        """Return True at the "two" of "Two weeks ago"."""
        counted = self.plain[at + 1 : at + 2]
        number = self.words[at].value is not None or self.plain[at] in self.lexicon.numbers
        return number and not self.lexicon.words("time_words").isdisjoint(counted)

    @cached_property
    def opening(self) -> int:
        """The place after words that open a sentence: "so", "yesterday", "in May"."""
        skipped, at = self.lexicon.words(*_OPENINGS) | self.lexicon.correcting, 0
        while at < len(self.words):
            if self.words[at].mark or self.plain[at] in skipped or self._counts_time(at):
                at += 1
            elif (end := self.time_end(at)) is not None:
                at = end
            else:
                break
        return at

    @cached_property
    def content(self) -> frozenset[str]:
        """Stems of its words that carry meaning."""
        return frozenset(word.stem for word in self.words if self.is_content(word))

    @cached_property
    def meaning(self) -> frozenset[str]:
        """Stems that carry meaning: without units, times and negations."""
        units = self.lexicon.words("units")
        return frozenset(word.stem for word in self.words if self.is_content(word) and word.plain not in units)

    @cached_property
    def verbs(self) -> frozenset[str]:
        """Stems of its verbs that the lexicon knows."""
        return frozenset(self.words[at].stem for at in range(len(self.words)) if self.is_verb(at))

    def is_verb(self, at: int) -> bool:
        """Return True at a verb that the lexicon knows. In "my rent", "the drive" the word is a noun."""
        lexicon = self.lexicon
        if self.plain[at] not in lexicon.verbs:
            return False
        beside = lexicon.words("filler", "habits")
        before = next((plain for plain in reversed(self.plain[:at]) if plain not in beside), "")
        # "je la loue", "la tomo": an article there is a pronoun, too.
        nouns = lexicon.words("mine") if lexicon.head_first else lexicon.words("mine", "articles")
        return before not in nouns

    @cached_property
    def owner(self) -> frozenset[str]:
        """Stems of who or what it is about; empty for the speaker."""
        return self.owner_beside(frozenset())

    def owner_beside(self, words: frozenset[str]) -> frozenset[str]:
        """Return its owner without these stems, which belong to what is said."""
        subject = self.whose
        if subject is None:
            return SOMEBODY if self.of_other else frozenset()
        stems = subject.stems - words
        return frozenset() if subject.own and not stems else stems or subject.stems

    @cached_property
    def names(self) -> frozenset[str]:
        """Stems of its names and identifiers."""
        return frozenset(word.stem for word in self.words if word.name)


class Statement:
    """A text, read into clauses."""

    def __init__(self, text: str, language: str | None = None) -> None:
        self.text = text
        cut = nfkc(text[:MAX_CHARS]).replace("’", "'")
        words = list(_words(cut))
        self._shares = language_shares((word.plain for word in words), cut)
        self.lexicon = lexicon(language or max(self._shares, key=self._shares.__getitem__))
        self.words = tuple(_add_values(words, self.lexicon))
        self.whole = Clause(self.words, self.lexicon)
        self.clauses = tuple(_clauses(self.words, self.lexicon)) if len(text) <= MAX_CHARS else ()

    def speaks_for(self, language: Lexicon) -> float:
        """Return how much its words speak for a language."""
        return self._shares[language.language]

    def may_be_in(self, other: Lexicon) -> bool:
        """Return True if its words speak nearly as much for another language as for the one it is read in."""
        return self.speaks_for(self.lexicon) - self.speaks_for(other) < LEAST_LEAD

    @cached_property
    def same_words(self) -> tuple[str, ...]:
        """What two texts have in common that say the same in the same words: case, accents, punctuation, articles,
        plural and the preposition of a place do not count.
        """
        lexicon = self.lexicon
        left_out = lexicon.words("articles", "same_place")
        return tuple(
            word.value or (word.plain if word.name and _is_identifier(word) else _singular(word.plain))
            for word in self.words
            if not word.mark and word.plain not in left_out
        )


@lru_cache(maxsize=READ)
def read(text: str, language: str | None = None) -> Statement:
    """Return the statement that a text is, in the language that its words tell if none is given."""
    return Statement(text, language)


def is_english(text: str) -> bool:
    """Return True unless the words of a text speak more for another language, as those of short ones do that have no
    word in common use: "J'ai acheté un piano".
    """
    return language_of(text) is None and read(text).may_be_in(lexicon("en"))


def read_alike(one: Statement, other: Statement) -> tuple[Statement, Statement]:
    """Return two statements, read in one language if the words of either do not tell it from the other's."""
    if one.lexicon is other.lexicon:
        return one, other
    likely, _ = sorted((one, other), key=lambda each: -one.speaks_for(each.lexicon) - other.speaks_for(each.lexicon))
    language = likely.lexicon.language
    if all(each.may_be_in(likely.lexicon) for each in (one, other)):
        return read(one.text, language), read(other.text, language)
    return one, other


def _is_identifier(word: Word) -> bool:
    """Return True for a name with a sign, a digit or a capital inside: "src/utils", "fetchUsers", not "AUTOS"."""
    return _INSIDE.search(word.plain) is not None or _CAMEL.search(word.text) is not None


def stem_of(plain: str) -> str:
    """Return a word without its plural s, the only inflection that changes no meaning."""
    if not plain.isascii() or _INSIDE.search(plain):
        return plain
    return _singular(plain)


def _singular(plain: str) -> str:
    if len(plain) > 4 and plain.endswith("ies"):
        return plain[:-3] + "y"
    if len(plain) > 4 and plain.endswith(("sses", "xes", "ches", "shes")):
        return plain[:-2]
    if len(plain) > 3 and plain.endswith("s") and not plain.endswith(("ss", "us", "is")):
        return plain[:-1]
    return plain


def _words(text: str) -> Iterator[Word]:
    opens = True
    for found in _WORD.finditer(text):
        if (mark := found["mark"]) is not None:
            opens = opens or mark[0] in ".!?…:"
            yield Word(mark, mark, mark, mark=True)
            continue
        if (number := found["number"]) is not None:
            value = number.replace(",", ".") if number.count(",") == 1 and len(number.split(",")[1]) != 3 else number
            yield Word(number, number, number, value=value.replace(",", ""))
            unit = found["after"] or found["money"]
            if unit and unit.lower() not in ("st", "nd", "rd", "th"):
                unit = {"€": "euro", "$": "dollar", "£": "pound", "%": "percent"}.get(unit, unit.lower())
                yield Word(unit, unit, stem_of(unit))
            opens = False
            continue
        said = found["word"]
        if "'" not in said and said != "cannot":
            yield _word(said, opens)
            opens = False
            continue
        while (elided := _ELIDED.match(said)) is not None:
            yield _word(elided[1], opens)
            said, opens = said[elided.end() :], False
        yield from _expand_words(said, opens)
        opens = False


def _expand_words(said: str, opens: bool) -> Iterator[Word]:
    low = said.lower()
    if low in ("can't", "cannot"):
        yield from (_word("can", opens), _word("not", False))
    elif low == "won't":
        yield from (_word("will", opens), _word("not", False))
    elif low.endswith("n't") and len(low) > 3:
        yield from (_word(said[:-3], opens), _word("not", False))
    elif (at := low.rfind("'")) > 0 and (full := _CONTRACTED.get(low[at:])) is not None:
        yield from (_word(said[:at], opens), _word(full, False))
    elif low.endswith("'s") or (low.endswith("'") and len(low) > 1):
        base = said[: low.rfind("'")]
        if base.lower() in _PRONOUN_IS:
            yield from (_word(base, opens), _word("is", False))
        else:
            yield _word(base, opens, possessive=True)
    else:
        yield _word(said, opens)


@lru_cache(maxsize=READ)
def _word(text: str, opens: bool, *, possessive: bool = False) -> Word:
    # Of one letter, the accent is the word: "è" and "e", "à" and "a".
    plain = bare(text) if len(text) > 1 else text.casefold()
    inside = _INSIDE.search(plain) is not None
    # The first word of a sentence is written large in any case; whether it is a name shows elsewhere.
    inside = inside or _CAMEL.search(text) is not None
    name = (text[:1].isupper() and not opens and plain != "i") or inside or (text.isupper() and len(text) > 1)
    return Word(text, plain, stem_of(plain), name=name, possessive=possessive)


def _add_values(words: Sequence[Word], lexicon: Lexicon) -> Iterator[Word]:
    """Yield the words with numbers in digits, and with the names that open a sentence."""
    for place, word in enumerate(words):
        before = words[place - 1] if place else None
        if (
            word.name
            and before is not None
            and place > 1
            and before.text.islower()
            and _is_determiner(words[place - 2], lexicon)
        ):
            before = words[place - 2]  # "die erste Reihe"
        if word.mark and word.plain == "." and before is not None and _is_ordinal(before, words, place, lexicon):
            continue
        if word.mark or word.value is not None:
            yield word
        elif not word.text[:1].isupper() and word.plain in lexicon.numbers:
            yield Word(word.text, word.plain, word.stem, value=lexicon.numbers[word.plain])
        elif word.name and word.plain in lexicon.words("days", "months"):
            yield Word(word.text, word.plain, word.stem, possessive=word.possessive)
        elif word.name and lexicon.capital_nouns and _is_noun(word, before, lexicon):
            yield Word(word.text, word.plain, word.stem, value=lexicon.numbers.get(word.plain))
        elif word.text[:1].isupper() and not word.name and not _is_common(word, lexicon):
            yield Word(word.text, word.plain, word.stem, name=True, possessive=word.possessive)
        else:
            yield word


def _is_common(word: Word, lexicon: Lexicon) -> bool:
    return word.plain in lexicon.function or word.plain in lexicon.verbs or word.plain in lexicon.words(*_COMMON)


def _is_noun(word: Word, before: Word | None, lexicon: Lexicon) -> bool:
    """Return True for a word that is no name where every noun is written large: known, or after an article."""
    if _INSIDE.search(word.plain) or (word.text.isupper() and len(word.text) > 1):
        return False
    determined = before is not None and _is_determiner(before, lexicon)
    return (
        determined or word.plain in lexicon.words(*_NOUNS) or any(word.plain in one.words for one in lexicon.attributes)
    )


def _is_determiner(word: Word, lexicon: Lexicon) -> bool:
    return word.plain in lexicon.words(*_DETERMINERS, "contracted", "negations")


def _is_ordinal(before: Word, words: Sequence[Word], place: int, lexicon: Lexicon) -> bool:
    """Return True for the point of "21. Mai"."""
    if before.value is None or not before.value.isdigit() or int(before.value) > LAST_DAY or place + 1 >= len(words):
        return False
    return words[place + 1].plain in lexicon.words("months")


def _clauses(words: Sequence[Word], lexicon: Lexicon) -> Iterator[Clause]:
    """Yield the clauses: sentences, and their parts at a comma, a semicolon and before a conjunction with a subject."""
    starts = lexicon.words("me", "mine", "others")
    part: list[Word] = []
    before: Clause | None = None
    told = False
    count = 0
    for place, word in enumerate(words):
        following = words[place + 1].plain if place + 1 < len(words) else ""
        ends = word.mark and word.plain[0] in _END
        splits = (
            ends
            or word.plain == ","
            or (
                word.plain in lexicon.words("conjunctions")
                and (following in starts or following in lexicon.verbs or following in lexicon.words("third"))
            )
        )
        if not splits or _is_joint(part, words[place : place + 2], lexicon) or _denies(words[place + 1 :], lexicon):
            part.append(word)
            continue
        if part:
            before = Clause(part, lexicon, asks=word.plain.startswith("?"), before=before, told=told)
            yield before
            count += 1
            if count == MAX_CLAUSES:
                return
        if ends:
            before = None
        told = word.plain in lexicon.words("telling")
        # "If I sold it": what the conjunction says of the clause stays with it.
        part = [word] if word.plain in lexicon.words("unreal") else []
    if part:
        yield Clause(part, lexicon, before=before, told=told)


def _denies(following: Sequence[Word], lexicon: Lexicon) -> bool:
    """Return True before the end of "I take 30 mg, not 20": of the same clause, as it says nothing by itself."""
    said = [*takewhile(lambda word: not (word.mark and word.plain[0] in _END), following)]
    if len(said) not in _DENIAL or said[0].plain not in lexicon.words("negations"):
        return False
    last = said[-1]
    return last.value is not None or last.name or last.plain in lexicon.words("days", "months", "units")


_DENIAL = range(2, 5)
"""Words of a denied value: "not 20", "not on the 3rd"."""


def _is_joint(part: Sequence[Word], following: Sequence[Word], lexicon: Lexicon) -> bool:
    """Return True at the "and" of "Tom and I": who does something together, not two clauses."""
    if following[0].mark or len(following) < len(("and", "I")) or following[1].plain not in lexicon.words("speaker"):
        return False
    clause = Clause((*part, *following), lexicon)
    found = clause.noun_phrase(clause.opening)
    return found is not None and found.end == len(part)


def attribute_named(lexicon: Lexicon, key: str | None) -> Attribute | None:
    """Return the attribute whose values are stored under a key."""
    return None if key is None else next((one for one in lexicon.attributes if key in one.keys), None)
