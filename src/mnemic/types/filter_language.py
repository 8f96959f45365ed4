"""Filter language on JSON data, the same for documents and for structured memories.

A condition is a value, which must be equal, or operators (`$eq $ne $gt $gte $lt $lte`), which must all hold; a mapping
without operators looks inside. Numbers are compared with numbers and texts with texts; True is not 1; an absent field
equals None, differs from everything else, and is neither greater nor less than anything.

A filter on the data of any memory (`checked_filter`, `meets`) also has `$in $nin $exists $contains $icontains`, `$not`
before operators or a filter, and `$and` and `$or` before lists of filters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Any

from mnemic.errors import InvalidInput

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
OPERATORS = frozenset({"$eq", "$ne", *_ORDERS})
FILTER_OPERATORS = OPERATORS | {"$in", "$nin", "$exists", "$contains", "$icontains", "$not"}
DEEPEST, MAX_CONDITIONS, MAX_VALUES = 16, 200, 1000
"""Bounds of a filter: how deeply it is nested, its conditions, and the values of an `$in`."""
_COMBINING = frozenset({"$and", "$or", "$not"})
_LARGEST_INTEGER = 2**63


def check_conditions(conditions: Mapping[str, Any]) -> None:
    """Raise InvalidInput (`invalid_input:operator`) for an unknown operator, and for one without its `$`."""
    for name, wanted in conditions.items():
        if isinstance(wanted, Mapping):
            _refuse_bare_operators(wanted)
            if any(str(key).startswith("$") for key in wanted):
                unknown = [str(key) for key in wanted if key not in OPERATORS]
                if unknown:
                    raise _unsupported(unknown[0])
            else:
                check_conditions(wanted)
        if str(name).startswith("$"):
            raise _unsupported(str(name))


def _unsupported(name: str) -> InvalidInput:
    known = ", ".join(sorted(FILTER_OPERATORS | _COMBINING))
    return InvalidInput("operator", hint=f"Unsupported operator: {name[:32]}; there are {known}")


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
    # A comparison between types is false rather than an error: data of one field may have both.
    same = (_is_number(value) and _is_number(operand)) or (isinstance(value, str) and isinstance(operand, str))
    return same and _ORDERS[operator](value, operand)


def equal(value: Any, other: Any) -> bool:
    """Equality of JSON data: True is not 1, 1 is 1.0."""
    # In Python True == 1, in JSON it is not.
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return value.keys() == other.keys() and all(equal(value[key], other[key]) for key in value)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(equal(one, two) for one, two in zip(value, other, strict=True))
    return bool(value == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# -- filters on the data of memories -----------------------------------------------------------------------------------


def checked_filter(given: object) -> Mapping[str, Any] | None:
    """Return `given` if it is a filter; None for an empty one.

    Raises InvalidInput: `invalid_input:operator` for an operator that is unknown, misplaced or without its `$`,
    `invalid_input:where` for anything else that is not a filter, for a number that no memory can have, and for a filter
    beyond the bounds.
    """
    if given is None:
        return None
    if _count_conditions(given, DEEPEST) > MAX_CONDITIONS:
        raise InvalidInput("where", hint=f"a filter has at most {MAX_CONDITIONS} conditions")
    assert isinstance(given, Mapping)
    return given or None


def with_values(given: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a checked filter with each name of a field, and each value that a field must be equal to or contain, as
    `change` returns it. Values that are only compared by order stay.
    """
    return {_changed_name(name, change): _change_conditions(name, wanted, change) for name, wanted in given.items()}


def _changed_name(name: str, change: Callable[[Any], Any]) -> str:
    return name if name.startswith("$") else str(change(name))


def _change_conditions(name: str, wanted: Any, change: Callable[[Any], Any]) -> Any:
    if name in ("$and", "$or"):
        return [with_values(one, change) for one in wanted]
    if name in _ORDERS or name == "$exists":
        return wanted
    if isinstance(wanted, Mapping) and (name == "$not" or not name.startswith("$")):
        return with_values(wanted, change)
    return change(wanted)


def _count_conditions(given: object, depth: int) -> int:
    """Return the number of conditions of a filter that is one."""
    # Depth is bounded before the recursion, which a filter of a request could otherwise exhaust.
    if not isinstance(given, Mapping) or depth == 0:
        raise InvalidInput("where", hint="a filter is an object of fields and the values they must have")
    return sum(_counted_of(name, wanted, depth) for name, wanted in given.items())


def _counted_of(name: object, wanted: object, depth: int) -> int:
    if not isinstance(name, str):
        raise InvalidInput("where", hint="the name of a field is a text")
    if name in ("$and", "$or"):
        if not isinstance(wanted, Sequence) or isinstance(wanted, str | bytes) or not wanted:
            raise InvalidInput("where", hint=f"{name} takes a list of filters")
        return sum(_count_conditions(one, depth - 1) for one in wanted)
    if name == "$not":
        return _count_conditions(wanted, depth - 1)
    if name.startswith("$"):
        raise _unsupported(name)
    if isinstance(wanted, Mapping):
        if _has_operators(wanted):
            return _counted_operators(wanted, depth)
        _refuse_bare_operators(wanted)
        if name.lower() == "not":
            _refuse_bare_operators({name: wanted})
        return 1 + _count_conditions(wanted, depth - 1)
    if isinstance(wanted, list | tuple) and any(isinstance(one, Mapping) for one in wanted):
        # A list of filters, not of values.
        _refuse_bare_operators({name: wanted}, _COMBINING)
    return _is_value(wanted)


def _refuse_bare_operators(wanted: Mapping[Any, object], operators: Collection[str] = FILTER_OPERATORS) -> None:
    """Raise InvalidInput (`invalid_input:operator`) for an operator that lacks its `$`: as the name of a field inside
    of a field it would find nothing, without a word.
    """
    bare = next((str(name) for name in wanted if f"${name}".lower() in operators), None)
    if bare is not None:
        hint = f"write ${bare.lower()}; a field of the name {bare} is compared with the whole value around it, by $eq"
        raise InvalidInput("operator", hint=hint)


def _counted_operators(wanted: Mapping[Any, object], depth: int) -> int:
    unknown = [str(name) for name in wanted if name not in FILTER_OPERATORS]
    if unknown:
        raise _unsupported(unknown[0])
    return sum(_counted_operand(operator, operand, depth) for operator, operand in wanted.items())


def _counted_operand(operator: str, operand: object, depth: int) -> int:
    if operator == "$not":
        if not isinstance(operand, Mapping) or depth == 1:
            raise InvalidInput("where", hint="$not takes operators or a filter")
        if _has_operators(operand):
            return _counted_operators(operand, depth - 1)
        _refuse_bare_operators(operand)
        return _count_conditions(operand, depth - 1)
    if operator in ("$in", "$nin"):
        if not isinstance(operand, Sequence) or isinstance(operand, str | bytes) or len(operand) > MAX_VALUES:
            raise InvalidInput("where", hint=f"{operator} takes a list of at most {MAX_VALUES} values")
        return max([1, *map(_is_value, operand)])
    wrong = (
        (operator == "$exists" and not isinstance(operand, bool))
        or (operator == "$icontains" and not isinstance(operand, str))
        or (operator in _ORDERS and not (_is_number(operand) or isinstance(operand, str)))
    )
    if wrong:
        raise InvalidInput("where", hint=f"not a value for {operator}")
    # Any number is a bound; only one that a memory can have is equal to anything.
    return 1 if operator in _ORDERS and operand == operand else _is_value(operand)


def _is_value(value: object, depth: int = DEEPEST) -> int:
    """Return 1 for JSON data. Raises InvalidInput (`invalid_input:where`) for anything else."""
    if isinstance(value, int) and not -_LARGEST_INTEGER <= value < _LARGEST_INTEGER:
        raise InvalidInput("where", hint="integers of data have at most 64 bits: a longer one is stored as text")
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return 1
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else None
    if inner is None or depth == 0:
        raise InvalidInput(
            "where", hint="a filter compares with JSON values: texts, finite numbers, true, false, null, lists"
        )
    return max([1, *(_is_value(one, depth - 1) for one in inner)])


def meets(data: object, conditions: Mapping[str, Any]) -> bool:
    """Return True if the data of a memory meets a filter that has been checked."""
    return all(_meets_filter(data, name, wanted) for name, wanted in conditions.items())


def _meets_filter(data: Any, name: str, wanted: Any) -> bool:
    if name == "$and":
        return all(meets(data, one) for one in wanted)
    if name == "$or":
        return any(meets(data, one) for one in wanted)
    if name == "$not":
        return not meets(data, wanted)
    # `$exists` distinguishes an absent field from a null one; all other operators do not.
    there = isinstance(data, Mapping) and name in data
    return _is_as_wanted(data[name] if there else None, wanted, there)


def _is_as_wanted(value: Any, wanted: Any, there: bool) -> bool:
    if not isinstance(wanted, Mapping):
        return equal(value, wanted)
    if not _has_operators(wanted):
        return isinstance(value, Mapping) and meets(value, wanted)
    return all(_passes(value, operator, operand, there) for operator, operand in wanted.items())


def _passes(value: Any, operator: str, operand: Any, there: bool) -> bool:
    if operator == "$exists":
        return there is operand
    if operator == "$not":
        return not _is_as_wanted(value, operand, there)
    if operator in ("$in", "$nin"):
        # `$nin` is true for an absent field, as `$ne` is.
        return any(equal(value, one) for one in operand) is (operator == "$in")
    if operator == "$contains":
        return _contains(value, operand)
    if operator == "$icontains":
        texts = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
        return any(isinstance(one, str) and operand.casefold() in one.casefold() for one in texts)
    return _holds(value, operator, operand)


def _contains(value: Any, wanted: Any) -> bool:
    """Return True for a text in a text, or one of the values of a list."""
    if isinstance(value, str):
        return isinstance(wanted, str) and wanted in value
    return isinstance(value, list | tuple) and any(equal(one, wanted) for one in value)


def _has_operators(wanted: Mapping[Any, object]) -> bool:
    return any(str(name).startswith("$") for name in wanted)
