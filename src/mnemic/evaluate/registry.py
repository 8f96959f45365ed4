"""The sets that can be measured, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from mnemic.evaluate import locomo, longmemeval

Runner = Callable[..., dict[str, Any]]
"""`run(path, *, progress, per_question, limit, vectors, ablate, embedder, seed)`: see `locomo.run`."""

SETS: Mapping[str, Runner] = MappingProxyType({"locomo": locomo.run, "longmemeval": longmemeval.run})
