"""Counts of a list after the end of an item: of "two cars, a Golf and a Volvo" one remains, and not two."""

from __future__ import annotations

import re

_COUNTS = tuple(
    tuple(words.split())
    for words in (
        "one two three four five six",
        "ein zwei drei vier fünf sechs",
        "un deux trois quatre cinq six",
        "un dos tres cuatro cinco seis",
        "un due tre quattro cinque sei",
        "um dois três quatro cinco seis",
        "uma duas três quatro cinco seis",
        "een twee drie vier vijf zes",
        "1 2 3 4 5 6",
    )
)
"""Numbers from one to six, by language."""
_NUMBER = "|".join(sorted({word for words in _COUNTS for word in words[1:]}))
_COUNTED = re.compile(
    rf"(?i)\A(?P<lead>[^,.;:!?]{{0,40}}?)\b(?P<count>{_NUMBER}) (?P<noun>[^\W\d_]{{2,20}}(?:'s)?)(?:,|:)"
    r" (?P<items>[^.;:!?]{2,160})[.!]?\Z"
)
_BETWEEN_ITEMS = re.compile(r"(?i),\s+(?:(?:and|und|et|y|e|en) )?|\s(?:and|und|et|y|e|en)\s")
_IRREGULAR = {"children": "child", "wives": "wife", "mice": "mouse", "geese": "goose", "ponies": "pony"}
_ARTICLE = re.compile(r"(?i)(?:an?|the|my|our)\s")


def recounted(statement: str, rest: str) -> str:
    """Return the `rest` of a statement with the remaining number of the things counted and named in it."""
    found = _COUNTED.match(statement)
    if found is None or f"{found['count']} {found['noun']}" not in rest:
        return rest
    counts = next(words for words in _COUNTS if found["count"].lower() in words[1:])
    items = _BETWEEN_ITEMS.split(found["items"].strip())
    left = [one for one in items if one in rest]
    if len(items) != counts.index(found["count"].lower()) + 1 or not 0 < len(left) < len(items):
        return rest
    counted = f"{found['count']} {found['noun']}"
    if len(left) > 1:
        return rest.replace(counted, f"{counts[len(left) - 1]} {found['noun']}", 1)
    lead = found["lead"]
    if counts is not _COUNTS[0] or _ARTICLE.match(left[0]):
        return f"{lead}{left[0]}."
    return f"{lead}one {_one(found['noun'])}, {left[0]}."


def _one(nouns: str) -> str:
    """Return the singular of an English noun."""
    if nouns in _IRREGULAR:
        return _IRREGULAR[nouns]
    return f"{nouns[:-3]}y" if nouns.endswith("ies") else nouns.removesuffix("s")
