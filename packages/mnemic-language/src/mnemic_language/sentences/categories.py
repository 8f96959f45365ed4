"""Category of a statement: the classifier's opinion, and the words of a standing order."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic_language.sentences.classify.classifier import KEPT, Opinion
from mnemic_language.sentences.standing_orders import is_standing_order

_CATEGORIES = tuple(label for label in KEPT if label not in ("safety", "change"))


def category_of(opinions: Sequence[Opinion], texts: Sequence[str]) -> str:
    """Return the category of a statement with these `texts`: a statement about safety is a constraint, a changed fact
    is a fact.
    """
    if any(map(is_standing_order, texts)):
        return "instruction"
    best = max(opinions, key=lambda one: one.keep, default=None)
    if best is None:
        return "fact"
    return "constraint" if best.kept_as == "safety" else max(_CATEGORIES, key=best.share)
