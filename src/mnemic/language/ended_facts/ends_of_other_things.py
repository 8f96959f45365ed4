"""Ends and changes of another thing of the same kind: "My hotel in Rome", "I cancelled the hotel in Paris"."""

from __future__ import annotations

from functools import lru_cache

from mnemic.language.ended_facts.implicit_endings import akin
from mnemic.language.frames.frame_expressions import AMENDS
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import SLOTS, plain, word_classes
from mnemic.language.text.pattern import WordPattern

_QUALIFIED = WordPattern(
    r"\b(?:an?|the|my|our) (?P<which>[a-z][a-z-]{2,20}) (?P<what>[a-z]{3,20})\b(?! (?:to|for|with) [a-z]+ing\b)"
)
"""Matches a thing with the word that identifies it, in plain English letters: "the optician appointment"."""
_PLACED = WordPattern(
    r"\b(?P<what>[^\W\d_]{3,20}) (?:in|at|from|to|aus|von|bei|nach|à|chez|de|en|em|di|da|te|uit) "
    r"(?P<where>[A-ZÀ-Þ][\w'-]+)"
)
"""Matches a thing with the name of its place: "the hotel in Paris"."""
_SAYS_NO_WHICH = frozenset(
    "new old own big little small first last next only best whole current present former favourite favorite lovely"
    " dear poor good great nice same other second third two three local".split()
)
"""Words before a noun that do not distinguish two things of one kind."""
_CHANGES = frozenset({"change", "correct", "takes_back"})
_TURNING_ELSE = _CHANGES | {"end", "weak_end", "weak_correct"}


def of_another_of_its_kind(old: Frame, new: Frame) -> bool:
    """Return True if `new` ends a thing of a kind, and `old` mentions another, by its place, its sort or its day."""
    if new.cues.isdisjoint({"end", "weak_end"}) or not new.cues.isdisjoint(_CHANGES):
        return False
    return _placed_elsewhere(old, new) or _of_another_sort(old, new) or _on_another_day(old, new)


def of_the_past_alone(old: Frame, new: Frame) -> bool:
    """Return True if `new` only describes the past, and names something that `old` does not mention: "I live in Cork",
    "I used to live in Galway".
    """
    if "past" not in new.cues or not new.cues.isdisjoint({"end", "weak_end", "again", *_CHANGES}) or "past" in old.cues:
        return False
    return bool(new.names and old.names and new.names.isdisjoint(old.names))


def on_other_occasions(old: Frame, new: Frame) -> bool:
    """Return True if each statement applies to another kind of one occasion: "on day flights", "on night flights"."""
    if not new.conditions or new.cues & {"change", "correct", "end"}:
        return False
    mine, theirs = dict(old.conditions), dict(new.conditions)
    return any(mine[noun] != theirs[noun] for noun in mine.keys() & theirs.keys())


def at_another_time_of_day(old: Frame, new: Frame) -> bool:
    """Return True if the two state different things for two times of the day or the week: "I drink tea in the morning",
    "In the evening I drink wine now".
    """
    if not (new.slots("dayparts") or new.slots("weekdays")) or not new.cues.isdisjoint(_TURNING_ELSE):
        return False
    if AMENDS.match(new.plain):
        return False
    for name in ("dayparts", "weekdays"):
        mine, theirs = old.slots(name), new.slots(name)
        if mine and theirs and mine.isdisjoint(theirs):
            of_time = {stem(word) for word in (*old.tokens, *new.tokens) if word in word_classes()[name]}
            return bool(old.stems - new.stems - of_time) and bool(new.stems - old.stems - of_time)
    return False


def _placed_elsewhere(old: Frame, new: Frame) -> bool:
    mine, theirs = _places(old), _places(new)
    shared = mine.keys() & theirs.keys()
    return bool(shared) and all(mine[what].isdisjoint(theirs[what]) for what in shared)


@lru_cache(maxsize=4096)
def _places(frame: Frame) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for part in frame.said:
        for match in _PLACED.finditer(part):
            what = stem(plain(match["what"]))
            found[what] = found.get(what, frozenset()) | {stem(plain(match["where"]))}
    return found


def _of_another_sort(old: Frame, new: Frame) -> bool:
    mine, theirs = _sorts(old), _sorts(new)
    return any(
        not any(akin(one, other) or one == other for one in mine[what] for other in theirs[what])
        and theirs[what].isdisjoint(old.tokens)
        and mine[what].isdisjoint(new.tokens)
        for what in mine.keys() & theirs.keys()
    )


@lru_cache(maxsize=4096)
def _sorts(frame: Frame) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    empty = word_classes()["empty"]
    for match in _QUALIFIED.finditer(frame.plain):
        if match["which"] not in _SAYS_NO_WHICH and match["which"] not in empty and match["what"] not in empty:
            found.setdefault(stem(match["what"]), set()).add(match["which"])
    return found


def _on_another_day(old: Frame, new: Frame) -> bool:
    """Return True if `new` names the day of the ended thing, and `old` another."""
    return any(
        old.slots(name) and new.slots(name) and old.slots(name).isdisjoint(new.slots(name)) for name in SLOTS[:2]
    )
