"""Phrases for relations, as data: patterns over a text in which names are marks (`⟦1⟧`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mnemic.language.entities.relations import ORGANISATION, PERSON, PLACE, RESTAURANT
from mnemic.language.text.pattern import Pattern

_N = r"⟦\d+⟧"
_ADVERB = r"(?:\s(?:also|now|currently|still|just|actually|recently|then|have|has|had|is|am|are|ahora|también)){0,2}"
_THE = r"(?:the\s|el\s|la\s)?"


@dataclass(frozen=True, slots=True)
class Phrase:
    """Wording of a relation. `ended`: the wording means that the relation is over."""

    relation: str
    pattern: Pattern
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Cue:
    """Words next to a name that indicate its kind."""

    label: str
    pattern: Pattern


def _phrase(relation: str, verb: str, *, ended: bool = False) -> Phrase:
    text = rf"(?P<source>{_N}),?{_ADVERB}\s(?:{verb})\s{_THE}(?P<target>{_N})"
    return Phrase(relation, Pattern(text, re.IGNORECASE), ended)


def _cue(label: str, before: str) -> Cue:
    return Cue(label, Pattern(rf"\b(?:{before})\s{_THE}(?P<name>{_N})", re.IGNORECASE))


_CHIEF = "ceo|cto|cfo|head|director|president|manager|founder"
_CALLED = r"also known as|a\.?k\.?a\.?|also called|better known as|nicknamed|goes by|conocid[oa] como"
_WORK = r"(?:\s(?!at\b|for\b|in\b)\w+){0,5}"

PHRASES = (
    _phrase("works_at", rf"(?:works?|working|started working|got a job|is employed|am employed){_WORK}\s(?:at|for)"),
    _phrase("works_at", r"(?:joined|trabaj[ao] (?:en|para))"),
    _phrase(
        "works_at",
        r"(?:no longer works?|does(?: not|n['’]t) work|do(?: not|n['’]t) work|stopped working)\s(?:at|for)",
        ended=True,
    ),
    _phrase("works_at", r"(?:left|quit|ya no trabaj[ao] en)", ended=True),
    _phrase("studies_at", r"(?:stud(?:y|ies|ying)(?:\s\w+){0,3} at|goes to school at|estudi[ao] en)"),
    _phrase("lives_in", r"(?:lives?|living|moved|relocated|settled)(?:\s(?:together|alone|back))?\s(?:in|to)"),
    _phrase("lives_in", r"(?:vive|vivo|viven|se mudó a|me mudé a)(?:\sen)?"),
    _phrase("lives_in", r"(?:no longer lives?|does(?: not|n['’]t) live|do(?: not|n['’]t) live)\sin", ended=True),
    _phrase("lives_in", r"(?:moved (?:away|out)\s(?:from|of))", ended=True),
    _phrase("born_in", r"(?:was born|were born|born|nació|nací)\s(?:in|en)"),
    _phrase("comes_from", r"(?:comes?|is|am|are|grew up|originally)(?:\soriginally)?\s(?:from|de)"),
    _phrase("comes_from", r"(?:es|soy)\sde"),
    _phrase("married_to", r"(?:(?:is|am|got|was)\s)?(?:married(?:\sto)?|casad[oa] con)"),
    _phrase("married_to", r"(?:divorced(?:\sfrom)?|separated from)", ended=True),
    _phrase(
        "leads",
        rf"(?:runs?|leads?|heads?|manages?|(?:the |a )?(?:{_CHIEF})\s(?:of|at))",
    ),
    _phrase("leads", rf"(?:is|am|are)\s(?:the |a |an )?(?:{_CHIEF})\s(?:of|at)"),
    _phrase("founded", r"(?:founded|co-founded|started up|fundó)"),
    _phrase("member_of", r"(?:is|am)\s(?:a )?(?:member of|part of)|plays? for"),
    _phrase("knows", r"(?:knows?|met|conoce|conozco a)"),
    _phrase("friend", r"(?:is|are)\s(?:a )?(?:\w+\s)?friends?\s(?:of|with)"),
    _phrase("owns", r"(?:owns?|bought|tiene)"),
    _phrase("located_in", r"(?:(?:is\s)?(?:located|based|situated|headquartered)\s)?(?:in|en)"),
    _phrase("near", r"(?:(?:in\s⟦\d+⟧\s)?(?:is\s)?(?:near|next to|close to|opposite|beside|by|cerca de))"),
)

CUES = (
    _cue(
        RESTAURANT,
        r"(?:dinner|lunch|breakfast|brunch|supper|ate|eaten|eat|cena|cenar|comida|comer)(?:\s\w+){0,2}?\s(?:at|en)",
    ),
    _cue(RESTAURANT, r"(?:restaurant|café|cafe|bistro|bar|pizzeria|restaurante)(?:\scalled|\snamed)?"),
    _cue(PERSON, r"(?:dr|mr|mrs|ms|prof|sr|sra)\.?"),
    _cue(PERSON, r"(?:talked to|spoke (?:to|with)|met|told|called|dinner with|with my friend)"),
    _cue(
        PLACE,
        r"(?:visit(?:ed|ing)?|travel(?:l?ed|ling)? to|trip to|flew to|fly to|flying to|vacation in|holiday in|viajé a)",
    ),
    _cue(PLACE, r"(?:city|town|village|country|state|island) of"),
    _cue(PLACE, r"(?:live in|lives in|moved to|born in)"),
    _cue(
        ORGANISATION,
        r"(?:work(?:s|ing|ed)?(?:\s\w+){0,3}\s(?:at|for)|company|employer|university|school|startup)(?:\scalled|\snamed)?",
    ),
)

ALIASES = tuple(
    Pattern(text, re.IGNORECASE)
    for text in (
        rf"(?P<name>{_N}),?\s(?:{_CALLED})\s{_THE}(?P<other>{_N})",
        rf"(?P<name>{_N})\s\((?:aka\s|also\s|or\s)?(?P<other>{_N})\)",
        rf"(?P<other>{_N})\sis\s(?:short|a nickname)\sfor\s(?P<name>{_N})",
        rf"\b(?:everyone|everybody|we|they|people|{_N})\scalls?\s(?P<name>{_N})\s(?P<other>{_N})",
    )
)

_WORDS = {
    "sister": "sister hermana",
    "brother": "brother hermano",
    "mother": "mother mom mum mama madre",
    "father": "father dad papa padre",
    "son": "son hijo",
    "daughter": "daughter hija",
    "wife": "wife esposa mujer",
    "husband": "husband esposo marido",
    "partner": "partner pareja",
    "girlfriend": "girlfriend novia",
    "boyfriend": "boyfriend novio",
    "fiance": "fiance fiancé fiancee fiancée",
    "friend": "friend amigo amiga buddy",
    "colleague": "colleague coworker co-worker teammate compañero compañera colega",
    "boss": "boss manager jefe jefa",
    "cousin": "cousin primo prima",
    "aunt": "aunt tía",
    "uncle": "uncle tío",
    "niece": "niece sobrina",
    "nephew": "nephew sobrino",
    "grandmother": "grandmother grandma abuela",
    "grandfather": "grandfather grandpa abuelo",
    "grandson": "grandson nieto",
    "granddaughter": "granddaughter nieta",
    "neighbour": "neighbour neighbor vecino vecina",
    "roommate": "roommate flatmate",
    "child": "child kid",
    "pet": "dog cat horse puppy kitten perro perra gato gata",
}
KIN_WORDS: Mapping[str, str] = MappingProxyType(
    {word: relation for relation, words in _WORDS.items() for word in words.split()}
)
"""Relation of each word that people use for it."""
