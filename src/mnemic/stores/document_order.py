"""Order in which a query puts documents, and the namespaces that a listing names: one meaning for every document store.
`mnemic.types.filter_language` defines the documents that a filter accepts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from mnemic.language.text.keywords import keyword_scores
from mnemic.types import ListNamespaces, Namespace, Vector
from mnemic.types.filter_language import accepts, check_conditions, equal

__all__ = [
    "accepts",
    "best_first",
    "check_conditions",
    "cosines",
    "equal",
    "keyword_scores",
    "list_matching",
    "texts_in",
]

# -- order -------------------------------------------------------------------------------------------------------------


def cosines(vectors: Mapping[int, Sequence[Vector]], vector: Vector) -> dict[int, float]:
    """Return the best cosine of each row's vectors with `vector`; rows with vectors of another size are left out."""
    rows = [(row, one) for row, many in vectors.items() for one in many if len(one) == len(vector)]
    if not rows:
        return {}
    matrix = np.frombuffer(b"".join(one for _, one in rows), dtype="<f4").reshape(len(rows), -1)
    scores = matrix @ np.frombuffer(vector, dtype="<f4")
    best: dict[int, float] = {}
    for (row, _), score in zip(rows, scores.tolist(), strict=True):
        best[row] = max(score, best.get(row, score))
    return best


def texts_in(value: Any) -> Iterator[str]:
    """Every text in JSON data, names of fields left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def best_first(rows: Sequence[tuple[Any, ...]], scores: Mapping[int, float]) -> Sequence[tuple[Any, ...]]:
    """Rows (their number in the first column) by score; those without a score come last, in their order."""
    if not scores:
        return rows
    return sorted(rows, key=lambda row: -scores[row[0]] if row[0] in scores else float("inf"))


# -- namespaces --------------------------------------------------------------------------------------------------------


def list_matching(namespaces: Sequence[Namespace], wanted: ListNamespaces) -> list[Namespace]:
    """Return the namespaces that `wanted` asks for."""
    depth = wanted.max_depth
    chosen = sorted({one if depth is None else one[:depth] for one in namespaces if _fits(one, wanted)})
    return list(islice(chosen, wanted.offset, wanted.offset + wanted.limit))


def _fits(namespace: Namespace, wanted: ListNamespaces) -> bool:
    backwards = namespace[::-1]
    return all(_begins(namespace, prefix) for prefix in wanted.prefixes) and all(
        _begins(backwards, suffix[::-1]) for suffix in wanted.suffixes
    )


def _begins(namespace: Namespace, pattern: Namespace) -> bool:
    return len(namespace) >= len(pattern) and all(
        want in ("*", have) for want, have in zip(pattern, namespace, strict=False)
    )
