"""Abstention: each chat is asked about itself, about the other chats of its half, and what was never said in it.

`auc`: how often, of an answerable question about the chat and one about another chat, the first has the higher
relevance (ties count half). `own_abstained` and `others_abstained`: the shares of each for which the search abstains.
`auc_adversarial`, `adversarial_abstained`: the same of questions that ask for what was never said in words that were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mnemic_eval.replay import Replayed

OWN = 60
OTHERS = {"others": 40, "adversarial": 60}
"""Maximum number of questions of each kind per chat, evenly chosen."""


class Knowing:
    """Collects the relevances of each kind of questions, by half."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[str, float, bool]]] = {"dev": [], "test": []}

    async def ask(
        self, conversation: Replayed, own: Sequence[str], unknown: Mapping[str, Sequence[str]], split: str
    ) -> None:
        """Ask the questions of one chat, its own and each kind of `unknown`. Searches without a relevance are not
        counted.
        """
        asked = [("own", text) for text in evenly(own, OWN)]
        asked += [(kind, text) for kind, texts in unknown.items() for text in evenly(texts, OTHERS[kind])]
        for kind, text in asked:
            result = await conversation.engine.search(text, actor=conversation.actor, top_k=1)
            if result.relevance is not None:
                self._rows[split].append((kind, result.relevance, result.abstains))

    def report(self) -> dict[str, dict[str, Any]]:
        """Return `dev` and `test`, each only if questions of the chats and of others were counted."""
        return {
            split: _figures(rows) for split, rows in self._rows.items() if {"own", "others"} <= {one[0] for one in rows}
        }


def evenly(texts: Sequence[str], most: int) -> list[str]:
    """Return at most `most` of them, evenly spread."""
    step = max(1.0, len(texts) / most)
    return [texts[int(place * step)] for place in range(min(most, len(texts)))]


def auc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Return the area under the ROC curve: the share of pairs in the right order."""
    won = sum((one > other) + 0.5 * (one == other) for one in higher for other in lower)
    return won / (len(higher) * len(lower))


def _figures(rows: Sequence[tuple[str, float, bool]]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    relevances = {kind: [row[1] for row in rows if row[0] == kind] for kind in ("own", *OTHERS)}
    for kind, name in (("others", "auc"), ("adversarial", "auc_adversarial")):
        if relevances[kind]:
            figures[name] = round(auc(relevances["own"], relevances[kind]), 4)
    for kind, of_kind in relevances.items():
        if of_kind:
            abstained = sum(row[2] for row in rows if row[0] == kind)
            figures |= {f"{kind}_abstained": round(abstained / len(of_kind), 4), kind: len(of_kind)}
    return figures
