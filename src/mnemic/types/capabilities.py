"""Abilities and limits of a record store."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Capabilities and limits of a record store. Differences between stores are declared here, not guessed from a name.

    `durable`: an acknowledged write survives power loss. `shared`: several processes may open it. `phrase`: quoted
    words in a keyword query must be adjacent. `exact_up_to`: in a scope with more memories (a store may count inactive
    ones), `nearest` may miss a few of the nearest, but never returns fewer; None for a store that is always exact.
    `sealed`: the parts of a memory that are encrypted with its subject's data key, of `content`, `vectors` and `words`.
    `grouped`: concurrent transactions run in the order of their calls, and are committed together if that is cheaper.
    `reads_marks`: a snapshot reads marks as the store does, as of its moment, and a search then reads consents with the
    rest. `collects`: a reader of the outbox first collects it, which may take long. `degraded`: configured parts that
    the store currently runs without, such as `replica`.
    """

    name: str
    durable: bool
    shared: bool
    phrase: bool = False
    exact_up_to: int | None = None
    sealed: frozenset[str] = frozenset()
    grouped: bool = False
    reads_marks: bool = False
    collects: bool = False
    degraded: frozenset[str] = frozenset()
