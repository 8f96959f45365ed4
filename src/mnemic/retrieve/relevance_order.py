"""Order of hits that their relevance explains: no hit is more relevant than one before it.

The order by score knows more than the relevance of a single memory, so it stays, and the relevances follow it by
isotonic regression (Barlow et al., "Statistical Inference under Order Restrictions", 1972): neighbours that contradict
the order get their mean. On LoCoMo this also makes the relevances better (bench/retrieval.md). Only between
messages and statements, whose scores are hard to compare, do the relevances decide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import merge
from itertools import chain, pairwise, repeat

from mnemic.retrieve.diversity import Entry
from mnemic.retrieve.policy_candidates import RELEVANCE

POOLED = 34
"""Messages whose relevances are fitted to their order together, the same number however many hits are requested; a
later one is at most as relevant as the last of them.
"""


def explain_order(
    entries: Sequence[Entry], relevances: Mapping[str, float], messages: Collection[str]
) -> tuple[list[Entry], Mapping[str, float]]:
    """Return the entries with their scores, best first, and the relevances that explain their order. `messages` and the
    others each stay in order and are merged by relevance. Pinned memories among them stay in place; a hit without
    relevance comes last.
    """
    if not relevances:
        return list(entries), relevances
    judged = [one for one, _, reason in entries if reason == RELEVANCE and one in relevances]
    said = [one for one in judged if one in messages]
    stated = [one for one in judged if one not in messages]
    found = {**_fit_relevances(said, relevances), **_fit_relevances(stated, relevances)}
    order = merge(stated, said, key=lambda one: -found[one]) if said and stated else said or stated
    return _dealt(entries, iter(order), relevances), {**relevances, **found}


def _dealt(entries: Sequence[Entry], order: Iterator[str], relevances: Mapping[str, float]) -> list[Entry]:
    """Return the entries with the judged ones in this order and the scores of the unpinned dealt out, best first."""
    moving = [entry for entry in entries if entry[2] == RELEVANCE]
    if len(moving) == len(entries) and all(before[1] >= after[1] for before, after in pairwise(entries)):
        unjudged = [one for one, _, _ in entries if one not in relevances]
        return [(one, score, RELEVANCE) for one, (_, score, _) in zip(chain(order, unjudged), entries, strict=True)]
    moved = chain(order, [one for one, _, _ in moving if one not in relevances])
    scores = iter(sorted((score for _, score, _ in moving), reverse=True))
    return [entry if entry[2] != RELEVANCE else (next(moved), next(scores), RELEVANCE) for entry in entries]


def _fit_relevances(order: Sequence[str], relevances: Mapping[str, float]) -> dict[str, float]:
    """Return the relevances of the first `POOLED` fitted to the order, and the rest bounded by the preceding ones."""
    found = _isotonic(order[:POOLED], relevances)
    least = min(found.values(), default=1.0)
    for one in order[POOLED:]:
        found[one] = least = min(least, relevances[one])
    return found


def _isotonic(order: Sequence[str], relevances: Mapping[str, float]) -> dict[str, float]:
    """Return the relevances that fall along `order` and differ least from the given ones (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for one in order:
        total, many = relevances[one], 1
        while pools and pools[-1][0] * many < total * pools[-1][1]:
            before, more = pools.pop()
            total, many = total + before, many + more
        pools.append((total, many))
    means = chain.from_iterable(repeat(round(total / many, 4), many) for total, many in pools)
    return dict(zip(order, means, strict=True))
