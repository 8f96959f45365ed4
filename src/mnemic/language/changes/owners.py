"""Owners of two things: "Maria's height is 1.82 m" does not affect "My height is 1.70 m"."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import SLOTS, person_words, plain, word_classes
from mnemic.language.text.pattern import Pattern, WordPattern

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
_PRONOUN = WordPattern(rf"{_LEAD}(?:(?P<mine>{_MINE})|(?P<theirs>{_THEIRS})) (?=\w)", re.IGNORECASE)
_GENITIVE = WordPattern(
    rf"{_LEAD}(?P<the>the )?(?:(?:dr|mr|mrs|ms)[\s.]+)?"
    r"(?P<owner>[^\W\d_][\w-]{0,30}(?: (?:and )?[^\W\d_][\w-]{0,30}){0,2})['’]s? (?=\w)",
    re.IGNORECASE,
)
"""English genitive at the beginning of a sentence; after "my" or "our" it is read as a relative of the speaker."""
_GERMAN = WordPattern(
    r"\A(?P<owner>(?!Da|Wa|E|Di|Jene|Diese)[A-ZÄÖÜ][a-zäöüß]{1,20})s "
    r"(?=[A-ZÄÖÜ][a-zäöüß-]+ (?:ist|sind|hat|heißt|heisst|beträgt|liegt|endet|beginnt|war)\b)"
)
_WITH_OF = WordPattern(
    r"\A\W*(?:the|l[ae']|le|les|el|los|las|il|lo|i|gli|o|a|os|as)\s?[^\W\d_]+(?: [^\W\d_]+)? (?:of|de|di|da|do) "
    r"(?P<owner>[^\W\d_]{2,21}) (?=(?:is|are|est|sont|es|son|está|è|sono|é|são|fica|mesure|mide)\b)",
    re.IGNORECASE,
)
"""Owner after "of" or its equivalents: "la taille de Maria est"."""
_RELATIVE_FIRST = WordPattern(rf"(?:{_MINE}|our|unser(?:e[mnrs]?)?|notre|nuestr[oa]|noss[oa]|ons|onze) ", re.IGNORECASE)
_TITLE = Pattern(r"(?:dr|mrs?|ms|herr|frau|mme|sig|sra?)\.? (?=[^\W\d_])", re.IGNORECASE)
_ARTICLE = re.compile(r"\A[OoAa] (?=[A-ZÀ-Þ])")
"""Portuguese article before a name: "O Pedro mora no Porto"."""
_BARE_LEAD = Pattern(_LEAD, re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_ADVERBS = frozenset("now just only also still jetzt nun auch noch maintenant ahora ya adesso ora agora ja nu".split())
_FORMS = tuple(
    frozenset(forms.split())
    for forms in (
        "am m is s are re was were bin ist sind war suis est soy sono sou ben estoy esta sto estou",
        "have ve has had habe hat hatte ai tengo tiene ho ha tenho tem heb heeft",
    )
)
"""Forms of "be" and "have", which share no letters."""
_ROOT = 3
"""Minimum number of letters that two forms of one verb share: "gano" and "gana"."""
_REFERS_BACK = frozenset("it that this them there instead".split())
"""Words that let a statement with another subject be about the earlier one: "Ana drives it now"."""
_OTHERWISE = frozenset("a es from just va".split())
"""Forms of verbs that are also other words: "Voltei a comer carne"."""
_SPEAKER = frozenset(
    "me my mine us our i we ich je ik wir wij mich mir uns mein meine meinem meinen meiner unser unsere moi mon ma mes"
    " nous notre nos mi mis nosotros nuestro nuestra mio mia noi nostro nostra ci eu meu minha connosco mij mijn ons"
    " onze".split()
)
"""Words that make a statement about somebody else also one about the speaker: "Acme pays me 900"."""
_NOBODY = frozenset(
    "it that this there here what who how let today tomorrow yesterday tonight week weekend month year morning evening"
    " afternoon night day summer winter spring autumn he she everyone everybody everything nothing".split()
)
"""Words with "'s" that are no owner, or a time: "that's", "today's meeting"."""


_ORGANISATIONS = frozenset(
    "company firm employer school university college bank hotel shop store club gym clinic hospital restaurant library"
    " agency landlord neighbour neighbor boss doctor dentist teacher trainer".split()
)
"""Owners with an article that exclude the speaker; "the flat's rent" may well be the speaker's rent."""


@lru_cache(maxsize=4096)
def owner_of(sentence: str) -> str:
    """Return the owner of the thing that a sentence begins with: `self`, `other` (a pronoun), the stem of the last word
    of a name, `relative:` and that of a relative of the speaker, or an empty text if it names none.
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
    """Return `relative:` and the stem of the last word for a relative of the speaker, such as "sister" after "my"; an
    empty text for a thing: "my company's rent" may be the speaker's.
    """
    last = plain(owner.rsplit(maxsplit=1)[-1])
    return f"{_RELATIVE}{stem(last)}" if last in person_words()["relations"] else ""


@lru_cache(maxsize=1)
def _times() -> frozenset[str]:
    # "Março" without its accent is also a man's name.
    return frozenset(word for name in SLOTS for word in word_classes()[name]) - {"marco"}


def of_two_owners(old: Frame, new: Frame) -> bool:
    """Return True if the statements begin with things of two owners, and neither names the other's owner. "Her" may be
    anybody but the speaker.
    """
    if of_two_people(old, new):
        return True
    theirs = _owner(new)
    mine = _owner(old) if theirs else ""  # most statements do not begin with an owner
    if not mine or mine == theirs:
        return False
    if SELF in (mine, theirs):
        named, own = (theirs, old) if mine == SELF else (mine, new)
        return named == OTHER or named.removeprefix(_RELATIVE) not in own.stems
    # Maria may be "my sister", and "her" anybody.
    if OTHER in (mine, theirs) or mine.startswith(_RELATIVE) != theirs.startswith(_RELATIVE):
        return False
    return mine.removeprefix(_RELATIVE) not in new.stems and theirs.removeprefix(_RELATIVE) not in old.stems


def _owner(frame: Frame) -> str:
    return owner_of(_head(frame))


def _head(frame: Frame) -> str:
    # Two sentences: the dot of "Dr." ends one.
    return " ".join(frame.said[:2])


class _Opening(NamedTuple):
    """Subject at the beginning of a sentence (`SELF`, a stem, or `relative:` and a stem), and the next two words."""

    subject: str
    behind: tuple[str, ...]


@lru_cache(maxsize=4096)
def _opening(sentence: str) -> _Opening | None:
    """Return the person at the beginning of a sentence; None if there is none, or several."""
    rest = _ARTICLE.sub("", _TITLE.sub("", _BARE_LEAD.sub("", sentence, count=1), count=1))
    mine = _RELATIVE_FIRST.match(rest)
    spelled = _WORD.findall(rest[mine.end() if mine else 0 :])[:5]
    if len(spelled) < 2:
        return None
    first, last = plain(spelled[0]), spelled[1] if spelled[1][0].isupper() else spelled[0]
    behind = tuple(map(plain, takewhile(lambda word: word[0].islower(), spelled[1 if last is spelled[0] else 2 :])))
    if mine is not None:
        return _Opening(_RELATIVE + stem(first), behind) if first in person_words()["relations"] else None
    if first in person_words()["others"]:
        return None
    if first in person_words()["self"] or first == "j":
        # A verb without a pronoun implies its subject: "vivo en Roma".
        return _Opening(SELF, (first, *behind))
    if not spelled[0][0].isupper() or first in word_classes()["empty"] or first in _NOBODY or first in _times():
        return None
    return _Opening(stem(plain(last)), behind)


def _verb_alone(sentence: str, other: _Opening | None) -> _Opening | None:
    """Return the opening of a sentence with a verb and no subject, if the verb matches the one after the subject of
    another sentence: "peso 70 kg" beside "Tom pesa 85 kg".
    """
    if other is None or other.subject == SELF:
        return None
    first = _WORD.match(_BARE_LEAD.sub("", sentence, count=1))
    if first is None or not (verb := plain(first[0])).endswith("o"):
        return None
    is_one = any(
        len(form) >= _ROOT and form != verb and form[:-1] == verb[: len(form) - 1] for form in other.behind[:2]
    )
    return _Opening(SELF, (verb,)) if is_one else None


def of_two_people(old: Frame, new: Frame) -> bool:
    """Return True if the statements begin with two persons and give each a value: "I drive a Volvo", "Tom drives a Fiat
    now". The same value for another person is a change: "Tom leads the team", "Ana leads the team now".
    """
    before, after = _head(old), _head(new)
    one, other = _opening(before), _opening(after)
    one, other = _verb_alone(before, other) or one, _verb_alone(after, one) or other
    if one is None or other is None or one.subject == other.subject or not _REFERS_BACK.isdisjoint(new.tokens):
        return False
    if _is_of_speaker(one, old) or _is_of_speaker(other, new):
        return False
    mine, theirs = (opening.subject.removeprefix(_RELATIVE) for opening in (one, other))
    if mine in new.stems or theirs in old.stems:
        return False
    if not (old.stems - new.stems - {mine} and new.stems - old.stems - {theirs}):
        return False
    return _same_verb(one, other) or (bool(old.attributes & new.attributes) and _acts(one) and _acts(other))


def _is_of_speaker(opening: _Opening, frame: Frame) -> bool:
    """Return True if a statement that begins with somebody else also concerns the speaker: "Acme pays me 900"."""
    own = sum(word in _SPEAKER for word in frame.tokens)
    return opening.subject != SELF and own > opening.subject.startswith(_RELATIVE)


def _acts(opening: _Opening) -> bool:
    """Return True if the subject is the speaker or a verb of the third person follows: "Responde sempre" has none."""
    if opening.subject == SELF:
        return True
    verb = next(iter(_verbs(opening)), "")
    known = verb in person_words()["verbs"] - _OTHERWISE or any(verb in forms for forms in _FORMS)
    return known or (len(verb) > _ROOT and verb.endswith(("s", "t")) and verb not in word_classes()["empty"])


def _same_verb(one: _Opening, other: _Opening) -> bool:
    """Return True if both predicates begin with forms of one verb."""
    for mine in _verbs(one):
        for theirs in _verbs(other):
            if any(mine in forms and theirs in forms for forms in _FORMS):
                return True
            if len(mine) >= _ROOT <= len(theirs) and mine[:_ROOT] == theirs[:_ROOT]:
                return True
    return False


def _verbs(opening: _Opening) -> tuple[str, ...]:
    """Return the words that may be the verb: one, or two after the speaker, as the first may be a pronoun."""
    return tuple(word for word in opening.behind if word not in _ADVERBS)[: 2 if opening.subject == SELF else 1]
