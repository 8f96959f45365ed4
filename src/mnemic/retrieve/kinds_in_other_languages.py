"""Questions for a kind of thing in six other languages: "Welchen Sport mache ich?" is answered by "Ich spiele Tennis".

The table (`kinds_in_other_languages.json`, written for this project) has everyday kinds and their members in German,
French, Spanish, Italian, Portuguese and Dutch, as `category_members.json` has in English. A question is looked up in
its own language alone: a word of one may mean something else in another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pkgutil import get_data

from mnemic.language.text.language import language_of
from mnemic.language.text.pattern import Pattern

READ = 300
"""Characters of a question that are read."""
_ASKED = Pattern(
    r"\b(?:welche[nrms]?|was für|wie ?viele|quel(?:le)?s?|combien d(?:e |['’])|qué|cuánt[oa]s|cuál(?:es)?|quale|quali"
    r"|che|quant[ei]|quais|qual|que|quant[oa]s|welke?|wat voor|hoeveel)\s*+((?:[^\W\d_]+['’-]?\s?){1,4})",
    re.IGNORECASE,
)
_SEVERAL = Pattern(
    r"\b(?:wie ?viele?|wie ?oft|combien|cuánt[oa]s|cuántas veces|quant[eio]|quant[oa]s|hoe ?veel|hoe ?vaak"
    r"|alle (?:meine|mijn)|tou(?:te)?s (?:mes|les)|tod[oa]s (?:mis|l[oa]s)|tutt[ei] (?:i|le) mie[i]?"
    r"|todos os meus|todas as minhas)\b",
    re.IGNORECASE,
)


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    """Return the members of each kind, by language and by each name of the kind."""
    read: dict[str, dict[str, str]] = json.loads(get_data("mnemic.retrieve", "kinds_in_other_languages.json") or b"{}")
    return {
        language: {name: members for names, members in kinds.items() for name in names.split()}
        for language, kinds in read.items()
    }


def instances_in_other_language(text: str) -> str:
    """Return the words for instances of the kind that a question in another language than English asks for; empty if it
    asks for none.
    """
    text = text[:READ]
    kinds = _tables().get(language_of(text) or "")
    if kinds is None:
        return ""
    for asked in _ASKED.findall(text):
        for word in asked.lower().split():
            if word.strip("'’-") in kinds:
                return kinds[word.strip("'’-")]
    return ""


def asks_for_several_in_other_language(text: str) -> bool:
    """Return True if a question in another language than English asks for a number of things, or for all of them."""
    return language_of(text[:READ]) is not None and _SEVERAL.search(text[:READ]) is not None
