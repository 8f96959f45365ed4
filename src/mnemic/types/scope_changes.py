"""Changes of a scope, as a record store reports them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mnemic.types.values import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeChanges:
    """Changes of a scope up to its change `seen`: the data of each memory that was added or changed, by id, and if any
    was removed the ids of the remaining ones (`kept`; None: none was removed).
    """

    seen: int
    data: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict, repr=False)
    kept: frozenset[str] | None = None
