"""Abstention: each chat is asked about itself, and about the other chats of its half.

`auc`: how often, of a question about the chat and one about another chat, the first has the higher relevance (ties
count half). `own_abstained` and `others_abstained`: the shares of each for which the search abstains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemic_eval.replay import Replayed

OWN, OTHERS = 60, 40
"""Maximum number of questions of each kind per chat, evenly chosen."""


class Knowing:
    """Collects the relevances of both kinds of questions, by half."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[bool, float, bool]]] = {"dev": [], "test": []}

    async def ask(self, conversation: Replayed, own: Sequence[str], others: Sequence[str], split: str) -> None:
        """Ask both kinds of questions of one chat. Searches without a relevance are not counted."""
        asked = [(True, text) for text in evenly(own, OWN)] + [(False, text) for text in evenly(others, OTHERS)]
        for about_it, text in asked:
            result = await conversation.engine.search(text, actor=conversation.actor, top_k=1)
            if result.relevance is not None:
                self._rows[split].append((about_it, result.relevance, result.abstains))

    def report(self) -> dict[str, dict[str, Any]]:
        """Return `dev` and `test`, each only if both kinds were counted."""
        return {split: result for split, rows in self._rows.items() if (result := _figures(rows)) is not None}


def evenly(texts: Sequence[str], most: int) -> list[str]:
    """Return at most `most` of them, evenly spread."""
    step = max(1.0, len(texts) / most)
    return [texts[int(place * step)] for place in range(min(most, len(texts)))]


def auc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Return the area under the ROC curve: the share of pairs in the right order."""
    won = sum((one > other) + 0.5 * (one == other) for one in higher for other in lower)
    return won / (len(higher) * len(lower))


def _figures(rows: Sequence[tuple[bool, float, bool]]) -> dict[str, Any] | None:
    own, others = ([row for row in rows if row[0] is about] for about in (True, False))
    if not own or not others:
        return None
    return {
        "auc": round(auc([row[1] for row in own], [row[1] for row in others]), 4),
        "own_abstained": round(sum(row[2] for row in own) / len(own), 4),
        "others_abstained": round(sum(row[2] for row in others) / len(others), 4),
        "own": len(own),
        "others": len(others),
    }
