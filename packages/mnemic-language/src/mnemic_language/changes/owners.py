"""Owners of two things: "Maria's height is 1.82 m" says nothing of "My height is 1.70 m"."""

from __future__ import annotations

import re
from functools import lru_cache

from mnemic_language.frames.statement_frame import Frame, stem
from mnemic_language.frames.vocabulary import SLOTS, person_words, plain, speaks_as_i, word_classes

SELF, OTHER = "self", "other"
"""Owners without a name: the speaker, and somebody named by a pronoun."""
_RELATIVE = "relative:"
_LEAD = (
    r"\A\W*(?:(?:now|and|but|so|well|actually|ok|okay|oh|yes|no|sorry|update|by the way|jetzt|und|aber|also|maintenant"
    r"|et|mais|ahora|y|pero|adesso|ora|e|ma|agora|mas|nu|en|maar)[\s,:]+){0,3}"
)
_MINE = (
    r"my|mein(?:e[mnrs]?)?|mon|ma|mes|mis?|(?:il|la|i|le) mi[aeo]i?|(?:o|a|os|as) (?:meus?|minhas?)|meus?|minhas?"
    r"|mijn"
)
_THEIRS = (
    r"her|his|their|your|ihr(?:e[mnrs]?)?|sein(?:e[mnrs]?)?|sa|ses|leurs?|sus?|(?:il|la|o|a) (?:suo|sua|seu)|haar|zijn"
    r"|hun|jouw"
)
_PRONOUN = re.compile(rf"{_LEAD}(?:(?P<mine>{_MINE})|(?P<theirs>{_THEIRS})) (?=\w)", re.IGNORECASE)
_GENITIVE = re.compile(
    rf"{_LEAD}(?P<the>the )?(?:(?:dr|mr|mrs|ms)[\s.]+)?"
    r"(?P<owner>[^\W\d_][\w-]{0,30}(?: (?:and )?[^\W\d_][\w-]{0,30}){0,2})['’]s? (?=\w)",
    re.IGNORECASE,
)
"""English genitive at the head of a sentence; one behind "my" or "our" is read as a relative of the speaker's."""
_GERMAN = re.compile(
    r"\A(?P<owner>(?!Da|Wa|E|Di|Jene|Diese)[A-ZÄÖÜ][a-zäöüß]{1,20})s "
    r"(?=[A-ZÄÖÜ][a-zäöüß-]+ (?:ist|sind|hat|heißt|heisst|beträgt|liegt|endet|beginnt|war)\b)"
)
_WITH_OF = re.compile(
    r"\A\W*(?:the|l[ae']|le|les|el|los|las|il|lo|i|gli|o|a|os|as)\s?[^\W\d_]+(?: [^\W\d_]+)? (?:of|de|di|da|do) "
    r"(?P<owner>[^\W\d_]{2,21}) (?=(?:is|are|est|sont|es|son|está|è|sono|é|são|fica|mesure|mide)\b)",
    re.IGNORECASE,
)
"""Owner behind "of" or its like: "la taille de Maria est"."""
_NOBODY = frozenset(
    "it that this there here what who how let today tomorrow yesterday tonight week weekend month year morning evening"
    " afternoon night day summer winter spring autumn he she everyone everybody everything nothing".split()
)
"""Words with "'s" that own nothing, or name a time: "that's", "today's meeting"."""


_ORGANISATIONS = frozenset(
    "company firm employer school university college bank hotel shop store club gym clinic hospital restaurant library"
    " agency landlord neighbour neighbor boss doctor dentist teacher trainer".split()
)
"""Owners with an article whose things are not the speaker's; "the flat's rent" may well be the speaker's rent."""


@lru_cache(maxsize=4096)
def owner_of(sentence: str) -> str:
    """Return the owner of the thing that a sentence begins with: `self`, `other` (a pronoun), the stem of the last
    word of a name, `relative:` and that of a person of the speaker's, or an empty text if it names none.
    """
    pronoun = _PRONOUN.match(sentence)
    if pronoun is not None:
        behind = _GENITIVE.match(sentence[pronoun.end() :])
        if behind is not None:
            return _relative(behind["owner"])
        return SELF if pronoun["mine"] else OTHER
    genitive = _GENITIVE.match(sentence)
    found = genitive or _GERMAN.match(sentence) or _WITH_OF.match(sentence)
    if found is None:
        return ""
    if plain(found["owner"]).startswith("our "):
        return _relative(found["owner"])
    last = plain(found["owner"].split()[-1])
    has_article = genitive is not None and genitive["the"] is not None
    is_thing = has_article and last not in _ORGANISATIONS and last not in person_words()["relations"]
    return "" if is_thing or last in _NOBODY or last in _times() else stem(last)


def _relative(owner: str) -> str:
    """Return `relative:` and the stem of the last word for somebody of the speaker's, such as "sister" behind "my"; an
    empty text for a thing: "my company's rent" may be the speaker's.
    """
    last = plain(owner.rsplit(maxsplit=1)[-1])
    return f"{_RELATIVE}{stem(last)}" if last in person_words()["relations"] else ""


@lru_cache(maxsize=1)
def _times() -> frozenset[str]:
    return frozenset(word for name in SLOTS for word in word_classes()[name])


def of_two_owners(old: Frame, new: Frame) -> bool:
    """Return True if the statements begin with things of two owners, neither of which the other statement names. "Her"
    may be anybody but the speaker.
    """
    if _of_two_subjects(old, new) or _of_two_subjects(new, old):
        return True
    # Two sentences: the dot of "Dr." ends one.
    mine, theirs = (owner_of(" ".join(one.said[:2])) for one in (old, new))
    if not mine or not theirs or mine == theirs:
        return False
    if SELF in (mine, theirs):
        named, own = (theirs, old) if mine == SELF else (mine, new)
        return named == OTHER or named.removeprefix(_RELATIVE) not in own.stems
    # Maria may be "my sister", and "her" anybody.
    if OTHER in (mine, theirs) or mine.startswith(_RELATIVE) != theirs.startswith(_RELATIVE):
        return False
    return mine.removeprefix(_RELATIVE) not in new.stems and theirs.removeprefix(_RELATIVE) not in old.stems


def _of_two_subjects(own: Frame, other: Frame) -> bool:
    """Return True if `own` tells a measure of the speaker, and `other` one of a person with a name: "I weigh 70 kg",
    "Tom weighs 85 kg".
    """
    if own.subject != "self" or not other.subject.startswith("name:") or not (own.numbers and other.numbers):
        return False
    begins_with_it = stem(other.tokens[0].removesuffix("'s")) == other.subject[5:] if other.tokens else False
    return begins_with_it and speaks_as_i(own.tokens) and other.subject[5:] not in own.stems
