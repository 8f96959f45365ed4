"""The frame of a statement: whom it is about, what of them, and how it bears on what was said before.

Built from lists of expressions (`data/*.json`) in seven languages, without knowing the language. What the lists do not
know is left to the vectors: a frame is one side of `mnemic.compare.change`, never the whole of it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

LONGEST = 4_000
"""Characters of a text that are looked at."""
SHORTEST_REAL = 3
"""Words before a wish ("I drink wine again, a Rioja would be nice") that state something by themselves."""
PRONOUN_WITHIN = 3
"""A pronoun among so many first words is the subject; later ones lean on what the sentence names."""
_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['-][^\W\d_]+)*")
_NUMBERED = re.compile(r"(\d)(?:st|nd|rd|th|k|t|x|m)\b")
_SENTENCE = re.compile(
    r"(?<=[.!?…])(?!(?<=\d\.)\s(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b)"
    r"[\s)]+|\n+|(?<=[;])\s+|\s*[\U0001F300-\U0001FAFF\u2600-\u27BF]+\s*"
)
_CLAUSE = re.compile(r"[,;:]\s+|\s[–—-]+\s|\s(?=(?:but|so|aber|mais|pero|ma|mas|maar)\s)")
_ASKS = re.compile(
    r"(?i)(?:^|,|\s-|\s(?:and|und|et|y|e|en))\s*(?:any|anyone|can|could|do|does|did|is|are|was|would|should|will|how|what|whats|what's"
    r"|when|where|which|who|why|help|wie|was|wo|wer|wann|welche\w*|kann|konn\w*|gibt|tu|est-ce|quel\w*|comment|ou|que|qué|cuál|cómo"
    r"|dónde|quién|puedes|che|cosa|come|dove|quale|puoi|qual|como|onde|podes|hoe|wat|waar|wie|kun|kan)\b[^,]*\?+$"
)
_ORDERS = re.compile(
    r"(?i)^\W*(?:can|could|would|will) (?:you|we) (?:please )?(?:switch|change|move|make|stop|use|put|set|go)\b"
)
_QUOTED = re.compile(
    r"\"[^\"\n]{8,2000}\"|“[^”]{8,2000}”|«[^»]{8,2000}»|„[^“”]{8,2000}[“”]|```.{0,4000}?```", re.DOTALL
)
_ENDINGS = ("ing", "ies", "ed", "es", "en", "er", "s", "e", "a", "o", "i", "n")
_TURNS = frozenset({"end", "change", "correct", "weak_end", "weak_change", "weak_correct"})
_PAST = re.compile(
    r"\b(?:i|we|he|she|they|it|kids?|[a-z]+) (?:just |also |recently |really |finally )?"
    r"(?:went|got|had|was(?! born)|were(?! born)|made|took|felt|saw|met|found|told|gave|came|did"
    r"|ran|bought|sold|wrote|read|won|lost|ate|sent|brought|heard|spent|learned|learnt"
    r"|(?!(?:need|feed|speed|indeed|seed|breed|bleed|exceed|proceed|wed|bed|red|shed)\b)[a-z]{2,}ed)\b(?!')"
)
_GERMAN_PAST = re.compile(r"(?i)\b(?:wurden?|hatten?|konnten?)\b")
"""Without their accents the forms of what is unreal ("würde") read like these, which tell what was."""
_SINCE_NOW = re.compile(
    r"\b(?:as of|since|from|starting|seit|ab|depuis|desde|da|vanaf|sinds)"
    r" (?:this|dies\w+|ce|cette|est[ea]|quest[oa]|deze)\b"
)
_DUTCH = re.compile(r"\b(?:ik|wij|mijn|onze|het|een|niet|geen|zijn|wordt|hebben)\b")
_PRESENT = re.compile(
    r"\b(?:am|is|are|i'm|we're|he's|she's|it's|i've|have|has|live|lives|work|works|use|uses|like|love|prefer|always|every|never|usually|drive|take|takes|eat"
    r"|drink|play|speak|need|needs|want|wants|own|rent|do|does|don't|doesn't|can't|won't)\b"
)
_NOT_ENDED = re.compile(
    r"\b(?:don't|do not|never|not|didn't|did not|won't|haven't|isn't|nicht|pas|nunca|non|nao|niet)"
    r" (?:ever |even |be )?(?:quit\w*|giv\w+ up|stop\w*|cancel\w*|sold|sell\w*"
    r"|left|leav\w+|moved|moving|changed|switch\w*)"
)
_IS = re.compile(
    r"\A\W*+(?:the|my|our|der|die|das|mein\w*|unser\w*|le|la|les|l'|mon|ma|mes|notre|el|los|las|mi|mis|nuestr\w+|il|lo|i|gli|mio|mia|nostr\w+|o|a|os|as"
    r"|meu|minha|noss\w+|de|het|mijn|ons|onze)?\s*+([^.,;]{2,60}?)(?:\s(?:is|are|was|will be|takes place|costs|betragt|kostet"
    r"|coute|cuesta|costa|custa|kost|ist|sind|est|sont|es|son|e|sono|sao|zijn)\s|'s\s|\s?:\s|\s?=\s)"
)
_ALLOWED = re.compile(r",\s(?:the |die |der |das |les? |la )?([^\W_]{3,30}) (?:is|are) (?:fine|ok|okay|no problem)\b")
"""What a correction says is no matter: "I'm allergic to sesame, mustard is fine"."""
_DENIED = re.compile(
    r"\b(?:not|instead of|rather than|isn't|wasn't|aren't|nicht|statt|pas|au lieu d(?:e|u|es)|plutot que|no|en vez del?"
    r"|en lugar del?|non|invece d(?:i|el|ella)|al posto d(?:i|el|ella)|nao|em vez d(?:e|o|a)|niet|in plaats van)\s+"
    r"(?:(?:the|in|at|on|an?|der|die|das|den|le|la|les|el|los|il|o|os|de|het)\s+)?([^\W_](?:[\w.:/-]*\w)?)"
)
_NOT = re.compile(
    r"\b(?:no|not|never|none|without|\w+n't|cannot|kein\w*|nicht|nie|ohne|pas|jamais|sans|nunca|sin|non|mai|senza|nao|sem"
    r"|niet|geen|nooit|zonder)\b"
)
_YOU = re.compile(r"\b(?:you|your|you're|yourself|congrats|hope|let's)\b|^(?:keep|don't)\b")
_HEAD = re.compile(
    r"\A\W*+([^.,;:!?]{2,60}?)\s(?:is|are|was|were|starts?|begins?|ends?|opens?|closes?|ist|sind|war|beginnt|est|sont|commence"
    r"|es|son|empieza|e|sono|sao|inizia|comeca|zijn|begint)\s"
)
_IMPERSONAL = frozenset({"they", "ils", "eles", "ze"})
SLOTS = ("weekdays", "dayparts", "seasons", "months")
MEMBERS = ("sides", "directions", *SLOTS)
"""Classes of words that tell apart things of one sort: a north and a south entrance, Monday's and Tuesday's class."""


def _data(name: str) -> dict[str, Any]:
    text = files(__package__).joinpath("data", f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    found.pop("about", None)
    return found


def plain(text: str) -> str:
    """`text` in lower case, with straight apostrophes and without accents."""
    text = text.replace("’", "'").replace("ß", "ss").casefold()
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _expression(phrase: str) -> str:
    words = [r"[^\W\d_]+(?:['-][^\W\d_]+)?" if word == "*" else _starred(word) for word in phrase.split(" ")]
    return r"\s+".join(words)


def _starred(word: str) -> str:
    return re.escape(word[:-1]) + r"[\w'-]*" if word.endswith("*") else re.escape(word)


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted({*phrases}, key=lambda phrase: (-len(phrase), phrase))
    return re.compile(r"(?<![\w'])(?:" + "|".join(map(_expression, ordered)) + r")(?![\w])")


@lru_cache(maxsize=1)
def _cues() -> Mapping[str, re.Pattern[str]]:
    return {kind: _any_of(p for told in by.values() for p in told) for kind, by in _data("cues").items()}


@lru_cache(maxsize=1)
def _feelings() -> Mapping[str, re.Pattern[str]]:
    return {kind: _any_of(p for told in by.values() for p in told) for kind, by in _data("feelings").items()}


@lru_cache(maxsize=1)
def _attributes() -> Mapping[str, re.Pattern[str]]:
    number = "|".join(sorted({r"\d{1,3}", *_words()["numbers"]}))
    return {
        name: re.compile("|".join(told).replace("NUMBER", f"(?:{number})"))
        for name, told in _data("attributes").items()
    }


@lru_cache(maxsize=1)
def _words() -> Mapping[str, Any]:
    told = _data("words")
    classes = {
        name: {plain(word): number for number, group in enumerate(told[name]) for word in group} for name in MEMBERS
    }
    classes["numbers"] = {plain(word): int(group[0]) for group in told["numbers"] for word in group}
    return {"empty": frozenset(map(plain, told["empty"])), **classes}


@lru_cache(maxsize=1)
def _people() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(map(plain, told)) for name, told in _data("people").items()}


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word cut to what its inflections share, roughly and in any of the languages."""
    word = word.removesuffix("'s")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    else:
        return word[:7]
    if ending == "s" and len(word) > 3 and word[-1] in "aeio":  # "emojis" as "emoji"
        word = word[:-1]
    if len(word) >= 4 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:7]


@dataclass(frozen=True)
class Frame:
    """One text, taken apart as far as somebody asks."""

    text: str

    @cached_property
    def said(self) -> tuple[str, ...]:
        """Its sentences that state something: no question, nothing quoted, nothing unreal."""
        body = _QUOTED.sub(" ", self.text[:LONGEST])
        parts = [_stated(part.strip()) for part in _SENTENCE.split(body) if part and part.strip()]
        return tuple(real for part in parts if part and (real := _real(part)))

    @cached_property
    def plain(self) -> str:
        """Text that it states, in lower case and without accents."""
        return plain(" . ".join(self.said))

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The words and numbers of what it states, in order."""
        return tuple(_TOKEN.findall(_NUMBERED.sub(r"\1 ", self.plain)))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers, also where they are words."""
        classes = _words()["numbers"]
        found = {token.replace(",", "") for token in self.tokens if token[0].isdigit()}
        return frozenset(found | {str(classes[token]) for token in self.tokens if token in classes})

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words of content, and its numbers."""
        empty = _words()["empty"]
        return frozenset(stem(token) for token in self.tokens if token not in empty and len(token) > 1)

    @cached_property
    def unnumbered(self) -> frozenset[str]:
        """The stems of its words of content without its numbers."""
        words = _words()
        told = {stem(token) for token in self.tokens if token[0].isdigit() or token in words["numbers"]}
        return self.stems - told

    @cached_property
    def counted(self) -> frozenset[str]:
        """The stems of the words after its numbers: what it counts or the unit it measures in. A number after a word of
        content is more likely a name ("parcel 24 goes ..."), and then nothing is counted.
        """
        words = _words()
        triples = zip(("", *self.tokens), self.tokens, (*self.tokens[1:], ""), strict=False)
        numbered = [(a, c) for a, b, c in triples if b[0].isdigit() or b in words["numbers"]]
        if any(before and before not in words["empty"] for before, _ in numbered):
            return frozenset()
        return frozenset(stem(word) for _, word in numbered if word not in words["empty"] and len(word) > 1)

    @cached_property
    def names(self) -> frozenset[str]:
        """The stems of what is written like a name: with a capital that does not begin a sentence."""
        found = set()
        for part in self.said:
            words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", part)
            found |= {
                stem(plain(word)) for word in words[1:] if word[0].isupper() and plain(word) not in _words()["empty"]
            }
        return frozenset(found)

    @cached_property
    def denied(self) -> frozenset[str]:
        """The stems of what it says is not so, or is replaced ("Savona, not Genoa", "tea instead of coffee")."""
        told = [*_DENIED.findall(self.plain), *_ALLOWED.findall(self.plain)]
        return frozenset(stem(word) for word in told if word not in _words()["empty"])

    @cached_property
    def negated(self) -> bool:
        """True if a word of it denies something."""
        return _NOT.search(self.plain) is not None

    @cached_property
    def called(self) -> frozenset[str]:
        """Its names and longer numbers as they are spelled, in lower case: what one may misspell."""
        words = re.findall(r"[^\W_]{3,}", " ".join(self.said))
        names = {plain(word) for word in words if word[0].isupper() or (word.isdigit() and len(word) >= 4)}
        return frozenset(names - _words()["empty"])

    @cached_property
    def called_stems(self) -> frozenset[str]:
        """The stems of `called`."""
        return frozenset(map(stem, self.called))

    @cached_property
    def feeling(self) -> tuple[str, frozenset[str]]:
        """The sign of a like or dislike (`likes`, `dislikes` or nothing), and the stems of its object."""
        kinds = _feelings()
        for kind in ("dislikes", "likes"):
            if len(found := kinds[kind].findall(self.plain)) == 1:
                rest = kinds[kind].sub(" ", self.plain, count=1)
                empty = _words()["empty"]
                return kind, frozenset(stem(one) for one in _TOKEN.findall(rest) if one not in empty and len(one) > 1)
            if found:
                break
        return "", frozenset()

    @cached_property
    def theme(self) -> frozenset[str]:
        """The stems of what it says something is, where it says so of one thing ("the budget is 20k")."""
        found = _IS.match(self.plain)
        if found is None:
            return frozenset()
        empty = _words()["empty"]
        return frozenset(stem(token) for token in _TOKEN.findall(found[1]) if token not in empty and len(token) > 1)

    @cached_property
    def head(self) -> dict[str, frozenset[int]]:
        """The members of each class of words that it names before its first verb: "Tuesday's class" in "Tuesday's class
        is at 10".
        """
        found = _HEAD.match(self.plain)
        tokens = [token.removesuffix("'s") for token in _TOKEN.findall(found[1])] if found else []
        words = _words()
        return {name: frozenset(words[name][token] for token in tokens if token in words[name]) for name in MEMBERS}

    @cached_property
    def cues(self) -> frozenset[str]:
        """Signs of bearing on what was said before: `end`, `change`, `correct`, `add`, `passing`, `past`, `again`."""
        told = _NOT_ENDED.sub(" ", self.plain)
        texts = {"passing": _SINCE_NOW.sub(" ", told), "unreal": ""}
        return frozenset(kind for kind, cue in _cues().items() if cue.search(texts.get(kind, told)))

    @property
    def turns(self) -> bool:
        """True if a word of it says that something has changed."""
        return not self.cues.isdisjoint(_TURNS)

    @cached_property
    def event(self) -> bool:
        """True if it tells of something that happened once rather than of how things are."""
        said = self.plain
        if _DUTCH.search(said):  # "met" and "was" are words of other kinds there, and participles end otherwise
            return False
        return bool(_PAST.search(said)) and not _PRESENT.search(said)

    @cached_property
    def addresses(self) -> bool:
        """True if it is about the one who is spoken to, as praise and good wishes are."""
        return bool(_YOU.search(self.plain)) and self.subject != "self"

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The attributes it gives a value, or whose change it tells."""
        return frozenset(name for name, told in _attributes().items() if told.search(self.plain))

    @cached_property
    def subject(self) -> str:
        """Person it is about: `self`, `other:<relation>`, `name:<stem>`, or nothing that shows."""
        for part in self.said:
            found = _subject(part)
            if found:
                return found
        return ""

    @cached_property
    def relations(self) -> frozenset[str]:
        """Words for persons by what they are to the speaker, wherever they stand in it."""
        return frozenset(
            stem(token.removesuffix("'s"))
            for token in self.tokens
            if token.removesuffix("'s") in _people()["relations"]
        )

    @cached_property
    def _slots(self) -> dict[str, frozenset[int]]:
        words = _words()
        return {
            name: frozenset(words[name][token] for token in self.tokens if token in words[name]) for name in MEMBERS
        }

    def slots(self, name: str) -> frozenset[int]:
        """The members of a class of words (`sides`, `weekdays` ...) that it names."""
        return self._slots[name]


def stated_until(text: str) -> int:
    """Return the number of characters of `text` that state something, before it begins to ask."""
    said = _stated(text.rstrip())
    return len(said) if text.startswith(said) else 0


def _stated(sentence: str) -> str:
    """Return what a sentence states, before it asks something; nothing if all of it asks. A wish for a change put as a
    question states it.
    """
    if not sentence.endswith("?") or _ORDERS.search(sentence):
        return sentence
    asks = _ASKS.search(sentence)
    return sentence[: asks.start()].strip(" ,") if asks else ""


def _real(sentence: str) -> str:
    """Return what a sentence says before it begins to wish or to suppose; nothing if it begins with that."""
    unreal = _cues()["unreal"]
    if unreal.search(plain(_GERMAN_PAST.sub("ward", sentence))) is None:
        return sentence
    said: list[str] = []
    for clause in _CLAUSE.split(sentence):
        if unreal.search(plain(_GERMAN_PAST.sub("ward", clause))):
            break
        said.append(clause)
    return ", ".join(said) if sum(len(clause.split()) for clause in said) >= SHORTEST_REAL else ""


def _subject(sentence: str) -> str:
    people = _people()
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", sentence)[:6]
    low = [plain(word) for word in words]
    for place, word in enumerate(low):
        bare = word.removesuffix("'s")
        if word in people["self"]:
            return "self"
        if bare in people["relations"] and people["with"].isdisjoint(low[max(0, place - 2) : place]):
            return f"other:{stem(bare)}"
        if word in people["others"] and place < PRONOUN_WITHIN:
            # Whoever "they" are that have moved my appointment, it is about mine.
            return "self" if word in _IMPERSONAL and not people["possessive"].isdisjoint(low) else "other:"
        follows = low[place + 1] if place + 1 < len(low) else ""
        if words[place][0].isupper() and follows in people["verbs"] and word not in _words()["empty"]:
            return f"name:{stem(bare)}"
    return "self" if any(word in people["possessive"] for word in low) else ""
