"""Distinction of people of one relation: "my brother Tom" and "my brother Ben", "my older" and "my younger sister"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from mnemic.language.ended_facts.ended_by_others import tells_such_end
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import person_words, plain, word_classes
from mnemic.language.text.pattern import WordPattern

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
AROUND = 2
"""Number of words before and after a relation that may identify the person."""
_ELDER = frozenset(
    "older elder oldest eldest big alterer altere alteren altester alteste altesten grosser grosse grossen grand grande"
    " aine ainee mayor grande maggiore velho velha oudere oudste grote".split()
)
_YOUNGER = frozenset(
    "younger youngest little small baby jungerer jungere jungeren jungster jungste jungsten kleiner kleine kleinen"
    " petit petite cadet cadette menor pequeno pequena minore piccolo piccola novo nova jongere jongste kleine".split()
)
SEVERAL = frozenset(
    "brother sister son daughter kid child aunt uncle cousin niece nephew grandson granddaughter godson goddaughter"
    " bruder schwester sohn tochter kind tante onkel cousine vetter nichte neffe enkel enkelin frere soeur fils fille"
    " enfant oncle niece neveu hermano hermana hijo hija tia tio prima primo sobrina sobrino fratello sorella figlio"
    " figlia zia zio cugina cugino nipote irmao irma filho filha sobrinha sobrinho broer zus zoon dochter oom nichtje"
    " neef".split()
)
"""Relations of which a person may have several: another name means another person."""


_BOUGHT = (
    r"(?:sold|bought|quit|adopted|retired|got (?:married|divorced|a)|moved (?:to|out|in)|gave up|stopped \w+ing|became"
    r"|vendut\w|comprat\w|pres\w|lasciat\w|smess\w|adottat\w|sposat\w|trasferit\w|cambiat\w|vendue?|achetee?|quittee?"
    r"|arretee?|adoptee?|demenagee?|vendi\w+|comprad\w|compro|dej(?:o|ado)|adopt(?:o|ado)|mudad[oa]|mudou-se|vendeu"
    r"|comprou|deixou|largou|adotou|verkauft|gekauft|gekundigt|geheiratet|aufgehort|adoptiert|gezogen|umgezogen"
    r"|verkocht"
    r"|gekocht|opgezegd|gestopt|geadopteerd|verhuisd|getrouwd)"
)
_ACTS = WordPattern(
    r"\A\W*(?:my|mein\w*|mon|ma|mi(?! (?:sono|son|sto|ero)\b)|il mio|la mia|o meu|a minha|meu|minha"
    r"|mijn) (?P<who>[a-z-]{3,20})(?: from \w+"
    r"| [a-z]+)?"
    rf" (?:(?:has|have|just|finally|recently|hat|a|ha|heeft|tem|s'est|si e|se ha|is|ist|est"
    rf"|e) )?(?:[\w'-]+ ){{0,5}}?{_BOUGHT}\b"
)
"""Matches an action that only a person does, after the words for a relative of the speaker."""


_DIED = WordPattern(
    r"\b(?:died|dead|passed away|lost|gestorben|verstorben|tot|verloren|morte?|decedee?|murio|muerto|fallecio|morto"
    r"|morta|mancat[oa]|morreu|faleceu|overleden|gestorven|dood)\b"
)
_SEVERAL_STEMS = frozenset(map(stem, (*SEVERAL, *"children kinder sohne tochter bruder kinderen kleinkinder".split())))
_NAMED = frozenset(map(stem, "called named namens heisst appelle llama llamado chiama chama heet genaamd".split()))
_HAS = frozenset(map(stem, "have has habe haben ai avons tengo tenemos ho abbiamo tenho temos heb hebben".split()))


_TITLES = frozenset(map(stem, "dr doctor dottor dottore dokter docteur doutor frau herr mevrouw meneer mr mrs".split()))
_LEAVES_POST = WordPattern(
    r"\b(?:retired|quit|left|resigned|gekundigt|aufgehort|quittee?|arretee?|demissionnee?|dej(?:o|ado)|jubilad[oa]"
    r"|lasciat\w|smess\w|licenziat\w|deixou|largou|aposentou\w*|reformou\w*|opgezegd|gestopt|vertrokken)\b"
)
"""Matches a statement that may end somebody's relation to the speaker."""


class _Person(NamedTuple):
    relation: str
    name: str
    rank: str


_NAMING = WordPattern(
    r"\b(?:named?|names|called?|heisst|heissen|genannt|s'appellent?|appellee?|nommee?|prenom|(?:se )?llaman?|nombre"
    r"|(?:si )?chiam[ao]n?o?|nome|(?:se )?chamam?(?:-se)?|heet|heten|naam)\b"
)
"""Words between somebody and their name."""


@lru_cache(maxsize=4096)
def only_named(old: Frame) -> bool:
    """Return True if a statement gives only the name of a person: "My sister Emma", "My sister is called Emma"."""
    if not old.subject.startswith("other:") or not old.names or old.event or old.numbers:
        return False
    own = {stem(word) for word in person_words()["possessive"]}
    return Frame(_NAMING.sub(" ", old.plain)).stems <= old.relations | old.names | own


def leaves_name(old: Frame, new: Frame) -> bool:
    """Return True if `old` only names a person, and `new` reports a change of that person which neither ends nor
    corrects `old`: "My sister Emma", "My sister moved to Graz".
    """
    if _names_relatives(old) and new.subject != "self" and not old.names.isdisjoint(new.called_stems):
        return new.cues.isdisjoint({"correct", "weak_correct", "takes_back"}) and _DIED.search(new.plain) is None
    if _acts_on_its_own(old, new):
        return True
    if not only_named(old) or not new.cues.isdisjoint({"end", "weak_end", "correct", "weak_correct", "takes_back"}):
        return False
    is_another = new.subject.startswith("name:") and new.subject[5:] not in old.names
    if (is_another or only_named(new)) and old.relations.isdisjoint(_SEVERAL_STEMS):
        return False  # "My boss is Tom", "My boss is Ana now"
    return _NAMING.search(new.plain) is None and "relationship" not in new.attributes and not new.denied


def _acts_on_its_own(old: Frame, new: Frame) -> bool:
    """Return True if `old` only names somebody by a relation to the speaker, of any kind, and `new` reports an act that
    does not end it: "My doctor is called Dr. Okafor", "My doctor moved to Leeds".
    """
    found = _ACTS.match(new.plain)
    named = old.names | old.called_stems
    if found is None or not named or old.event or _NAMING.search(new.plain) or _LEAVES_POST.search(new.plain):
        return False
    own = {stem(word) for word in person_words()["possessive"]} | _TITLES
    who = {stem(found["who"])}
    return who <= old.stems and Frame(_NAMING.sub(" ", old.plain)).stems <= who | named | own


@lru_cache(maxsize=4096)
def _names_relatives(old: Frame) -> bool:
    """Return True if a statement only counts and names relatives of the speaker: "I have two sons, Max and Leo"."""
    if old.subject != "self" or not old.names or old.event:
        return False
    kin = _SEVERAL_STEMS & old.unnumbered
    return bool(kin) and old.unnumbered - old.names - _HAS - _NAMED <= kin


def of_another_relative(old: Frame, new: Frame) -> bool:
    """Return True if the two are about people of one relation with different names or ages."""
    if not old.subject.startswith("other:") or old.subject != new.subject or new.cues & {"correct", "takes_back"}:
        return False
    mine, theirs = _person(old), _person(new)
    if mine is None or theirs is None or mine.relation != theirs.relation:
        return False
    named = mine.name and theirs.name and mine.name != theirs.name
    return bool(named or (mine.rank and theirs.rank and mine.rank != theirs.rank))


def acts_of_another(old: Frame, new: Frame) -> bool:
    """Return True if `old` is about the speaker alone, and `new` reports an act of a person who is linked to the
    speaker only by "my", of any relation: "I drive a Tipo", "My dentist sold his Tipo".
    """
    found = _ACTS.match(new.plain)
    if found is None or old.relations or old.subject != "self" or tells_such_end(new):
        return False
    return stem(found["who"]) not in old.stems


def _person(frame: Frame) -> _Person | None:
    """Return the first person that a statement names by a relation."""
    relations = person_words()["relations"]
    for part in frame.said:
        words = _WORD.findall(part)
        low = [plain(word).removesuffix("'s") for word in words]
        place = next((at for at, word in enumerate(low) if word in relations), None)
        if place is None:
            continue
        around = {*low[max(0, place - AROUND) : place], *low[place + 1 : place + 1 + AROUND]}
        behind = words[place + 1] if place + 1 < len(words) else ""
        rank = "elder" if around & _ELDER else "younger" if around & _YOUNGER else ""
        return _Person(stem(low[place]), _name(behind), rank)
    return None


def _name(word: str) -> str:
    """Return a word if it is a name after a relation; empty if not."""
    low = plain(word).removesuffix("'s")
    known = low in word_classes()["english"] or low in person_words()["verbs"]
    return low if word[:1].isupper() and not known else ""
