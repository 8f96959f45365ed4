"""Weights of the fusion: the share of each ranked list in a memory's score (`mnemic.retrieve.fusion`).

The boosts that a query adds to the fused score are the `SignalWeights` of `mnemic.retrieve.signals`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weight of each list in the fused score. `graph` and `near` are lists for queries that name something with
    relations (`mnemic.retrieve.graph_neighbourhood`); with both at 0 they are not made. `search_index` weighs the list
    of a search service, if one is set up.
    """

    # Round numbers, set by hand on five conversations of LoCoMo and measured on the other five.
    vector: float = 0.4
    keyword: float = 0.5
    key: float = 0.3
    recency: float = 0.01
    graph: float = 0.3
    near: float = 0.3
    search_index: float = 0.3

    @property
    def most(self) -> float:
        """Return the highest score that the lists of every query can give together."""
        # Without graph and search service: few queries have these lists, and scores must compare between queries.
        return self.vector + self.keyword + self.key + self.recency

    def weight_of(self, name: str) -> float:
        """Return the weight of the list `name`, 0 for an unknown one."""
        return float(getattr(self, name, 0.0))
