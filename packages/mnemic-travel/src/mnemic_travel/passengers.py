"""The people that a confirmation names behind a label: "Passengers: Ana Diaz, Mr Ben Diaz"."""

from __future__ import annotations

import re

from mnemic.language.text.pattern import Pattern

MOST = 12
_LABEL = Pattern(
    r"(?im)^\W{0,5}(?:passengers?|travell?ers?|fluggäste?|passagiere?|reisende[rn]?|passagers?|voyageurs?|pasajer[oa]s?"
    r"|viajer[oa]s?|passegger[oai]|viaggiator[ei]|passageir[oa]s?|passagiers?|reizigers?)(?: names?)?(?: ?\d{1,2})?\s?:"
    r"\s?(?P<names>[^\n:]{3,300})$"
)
_BETWEEN = re.compile(r"\s?[,;]\s?|\s(?:and|und|et|y|e|en|&)\s")
_TITLE = re.compile(
    r"(?i)\A(?:mr|mrs|ms|miss|dr|prof|herr|frau|m|mme|mlle|sr|sra|srta|sig|sig\.ra|dott|dhr|mevr|mw)\.?\s|\s\((?:adult|child"
    r"|infant|erwachsene\w*|kind|adulte|enfant|adulto|niñ[oa]|bambin[oa]|criança|volwassene)\)\Z"
)
_NAME = re.compile(r"\A[^\W\d_][\w'’.-]*(?:\s[^\W\d_][\w'’.-]*){1,4}\Z")


def labelled_passengers(text: str) -> list[str]:
    """Return the names behind labels, each once, in order."""
    found: dict[str, None] = {}
    for line in _LABEL.finditer(text):
        for part in _BETWEEN.split(line["names"].strip()):
            name = _TITLE.sub("", _TITLE.sub("", part.strip()))
            if _NAME.match(name) and name[0].isupper():
                found.setdefault(name)
    return list(found)[:MOST]
