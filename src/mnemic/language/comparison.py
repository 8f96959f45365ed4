"""What a new statement says about a known one: the only place where words decide that something is over.

A statement ends or replaces another only on evidence about that very thing, which is named (`Evidence.why`). Without
such evidence both stand: an order of search results makes up for a missed change, nothing makes up for a fact that is
lost. Not compared here: who said the two, when, and with what trust (`mnemic.write.decide`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from mnemic.language.lexicon import Attribute, Lexicon, Phrase, Phrases, no_places
from mnemic.language.statement import (
    LEAST_LEAD,
    OUTLINED,
    READ,
    Clause,
    Phrased,
    Statement,
    Word,
    attribute_named,
    read,
    read_alike,
    stem_of,
)
from mnemic.language.text.language import language_of

COMPARED = 8192
"""Pairs whose comparison is cached: a batch and a search meet the same two again."""
MAX_CORRECTION_WORDS = 9
ALIKE = 0.6
"""Least likeness of two spellings of which one corrects the other (`difflib`, ratio)."""
HOUR_DIGITS = 2
_DETERMINERS = ("articles", "mine")
MAX_ASIDE = 2
"""Words that a known statement may have beside what an ending names."""
MAX_OPPOSED = 2
"""Words in which two statements of opposite meaning differ: "open", "closed"."""


class How(StrEnum):
    """Relation of a new statement to a known one."""

    SAME = "same"
    CHANGED = "changed"
    ENDED = "ended"
    OPPOSED = "opposed"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a new statement says about a known one. `named`: it names the very thing, not only its sort ("the cat")."""

    how: How
    why: str
    named: bool = True


class Known(NamedTuple):
    """A known statement with its labels."""

    text: str
    key: str | None = None
    safety: bool = False


@dataclass(frozen=True, slots=True)
class _Fact:
    attribute: Attribute
    value: Phrased | None
    owner: frozenset[str]
    changes: bool
    words: frozenset[str]
    plain: frozenset[str] = frozenset()


def compare(known: Known, text: str) -> Evidence | None:
    """Return the evidence that a new statement gives against a known one, or that the two say the same; None if both
    stand.
    """
    # Looked at first: of most pairs it is plain that neither has to do with the other.
    return _compare(known, text) if may_concern(outline_of(known.text, known.key), outline_of(text)) else None


@lru_cache(maxsize=COMPARED)
def _compare(known: Known, text: str) -> Evidence | None:
    old, new = read_alike(_parse_known(known), read(text))
    if _subjects(old).isdisjoint(_subjects(new)):
        return Evidence(How.SAME, "same words") if says_same(old, new) else None
    if says_same(old, new):
        return Evidence(How.SAME, "same words")
    opposed = _find_opposite(old, new)
    if opposed is not None:
        return opposed
    # "My parents and I moved to York when I was six" tells of earlier, not of a change.
    if new.whole.says("back_then"):
        return None
    for clause in new.clauses:
        if clause.unreal:
            continue
        found = _by_clause(known, old, clause)
        # "I started at Globex in 2001, then moved to Acme" changes nothing for who works at Acme.
        again = found is not None and found.why.startswith(_ANOTHER) and old.whole.names & new.whole.names
        if found is not None and not again:
            return found
    return None


class Outline(NamedTuple):
    """What is kept of a statement to see at once that another has nothing to do with it: its language and words, what
    it may be about, its claim if it makes one, whether it has a word of a change or an end, whether its subject is one
    of which there is one, and whether it says what something is.
    """

    lexicon: Lexicon
    words: tuple[str, ...]
    subjects: frozenset[str]
    claim: frozenset[str] | None
    tells_change: bool
    of_single: bool
    has_copula: bool


@lru_cache(maxsize=OUTLINED)
def outline_of(text: str, key: str | None = None) -> Outline:
    """Return the outline of a statement."""
    one = _parse_known(Known(text, key))
    claim = _claim(one.clauses[0]) if len(one.clauses) == 1 else None
    single, copula = _is_of_single(one.clauses[0]) if one.clauses else False, any(c.has("copulas") for c in one.clauses)
    return Outline(one.lexicon, one.same_words, _subjects(one), claim, not _tells_nothing_new(one), single, copula)


def may_concern(old: Outline, new: Outline) -> bool:
    """Return False if two statements give no evidence against each other, as what is known of each alone shows."""
    if old.lexicon is not new.lexicon or old.words == new.words:
        return True
    if old.subjects.isdisjoint(new.subjects):
        return False
    if new.tells_change or (old.of_single and new.has_copula):
        return True
    return old.claim is not None and new.claim is not None and len(old.claim ^ new.claim) <= MAX_OPPOSED


@lru_cache(maxsize=READ)
def _tells_nothing_new(statement: Statement) -> bool:
    """Return True for a statement without a word of a change or an end, of anything."""
    return not any(map(_has_cue, statement.clauses))


@lru_cache(maxsize=READ)
def _subjects(statement: Statement) -> frozenset[str]:
    """Return what a statement may be about: stems of its words, and marks of its attributes."""
    about = {f"@{fact.attribute.name}" for clause in statement.clauses for fact in _facts(clause)}
    # "We broke up" names nobody; "my employer: Zeiss" is a key.
    for clause in statement.clauses:
        about |= {f"@{one.name}" for one in clause.attributes if clause.find(one.parted)}
        if clause.has_key:
            about |= {f"@{one.name}" for one in clause.lexicon.attributes if not one.keys.isdisjoint(clause.set)}
    return statement.whole.content | about


def says_same(old: Statement, new: Statement) -> bool:
    """Return True if two statements have the same words: case, accents, punctuation, articles and plural apart."""
    same = old.same_words == new.same_words and bool(old.same_words)
    # Signs are no punctuation: "-5" is not "5", and "a < b" not "a > b".
    return same and _SIGNS.findall(old.text) == _SIGNS.findall(new.text)


_SIGNS = re.compile(r"[<>=+*/\\|~^&%$€£#@{}\[\]_`]|-(?=\d)")


def _parse_known(known: Known) -> Statement:
    return read(known.text if known.key is None else _text(known))


@lru_cache(maxsize=READ)
def is_safety(text: str, key: str | None = None) -> bool:
    """Return True for a statement on health: an allergy, illness, medicine, disability or pregnancy."""
    statement = _parse_known(Known(text, key))
    if any(clause.has("health") for clause in statement.clauses):
        return True
    if any(word.stem.startswith(HEALTH_ROOTS) for word in statement.words):
        return True
    attribute = attribute_named(statement.lexicon, key)
    if attribute is not None and attribute.safety:
        return True
    return any(fact.attribute.safety for clause in statement.clauses for fact in _facts(clause))


_ANOTHER = "another "

HEALTH_ROOTS = (
    "allerg", "alerg", "asthm", "asm", "diabet", "epilep", "insulin", "celiac", "coeliac", "zoliak", "intoleran",
    "migran", "anaphyla", "hemophil", "haemophil", "arthrit", "schwanger", "embaraz", "enceinte", "gravid", "incinta",
    "zwanger", "rollstuhl", "behinder", "medikament", "medicament", "farmac", "tablett",
)  # fmt: skip
"""Beginnings of words for illnesses and medicines that European languages share."""


# -- one clause against what is known --------------------------------------------------------------------------------


def _by_clause(known: Known, old: Statement, clause: Clause) -> Evidence | None:
    if _is_compound(old) or not (_has_cue(clause) or _states_single(old.clauses[0], clause)):
        return None
    facts = list(_known_facts(known, old))
    # What is said of a passing occasion does not concern a habit.
    if clause.says("additive") or _is_occasion(clause, old):
        return None
    if (found := _no_longer(old, clause)) is not None:
        return found
    if clause.negated:
        # "The review is on Wednesday now, not on Tuesday"; "I have not sold it" changes nothing.
        return _from_old(known, old, facts, clause)
    if (found := _find_end(known, old, facts, clause)) is not None:
        return found
    if (found := _amount_changed(old, clause)) is not None:
        return found
    if (found := _from_old(known, old, facts, clause)) is not None:
        return found
    if known.safety:
        return _find_aligned(old, facts, clause, only="number")  # another dose
    return _another_value(facts, clause) or _switched(old, clause) or _find_aligned(old, facts, clause)


_CUES = ("no_longer", "negations", "raised", "risen", "instead_of", "replaces", "changes", "newness")


@lru_cache(maxsize=READ)
def _has_cue(clause: Clause) -> bool:
    """Return True if a clause has words of a change or an end, of anything: most clauses have none."""
    return (
        clause.negated
        or any(clause.says(name) for name in _CUES)
        or any(clause.find(phrases) for one in clause.attributes for phrases in (one.ends, one.gone, one.parted))
        or any(fact.changes for fact in _facts(clause))
    )


def _is_occasion(clause: Clause, old: Statement) -> bool:
    """Return True for one time of what is known as a habit: "this week", "the Thursday lesson", of every Thursday."""
    if clause.has("occasions") and any(one.has("habits") for one in old.clauses):
        return True
    if not clause.has("days"):
        return False
    days = [word for word in clause.words if _sort(word, clause) == "day"]
    return any(_is_one_of(day, one) for day in days for one in old.clauses)


@lru_cache(maxsize=READ)
def _is_compound(old: Statement) -> bool:
    """Return True if a text states several things, of which a change would take all away."""
    clauses = [clause for clause in old.clauses if clause.content]
    if len(clauses) != 1:
        return True
    inside = {word for fact in _facts(clauses[0]) for word in fact.plain}
    called, plain, joining = old.lexicon.words("called"), clauses[0].plain, old.lexicon.words("joining")
    verb, prepositions = _first(clauses[0], "copulas", "auxiliaries", "third"), old.lexicon.words("prepositions")
    return any(
        # "un perro que se llama Toby", "een hond die Bram heet": only a name follows.
        one in joining
        and one not in inside
        and called.isdisjoint(plain[at + 1 : at + 4])
        # "My appointment with the dentist is ...": of one thing.
        and not (at < verb and one in prepositions)
        for at, one in enumerate(plain)
    )


@lru_cache(maxsize=READ)
def _tells_several(old: Statement) -> bool:
    """Return True if a text states several things by itself; "in Ghent, above a bakery" is one."""
    clauses = [clause for clause in old.clauses if clause.content]
    if len(clauses) <= 1:
        return _is_compound(old)
    return any(clause.verbs or (clause.subject is not None and clause.subject.own) for clause in clauses[1:])


def _known_facts(known: Known, old: Statement) -> Iterator[_Fact]:
    attribute = attribute_named(old.lexicon, known.key)
    if attribute is not None:
        clause = read(known.text).whole
        value = clause.noun_phrase(0)
        yield _Fact(attribute, value, frozenset(), False, frozenset())
        return
    for clause in old.clauses:
        yield from _facts(clause)


def _is_one_thing(value: Phrased, clause: Clause) -> bool:
    """Return True for "the bus", which one takes too, where a medicine has no article: "I take insulin"."""
    return not clause.lexicon.head_first and clause.plain[value.start] in clause.lexicon.words("articles")


@lru_cache(maxsize=READ)
def _facts(clause: Clause) -> tuple[_Fact, ...]:
    return tuple(_find_facts(clause))


def _find_facts(clause: Clause) -> Iterator[_Fact]:
    for attribute in clause.attributes:
        for changes, phrases in ((True, attribute.change), (False, attribute.state)):
            for _, start, end, value in clause.find(phrases):
                if value is not None and attribute.name == "medicine" and _is_one_thing(value, clause):
                    continue
                words = frozenset(clause.words[at].stem for at in range(start, end)) - (
                    value.stems if value is not None else frozenset()
                )
                plain = frozenset(clause.plain[start:end])
                yield _Fact(attribute, value, clause.owner_beside(words), changes, words, plain)


# -- an end of the known thing ---------------------------------------------------------------------------------------


def _no_longer(old: Statement, clause: Clause) -> Evidence | None:
    """Find "I no longer play the cello": the known statement's own words, and that they hold no more."""
    negations = clause.lexicon.words("negations")
    for phrase, start, end, _ in clause.find(clause.lexicon.phrases("no_longer")):
        outright = not phrase[0].isdisjoint(clause.lexicon.words("outright"))
        if outright == (clause.negated and not frozenset().union(*phrase) & negations):
            continue  # "not ... any more" needs its "not"; "I'm not used to it" is none
        cue = frozenset(clause.words[at].stem for at in range(start, end))
        said = clause.meaning - cue
        known = old.clauses[0].meaning
        owned = old.clauses[0].owner == clause.owner
        if not owned or not said <= known | clause.verbs or not said & known:
            continue
        if _is_aside(old, known - said) or _qualifies(old.clauses[0], known - said, said - clause.verbs):
            return Evidence(How.ENDED, "no longer")
    return None


def _qualifies(known: Clause, left: frozenset[str], said: frozenset[str]) -> bool:
    """Return True if what a known statement says beside what is over only says where, when or for what: "I work as a
    nurse in Leeds".
    """
    lexicon = known.lexicon
    places = [at for at, word in enumerate(known.words) if word.stem in left]
    named = [at for at, word in enumerate(known.words) if word.stem in said]
    if not places or not named or max(named) > min(places):
        return False
    start = min(places)
    while start and known.plain[start - 1] in lexicon.words(*_DETERMINERS, "indefinite"):
        start -= 1
    before = known.plain[start - 1]
    # "a member of the Labour Party": of something else, it is another thing.
    return before in lexicon.words("prepositions", "contracted") and before not in lexicon.words("linking")


def _find_end(known: Known, old: Statement, facts: list[_Fact], clause: Clause) -> Evidence | None:
    """Find an end whose object or subject is the known thing: "I sold the Panda", "Odile left"."""
    for fact in facts:
        if known.safety and not fact.attribute.safety:
            continue
        attribute = next(one for one in clause.lexicon.attributes if one.name == fact.attribute.name)
        if (named := _by_verb(attribute, fact, old, clause)) is not None:
            return Evidence(How.ENDED, f"ended: {attribute.name}", named)
        if known.safety:
            continue
        if (named := _by_leaving(attribute, fact, old, clause)) is not None:
            return Evidence(How.ENDED, f"gone: {attribute.name}", named)
        if _is_parted(fact, clause, attribute.parted):
            return Evidence(How.ENDED, f"ended: {attribute.name}")
    return None


def _by_verb(attribute: Attribute, fact: _Fact, old: Statement, clause: Clause) -> bool | None:
    """Return whether a clause ends a fact by a verb whose object it is: "I sold the Panda"; None if it does not."""
    for _, start, end, slot in clause.find(attribute.ends):
        object_ = slot or _object(clause, start, end)
        if object_ is None or _is_some(object_, fact, clause) or _is_at_hour(clause):
            continue
        if not _is_by_owner(fact, clause, object_, start):
            continue
        # "I left Sue at the station", "He dejado la aspirina en la mesa": a place makes it a day's event.
        if (attribute.parted or attribute.safety) and not _is_only_timed(clause, start, end, object_):
            continue
        if (named := _means(object_, fact, old, clause)) is not None and _rest_agrees(old, clause):
            return named
    return None


def _is_only_timed(clause: Clause, start: int, end: int, object_: Phrased) -> bool:
    """Return True if nothing but a time stands beside a verb and its object."""
    last = max(end, object_.end)
    if not clause.lexicon.verb_last:
        return _ends_there(clause, last)
    return _ends_there(clause, last) and _is_time(clause, clause.words[object_.end : max(start, end - 1)])


def _by_leaving(attribute: Attribute, fact: _Fact, old: Statement, clause: Clause) -> bool | None:
    """Return whether a clause ends a fact by a verb whose subject it is: "Odile left"; None if it does not."""
    subject = clause.subject
    if fact.value is None or subject is None:
        return None
    for _, start, end, _ in clause.find(attribute.gone):
        if _follows(clause, subject, start) and _ends_there(clause, end):
            return _means(subject, fact, old, clause)
    return None


def _is_parted(fact: _Fact, clause: Clause, phrases: Phrases) -> bool:
    """Return True for "Tom and I split up"; not for "We split the bill" and "My parents split up"."""
    partner = fact.value.stems if fact.value is not None else frozenset()
    if fact.owner or not clause.has("me") or clause.names - partner or not clause.owner <= partner:
        return False
    for _, start, end, _ in clause.find(phrases):
        parted = clause.phrase_before(start) if clause.lexicon.verb_last else None
        if _ends_there(clause, end) and (parted is None or parted.stems <= partner):
            return True
    return False


def _object(clause: Clause, start: int, end: int) -> Phrased | None:
    """Return the object of an ending: after it, before it where the verb comes last."""
    if clause.lexicon.verb_last:
        return clause.phrase_before(start) or clause.noun_phrase(end)
    return clause.noun_phrase(end) or clause.noun_phrase(clause.after_adverbs(end))


def _is_at_hour(clause: Clause) -> bool:
    """Return True for "I left the club at six": what has an hour happened on a day."""
    hours, articles = clause.lexicon.words("at_hour"), clause.lexicon.words("articles")
    words = [word for word in clause.words if word.plain in hours or word.plain not in articles]
    return any(
        before.plain in hours and word.value is not None and len(word.value.partition(":")[0]) <= HOUR_DIGITS
        for before, word in pairwise(words)
    )


def _is_some(phrased: Phrased, fact: _Fact, clause: Clause) -> bool:
    """Return True for "Bücher": a noun without its article that may be some of its sort, not a name."""
    if not clause.lexicon.capital_nouns or fact.attribute.name != "possession":
        return False
    bare = clause.words[phrased.start] is phrased.words[0] and len(phrased.words) == 1
    return bare and phrased.head.plain.endswith(("e", "en", "er", "n", "s"))


def _is_by_owner(fact: _Fact, clause: Clause, object_: Phrased, start: int) -> bool:
    """Return True if the one who ends something is the one it is known of. Of a medicine, a doctor may."""
    if fact.owner == clause.owner:
        return True
    if fact.owner or not fact.attribute.safety:
        return False
    # "took me off insulin", "hat mir Ramipril abgesetzt"; not "told me that Ana stopped taking insulin"
    lexicon = clause.lexicon
    between = lexicon.words("auxiliaries", "third", *_DETERMINERS)
    return any(
        plain in lexicon.words("me")
        and all(word.plain in between or word.stem in object_.stems for word in clause.words[at + 1 : start])
        for at, plain in enumerate(clause.plain[: object_.end])
    )


def _means(phrased: Phrased, fact: _Fact, old: Statement, clause: Clause) -> bool | None:
    """Return whether a noun phrase means the value of a known fact: True by name, False by its sort alone; None if it
    means something else.
    """
    value = fact.value
    # "His dog", "my dog" are not those of somebody else.
    if (phrased.own and fact.owner) or (phrased.others and not fact.owner):
        return None
    # "sold records" are some of them; "stopped taking insulin" is all of it.
    if value is None or phrased.indefinite or not (phrased.definite or fact.attribute.name in _UNCOUNTED):
        return None
    lexicon, head = clause.lexicon, phrased.head
    known = old.clauses[0]
    wanted = {word.stem for word in known.words if known.is_content(word)} - fact.words - fact.owner
    others = {word.stem for word in phrased.words if word is not head}
    if head.plain in lexicon.words("containers"):
        # "my Nordhavn account", "my account with Nordhavn": the sort of thing, with the name of the known one.
        if clause.plain[phrased.end : phrased.end + 1] and clause.time_end(phrased.end) is None:
            qualified = clause.plain[phrased.end] in lexicon.words("prepositions")
            beside = clause.noun_phrase(phrased.end + 1) if qualified else None
            others |= beside.stems if beside is not None else set()
        if head.stem not in wanted:
            return True if others and others <= wanted else None
    if head.stem not in _heads(known, value) or _is_one_of(head, known):
        return None
    # "The garage rent" is not the rent.
    if any(stem not in wanted for stem in others):
        return None
    return head.name or head.value is not None or bool(others) or not known.names - fact.owner


def _is_one_of(word: Word, known: Clause) -> bool:
    """Return True for "the lesson", where "lessons" are known: one of several leaves the others."""
    return any(one.stem == word.stem and len(one.plain) > len(word.plain) for one in known.words if not one.name)


_UNCOUNTED = frozenset({"activity", "medicine", "allergy"})
"""Attributes whose values stand without an article."""


def _heads(known: Clause, value: Phrased) -> set[str]:
    """Return the stems by which the value of a fact may be meant: its head, its names, and the name it is called by."""
    found = {value.head.stem} | {word.stem for word in value.words if word.name}
    rest = known.words[value.end :]
    # "called Toby", "que se llama Toby", "die Bram heet"
    if any(word.plain in known.lexicon.words("called") for word in rest[: MAX_ASIDE + 1]):
        found |= {word.stem for word in rest if word.name}
    return found


def _rest_agrees(old: Statement, clause: Clause) -> bool:
    """Return True unless both statements have names, and none in common."""
    return not (old.whole.names and clause.names) or not old.whole.names.isdisjoint(clause.names)


def _follows(clause: Clause, subject: Phrased, start: int, said: frozenset[str] = frozenset()) -> bool:
    """Return True if only times, and words of `said`, stand between a subject and its verb."""
    allowed, at = clause.lexicon.words("auxiliaries", "third", "time_words", "days", "filler") | said, subject.end
    while at < start:
        if clause.plain[at] in allowed:
            at += 1
        elif (end := clause.time_end(at)) is not None:
            at = end
        else:
            return False
    return at == start


def _ends_there(clause: Clause, end: int) -> bool:
    """Return True if nothing but a time follows: "Odile left", not "Odile left her umbrella"."""
    return _is_time(clause, clause.words[end:])


def _is_time(clause: Clause, words: Sequence[Word]) -> bool:
    """Return True if words say nothing but a time."""
    allowed = clause.lexicon.words("time_words", "days", "months", "filler", "same_place", "articles", "leaving")
    return all(
        word.plain in allowed or word.value is not None or word.mark or not clause.is_content(word) for word in words
    )


# -- another value ---------------------------------------------------------------------------------------------------


def _another_value(facts: list[_Fact], clause: Clause) -> Evidence | None:
    """Find another value of something that a subject has one of: "I live in Kiel", "I moved to Bonn"."""
    for new in _facts(clause):
        if not (new.changes or (new.value is not None and clause.says("newness"))):
            continue
        for fact in facts:
            if fact.attribute.name != new.attribute.name or fact.attribute.many or fact.value is None:
                continue
            if fact.attribute.name == "residence" and new.value is not None and new.value.words[0].plain in no_places():
                continue
            # "moved to the front row" is no place to live for one who lives in Wells.
            unnamed = new.value is not None and fact.value.is_name and not new.value.is_name
            if unnamed and new.value is not None and new.value.head.plain not in fact.attribute.words:
                continue
            other = new.value is None or new.value.stems.isdisjoint(fact.value.stems)
            if _is_of_thing(clause, new):
                continue
            if other and fact.owner == new.owner:
                return Evidence(How.CHANGED, _ANOTHER + fact.attribute.name)
    return None


def _switched(old: Statement, clause: Clause) -> Evidence | None:
    """Find another name for what a known thing is done with: "We switched to Asana for our boards"."""
    lexicon, known = clause.lexicon, old.clauses[0]
    verbs = {at for _, start, end, _ in clause.find(lexicon.phrases("changes")) for at in range(start, end)}
    if not verbs:
        return None
    new, thing = _phrase_after(clause, "to_words"), _phrase_after(clause, "for_words")
    if new is None or thing is None or not new.is_name or thing.is_name:
        return None
    # "I moved to Genoa for the summer school" tells of a place.
    moved = any(fact.attribute.name == "residence" for fact in _facts(clause))
    if (moved and new.words[0].plain not in no_places()) or known.owner != clause.owner:
        return None
    said = clause.meaning - new.stems - thing.stems - {clause.words[at].stem for at in verbs}
    left = known.meaning - thing.stems - known.verbs - _after_speaker(known)
    if said or not thing.stems <= known.content or len(left) != 1 or not left <= known.names or left <= new.stems:
        return None
    return Evidence(How.CHANGED, "switched")


def _after_speaker(clause: Clause) -> frozenset[str]:
    """Return the word after "I" or "we" at the beginning, which is a verb that no table needs to know, unless it tells
    of an event.
    """
    at = clause.opening
    speaks = at + 1 < len(clause.words) and clause.plain[at] in clause.lexicon.words("speaker")
    return frozenset({clause.words[at + 1].stem}) if speaks and clause.plain[at + 1][-2:] != "ed" else frozenset()


def _phrase_after(clause: Clause, name: str) -> Phrased | None:
    """Return the noun phrase after the only word of a class that has one."""
    found = [
        phrase
        for at, plain in enumerate(clause.plain)
        if plain in clause.lexicon.words(name) and (phrase := clause.noun_phrase(at + 1)) is not None
    ]
    return found[0] if len(found) == 1 else None


def _is_of_thing(clause: Clause, fact: _Fact) -> bool:
    """Return True for a switch of what is used for a thing, which is no other job or school: "Wir sind für die
    Schichten zu Planday gewechselt".
    """
    thing = _phrase_after(clause, "for_words")
    if thing is None or thing.is_name or fact.value is None or fact.attribute.name == "residence":
        return False
    verbs = frozenset().union(*(words for one in clause.lexicon.phrases("changes") for words in one))
    return not fact.plain.isdisjoint(verbs) and thing.stems.isdisjoint(fact.value.stems)


def _amount_changed(old: Statement, clause: Clause) -> Evidence | None:
    """Find "my rent goes up to 905": a change of the amount, day or time of the known thing."""
    known = old.clauses[0]
    for thing, at in _find_moves(clause, known):
        value = _value_at(clause, at)
        if value is None or not thing.definite:
            continue
        sort = _sort(value, clause)
        values = [word for word in known.words if _sort(word, known) == sort]
        if len(values) != 1 or _same_value(values[0], value) or not thing.stems <= known.content:
            continue
        # "Tuesdays at 10" to "Thursdays at 9": every value of it has another of its sort.
        moved = {_sort(word, clause) for word in clause.words}
        with_it = {word.stem for word in known.words if _sort(word, known) in moved - {None}}
        left = known.meaning - clause.meaning - thing.stems - known.verbs - with_it
        if not left and _same_unit(known, clause, values[0], value):
            return Evidence(How.CHANGED, "another amount")
    return None


def _find_moves(clause: Clause, known: Clause) -> Iterator[tuple[Phrased, int]]:
    """Yield the things of which a clause says that they moved, each with the place of where to."""
    for _, _, end, thing in clause.find(clause.lexicon.phrases("raised")):
        if thing is not None:
            yield thing, end
    risen = clause.find(clause.lexicon.phrases("risen"))
    if not risen:
        return
    subject = clause.subject
    # "My appointment with the dentist": what is known of the thing stands beside it.
    said = known.set | clause.lexicon.words("prepositions", "articles")
    for _, start, end, slot in risen:
        if slot is not None and clause.lexicon.verb_last:
            # "Die Miete ist auf 905 gestiegen", "Wir haben die Miete auf 905 erhöht"
            if (thing := clause.phrase_before(start)) is not None:
                yield thing, slot.start
        elif subject is not None and _follows(clause, subject, start, said):
            yield subject, end


def _value_at(clause: Clause, at: int) -> Word | None:
    """Return the amount, day or month at a place."""
    lexicon = clause.lexicon
    while at < len(clause.words) and clause.plain[at] in lexicon.words("articles") | lexicon.words("prepositions"):
        at += 1
    if at < len(clause.words) and _sort(clause.words[at], clause) is not None:
        return clause.words[at]
    return None


def _sort(word: Word, clause: Clause) -> str | None:
    """Return the sort of a value: a number, a day, a month; None for another word."""
    if word.value is not None:
        return "time" if ":" in word.value else "number"
    if word.plain in clause.lexicon.words("days"):
        return "day"
    return "month" if word.plain in clause.lexicon.words("months") else None


def _same_value(one: Word, other: Word) -> bool:
    return (one.value or one.stem) == (other.value or other.stem)


def _same_unit(known: Clause, clause: Clause, old: Word, new: Word) -> bool:
    mine, theirs = _unit(known, old), _unit(clause, new)
    return mine is None or theirs is None or mine == theirs


def _same_measure(known: Clause, clause: Clause, old: Word, new: Word) -> bool:
    """Return True if two numbers may be of one unit, also where one of them is written short ("80 kilos", "82 kg"). A
    number of a unit is no number of something else ("23 guests").
    """
    mine, theirs = _unit(known, old), _unit(clause, new)
    at = next(place for place, word in enumerate(clause.words) if word is new) + 1
    if theirs is None and at < len(clause.words) and clause.is_content(clause.words[at]):
        theirs = clause.words[at].stem
    return mine is None or theirs is None or mine[0] == theirs[0]


def _unit(clause: Clause, value: Word) -> str | None:
    at = next(place for place, word in enumerate(clause.words) if word is value)
    if at + 1 < len(clause.words) and clause.plain[at + 1] in clause.lexicon.words("units"):
        return clause.words[at + 1].stem
    return None


def _from_old(known: Known, old: Statement, facts: list[_Fact], clause: Clause) -> Evidence | None:
    """Find the known value named as the old one: "from Obsidian to plain files", "instead of Tuesdays"."""
    one = old.clauses[0]
    for start, end, replaced in _old_values(clause):
        if replaced is None or not replaced.stems <= one.content:
            continue
        beside = (clause.meaning & one.meaning) - replaced.stems
        verbs = {clause.words[at].stem for at in range(start, end)}
        owned = one.owner == clause.owner
        if owned and known.safety and _is_other_number(one, replaced, clause):
            return Evidence(How.CHANGED, "named as the old value")
        if owned and not known.safety and _is_replaced(replaced, facts, clause, start):
            return Evidence(How.CHANGED, "replaced")
        residence = any(
            fact.attribute.change
            and fact.value is not None
            and fact.value.stems == replaced.stems
            and any(new.attribute.name == fact.attribute.name for new in _facts(clause))
            for fact in facts
        )
        if residence and owned:
            return Evidence(How.CHANGED, "named as the old value")
        things = beside - verbs
        if things and (owned or one.owner <= clause.meaning) and not known.safety:
            return Evidence(How.CHANGED, "named as the old value")
    return None


def _is_other_number(known: Clause, replaced: Phrased, clause: Clause) -> bool:
    """Return True if a clause says all that a known one does, with another number in place of the replaced one: "I take
    30 mg of the blue tablet, not 20".
    """
    old = replaced.head
    new = [word for word in clause.words if _sort(word, clause) == "number" and not _same_value(word, old)]
    mine = next((word for word in known.words if _same_value(word, old)), None)
    if mine is None or len(new) != 1 or _sort(old, clause) != "number" or known.meaning - clause.meaning:
        return False
    return _same_measure(known, clause, mine, new[0])


def _is_replaced(replaced: Phrased, facts: list[_Fact], clause: Clause, start: int) -> bool:
    """Return True for "We replaced Trello with Linear", "We moved from Trello to Linear", of a thing in use."""
    lexicon = clause.lexicon
    used = any(
        fact.attribute.many and fact.value is not None and not fact.owner and fact.value.stems == replaced.stems
        for fact in facts
    )
    if not used or not (replaced.definite or replaced.own):
        return False
    if any(place.start <= replaced.start < place.end for place in clause.find(lexicon.phrases("replaces"))):
        return True
    before = replaced.start - 1
    if clause.plain[before] not in lexicon.words("from_words"):
        return False
    return clause.phrase_before(before) is None if lexicon.verb_last else before == start + 1


def _old_values(clause: Clause) -> Iterator[tuple[int, int, Phrased | None]]:
    lexicon = clause.lexicon
    for phrase, start, end, _ in clause.find(lexicon.phrases("instead_of")):
        value = clause.noun_phrase(end)
        if value is None and end < len(clause.words) and _sort(clause.words[end], clause) is not None:
            word = clause.words[end]
            value = Phrased(
                (word,), word, definite=True, indefinite=False, own=False, others=False, start=end, end=end + 1
            )
        # "room 5, not 3" denies a value; "can't wait" denies an act.
        denies = phrase[0] <= lexicon.words("negations")
        if denies and value and any(not word.name and _sort(word, clause) is None for word in value.words):
            continue
        yield start, end, value
    for _, start, end, value in clause.find(lexicon.phrases("replaces")):
        yield start, end, value
    changed = [place.start for place in clause.find(lexicon.phrases("changes"))]
    if not changed:
        return
    for at, plain in enumerate(clause.plain):
        if plain in lexicon.words("from_words") and (at > min(changed) or lexicon.verb_last):
            value = clause.noun_phrase(at + 1)
            if value is not None and any(word in lexicon.words("to_words") for word in clause.plain[value.end :]):
                yield min(changed), min(changed) + 1, value


def _find_aligned(old: Statement, facts: list[_Fact], clause: Clause, only: str | None = None) -> Evidence | None:
    """Find the same statement with one other value, said to be the newer: "owned by Iris now"; or of something that a
    person has one of: "my landlord is Ana".
    """
    known = old.clauses[0]
    lexicon, single = clause.lexicon, _states_single(known, clause)
    if not (single or clause.says("newness")):
        return None
    mine, theirs = known.meaning, clause.meaning - _cue_stems(clause)
    gone, come = mine - theirs, theirs - mine
    core = (mine & theirs) - clause.verbs
    if not (gone and come and core):
        return None
    sorts = {_sort_of(stem, known) for stem in gone} | {_sort_of(stem, clause) for stem in come}
    if len(sorts) != 1 or None in sorts or (only is not None and only not in sorts):
        return None
    if "name" in sorts and any(fact.attribute.many for fact in (*facts, *_facts(clause))):
        return None
    # What stands before the verb says what a statement is about: "the contact at Kestrel is ...".
    if not (_follow_verb(gone, known) and _follow_verb(come, clause)):
        return None
    one, other = known.subject, clause.subject
    if (one is None) != (other is None) or not _one_subject(one, other):
        return None
    if one is not None and not one.stems.isdisjoint(gone):
        return None
    if _past(known) or _past(clause):
        return None
    # Where every noun is written large, one more word is no name: "Ich trinke jetzt Tee"; "14C" is one.
    common = lexicon.capital_nouns and "name" in sorts and all(map(str.isalpha, gone | come))
    if clause.says("newness") and not common:
        return Evidence(How.CHANGED, "the newer value")
    return Evidence(How.CHANGED, "one at a time") if single else None


def _states_single(known: Clause, clause: Clause) -> bool:
    """Return True if two clauses say what somebody or something is of which there is one: "my landlord is Ana"."""
    return clause.has("copulas") and _is_of_single(known, clause.lexicon)


def _is_of_single(clause: Clause, lexicon: Lexicon | None = None) -> bool:
    lexicon = lexicon or clause.lexicon
    single = lexicon.words("single")
    # The words first: most clauses have none, and need not be searched for their subject.
    if clause.set.isdisjoint(lexicon.words("copulas")) or clause.set.isdisjoint(single):
        return False
    subject = clause.subject
    if subject is None or subject.head.plain not in single or not (subject.own or subject.definite):
        return False
    return not _is_of_one_of(subject, clause) and _follows(clause, subject, _first(clause, "copulas"))


def _is_of_one_of(phrased: Phrased, clause: Clause) -> bool:
    """Return True for what somebody or something has of which there may be several: "my sister's husband"."""
    if any(word.possessive and not word.name for word in phrased.words):
        return True
    # "el alquiler de mi piso", "l'affitto del garage"; not "il mio datore di lavoro"
    determiners = clause.lexicon.words("contracted", *_DETERMINERS)
    at = next(place for place, word in enumerate(clause.words) if word is phrased.head)
    return not determiners.isdisjoint(clause.plain[at : phrased.end])


def _first(clause: Clause, *names: str) -> int:
    """Return the place of the first word of some classes; 0 if it has none."""
    words = clause.lexicon.words(*names)
    return next((at for at, plain in enumerate(clause.plain) if plain in words), 0)


def _follow_verb(stems: frozenset[str], clause: Clause) -> bool:
    """Return True if these words stand after the first verb of a clause."""
    verbs = clause.lexicon.words("copulas", "auxiliaries", "third")
    first = next((at for at, plain in enumerate(clause.plain) if plain in verbs or clause.is_verb(at)), None)
    return first is not None and all(word.stem not in stems for word in clause.words[:first])


def _one_subject(one: Phrased | None, other: Phrased | None) -> bool:
    """Return True if two subjects are one. A verb that no table has is read as part of it."""
    return one is None or other is None or one.stems <= other.stems or other.stems <= one.stems


def _past(clause: Clause) -> bool:
    return clause.has("past")


def _sort_of(stem: str, clause: Clause) -> str | None:
    word = next(word for word in clause.words if word.stem == stem)
    return _sort(word, clause) or ("name" if word.name else None)


def _cue_stems(clause: Clause) -> frozenset[str]:
    return frozenset(
        clause.words[at].stem
        for _, start, end, _ in clause.find(clause.lexicon.phrases("newness"))
        for at in range(start, end)
    )


# -- opposites -------------------------------------------------------------------------------------------------------


def _find_opposite(old: Statement, new: Statement) -> Evidence | None:
    """Find the same claim denied, or with the opposite word."""
    if len(old.clauses) != 1 or len(new.clauses) != 1 or old.lexicon is not new.lexicon:
        return None
    one, other = old.clauses[0], new.clauses[0]
    if one.asks or other.asks or one.has("unreal") or other.has("unreal"):
        return None
    mine, theirs = _claim(one), _claim(other)
    pair = mine ^ theirs
    if not mine or not theirs or len(pair) > MAX_OPPOSED:
        return None
    denials = _denials(one) != _denials(other)
    if not pair:
        return Evidence(How.OPPOSED, "negation") if denials else None
    antonym = len(mine - theirs) == len(theirs - mine) == 1 and pair in _antonyms(one.lexicon)
    if antonym and not denials and (mine & theirs or not (one.owner or other.owner)):
        return Evidence(How.OPPOSED, "antonym")
    # "always" and "never", of which one is a negation
    denial = (one.set ^ other.set) & one.lexicon.words("negations")
    if denials and len(pair) == 1 and any(pair | {stem_of(word)} in _antonyms(one.lexicon) for word in denial):
        return Evidence(How.OPPOSED, "antonym")
    return None


@cache
def _antonyms(lexicon: Lexicon) -> frozenset[frozenset[str]]:
    return frozenset(frozenset(map(stem_of, pair)) for pair in lexicon.antonyms)


@lru_cache(maxsize=READ)
def _claim(clause: Clause) -> frozenset[str]:
    skipped = clause.lexicon.words(*_BESIDE_CLAIM)
    return frozenset(word.value or word.stem for word in clause.words if not word.mark and word.plain not in skipped)


_BESIDE_CLAIM = (
    "articles",
    "negations",
    "time_words",
    "auxiliaries",
    "mine",
    "me",
    "denied",
    "linking",
    "predeterminers",
)


def _denials(clause: Clause) -> int:
    count = sum(plain in clause.lexicon.words("negations") for plain in clause.plain)
    return min(count, 1) if clause.lexicon.agreeing_negations else count % 2


# -- words -----------------------------------------------------------------------------------------------------------


def _is_aside(old: Statement, left: frozenset[str]) -> bool:
    """Return True if what remains of a known statement is no thing of its own."""
    return len(left) <= MAX_ASIDE and not left & old.whole.names


# -- what a caller names ---------------------------------------------------------------------------------------------


def bears(known: Known, new: str, quote: str | None = None) -> bool:
    """Return True if a statement may be about a known one, which somebody says that it ends or changes: it names the
    thing, its subject or its value, or is on the same attribute; and it is about the same person.
    """
    old, text = _parse_known(known), quote or new
    said = read(text)
    evidence = compare(known, text)
    if evidence is not None and evidence.how is not How.SAME:
        return True
    if not said.clauses or not old.clauses or _tells_several(old):
        return False
    if any(_is_occasion(clause, old) for clause in said.clauses):
        return False
    shared = (said.whole.meaning & old.whole.meaning) - said.whole.verbs
    named = shared & (old.whole.names | said.whole.names | _values(old))
    # Of "Pixel and Bug", words on Bug leave Pixel.
    if named and old.whole.has("joining") and old.whole.names - said.whole.names:
        return False
    alike = _attributes(known, old) & _attributes(Known(text), said)
    if known.safety:
        # Of a safety fact, the words of its own attribute: naming its object is not enough.
        safe = {one for one in alike if _is_safety_attribute(old, one)}
        return bool(shared) and (bool(safe) or is_safety(text)) and _one_person(old, said)
    about = old.clauses[0].owner
    if about and about <= said.whole.meaning:
        return True  # "We moved the studio to Bruges" names what "The studio is in Ghent" is about
    return bool(named or alike or shared) and (bool(named) or _one_person(old, said))


def names_it(known: Known, new: str) -> bool:
    """Return True if words show that a known statement is over, or name most of what it says, of the same person:
    enough for one who calls them its end. Of a safety fact only the first is enough.
    """
    evidence = compare(known, new)
    if evidence is not None:
        return evidence.how is not How.SAME
    if known.safety:
        return False
    old, said = _parse_known(known), read(new)
    if _are_unread(old, said):
        return _says_little_beside(old, said)
    wanted = old.whole.meaning - old.whole.verbs - {stem_of(day) for day in old.lexicon.words("days")}
    if 2 * len(wanted & said.whole.meaning) <= len(wanted) or _tells_else(known, old, said):
        return False
    return _one_person(old, said) or _tells_only_of(old, said)


def _tells_else(known: Known, old: Statement, said: Statement) -> bool:
    """Return True for words that end the owning of a thing, if the known statement says something else of its name (who
    sells a Renault still works for Renault), and for those that deny something else ("I don't play polo").
    """
    ended = {one.name for one in said.lexicon.attributes if any(clause.find(one.ends) for clause in said.clauses)}
    mine = _attributes(known, old)
    if "possession" in ended and mine and mine.isdisjoint(ended):
        return True
    denies = any(clause.negated and not clause.says("no_longer") for clause in said.clauses)
    return denies and not ended and bool(old.whole.verbs) and old.whole.verbs.isdisjoint(said.whole.verbs)


def _tells_only_of(old: Statement, said: Statement) -> bool:
    """Return True for "The Golf is sold", of "I drive a Golf": one word about the known thing, and no place."""
    clause, subject = said.whole, said.whole.subject
    if subject is None or not subject.definite or clause.plain[0] not in said.lexicon.words("articles"):
        return False
    beside = clause.meaning - subject.stems - clause.verbs
    return subject.stems <= old.whole.content and len(beside) <= 1 and not clause.has("prepositions")


def are_in_english(*texts: str) -> bool:
    """Return True for texts of which each reads as English, or as nothing, and one plainly does."""
    statements = [read(text) for text in texts]
    return all(one.lexicon.language == "en" for one in statements) and not _are_unread(*statements)


def _are_unread(*statements: Statement) -> bool:
    """Return True for statements in a language whose words nothing here knows."""
    languages = {language_of(one.text) for one in statements} - {None}
    if languages:
        return languages.isdisjoint(_READ_LANGUAGES)
    return all(one.speaks_for(one.lexicon) < LEAST_LEAD for one in statements)


_READ_LANGUAGES = frozenset({"english", "german", "french", "spanish", "italian", "portuguese", "dutch"})
MAX_BESIDE = 2
"""Words that an end in an unknown language may have beside those of what is over: "no", "any more"."""


def _says_little_beside(old: Statement, said: Statement) -> bool:
    """Return True if a statement in any language names a name or a third of a known one, apart from endings, and says
    hardly more.
    """
    mine, theirs = ({w for w in one.words if not w.mark and len(w.plain) > MAX_BESIDE} for one in (old, said))
    shared = {word: one for word in theirs for one in mine if _begin_alike(word.plain, one.plain)}
    beside = theirs - shared.keys() - {said.words[0]}
    named = any(one.name and one is not old.words[0] for one in shared.values())
    if len(theirs) - len(shared) > MAX_BESIDE or any(word.name for word in beside):
        return False
    return named or 3 * len(shared) >= max(len(mine), 1)


def _begin_alike(one: str, other: str) -> bool:
    """Return True for two forms of a word that differ in the ending: "Kraków", "Krakowie"."""
    least = max(MAX_BESIDE, min(len(one), len(other)) - 2)
    return one[:least] == other[:least] and abs(len(one) - len(other)) <= MAX_BESIDE + 1


def _values(statement: Statement) -> frozenset[str]:
    return frozenset(word.stem for word in statement.words if word.value is not None)


def _is_safety_attribute(statement: Statement, name: str) -> bool:
    return any(one.name == name and one.safety for one in statement.lexicon.attributes)


def _attributes(known: Known, statement: Statement) -> frozenset[str]:
    found = {fact.attribute.name for clause in statement.clauses for fact in _facts(clause)}
    attribute = attribute_named(statement.lexicon, known.key)
    if attribute is not None:
        found.add(attribute.name)
    for one in statement.lexicon.attributes:
        parted = any(clause.find(one.parted) for clause in statement.clauses)
        named = not one.words.isdisjoint(statement.whole.set)
        if parted or (named and any(clause.find(one.ends) for clause in statement.clauses)):
            found.add(one.name)
    return frozenset(found)


def may_be_of_one_person(known: Known, new: str) -> bool:
    """Return True unless a known statement and a new one are plainly about different people or things."""
    return _one_person(_parse_known(known), read(new))


def _one_person(old: Statement, new: Statement) -> bool:
    """Return True unless the two are plainly about different people or things."""
    owners = [clause.owner for clause in old.clauses if clause.content][:1]
    # A request ("Can you switch the band to transfers?") is about what it names, not about who is asked.
    others = [clause.owner for clause in new.clauses if clause.content and not clause.asks]
    if not owners or not others:
        return True
    return any(one == owners[0] or not one.isdisjoint(owners[0]) for one in others)


# -- what a statement gives of its author ----------------------------------------------------------------------------


@lru_cache(maxsize=OUTLINED)
def given_keys(text: str) -> frozenset[str]:
    """Return the keys of which a text gives a value of its author's own: "We moved to Bonn" a `home_city`."""
    facts = (fact for clause in read(text).clauses if not clause.unreal for fact in _facts(clause))
    return frozenset().union(*(fact.attribute.keys for fact in facts if not fact.owner and fact.value is not None))


@lru_cache(maxsize=OUTLINED)
def is_about_author(text: str) -> bool:
    """Return True if a text speaks of its author and of nobody else: "I visited my aunt"."""
    said = [clause for clause in read(text).clauses if clause.content]
    return any(clause.has("speaker") or clause.has("mine") for clause in said) and all(
        not clause.owner for clause in said[:1]
    )


# -- doubt ----------------------------------------------------------------------------------------------------------


def shared_content(known: Known, new: str) -> frozenset[str]:
    """Return the stems of the words of meaning that two statements share: no times, no units, no verbs."""
    old, said = read_alike(_parse_known(known), read(new))
    shared = _words_of_meaning(old) & _words_of_meaning(said)
    return shared.difference(*(clause.verbs for clause in (*old.clauses, *said.clauses))) if shared else shared


@lru_cache(maxsize=READ)
def _words_of_meaning(statement: Statement) -> frozenset[str]:
    return frozenset[str]().union(*(clause.meaning for clause in statement.clauses))


_CHANGE = ("newness", "no_longer", "changes", "replaces", "risen", "raised", "corrections")


@lru_cache(maxsize=OUTLINED)
def tells_change(text: str) -> bool:
    """Return True if a statement says that something is new, changed or over, whatever it is."""
    return any(
        any(clause.says(name) for name in _CHANGE)
        or any(
            clause.find(phrases)
            for one in clause.attributes
            for phrases in (one.change, one.ends, one.gone, one.parted)
        )
        for clause in read(text).clauses
    )


def contests(known: Known, new: Known) -> bool:
    """Return True if a statement gives another value than a known one of the same thing, or an end of it, but not
    plainly enough to close it: "I live in Kiel" beside "I live in Bonn".
    """
    old, said = outline_of(known.text, known.key), outline_of(new.text, new.key)
    if old.lexicon is said.lexicon and old.subjects.isdisjoint(said.subjects):
        return False
    return _contests(known, new)


@lru_cache(maxsize=COMPARED)
def _contests(known: Known, new: Known) -> bool:
    evidence = compare(known, _text(new))
    if evidence is not None:
        return evidence.how is not How.SAME
    old, said = read_alike(_parse_known(known), _parse_known(new))
    if _subjects(old).isdisjoint(_subjects(said)):
        return False
    if differs_in_value(known, _text(new)) is not None:
        return True
    facts = list(_known_facts(known, old))
    return any(
        one.attribute.name == fact.attribute.name
        and not fact.attribute.many
        and fact.value is not None
        and one.value is not None
        and one.value.stems.isdisjoint(fact.value.stems)
        and one.owner == fact.owner
        for clause in said.clauses
        if not clause.unreal and not clause.says("additive") and not _past(clause)
        for one in _facts(clause)
        for fact in facts
    )


def tells_change_of(known: Known, new: str) -> bool:
    """Return True if a statement tells that something has changed about what a known one says of the same person or
    thing: "I take oat milk in my coffee now", of who drinks it black. That is not enough to replace it.
    """
    said = read(new)
    # Read in the language of the known one it may tell of a change.
    silent = _parse_known(known).lexicon is said.lexicon and not _tells_news(said)
    return not silent and _tells_change_of(known, new)


@lru_cache(maxsize=READ)
def _tells_news(statement: Statement) -> bool:
    return any(clause.says(name) for clause in statement.clauses for name in ("newness", "raised", "risen"))


@lru_cache(maxsize=COMPARED)
def _tells_change_of(known: Known, new: str) -> bool:
    old, said = read_alike(_parse_known(known), read(new))
    if not old.clauses or not said.clauses or _tells_several(old):
        return False
    owner = old.clauses[0].owner
    moved = [thing for clause in said.clauses if not clause.unreal for thing, _ in _find_moves(clause, old.whole)]
    # "The doctor raised Leo's syrup": whoever did it, the thing is the known one's.
    if any(thing.definite and owner <= thing.stems <= old.whole.content for thing in moved):
        return True
    if not any(_tells_change(clause, old) for clause in said.clauses) or not _one_person(old, said):
        return False
    if old.whole.names and said.whole.names and old.whole.names.isdisjoint(said.whole.names):
        return False
    return bool((said.whole.meaning & old.whole.meaning) - said.whole.verbs - old.whole.verbs)


def _tells_change(clause: Clause, old: Statement) -> bool:
    if not clause.says("newness") or clause.unreal or clause.says("additive") or _past(clause):
        return False
    subject = clause.subject
    return not _is_occasion(clause, old) and (subject is None or subject.stems <= old.whole.content)


def _text(known: Known) -> str:
    return known.text if known.key is None else f"{known.key.replace('_', ' ')}: {known.text}"


# -- corrections of what was just said -------------------------------------------------------------------------------


def is_correction(text: str) -> bool:
    """Return True for a short statement that only corrects what was just said: "Sorry, room 5, not 3"."""
    if len(text) > 120:
        return False
    said = read(text)
    if not said.words or len([word for word in said.words if not word.mark]) > MAX_CORRECTION_WORDS:
        return False
    return not said.whole.asks and any(_opens(said, phrase) for phrase in said.lexicon.phrases("corrections"))


def _opens(said: Statement, phrase: Phrase) -> bool:
    """Return True if a statement opens with a phrase; one word stands for itself ("No, the 21st", not "No worries")."""
    plain = said.whole.plain
    if len(plain) <= len(phrase) or any(plain[place] not in words for place, words in enumerate(phrase)):
        return False
    return len(phrase) > 1 or said.words[1].mark


def corrected_text(known: str, text: str) -> str | None:
    """Return a known statement with the value that a correction names in place of the wrong one; None if it is not
    plain which that is.
    """
    said, old = read(text), read(known)
    lexicon = said.lexicon
    denied: list[Word] = []
    right: list[Word] = []
    negated = False
    cues = {
        said.whole.words[at]
        for _, start, end, _ in said.whole.find(lexicon.phrases("corrections"))
        for at in range(start, end)
    }
    for word in said.words:
        if word in cues:
            continue
        if word.mark:
            negated = False
        elif word.plain in lexicon.words("negations"):
            negated = True
        elif word.name or _sort(word, said.whole) is not None:
            (denied if negated else right).append(word)
    if len(right) != 1:
        return None
    new = right[0]
    sort = _sort_or_name(new, said.whole)
    same = [word for word in old.words if _sort_or_name(word, old.whole) == sort and not _same_value(word, new)]
    if sort == "number":  # "23 people" is not the right form of "20 mg"
        same = [word for word in same if _same_measure(old.whole, said.whole, word, new)]
    if denied:
        same = [word for word in same if any(_same_value(word, one) for one in denied)]
    if len(same) > 1 and sort == "name":
        same = sorted(
            (word for word in same if _likeness(word, new) >= ALIKE),
            key=lambda word: _likeness(word, new),
            reverse=True,
        )[:1]
    if len(same) != 1:
        return None
    return _substitute(known, same[0].text, _span(text, new, said))


def _sort_or_name(word: Word, clause: Clause) -> str | None:
    sort = _sort(word, clause)
    if sort is not None:
        return "number" if sort == "time" else sort
    return "name" if word.name else None


def _likeness(one: Word, other: Word) -> float:
    return SequenceMatcher(None, one.plain, other.plain).ratio()


def _span(text: str, word: Word, said: Statement) -> str:
    """Return the words of a value with its qualifiers: "half past eight", "the 21st"."""
    if word.value is None:
        return word.text
    at = next(place for place, one in enumerate(said.words) if one is word)
    first = at
    while first > 0 and said.words[first - 1].plain in said.lexicon.words("clock"):
        first -= 1
    first_text, last = said.words[first].text, word.text
    start = text.find(first_text)
    end = text.find(last, start) + len(last)
    while end < len(text) and (text[end].isalnum()):
        end += 1
    return text[start:end] if 0 <= start < end else word.text


def _substitute(text: str, old: str, new: str) -> str | None:
    at = text.find(old)
    if at < 0:
        return None
    end = at + len(old)
    while end < len(text) and text[end].isalnum() and new[-1:].isalnum():
        end += 1
    return f"{text[:at]}{new}{text[end:]}"


def differs_in_value(known: Known, new: str) -> Evidence | None:
    """Return the evidence that two authors give the same thing another value: "Standup is at 9" and "... at 10"."""
    old, said = _parse_known(known), read(new)
    if len(old.clauses) != 1 or len(said.clauses) != 1 or said.clauses[0].unreal or old.clauses[0].unreal:
        return None
    one, other = old.clauses[0], said.clauses[0]
    mine, theirs = one.meaning, other.meaning - _cue_stems(other)
    gone, come = mine - theirs, theirs - mine
    if not (gone and len(gone) == len(come) and (mine & theirs) - other.verbs):
        return None
    # "3 Elm Street", "7 Oak Road": of a value of several words, all of them stand after the verb.
    if len(gone | come) > MAX_OPPOSED and not (_follow_verb(gone, one) and _follow_verb(come, other)):
        return None
    sorts, others = {_sort_of(stem, one) for stem in gone}, {_sort_of(stem, other) for stem in come}
    first, second = one.subject, other.subject
    if None in sorts or sorts != others or first is None or second is None or first.stems != second.stems:
        return None
    if not first.stems.isdisjoint(gone) or _past(one) or _past(other):
        return None
    return Evidence(How.OPPOSED, "value")
