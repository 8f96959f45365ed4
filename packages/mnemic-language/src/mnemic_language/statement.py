"""A statement, read: its clauses, and of each the words with their classes.

Reading decides nothing; `mnemic_language.comparison` does. A word with a dot, slash, hyphen, underscore or digit inside
is one word, so that `api.billing` is not `billing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

from mnemic_language.lexicon import SLOT, Attribute, Lexicon, Phrase, lexicon_for
from mnemic_language.text.normalise import bare, nfkc

MAX_CHARS = 1000
"""A longer text states many things; it is never taken for one statement."""
MAX_CLAUSES = 12
MAX_PHRASE = 7
"""Words of a noun phrase."""
READ = 16384
"""Statements whose reading is cached: a write meets the same neighbours again and again."""

_WORD = re.compile(
    r"(?P<money>[€$£])?(?P<number>\d+(?:[.,:]\d+)*)(?P<after>[a-z]{1,3}(?![\w/-])|[%€$£])?(?![\w/_-]*[^\W\d_])"
    r"|(?P<word>[@#/]?[^\W_]+(?:[./_:@+#'’&\\-]+[^\W_]+)*[+#]*)"
    r"|(?P<mark>[.;!?…]+|,|:|[()]|[-–—](?=\s))"
)
_ELIDED = re.compile(r"^(l|d|j|m|t|s|c|n|qu|jusqu|un|dell|all|nell|dall|sull|quest|dov|com|gliel)['’](?=\w)", re.I)
_CONTRACTED = {
    "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would",
}  # fmt: skip
_PRONOUN_IS = frozenset({"it", "that", "he", "she", "what", "there", "who", "here", "where", "how", "let"})
_END = frozenset(".;!?…()")
_INSIDE = re.compile(r"[\W\d_]")


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


@dataclass(frozen=True, slots=True)
class Phrased:
    """A noun phrase at a place of a clause. `definite`: it means one known thing ("the Panda", "my Panda", "Odile");
    `indefinite`: any or some of its sort ("a panda").
    """

    words: tuple[Word, ...]
    head: Word
    definite: bool
    indefinite: bool
    own: bool
    start: int
    end: int

    @property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(word.stem for word in self.words)


class Clause:
    """A clause: a part of a statement that can change or end something by itself."""

    def __init__(self, words: Sequence[Word], lexicon: Lexicon, *, asks: bool = False) -> None:
        self.words, self.lexicon, self.asks = tuple(words), lexicon, asks
        self.plain = tuple(word.plain for word in words)
        self.set = frozenset(self.plain)

    def has(self, name: str) -> bool:
        """Return True if it has a word of a class."""
        return not self.set.isdisjoint(self.lexicon.words(name))

    def says(self, name: str) -> bool:
        """Return True if it has a phrase of a class."""
        return any(self.find(phrase) for phrase in self.lexicon.phrases(name))

    @property
    def unreal(self) -> bool:
        """True if it states no fact of today: a question, a wish, a plan."""
        return self.asks or self.has("unreal")

    @property
    def negated(self) -> bool:
        """True if it has a negation."""
        return self.has("negations")

    def is_content(self, word: Word) -> bool:
        """Return True for a word that carries meaning of its own."""
        lexicon = self.lexicon
        return not (
            word.mark
            or word.plain in lexicon.function
            or (not word.name and word.plain in lexicon.words("time_words") | lexicon.words("habits"))
        )

    def find(self, phrase: Phrase) -> list[tuple[int, int, Phrased | None]]:
        """Return the places of a phrase, each with the noun phrase of its slot, if it has one."""
        found = []
        first = phrase[0]
        # "my rent", "a drive": after a determiner the word is no verb.
        verb = len(phrase) == 2 and SLOT in phrase[1]
        for start, plain in enumerate(self.plain):
            if SLOT not in first and plain not in first:
                continue
            if verb and start and self.plain[start - 1] in self._determiners:
                continue
            end, slot = self._match(phrase, start)
            if end is not None:
                found.append((start, end, slot))
        return found

    def _match(self, phrase: Phrase, start: int) -> tuple[int | None, Phrased | None]:
        at, slot = start, None
        for place, words in enumerate(phrase):
            if SLOT in words:
                stop = phrase[place + 1] if place + 1 < len(phrase) else None
                slot = self.noun_phrase(at, stop=stop)
                if slot is None:
                    return None, None
                at = slot.end
                # "gave the flat on Quay Street back": what qualifies the thing stands between.
                while stop is not None and at < len(self.plain) and self.plain[at] not in stop:
                    if self.words[at].mark or at - slot.end > MAX_PHRASE:
                        return None, None
                    at += 1
                continue
            # "changed back to": a word with a question mark may be left out.
            optional = {word[:-1] for word in words if word.endswith("?")}
            if at < len(self.plain) and (self.plain[at] in words or self.plain[at] in optional):
                at += 1
            elif not optional:
                return None, None
        return at, slot

    def noun_phrase(self, start: int, stop: frozenset[str] | None = None) -> Phrased | None:
        """Return the noun phrase that begins at a place; None if there is none. It ends before a word of `stop`."""
        lexicon, words = self.lexicon, self.words
        at, definite, own, indefinite = start, False, False, False
        articles = lexicon.words("articles")
        while at < len(words) and not words[at].mark:
            plain = words[at].plain
            if plain in lexicon.words("mine"):
                definite = own = True
            elif plain in lexicon.words("indefinite") and not words[at].name:
                indefinite = True
            elif plain in lexicon.words("articles") or (plain in lexicon.words("others") and not words[at].name):
                definite = True
            elif plain not in ("all", "both", "of"):
                break
            at += 1
        first = at
        while at < len(words) and at - first < MAX_PHRASE:
            word = words[at]
            if stop is not None and word.plain in stop and not (at == first and first > start):
                break
            linked = at > first and (
                word.plain in lexicon.words("linking")
                or (word.plain in articles and words[at - 1].plain in lexicon.words("linking"))
            )
            if not self.is_content(word) and not linked:
                break
            if word.plain in lexicon.words("days") | lexicon.words("months") and at > first:
                break
            at += 1
        while at > first and (words[at - 1].plain in lexicon.words("linking") or words[at - 1].plain in articles):
            at -= 1
        taken = tuple(word for word in words[first:at] if self.is_content(word))
        if not taken:
            return None
        head = taken[0] if lexicon.head_first else taken[-1]
        if words[at - 1].possessive:
            return None  # "Rumba's" without its noun
        named = all(word.name or word.value is not None for word in taken)
        definite = (definite or named or any(word.possessive for word in taken)) and not indefinite
        return Phrased(taken, head, definite, indefinite, own, start, at)

    def phrase_before(self, end: int) -> Phrased | None:
        """Return the noun phrase that ends before a place, for languages whose verb is last."""
        at = end
        while at > 0 and (not self.is_content(self.words[at - 1]) and not self.words[at - 1].mark):
            at -= 1
        start = at
        while start > 0 and self.is_content(self.words[start - 1]) and end - start < MAX_PHRASE:
            start -= 1
        while start > 0 and self.words[start - 1].plain in (
            self.lexicon.words("articles") | self.lexicon.words("mine") | self.lexicon.words("indefinite")
        ):
            start -= 1
        return self.noun_phrase(start) if start < at else None

    @property
    def _determiners(self) -> frozenset[str]:
        return self.lexicon.words("articles") | self.lexicon.words("mine") | self.lexicon.words("indefinite")

    @property
    def of_other(self) -> bool:
        """True if its subject is a pronoun for somebody or something else."""
        at = self._opening()
        return at < len(self.words) and self.plain[at] in self.lexicon.words("others") and self.subject is None

    @property
    def subject(self) -> Phrased | None:
        """Its subject; None if that is the speaker, or is left out."""
        at = self._opening()
        if at >= len(self.words) or self.plain[at] in self.lexicon.words("me"):
            return None
        return self.noun_phrase(at, stop=self.lexicon.words("auxiliaries") | self._verbs())

    @property
    def of_speaker(self) -> bool:
        """True if its subject is the speaker, also where it is left out ("Sold the Panda")."""
        at = self._opening()
        if at >= len(self.words):
            return False
        plain = self.plain[at]
        if plain in self.lexicon.words("me"):
            return True
        return plain in self._verbs() and not self.words[at].name and plain not in self.lexicon.words("others")

    def _verbs(self) -> frozenset[str]:
        return verbs_of(self.lexicon)

    def _opening(self) -> int:
        """Return the place after words that open a sentence: "so", "yesterday", "actually"."""
        lexicon, at = self.lexicon, 0
        skipped = lexicon.words("filler") | lexicon.words("conjunctions") | lexicon.words("time_words")
        skipped |= lexicon.words("days") | lexicon.words("months") | lexicon.words("openings")
        while at < len(self.words) and (self.words[at].mark or self.plain[at] in skipped):
            at += 1
        return at

    @property
    def content(self) -> frozenset[str]:
        """Stems of its words that carry meaning."""
        return frozenset(word.stem for word in self.words if self.is_content(word))

    @property
    def names(self) -> frozenset[str]:
        """Stems of its names and identifiers."""
        return frozenset(word.stem for word in self.words if word.name)


class Statement:
    """A text, read into clauses."""

    def __init__(self, text: str) -> None:
        self.text = text
        cut = nfkc(text[:MAX_CHARS]).replace("’", "'")
        words = list(_words(cut))
        self.lexicon = lexicon_for(word.plain for word in words)
        self.words = tuple(_valued(words, self.lexicon))
        self.whole = Clause(self.words, self.lexicon)
        self.clauses = tuple(_clauses(self.words, self.lexicon)) if len(text) <= MAX_CHARS else ()

    @property
    def same_words(self) -> tuple[str, ...]:
        """What two texts have in common that say the same in the same words: case, accents, punctuation, articles,
        plural and the preposition of a place do not count.
        """
        lexicon = self.lexicon
        left_out = lexicon.words("articles") | lexicon.words("same_place")
        return tuple(
            word.value or (word.plain if word.name and _INSIDE.search(word.plain) else _singular(word.plain))
            for word in self.words
            if not word.mark and word.plain not in left_out
        )


@lru_cache(maxsize=READ)
def read(text: str) -> Statement:
    """Return the statement that a text is."""
    return Statement(text)


@lru_cache(maxsize=16)
def verbs_of(lexicon: Lexicon) -> frozenset[str]:
    """Return the verbs that a lexicon knows: the first words of its phrases."""
    found: set[str] = set()
    for attribute in lexicon.attributes:
        for phrase in (*attribute.change, *attribute.ends, *attribute.gone, *attribute.parted):
            found |= phrase[0]
        for phrase in attribute.state:
            if attribute.name not in ("manager", "partner", "bank") or len(phrase) < 3:
                found |= phrase[0]
    for name in ("changes", "risen", "raised", "replaces"):
        for phrase in lexicon.phrases(name):
            found |= phrase[0]
    return frozenset(found - lexicon.words("articles") - lexicon.words("prepositions") - {SLOT})


_stemmer = Stemmer.Stemmer("english")


def _stem(plain: str) -> str:
    if not plain.isascii() or _INSIDE.search(plain):
        return plain
    return _singular(plain)


def _singular(plain: str) -> str:
    """Return a word without its plural s: the only inflection that changes no meaning."""
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
                yield Word(unit, unit, _stem(unit))
            opens = False
            continue
        said = found["word"]
        while (elided := _ELIDED.match(said)) is not None:
            yield _word(elided[1], opens)
            said, opens = said[elided.end() :], False
        yield from _expanded(said, opens)
        opens = False


def _expanded(said: str, opens: bool) -> Iterator[Word]:
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


def _word(text: str, opens: bool, *, possessive: bool = False) -> Word:
    plain = bare(text)
    inside = _INSIDE.search(plain) is not None
    # The first word of a sentence is written large in any case; whether it is a name shows elsewhere.
    name = (text[:1].isupper() and not opens and plain != "i") or inside or (text.isupper() and len(text) > 1)
    return Word(text, plain, _stem(plain), name=name, possessive=possessive)


def _valued(words: Sequence[Word], lexicon: Lexicon) -> Iterator[Word]:
    """Yield the words with numbers in digits, and with the names that open a sentence."""
    common = lexicon.function | lexicon.words("time_words") | verbs_of(lexicon) | lexicon.words("openings")
    common |= lexicon.words("days") | lexicon.words("months") | lexicon.words("units")
    dated = lexicon.words("days") | lexicon.words("months")
    for word in words:
        if word.mark or word.value is not None:
            yield word
        elif not word.text[:1].isupper() and word.plain in lexicon.numbers:
            yield Word(word.text, word.plain, word.stem, value=lexicon.numbers[word.plain])
        elif word.name and word.plain in dated:
            yield Word(word.text, word.plain, word.stem, possessive=word.possessive)
        elif word.text[:1].isupper() and not word.name and word.plain not in common:
            yield Word(word.text, word.plain, word.stem, name=True, possessive=word.possessive)
        else:
            yield word


def _clauses(words: Sequence[Word], lexicon: Lexicon) -> Iterator[Clause]:
    """Yield the clauses: sentences, and their parts at a comma, a semicolon and before a conjunction with a subject."""
    starts = lexicon.words("me") | lexicon.words("mine") | lexicon.words("others")
    part: list[Word] = []
    count = 0
    for place, word in enumerate(words):
        following = words[place + 1].plain if place + 1 < len(words) else ""
        splits = (word.mark and (word.plain[0] in _END or word.plain == ",")) or (
            word.plain in lexicon.words("conjunctions") and (following in starts or following in verbs_of(lexicon))
        )
        if not splits:
            part.append(word)
            continue
        if part:
            yield Clause(part, lexicon, asks=word.plain.startswith("?"))
            count += 1
            if count == MAX_CLAUSES:
                return
        part = []
    if part:
        yield Clause(part, lexicon)


def attribute_named(lexicon: Lexicon, key: str | None) -> Attribute | None:
    """Return the attribute whose values are stored under a key."""
    return None if key is None else next((one for one in lexicon.attributes if key in one.keys), None)
