"""Subject of a rule: hotels in "Never book hotels without a gym", not gyms, nor books.

A rule restricts the choice of one kind of thing; the words after "without", "unless" or "before" narrow it down to some
things of the kind. A request about anything else does not depend on it, whatever words they share.
"""

from __future__ import annotations

import re

from mnemic.language.text.pattern import Pattern

_CHOOSING = (
    r"(?:book|reserve|rent|hire|stay (?:in|at)|eat (?:in|at)|dine (?:in|at)|fly (?:with|on)|travel (?:with|on)"
    r"|buy|order|schedule|arrange|choose|pick|take|visit|watch|read|use|suggest|recommend|show me|offer me|send me"
    r"|get|plan)"
)
_RULE = Pattern(
    r"\A\W*(?:(?:please|i|we|you|the user) )*(?:(?:will|would|should|must) )?"
    r"(?:never|always|only|exclusively|don['’]t|do not|does not|doesn['’]t|won['’]t|will not|can['’]t|cannot|refuse to"
    r"|make sure to|must not|mustn['’]t) (?:ever |want (?:you )?to |let me )?" + _CHOOSING + r"s? (?P<thing>.{2,80}?)"
    r"(?: (?:without|with|unless|if|when|while|before|after|until|that|which|who|where|because|since|as long|than"
    r"|from|at|on|in|for|over|under|by)\b|[.,;!]|\Z)",
    re.IGNORECASE,
)
"""Matches a rule for a choice, as a command or in the first person, and its object."""
_ACT = Pattern(
    r"(?P<before>\A\W*|\b(?:please|to|can|could|will|would|should|shall|must|you|i|we|and|or|just|never|always"
    r"|only|not|(?:do|ca|wo)n['’]t|cannot|let me) )"
    r"(?:book|order|find|get|plan|pick|choose|reserve|schedule|suggest|recommend)\b",
    re.IGNORECASE,
)
"""Matches the verb of a request or a rule, which does not name the thing: to book a flight is not about a book."""


def rule_subject(text: str) -> str | None:
    """Return the words for the thing that a rule for a choice is about; None if `text` is no such rule."""
    found = _RULE.match(text)
    return None if found is None else found.group("thing")


def without_acts(text: str) -> str:
    """Return `text` without the verbs of choosing in it."""
    return _ACT.sub(lambda found: found.group("before"), text)
