"""Questions that ask for the value of a well-known key without naming it: "Where do I live?" asks for `home_city`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mnemic_language.text.pattern import Pattern


def _pattern(*phrases: str) -> Pattern:
    return Pattern(rf"(?i)^\W{{0,3}}(?:and |so |also |und |et |y |e )?(?:{'|'.join(phrases)})(?!\w)")


ASKED: Mapping[str, Pattern] = MappingProxyType(
    {
        "home_city": _pattern(
            r"where (?:do|does|are|is|am) (?:i|we|the user) (?:live|living|based|at home)",
            r"where(?:'s| is) (?:my|our) home",
            r"wo (?:wohne|lebe|wohnen|leben) (?:ich|wir)",
            r"où (?:est-ce que )?(?:j'habite|je vis|habité-je|vis-je)",
            r"dónde vivo|dove (?:vivo|abito)|onde (?:é que )?(?:moro|vivo)|waar woon ik",
        ),
        "employer": _pattern(
            r"(?:where|who) (?:do|does) (?:i|the user) work(?: for| at)?",
            r"wo arbeite ich|où (?:est-ce que )?je travaille|où travaillé-je",
            r"dónde trabajo|dove lavoro|onde (?:é que )?trabalho|waar werk ik",
        ),
        "job": _pattern(
            r"what do i do(?: for a living| for work)?\W*$",
            r"(?:als )?was arbeite ich|quel est mon (?:métier|travail)|en qué trabajo",
            r"che lavoro faccio|em que trabalho|wat voor werk doe ik",
        ),
        "age": _pattern(
            r"how old (?:am i|is the user)|wie alt bin ich|quel âge ai-je|cuántos años tengo",
            r"quanti anni ho|quantos anos tenho|hoe oud ben ik",
        ),
        "birthday": _pattern(
            r"when (?:was i born|is my birthday)|wann (?:habe ich geburtstag|bin ich geboren)",
            r"quand suis-je né|cuándo nací|quando sono nato|quando nasci|wanneer ben ik jarig",
        ),
        "name": _pattern(
            r"who am i\W*$|what am i called|wie heiße ich|comment je m'appelle",
            r"cómo me llamo|come mi chiamo|como me chamo|hoe heet ik",
        ),
    }
)


def asked_keys(text: str) -> frozenset[str]:
    """Return the keys whose value `text` asks for."""
    return frozenset(key for key, one in ASKED.items() if one.search(text))
