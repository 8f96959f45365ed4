"""Which documents a filter accepts, and how a query orders them: one meaning for every document store.

A condition is a value, which must be equal, or operators (`$eq $ne $gt $gte $lt $lte`), which must all hold; a mapping
without operators looks inside. Numbers are compared with numbers and texts with texts; True is not 1; a field that is
not there equals None and is unequal to everything else, and is neither more nor less than anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from operator import ge, gt, le, lt
from typing import Any

import numpy as np

from mnemic.errors import InvalidInput
from mnemic.text.analyse import parse_query, terms
from mnemic.text.bm25 import Bm25
from mnemic.types import ListNamespaces, Namespace, Vector

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
OPERATORS = frozenset({"$eq", "$ne", *_ORDERS})

_BM25 = Bm25()


def check_conditions(conditions: Mapping[str, Any]) -> None:
    """Raises InvalidInput (`invalid_input:operator`) for an operator that nobody knows."""
    for name, wanted in conditions.items():
        if isinstance(wanted, Mapping):
            if any(str(key).startswith("$") for key in wanted):
                unknown = [str(key) for key in wanted if key not in OPERATORS]
                if unknown:
                    raise InvalidInput("operator", hint=f"Unsupported operator: {unknown[0][:32]}")
            else:
                check_conditions(wanted)
        if str(name).startswith("$"):
            raise InvalidInput("operator", hint=f"Unsupported operator: {str(name)[:32]}")


def accepts(value: Any, conditions: Mapping[str, Any]) -> bool:
    """Whether a document's value meets every condition."""
    return isinstance(value, Mapping) and all(_meets(value.get(name), wanted) for name, wanted in conditions.items())


def _meets(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return equal(value, wanted)
    if any(str(key).startswith("$") for key in wanted):
        return all(_holds(value, operator, operand) for operator, operand in wanted.items())
    return accepts(value, wanted)


def _holds(value: Any, operator: str, operand: Any) -> bool:
    if operator == "$eq":
        return equal(value, operand)
    if operator == "$ne":
        return not equal(value, operand)
    same = (_is_number(value) and _is_number(operand)) or (isinstance(value, str) and isinstance(operand, str))
    return same and _ORDERS[operator](value, operand)


def equal(value: Any, other: Any) -> bool:
    """Equality of JSON data: True is not 1, 1 is 1.0."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return value.keys() == other.keys() and all(equal(value[key], other[key]) for key in value)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(equal(one, two) for one, two in zip(value, other, strict=True))
    return bool(value == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# -- order -------------------------------------------------------------------------------------------------------------


def cosines(vectors: Mapping[int, Sequence[Vector]], vector: Vector) -> dict[int, float]:
    """The best cosine of each row's vectors with `vector`; rows whose vectors are of another size are left out."""
    rows = [(row, one) for row, many in vectors.items() for one in many if len(one) == len(vector)]
    if not rows:
        return {}
    matrix = np.frombuffer(b"".join(one for _, one in rows), dtype="<f4").reshape(len(rows), -1)
    scores = matrix @ np.frombuffer(vector, dtype="<f4")
    best: dict[int, float] = {}
    for (row, _), score in zip(rows, scores.tolist(), strict=True):
        best[row] = max(score, best.get(row, score))
    return best


def keyword_scores(texts: Mapping[int, str], query: str) -> dict[int, float]:
    """BM25 of each row's text for `query`, with the statistics of the given rows; only rows that share a word."""
    counts = {row: _counted(text) for row, text in texts.items()}
    if not counts:
        return {}
    average = sum(count.total() for count in counts.values()) / len(counts) or 1.0
    scores: Counter[int] = Counter()
    for word in parse_query(query).terms:
        holding = [row for row, count in counts.items() if word in count]
        idf = _BM25.idf(len(counts), len(holding))
        for row in holding:
            frequency = _BM25.frequency(1.0, counts[row][word], counts[row].total(), average)
            scores[row] += _BM25.gain(idf, frequency)
    return dict(scores)


@lru_cache(maxsize=32768)
def _counted(text: str) -> Counter[str]:
    return Counter(terms(text))


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
    """Rows, whose first column is their number, by score; those without one stay behind, in their order."""
    if not scores:
        return rows
    return sorted(rows, key=lambda row: -scores[row[0]] if row[0] in scores else float("inf"))


# -- namespaces --------------------------------------------------------------------------------------------------------


def listed(namespaces: Sequence[Namespace], wanted: ListNamespaces) -> list[Namespace]:
    """What `wanted` asks for."""
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
