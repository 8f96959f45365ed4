"""JSON Schema, draft 2020-12, checked by `jsonschema` when a schema is given and when data is.

A schema that uses a keyword outside the draft is refused, so that a misspelt rule is never passed over in silence, and
so is a reference to anything but this schema's `$defs`: nothing is fetched. `format` is asserted for `date`,
`date-time` and `time`, and is an annotation otherwise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from datetime import date, datetime, time
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend
from referencing import Registry

from mnemic.errors import InvalidConfig, InvalidInput

MAX_DEPTH = 32
_ANNOTATIONS = frozenset({
    "$schema", "$id", "$comment", "$defs", "title", "description", "default", "examples", "deprecated", "readOnly",
    "writeOnly", "then", "else", "minContains", "maxContains",
})  # fmt: skip
KEYWORDS = (frozenset(Draft202012Validator.VALIDATORS) | _ANNOTATIONS) - {"$dynamicRef"}
"""Every keyword that a schema may use."""
_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = (
    "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then", "unevaluatedItems",
    "unevaluatedProperties",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """Place at which data breaks its schema (names and places, never values), and the keyword that it breaks."""

    path: str
    keyword: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema that was found to be one, which takes some 50 ms; `is_ours`, one of the program's own, is not checked.
    Raises InvalidConfig (`invalid_config:schema:<keyword>`).
    """

    document: Mapping[str, Any] = field(repr=False)
    is_ours: InitVar[bool] = False

    def __post_init__(self, is_ours: bool) -> None:
        if is_ours:
            return
        if not isinstance(self.document, Mapping):
            raise InvalidConfig("schema", hint="a schema is a JSON object")
        try:
            _Validator.check_schema(self.document)
        except RecursionError:
            raise InvalidConfig("schema:depth", hint=f"at most {MAX_DEPTH} levels") from None
        except SchemaError as error:
            raise InvalidConfig(f"schema:{_broken(error)}", hint="its value is not what the keyword needs") from None
        for one in _subschemas(self.document, 0):
            _require_known(one, self.document)

    def problems(self, data: object) -> Iterator[Problem]:
        """Everything in which `data` breaks the schema, in no promised order. Raises InvalidInput (`data:depth`)."""
        _require_shallow(data, 0)
        validator = _Validator(self.document, registry=Registry(), format_checker=_FORMATS)
        try:
            for error in validator.iter_errors(data):
                yield Problem(self._path(error), str(error.validator or "false"))
        except RecursionError:
            raise InvalidInput("data:depth", hint="the schema refers to itself without end") from None

    def _path(self, error: ValidationError) -> str:
        """Return the place of a problem. Only a name that the schema itself contains is shown; others may be
        content.
        """
        inner = (one for one in _subschemas(self.document, 0) if isinstance(one, Mapping))
        named = {name for one in inner for name in one.get("properties", ())}
        parts = (one if isinstance(one, int) or one in named else "*" for one in error.absolute_path)
        return ".".join(("$", *map(str, parts)))

    def require(self, data: object) -> None:
        """Raise InvalidInput (`invalid_input:data:<path>:<keyword>`) for the first problem."""
        for problem in self.problems(data):
            raise InvalidInput(f"data:{problem.path}:{problem.keyword}", hint="the data does not match the schema")

    def find_property(self, path: Sequence[str]) -> Mapping[str, Any] | None:
        """Return the schema of the property at `path`, or None if the schema names no such property."""
        here: Any = self.document
        for name in path:
            here = _resolve_references(here, self.document)
            here = here.get("properties", {}).get(name) if isinstance(here, Mapping) else None
        found = _resolve_references(here, self.document)
        return found if isinstance(found, Mapping) else None


def _is_number(_: Any, data: Any) -> bool:
    return isinstance(data, int | float) and not isinstance(data, bool) and math.isfinite(data)


_Validator = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "array": lambda _, data: isinstance(data, list | tuple),
            "object": lambda _, data: isinstance(data, Mapping),
            "number": _is_number,
            "integer": lambda _, data: _is_number(_, data) and float(data).is_integer(),
        }
    ),
)
"""Validator of the draft for data as memories store it: frozen lists and mappings, and finite numbers."""


def _is_moment(text: str) -> bool:
    """RFC 3339 date-time; the offset may be left out, since a confirmation often names local times only."""
    return re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d", text) is not None and bool(datetime.fromisoformat(text.upper()))


def _is_time(text: str) -> bool:
    return re.match(r"\d\d:\d\d", text) is not None and time.fromisoformat(text.upper()) is not None


def _is_date(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None and bool(date.fromisoformat(text))


def _formats() -> FormatChecker:
    checker = FormatChecker(formats=())
    known: Mapping[str, Callable[[str], bool]] = {"date": _is_date, "date-time": _is_moment, "time": _is_time}
    for name, parse in known.items():
        checker.checkers[name] = (lambda data, parse=parse: not isinstance(data, str) or parse(data), ValueError)
    return checker


_FORMATS = _formats()


def _broken(error: SchemaError) -> str:
    """Return the faulty keyword of an invalid schema; `type` if it is no schema at all."""
    names = [one for one in error.absolute_path if one in KEYWORDS]
    return str(names[-1]) if names and not _is_schema_place(error) else "type"


def _is_schema_place(error: SchemaError) -> bool:
    """Return True if the part at fault should be a schema, and is neither an object nor a boolean."""
    last = error.absolute_path[-1] if error.absolute_path else None
    return last in _SINGLE or (len(error.absolute_path) > 1 and error.absolute_path[-2] in (*_MAPS, *_LISTS))


def _require_shallow(data: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidInput("data:depth", hint=f"at most {MAX_DEPTH} levels")
    if isinstance(data, Mapping):
        for value in data.values():
            _require_shallow(value, depth + 1)
    elif isinstance(data, list | tuple):
        for value in data:
            _require_shallow(value, depth + 1)


def _subschemas(schema: Any, depth: int) -> Iterator[Any]:
    if depth > MAX_DEPTH:
        raise InvalidConfig("schema:depth", hint=f"at most {MAX_DEPTH} levels")
    yield schema
    if isinstance(schema, Mapping):
        inner = [schema[keyword] for keyword in _SINGLE if keyword in schema]
        inner += [one for keyword in _MAPS for one in schema.get(keyword, {}).values()]
        inner += [one for keyword in _LISTS for one in schema.get(keyword, ())]
        for one in inner:
            yield from _subschemas(one, depth + 1)


def _require_known(schema: Any, root: Mapping[str, Any]) -> None:
    if isinstance(schema, bool):
        return
    for keyword in schema:
        if keyword not in KEYWORDS:
            raise InvalidConfig(f"schema:{keyword}", hint="this keyword is not known")
    if "$ref" in schema and _target(schema["$ref"], root) is None:
        raise InvalidConfig("schema:$ref", hint="a reference names one of the schema's own $defs: #/$defs/<name>")


def _target(reference: str, root: Mapping[str, Any]) -> Any:
    """Return the target of `#/$defs/<name>`, None for any other reference."""
    return root.get("$defs", {}).get(reference.removeprefix("#/$defs/")) if reference.startswith("#/$defs/") else None


def _resolve_references(schema: Any, root: Mapping[str, Any]) -> Any:
    for _ in range(MAX_DEPTH):
        if not (isinstance(schema, Mapping) and "$ref" in schema):
            break
        schema = _target(schema["$ref"], root)
    return schema
