"""Filters on JSON data: one meaning for documents and for structured memories.

A condition is a value, which must be equal, or operators (`$eq $ne $gt $gte $lt $lte`), which must all hold; a mapping
without operators looks inside. Numbers are compared with numbers and texts with texts; True is not 1; a field that is
not there equals None and is unequal to everything else, and is neither more nor less than anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from typing import Any

from mnemic.errors import InvalidInput

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
OPERATORS = frozenset({"$eq", "$ne", *_ORDERS})


def check_conditions(conditions: Mapping[str, Any]) -> None:
    """Raise InvalidInput (`invalid_input:operator`) for an operator that nobody knows."""
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
    """Return True if a document's value meets every condition."""
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
