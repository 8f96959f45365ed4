"""Denials of a statement, or of one item of it: "I'm allergic to nuts and milk", "Actually, not to nuts"."""

from __future__ import annotations

from mnemic.language.ended_facts.implicit_endings import akin
from mnemic.language.frames.frame_expressions import CLAUSE, NOT
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import MEMBERS, person_words, plain
from mnemic.language.text.pattern import WordPattern

LONGEST_BARE = 8
"""Maximum words of a denial that names nobody, and repeats words of a statement: "Not to nuts, actually"."""
LONGEST_LISTING = 12
"""Maximum words of a statement with a denial in another word order: "Ich bin nicht gegen Nüsse allergisch"."""
_RESTRICTS = frozenset({"much", "often", "alone", "every", "only", "without", "before", "after"})
"""Words that limit a denial to a part: "I don't drink much"."""
_DOES = frozenset({"do", "does", "a", "an", "any", "the", "ne", "de", "kein", "keine", "keinen", "geen"})
_OPENS = frozenset(
    map(
        stem,
        "nein no non nee nao actually really fact fait realidad realta eigenlijk eigentlich doch afinal sorry wait mind"
        " gegen voor against alle ever said say told tell claimed sagte gesagt behauptet dit dije dicho detto disse"
        " gezegd".split(),
    )
)
"""Stems of words that only announce a correction, or precede the denied item."""
_NOT_BUT = WordPattern(
    r"(?i)\A\W*(?:(?:no|non|nein|nee|não|sorry|wait|oops)\b[,.!]? )?(?:not|pas|nicht|non|no|não|niet) "
    r"(?:(?:to|from|in|at|aux?|à la|à|de|gegen|a las?|a los?|al|alle|ai|a|voor|in) )?(?P<old>[\w'-]+)"
    r"(?:,| but| sondern|, sondern| mais|, mais| sino|, sino| ma|, ma| mas|, mas| maar|, maar) "
    r"(?:(?:to|from|in|at|aux?|à la|à|de|gegen|a las?|a los?|al|alle|ai|a|voor|in) )?(?P<new>[\w'-]+)\W*\Z"
)
"""Matches a corrected value without its subject: "No, not nuts, hazelnuts"."""


def denies(old: Frame, new: Frame) -> bool:
    """Return True if `new` denies all of `old` ("I work for Aldi", "I don't work for Aldi"), or an item of it."""
    said = new.undisputed.stems
    # Checked first: few statements have all words of another.
    if not said - _OPENS <= old.stems or old.negated or not old.stems or old.event or not may_deny(new):
        return False
    if any(new.slots(name) - old.slots(name) for name in MEMBERS):
        return False
    if old.stems == said and old.subject == new.subject:
        return all(old.slots(name) == new.slots(name) for name in MEMBERS)
    return denies_item(old, new)


def may_deny(new: Frame) -> bool:
    """Return True if a statement may deny all of another: it is negated, and contains neither a past nor a passing
    time, nor a restriction.
    """
    return new.negated and new.cues.isdisjoint({"past", "passing"}) and _RESTRICTS.isdisjoint(new.tokens)


def may_put_right(new: Frame) -> bool:
    """Return True if a statement may be only a new value for an earlier one."""
    found = value_put_right(new)
    return found is not None and stem(plain(found[1])) not in _OPENS


def denies_item(old: Frame, new: Frame) -> bool:
    """Return True if `new` denies one item of `old`, in words of `old` alone and mostly in their order."""
    said = new.undisputed.stems - _OPENS
    if not said or not said < old.stems or "again" in new.cues:
        return False
    if not is_bare(new) and (old.subject != new.subject or not (len(said) > 1 or _has_words(old, new))):
        return False
    if len(old.tokens) <= LONGEST_LISTING:
        return True
    if is_bare(new):
        return False
    places = [old.tokens.index(token) for token in new.tokens if stem(token) in said and token in old.tokens]
    return places == sorted(places)


def denies_of_another(old: Frame, new: Frame) -> bool:
    """Return True if one of two short statements affirms something of one thing, and the other denies it of another:
    "I'm allergic to cats", "I'm not allergic to dogs".
    """
    if (
        old.negated == new.negated
        or new.cues & {"change", "correct", "end", "weak_end", "takes_back"}
        or "end" in old.cues
    ):
        return False
    if max(len(old.tokens), len(new.tokens)) > LONGEST_LISTING or any(CLAUSE.search(one.text) for one in (old, new)):
        return False
    mine, theirs = old.stems - new.stems, new.stems - old.stems - _OPENS
    if not (old.stems & new.stems and mine and theirs) or old.subject != new.subject:
        return False
    return not any(akin(one, other) for one in mine for other in theirs)


def _has_words(old: Frame, new: Frame) -> bool:
    """Return True if `old` has all words of `new` except its negations: "I don't have a dog"."""
    return all(token in old.tokens or NOT.search(token) for token in new.tokens if token not in _DOES)


def has_denied(part: Frame, new: Frame) -> bool:
    """Return True if a part of a statement has all content words of `new`, which denies an item of the whole."""
    return new.undisputed.stems - _OPENS <= part.stems


def is_bare(new: Frame) -> bool:
    """Return True if a short statement names no person: "Not to nuts, actually"."""
    people = person_words()
    named = people["self"] | people["possessive"] | people["others"] | people["relations"]
    return len(new.tokens) <= LONGEST_BARE and named.isdisjoint(new.tokens)


def puts_right(old: Frame, new: Frame) -> bool:
    """Return True if `new` gives another value for one that `old` has: "I'm allergic to nuts", "No, not nuts,
    hazelnuts".
    """
    found = value_put_right(new)
    if found is None or stem(plain(found[1])) in _OPENS:
        return False
    return stem(plain(found[0])) in old.stems and stem(plain(found[1])) not in old.stems


def is_bare_denial(new: Frame) -> bool:
    """Return True if a statement may be only a denial of an earlier one, or correct a value of it."""
    return new.negated and bool(new.stems) and is_bare(new)


def denied_item(new: Frame) -> frozenset[str]:
    """Return the stems of the item that a statement without a subject denies; empty for any other statement."""
    return new.undisputed.stems - _OPENS if new.negated and is_bare(new) else frozenset()


def value_put_right(new: Frame) -> tuple[str, str] | None:
    """Return the wrong and the right value of a statement with nothing else; None for any other statement."""
    found = _NOT_BUT.match(new.said[0]) if len(new.said) == 1 else None
    return (found["old"], found["new"]) if found is not None else None
