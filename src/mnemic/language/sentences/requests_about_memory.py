"""Requests about memory in a user's message: "forget what I told you about the flat", "what do you know about me?".

Recognised in seven languages, and only as whole sentences, so that a mention of forgetting is not considered one.

Of two cars, "my car" may mean either: a request that meets several things of one kind says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pkgutil import get_data
from typing import Any, Literal, NamedTuple

from mnemic.language.sentences.clauses import sentences
from mnemic.language.sentences.pasted_text import data_spans
from mnemic.language.sentences.tables import pattern, straight
from mnemic.language.text.pattern import Pattern

MemoryRequestKind = Literal["forget", "forget_all", "wrong", "show"]
LONGEST = 200
"""Maximum number of characters of a request."""

_SUBJECT = r"[^?!\n]{2,80}?"
_WORDS = r"\w[\w'-]{1,24}(?: \w[\w'-]{1,24}){0,2}?"
_END = r"(?:,? (?:please|bitte|s'il te plaît|por favor|per favore|alsjeblieft|now|jetzt))?\W{0,4}$"
_IF_KNOWN = "forget_known"
_WORDED: tuple[tuple[MemoryRequestKind, str], ...] = (
    ("forget_all", "forget_all"),
    ("forget", "forget"),
    ("forget", _IF_KNOWN),
    ("wrong", "wrong"),
    ("show", "show"),
)
"""Kinds and the names of their wordings, in the order of their trial."""
_NOBODY = frozenset({"it", "that", "this", "them", "him", "her", "everything", "anything"})


@lru_cache(maxsize=1)
def _wordings() -> Sequence[dict[str, Any]]:
    text = (get_data(__package__, "data/about_memory.json") or b"").decode()
    data: dict[str, Any] = json.loads(text)
    data.pop("about")
    return list(data.values())


@lru_cache(maxsize=1)
def _patterns() -> Sequence[tuple[MemoryRequestKind, str, Pattern]]:
    return [
        (kind, of, _pattern(by_kind["polite"], by_kind[of]))
        for kind, of in _WORDED
        for by_kind in _wordings()
        if of in by_kind
    ]


@lru_cache(maxsize=1)
def _profile_patterns() -> Sequence[Pattern]:
    return [_pattern(by_kind["polite"], by_kind["profile"]) for by_kind in _wordings()]


def _pattern(polite: str, wordings: Sequence[str]) -> Pattern:
    """Return a pattern of any wording as a whole sentence. Wordings cannot share a group name: each is tried alone."""
    tried = "|".join(
        one.replace("S", f"(?P<s{place}>{_SUBJECT})").replace("W", f"(?P<s{place}>{_WORDS})")
        for place, one in enumerate(wordings)
    )
    return pattern(rf"^\W{{0,3}}(?:(?:{polite})[,!.]? ){{0,3}}(?:{tried}){_END}")


class Asked(NamedTuple):
    """Request about memory: its kind, its topic (empty: the user, or the last statement), and its position. `if_known`:
    it is a request only if something is known about its topic ("delete my address").
    """

    kind: MemoryRequestKind
    subject: str
    span: tuple[int, int]
    if_known: bool = False


def asked_of_memory(text: str) -> Iterator[Asked]:
    """Yield the requests about memory in a user's message, in order; requests in displayed text are ignored."""
    shown = None
    for start, end in sentences(text):
        found = _parse_request(straight(text[start:end])) if end - start <= LONGEST else None
        if found is None:
            continue
        shown = data_spans(text) if shown is None else shown
        if not any(first < end and last > start for first, last in shown):
            kind, subject, if_known = found
            yield Asked(kind, subject, (start, end), if_known)


def asks_for_profile(text: str) -> bool:
    """Return True for "who am I?", "what do you know about me?" and the like: no single memory answers them."""
    if len(text) > LONGEST:
        return False
    asked = straight(text.strip())
    if any(one.match(asked) for one in _profile_patterns()):
        return True
    found = _parse_request(asked)
    return found is not None and found[:2] == ("show", "")


def split_requests(text: str) -> tuple[str, str]:
    """Return the requests about memory in a user's message, and its rest."""
    spans = [one.span for one in asked_of_memory(text)]
    requests, rest, done = [], [], 0
    for start, end in [*spans, (len(text), len(text))]:
        rest.append(text[done:start].strip())
        requests.append(text[start:end])
        done = end
    return " ".join(filter(None, requests)), " ".join(filter(None, rest))


def _parse_request(sentence: str) -> tuple[MemoryRequestKind, str, bool] | None:
    for kind, of, one in _patterns():
        found = one.match(sentence)
        if found is None:
            continue
        subject = next((one for one in found.groupdict().values() if one), "").strip(" .,'\"")
        if subject.casefold() in _NOBODY:
            subject = ""
        if kind == "forget" and not subject:
            continue
        return kind, subject, of == _IF_KNOWN or (kind == "show" and bool(subject))
    return None


_OWNER = Pattern(r"(?i)\b(?:my|our) (?P<who>[a-z-]{3,20})'s\b")
"""Matches another person as the owner of a thing: "my wife's car"."""
_OF_A_KIND = re.compile(
    r"\b(?:an?|another|eine?n?|einem|une?|una?|uno|um|uma|een) (?:[a-zà-ÿ-]+ ){0,2}?(?P<name>[A-ZÀ-Þ][\w-]+(?:"
    r" [A-ZÀ-Þ\d][\w-]*)?)"
)
"""Matches a member of a kind, by its name: "a red Volvo"."""


def things_in(statements: Iterable[str]) -> list[str]:
    """Return the names of the things in statements, with their owners other than the speaker, in order; fewer than two
    if there is no sign of several.
    """
    found: dict[str, None] = {}
    for text in statements:
        names = [match["name"] for match in _OF_A_KIND.finditer(text)]
        owner = _OWNER.search(text.replace("’", "'"))
        whose = f" ({owner['who'].lower()})" if owner is not None else ""
        for name in names or ([""] if whose else []):
            found.setdefault(f"{name}{whose}".strip(), None)
    return list(found)
