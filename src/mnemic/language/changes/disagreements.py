"""Statements that cannot both be true: two values of an attribute that has one at a time, or two exclusive states.

Of two states the later one closes the earlier one. Two names or places close nothing, as there may be a second dog or a
second home: they are only marked.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from mnemic.language.changes.relatives import SEVERAL, of_another_relative
from mnemic.language.frames.frame_expressions import NOT, TOKEN
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import MEMBERS, person_words, plain, states, word_classes
from mnemic.language.text.pattern import WordPattern

LONGEST_SENTENCE, LONGEST_VALUE = 12, 3
"""Maximum words of a sentence that gives one value, and of the value."""
_UNLIKE = frozenset({"past", "passing", "add", "end", "weak_end"})
"""References to earlier statements that let both be true."""
_OF_NOW = frozenset(
    map(
        stem,
        "now again days jetzt wieder inzwischen maintenant nouveau ahora nuevo adesso nuovo agora novo nu weer"
        " diet been bin being since".split(),
    )
)
"""Stems of words that may accompany a state."""
_LIMITING = frozenset(
    "only sometimes occasionally rarely mostly nur manchmal selten meist seulement parfois rarement solo solamente"
    " veces raramente volte so apenas vezes alleen soms zelden".split()
)
_POSSESSIVE = (
    r"(?:my|our|mein|meine|unser|unsere|mon|ma|notre|mi|nuestr[oa]|il mio|la mia|mi[oa]|il nostro|la nostra"
    r"|o meu|a minha|meu|minha|o nosso|a nossa|mijn|ons|onze)"
)
_NAMED = WordPattern(
    rf"\A(?P<thing>{_POSSESSIVE} (?:[\w'-]+ ){{1,3}}?)(?P<verb>(?:(?:is|are) )?(?:called|named)|name is|heisst"
    r"|s'appelle|se llama|si chiama|chama-se|se chama|heet|is|est|es|e|ist) (?P<value>\S.*)\Z"
)
"""Matches a sentence that names one thing of the speaker: "my dog is called Rex"."""
_FILLED = WordPattern(
    rf"\A(?P<value>\S+(?: \S+)?) (?P<verb>is|est|es|e|ist)"
    rf" (?P<thing>(?:{_POSSESSIVE}|the) [\w'-]+(?: [\w'-]+){{0,2}})\Z"
)
"""Matches a sentence that names the holder of a role: "Tom is my boss"."""
_IS_SOMEWHERE = WordPattern(
    r"\b(?:is|are|ist|sind|est|sont|esta|estan|e|sono|sta|fica|staat)"
    r" (?:(?:now|jetzt|maintenant|ahora|adesso|agora|nu) )?"
    r"(?:in|at|on|under|behind|beside|im|auf|bei|dans|chez|sous|en|sobre|nel\w*|sul\w*|em|n[oa]|op|bij) \w"
)
_AT_HOME = WordPattern(
    r"\b(?:(?:at|from) home|remotely|zu hause|im homeoffice|a la maison|en casa|da casa|a casa|em casa|thuis)\b"
)
_LIVES = WordPattern(
    r"\A(?P<thing>.{0,40}?)\b(?P<verb>(?:live|lives|living|am based|i'm based|is based|resides?) in"
    r"|wohn(?:e|t|en) in|leb(?:e|t) in|j'habite a|habit(?:e|ons) a|viv[oe] (?:en|a|em)|vivimos en|abit[oa] a"
    r"|moro em|moramos em|woon(?:t)? in|wonen in) (?P<value>\S.*)\Z"
)
_WORKS = WordPattern(
    r"\A(?P<thing>.{0,40}?)\b(?P<verb>works? (?:at|for)|arbeite[tn]? (?:bei|fur)|travaille (?:chez|pour)"
    r"|trabaj[oa] para|lavor[oa] (?:per|presso|da)|trabalh[oa] para|werkt? (?:bij|voor)) (?P<value>\S.*)\Z"
)
_ATTRIBUTES = (("name", _NAMED), ("name", _FILLED), ("residence", _LIVES), ("employer", _WORKS))
_MANY = frozenset(
    "client customer guest student pupil teammate employee relative friend friends"
    " colleague coworker cousin neighbour neighbor freund freundin kollege kollegin nachbar nachbarin ami"
    " amie collegue voisin voisine amigo amiga vecino vecina companero companera amico amica collega vicino vicina"
    " colega vizinho vizinha vriend vriendin buurman buurvrouw other second another andere anderer zweiter autre otro"
    " otra altro altra outro outra tweede".split()
)
"""Words for things or people that one has several of."""
_OF_SELF = ("vivo", "vivimos", "abito", "moro", "moramos", "j'habite", "trabajo", "lavoro", "trabalho")
_IN_NAMES = frozenset("de da do del della la le von van di of am an der den ten upon the".split())
_BARE_VERBS = frozenset({"is", "est", "es", "e", "ist"})
_JOINED = frozenset({"and", "or", "und", "oder", "et", "ou", "y", "o", "e", "ed", "en", "of", "but", "aber", "&"})
_NATIONALITY = WordPattern(r"\w(?:an|ish|ese|ch|ic|ist)\Z")
_NUMBER = re.compile(r"\d+")
_NOW = frozenset({"now", "jetzt", "maintenant", "ahora", "adesso", "ora", "agora", "nu", "too", "auch"})


class Claim(NamedTuple):
    """Value of something that has one value at a time; `denied` if the statement denies this value."""

    of: tuple[str, str]
    value: frozenset[str]
    denied: bool = False

    def excludes(self, other: Claim) -> bool:
        """Return True if only one of the two can be true."""
        if self.of != other.of or (self.denied and other.denied):
            return False
        if self.denied or other.denied:
            return self.value == other.value
        return self.value.isdisjoint(other.value)


def disagree(old: Frame, new: Frame) -> bool:
    """Return True if `new` gives something another value than `old`, and only one can be true."""
    mine, theirs = claims(old), claims(new)
    if not mine or not theirs or any(old.slots(name) != new.slots(name) for name in MEMBERS):
        return False
    if of_another_relative(old, new):
        return False
    return any(one.excludes(other) for one in mine for other in theirs)


def may_be_given_anew(new: Frame) -> bool:
    """Return True if a statement names a new holder of a role, whoever had it before."""
    return not new.cues.isdisjoint({"weak_change", "change"}) and bool(claims(new))


def given_anew(old: Frame, new: Frame) -> bool:
    """Return True if `new` names a new holder of a role that another has in `old`: "My boss is Tom", "Ana is my boss
    now".
    """
    return may_be_given_anew(new) and disagree(old, new)


def in_another_way(old: Frame, new: Frame) -> bool:
    """Return True if the two state different sorts of facts about one thing: identity and place ("our car is a Fiat",
    "our car is in the garage now"), or employer and workplace ("I work at home"); or they name two things of which one
    has several, or two ranks: "Acme is our client", "Initech is our client now".
    """
    if not new.cues.isdisjoint(_UNLIKE | {"correct", "takes_back"}) or not (old.said and new.said):
        return False
    said = [" ".join(word for word in TOKEN.findall(plain(one.said[0])) if word not in _NOW) for one in (old, new)]
    is_somewhere = [_IS_SOMEWHERE.search(one) is not None for one in said]
    if is_somewhere[0] != is_somewhere[1] and old.theme == new.theme and old.theme and "change" not in new.cues:
        # A day is not a place: "the meeting is on Friday".
        return not any(frame.slots(name) for frame in (old, new) for name in MEMBERS)
    works = [_WORKS.search(one) is not None for one in said]
    if all(works) and [_AT_HOME.search(one) is not None for one in said] in ([True, False], [False, True]):
        return True
    if "residence" in old.attributes & new.attributes and not new.event:
        return old.slots("weekdays") != new.slots("weekdays")
    things = [found["thing"].split() for one in said if (found := _FILLED.search(one)) is not None]
    if len(things) < 2 or stem(things[0][-1]) != stem(things[1][-1]):
        return False
    return not all(_MANY.isdisjoint(one) and SEVERAL.isdisjoint(one) for one in things)


def in_another_state(old: Frame, new: Frame) -> bool:
    """Return True if `new` states that a person is in a state that excludes their state in `old`: "I'm vegetarian", "I
    eat meat"; two names or places may be of two things, and are only marked.
    """
    return tells_state(new) and tells_state(old) and any(a.excludes(b) for a in _states(old) for b in _states(new))


@lru_cache(maxsize=16384)
def tells_state(frame: Frame) -> bool:
    """Return True if a statement gives a present state, of which a person is in one at a time, and nothing else: no
    day, occasion or other person.
    """
    if not frame.said or frame.event or frame.conditions or not frame.cues.isdisjoint(_UNLIKE) or not _states(frame):
        return False
    left = frame.plain
    for members in states().values():
        for words in members:
            left = words.sub(" ", left)
    besides = Frame(left).unnumbered - frame.relations - _OF_NOW
    return not besides and not any(frame.slots(name) for name in MEMBERS)


@lru_cache(maxsize=16384)
def claims(frame: Frame) -> tuple[Claim, ...]:
    """Return the claims of a statement; none if it is about the past, a limited time, or an addition."""
    if not frame.said or frame.event or frame.conditions or not frame.cues.isdisjoint(_UNLIKE):
        return ()
    return (*_states(frame), *(claim for said in frame.said if (claim := _value(said)) is not None))


def _states(frame: Frame) -> list[Claim]:
    whose, tokens, people = frame.subject or "self", set(frame.tokens), person_words()
    if whose == "other:" or len(frame.said) > 1 or not _LIMITING.isdisjoint(tokens):
        return []
    if whose == "self" and (frame.relations or (tokens & people["possessive"] and not tokens & people["self"])):
        return []  # more than one person, or a thing of the speaker: "my dog eats meat"
    found: list[Claim] = []
    for name, members in states().items():
        said = [number for number, words in enumerate(members) if words.search(frame.plain)]
        if said:
            # A word of one state may be a part of another's: "smoker" of "non-smoker".
            denied = NOT.search(members[said[-1]].sub(" ", frame.plain)) is not None
            found.append(Claim((name, whose), frozenset({str(said[-1])}), denied))
    return found


def _value(said: str) -> Claim | None:
    """Return the value that one sentence gives one thing, if the value is a name or a number."""
    words = [word for word in said.strip(" .!,").split() if plain(word).strip(",") not in _NOW]
    if len(words) > LONGEST_SENTENCE:
        return None
    text = plain(" ".join(words))
    for attribute, pattern in _ATTRIBUTES:
        found = pattern.search(text)
        if found is None:
            continue
        place = len(text[: found.start("value")].split())
        value = words[place : place + len(found["value"].split())]
        thing = _thing(attribute, found["thing"], found["verb"])
        if thing and value and _is_name_or_number(value, bare=found["verb"] in _BARE_VERBS):
            return Claim((attribute, thing), _tokens(value))
    return None


def _thing(attribute: str, words: str, verb: str) -> str:
    """Return the thing that has the value; empty if one may have several, or the person is unknown."""
    tokens = [token.removesuffix("'s") for token in TOKEN.findall(words)]
    people = person_words()
    if attribute == "name" and not SEVERAL.isdisjoint(tokens):
        return ""  # two names mean two brothers
    if not _MANY.isdisjoint(tokens) or not people["others"].isdisjoint(tokens) or not _JOINED.isdisjoint(tokens[1:]):
        return ""
    if attribute != "name" and people["relations"].isdisjoint(tokens):
        if not tokens:  # "Vivo a Roma", not "Vive a Roma"
            return "self" if verb.startswith(_OF_SELF) else ""
        return "self" if not people["self"].isdisjoint(tokens) else " ".join(tokens)
    return " ".join(word for word in tokens if word != "name")


def _is_name_or_number(value: list[str], *, bare: bool) -> bool:
    low = [plain(word) for word in value]
    if len(value) > LONGEST_VALUE or not _JOINED.isdisjoint(low):
        return False
    if any(word in word_classes()[name] for name in MEMBERS for word in low):
        return False  # Monday's class and Tuesday's
    if value[0][0].isdigit():
        return True
    # "My mother is German", "Mein Hund ist Dackel": after a bare verb a capital does not mark a name.
    if not all(word[0].isupper() or word in _IN_NAMES for word in value):
        return False
    return value[0][0].isupper() and not (bare and _NATIONALITY.search(low[0]))


def _tokens(value: list[str]) -> frozenset[str]:
    numbers = _NUMBER.findall(" ".join(value))
    return frozenset(numbers or TOKEN.findall(plain(" ".join(value))))
