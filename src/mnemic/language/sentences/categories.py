"""Category of a statement: the classifier's opinion, corrected if the words alone decide."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.language.sentences.classify.classifier import KEPT, Opinion
from mnemic.language.sentences.habits import HABIT
from mnemic.language.sentences.preference_wordings import LASTS, PREFERS, WHEN_ASKED
from mnemic.language.sentences.standing_orders import is_standing_order
from mnemic.language.text.pattern import Pattern

_NARRATES = Pattern(
    r"(?i)\A\W{0,3}(?:(?:and|but|so|also|yeah|well|especially when) )*"
    r"(?:i'm|i am|i was|i've|i(?:'ll| will)(?: also| just| always)? (?:start|keep|try|be|make)"
    r"|i (?:always|usually|often|named|kept|use|used|made|take|had)\b|we're|we (?:always|usually|often)\b"
    r"|ich (?:bin|habe|mache|nehme|war) |je suis |j'ai |estoy |soy |tengo |sono |ho |estou |sou |tenho "
    r"|ik (?:ben|heb|was) )"
    r"(?!.{0,120}\b(?:you|your|yours|du|dir|dein\w*|sie|ihnen|tu|te|toi|vous|usted|tú|ti|voi|você|je|jij|jou|answers?"
    r"|repl\w+|respon\w+)\b)"
)
"""Matches a clause about the speaker's state, actions or plans, without a request to the listener."""
_FAMILY = Pattern(
    r"(?i)\A\W{0,3}(?:i|we)(?:'ve| have)(?: got)? (?:\w+ ){0,2}"
    r"(?:kids?|children|sons?|daughters?|brothers?|sisters?|twins)\W*\Z"
)
_CATEGORIES = tuple(label for label in KEPT if label not in ("safety", "change"))


def is_order(text: str, opinion: Opinion) -> bool:
    """Return True if a statement looks like a standing instruction and does not describe its speaker's actions."""
    return opinion.kept_as == "instruction" and _NARRATES.match(text) is None


def category_of(opinions: Sequence[Opinion], texts: Sequence[str]) -> str:
    """Return the category of a statement: a statement about safety is a constraint, a changed fact is a fact; standing
    instructions and preferences are recognised by the words of one of the `texts`.
    """
    if any(is_standing_order(text) or (LASTS.match(text) and WHEN_ASKED.search(text)) for text in texts):
        return "instruction"
    best = max(opinions, key=lambda one: one.keep, default=None)
    if best is not None and best.kept_as == "safety":
        return "constraint"
    if any(map(PREFERS.match, texts)):
        return "preference"
    if best is None:
        return "fact"
    found = "relation" if any(map(_FAMILY.match, texts)) else max(_CATEGORIES, key=best.share)
    if found == "instruction" and all(map(_NARRATES.match, texts)):
        return max((one for one in _CATEGORIES if one != "instruction"), key=best.share)
    if found in ("fact", "event") and any(map(HABIT.match, texts)):
        return "preference"
    return found
