"""Abilities and limits of a record store."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Abilities and limits of a record store. Differences between stores are declared here, not guessed from a name.

    `durable`: an acknowledged write survives power loss. `shared`: several processes may open it. `phrase`: quoted
    words in a keyword query must stand next to each other. `exact_up_to`: in a scope with more memories, of which a
    store may count those that are not active, `nearest` may miss a few of the nearest, but never returns fewer; None
    for a store that is always exact. `sealed`: what of a memory is written sealed with its subject's data key, of
    `content`, `vectors` and `words`. `grouped`: transactions asked for at once run in that order, and are committed
    together where that is cheaper. `collects`: who reads the outbox brings it together first, which may take long.
    `degraded`: what the store was told to use and does without at the moment (`replica`); its answers are whole.
    """

    name: str
    durable: bool
    shared: bool
    phrase: bool = False
    exact_up_to: int | None = None
    sealed: frozenset[str] = frozenset()
    grouped: bool = False
    collects: bool = False
    degraded: frozenset[str] = frozenset()
