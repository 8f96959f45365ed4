"""Questions about the value of a well-known key without its name: "Where do I live?" asks for `home_city`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mnemic.language.text.pattern import Pattern


def _pattern(*phrases: str) -> Pattern:
    return Pattern(rf"(?i)^\W{{0,3}}(?:and |so |also |und |et |y |e )?(?:{'|'.join(phrases)})(?!\w)")


PREFERENCE = "preference"
"""Placeholder for every key, for a question about a preference of any kind."""

ASKED: Mapping[str, Pattern] = MappingProxyType(
    {
        "home_city": _pattern(
            r"where (?:do|does|are|is|am|did|was|were|had) (?:i|we|the user) (?:use to |used to )?"
            r"(?:live|living|lived|based|at home)",
            r"where(?:'s| is) (?:my|our) home",
            r"wo (?:wohne|lebe|wohnen|leben|wohnte|lebte|wohnten|lebten) (?:ich|wir)",
            r"wo (?:habe ich|haben wir)\b.{0,40}\b(?:gewohnt|gelebt)",
            r"où (?:est-ce que )?(?:j'habit(?:e|ais)|je vi(?:s|vais)|habit(?:é|ais)-je|vi(?:s|vais)-je)",
            r"où ai-je (?:habité|vécu)|dónde (?:vivo|vivía|viví|he vivido)|dove (?:viv|abit)(?:o|avo|evo)",
            r"onde (?:é que )?(?:eu )?(?:moro|vivo|morava|vivia|morei|vivi)",
            r"waar (?:woon|woonde|leef|leefde) ik|waar heb ik\b.{0,40}\b(?:gewoond|geleefd)",
        ),
        "employer": _pattern(
            r"(?:where|who) (?:do|does|did) (?:i|the user) (?:use to )?work(?: for| at)?",
            r"wo arbeite(?:te)? ich|wo habe ich\b.{0,40}\bgearbeitet",
            r"où (?:est-ce que )?je travaill(?:e|ais)|où travaill(?:é|ais)-je",
            r"dónde trabaj(?:o|aba|é)|dove lavor(?:o|avo)|onde (?:é que )?(?:eu )?trabalh(?:o|ava|ei)",
            r"waar werk(?:te)? ik",
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
        PREFERENCE: _pattern(
            r"what (?:do|did) i (?:use to )?(?:prefer|like (?:best|most|better))(?: (?:back )?\w+)?\W*$",
            r"was (?:bevorzug(?:e|te)|mag|mochte) ich(?: \w+)?\W*$|was habe ich\b.{0,20}\b(?:bevorzugt|gemocht)",
            r"(?:qu'est-ce que je préf(?:ère|érais)|que préf(?:éré|érais)-je)(?: \w+)?\W*$",
            r"qué prefer(?:ía|í)(?: \w+)?\W*$|qué prefiero(?: \w+)?\W*$",
            r"(?:che )?cosa prefer(?:isco|ivo)(?: \w+)?\W*$",
            r"(?:o )?que (?:é que )?(?:eu )?pref(?:iro|eria|eri)(?: \w+)?\W*$",
            r"wat (?:vond|vind|had|heb) ik (?:\w+ )?(?:het )?(?:fijnst|liefst|liever)\W*$",
        ),
        "name": _pattern(
            r"who am i\W*$|what am i called|wie heiße ich|comment je m'appelle",
            r"cómo me llamo|come mi chiamo|como me chamo|hoe heet ik",
        ),
    }
)


def asked_keys(text: str) -> frozenset[str]:
    """Return the keys with a value that `text` asks for."""
    return frozenset(key for key, one in ASKED.items() if one.search(text))
