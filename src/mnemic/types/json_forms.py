"""The JSON form of each annotation: encoders and decoders for `mnemic.types.json_forms`."""

from __future__ import annotations

import binascii
import math
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, timedelta
from enum import Enum, StrEnum
from functools import cached_property, lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from mnemic.errors import InvalidInput
from mnemic.types.values import aware, duration_of

TAG = "type"
"""Member that names the class if an annotation allows several."""


def encode_value(value: object, declared: Any) -> Any:
    """Return the JSON data of `value`, by the annotation `declared`. Raises InvalidInput, TypeError."""
    return _locate_errors(_form_of(declared).encode, value)


def decode_value(declared: Any, data: object) -> Any:
    """Return the value of `declared` that was encoded as `data`. Raises InvalidInput, TypeError."""
    return _locate_errors(_form_of(declared).decode, data)


class _Unfit(Exception):
    """Data that does not fit, and the way to it, from the outside in."""

    def __init__(self, *way: str) -> None:
        super().__init__()
        self.way = way


def _locate_errors(function: Callable[[Any], Any], value: object) -> Any:
    try:
        return function(value)
    except _Unfit as unfit:
        raise InvalidInput(".".join(unfit.way) or "json", hint="the value does not fit its field") from None
    except RecursionError:
        raise InvalidInput("json", hint="the value is nested too deeply") from None


class _Form(NamedTuple):
    """The JSON form of an annotation; both functions raise _Unfit."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


def _form_of(declared: Any) -> _Form:
    return _make_form(declared)


@lru_cache(maxsize=1024)
def _make_form(declared: Any) -> _Form:
    if declared in _SIMPLE:
        return _SIMPLE[declared]
    origin, arguments = get_origin(declared), get_args(declared)
    if declared in (Any, object) or (origin in (Union, UnionType) and _is_json_value(arguments)):
        return _Form(_plain, _plain)  # `Any`, and `JsonValue`, which names itself
    if origin in (Union, UnionType):
        return _union(arguments)
    if origin is Literal:
        return _literal(arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _tuple_form(arguments)
    if origin in _COLLECTIONS:
        return _collection(_COLLECTIONS[origin], _form_of(arguments[0]), ordered=origin not in (frozenset, set, Set))
    if origin in (dict, Mapping):
        return _mapping(*(_form_of(argument) for argument in arguments))
    return _class_form(declared)


def _is_json_value(members: Sequence[Any]) -> bool:
    return {bool, int, float, str} <= {*members} and any(get_origin(one) is Mapping for one in members)


def _class_form(declared: Any) -> _Form:
    if isinstance(declared, type) and issubclass(declared, Enum):
        return _enumeration(declared)
    if isinstance(declared, type) and is_dataclass(declared):
        named = {one.name for one in fields(declared) if one.init}
        needed = {
            one.name
            for one in fields(declared)
            if one.init and one.default is MISSING and one.default_factory is MISSING
        }
        return _record(declared, named, needed)
    if isinstance(declared, type) and issubclass(declared, tuple) and hasattr(declared, "_fields"):
        named = set(declared._fields)
        return _record(declared, named, named - set(getattr(declared, "_field_defaults", ())))
    raise TypeError(f"{declared!r} has no JSON form")


def _record(cls: type, named: Set[str], needed: Set[str]) -> _Form:
    record = _Record(cls, named, needed)
    return _Form(record.encode, record.decode)


class _Record:
    """The form of a class with fields. The forms of its fields are looked up on first use, since classes may nest."""

    def __init__(self, cls: type, named: Set[str], needed: Set[str]) -> None:
        self.cls = cls
        self.named = named
        self.needed = needed

    @cached_property
    def forms(self) -> dict[str, _Form]:
        """The form of each field, in the order of the class."""
        hints = get_type_hints(self.cls)
        return {name: _form_of(hint) for name, hint in hints.items() if name in self.named}

    def encode(self, value: Any) -> dict[str, Any]:
        """Return the value as an object with one member per field."""
        if not isinstance(value, self.cls):
            raise _Unfit
        return {name: _run_at(name, form.encode, getattr(value, name)) for name, form in self.forms.items()}

    def decode(self, data: Any) -> Any:
        """Return the value of the object; errors of the class itself are raised unchanged."""
        if not isinstance(data, Mapping):
            raise _Unfit
        given = dict(data)
        if TAG not in self.named and given.get(TAG) == tag_of(self.cls):
            del given[TAG]
        wrong = (self.needed - given.keys()) | (given.keys() - self.named)
        if wrong:
            raise _Unfit(min(str(name) for name in wrong))
        found = {name: _run_at(name, self.forms[name].decode, part) for name, part in given.items()}
        try:
            return self.cls(**found)
        except InvalidInput:
            raise
        except (TypeError, ValueError, AttributeError):
            raise _Unfit from None


def _run_at(name: str, function: Callable[[Any], Any], value: Any) -> Any:
    try:
        return function(value)
    except _Unfit as unfit:
        raise _Unfit(name, *unfit.way) from None


def tag_of(cls: type) -> str:
    """Return the name of `cls` in an object's `type`: `AddMany` is `add_many`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()


def _union(members: Sequence[Any]) -> _Form:
    tagged = {tag_of(one): one for one in members if isinstance(one, type) and is_dataclass(one)}
    if len(tagged) > 1:
        others = [_form_of(one) for one in members if one not in tagged.values()]
        return _either([_tagged_form(tagged), *others])
    # None first: it is ruled out at the lowest cost, and nothing else fits it.
    return _either([_form_of(one) for one in sorted(members, key=lambda one: one is not NoneType)])


def _either(forms: Sequence[_Form]) -> _Form:
    """Return the first of the forms that fits."""

    def first(functions: Sequence[Callable[[Any], Any]], value: Any) -> Any:
        deepest: tuple[str, ...] = ()
        for function in functions:
            try:
                return function(value)
            except _Unfit as unfit:
                # The member that matched furthest is the intended one; its error is the useful one.
                deepest = max(deepest, unfit.way, key=len)
        raise _Unfit(*deepest)

    encoders = [form.encode for form in forms]
    decoders = [form.decode for form in forms]
    return _Form(lambda value: first(encoders, value), lambda data: first(decoders, data))


def _tagged_form(classes: Mapping[str, type]) -> _Form:
    def encode(value: Any) -> Any:
        tag = tag_of(type(value))
        if classes.get(tag) is not type(value):
            raise _Unfit
        return {TAG: tag, **_form_of(type(value)).encode(value)}

    def decode(data: Any) -> Any:
        cls = classes.get(str(data.get(TAG))) if isinstance(data, Mapping) else None
        if cls is None:
            raise _Unfit(TAG)
        return _form_of(cls).decode(data)

    return _Form(encode, decode)


def _collection(made: Callable[[Any], Any], inner: _Form, *, ordered: bool) -> _Form:
    def encode(value: Any) -> list[Any]:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence | Set):
            raise _Unfit
        parts = [_run_at(str(place), inner.encode, one) for place, one in enumerate(value)]
        # Sets have no order; sorted, equal values give equal JSON.
        return parts if ordered else sorted(parts, key=repr)

    def decode(data: Any) -> Any:
        if not isinstance(data, list | tuple):
            raise _Unfit
        return made(_run_at(str(place), inner.decode, one) for place, one in enumerate(data))

    return _Form(encode, decode)


def _tuple_form(arguments: Sequence[Any]) -> _Form:
    forms = [_form_of(argument) for argument in arguments]

    def each(functions: Sequence[Callable[[Any], Any]], value: Any) -> list[Any]:
        if not isinstance(value, list | tuple) or len(value) != len(functions):
            raise _Unfit
        return [_run_at(str(n), function, one) for n, (function, one) in enumerate(zip(functions, value, strict=True))]

    encoders = [form.encode for form in forms]
    decoders = [form.decode for form in forms]
    return _Form(lambda value: each(encoders, value), lambda data: tuple(each(decoders, data)))


def _mapping(key: _Form, inner: _Form) -> _Form:
    def each(key_of: Callable[[Any], Any], value_of: Callable[[Any], Any], value: Any) -> dict[Any, Any]:
        if not isinstance(value, Mapping):
            raise _Unfit
        return {key_of(name): value_of(one) for name, one in value.items()}  # names of data are no part of a reason

    return _Form(lambda value: each(key.encode, inner.encode, value), lambda data: each(key.decode, inner.decode, data))


def _enumeration(cls: type[Enum]) -> _Form:
    by_value = issubclass(cls, StrEnum)
    written = {one: one.value if by_value else one.name.lower() for one in cls}
    read = {text: one for one, text in written.items()}

    def encode(value: Any) -> Any:
        return written[value] if isinstance(value, cls) else written[_looked_up(read, value)]

    return _Form(encode, lambda data: _looked_up(read, data))


def _literal(allowed: Sequence[Any]) -> _Form:
    # By `repr`: 1, True and "1" are different literals.
    same = {repr(one): one for one in allowed}
    return _Form(lambda value: _looked_up(same, repr(value)), lambda data: _looked_up(same, repr(data)))


def _looked_up(table: Mapping[Any, Any], key: Any) -> Any:
    if not isinstance(key, str) or key not in table:
        raise _Unfit
    return table[key]


def _class_check(*classes: type, but: tuple[type, ...] = ()) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if not isinstance(value, classes) or isinstance(value, but):
            raise _Unfit
        return value.value if isinstance(value, Enum) else value

    return check


def _plain(value: Any) -> Any:
    """JSON data as ordinary dicts and lists."""
    if isinstance(value, Mapping):
        return {_class_check(str)(name): _plain(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return _number(value)
    return _class_check(NoneType, bool, int, str)(value)


def _number(value: Any) -> Any:
    _class_check(int, float, but=(bool,))(value)
    if not math.isfinite(value):
        raise _Unfit
    return value


def _encode_bytes(value: Any) -> str:
    return binascii.b2a_base64(_class_check(bytes)(value), newline=False).decode("ascii")


def _decode_bytes(data: Any) -> bytes:
    try:
        return binascii.a2b_base64(_class_check(str)(data), strict_mode=True)
    except ValueError:
        raise _Unfit from None


def _utc(moment: Any) -> datetime:
    try:
        return aware(moment, "time")
    except InvalidInput:
        raise _Unfit from None


def _read(reader: Callable[[str], Any], data: Any) -> Any:
    try:
        return reader(_class_check(str)(data))
    except (ValueError, OverflowError):
        raise _Unfit from None


def _encode_date(value: Any) -> Any:
    # A datetime is a date by inheritance, and would lose its time.
    return _class_check(date, but=(datetime,))(value).isoformat()


def _encode_duration(value: Any) -> str:
    _class_check(timedelta)(value)
    sign, size = ("-", -value) if value < timedelta() else ("", value)
    clock = f"{size.seconds}.{size.microseconds:06d}".rstrip("0").rstrip(".") if size.microseconds else size.seconds
    return f"{sign}P{size.days}D" + (f"T{clock}S" if clock else "")


_SIMPLE: Mapping[Any, _Form] = {
    NoneType: _Form(_class_check(NoneType), _class_check(NoneType)),
    bool: _Form(_class_check(bool), _class_check(bool)),
    int: _Form(_class_check(int, but=(bool,)), _class_check(int, but=(bool,))),
    float: _Form(_number, _number),
    str: _Form(_class_check(str), _class_check(str)),
    bytes: _Form(_encode_bytes, _decode_bytes),
    datetime: _Form(lambda value: _utc(value).isoformat(), lambda data: _utc(_read(datetime.fromisoformat, data))),
    date: _Form(_encode_date, lambda data: _read(date.fromisoformat, data)),
    timedelta: _Form(_encode_duration, lambda data: _read(duration_of, data)),
}
_COLLECTIONS: Mapping[Any, Callable[[Any], Any]] = {
    tuple: tuple,
    list: list,
    Sequence: tuple,
    frozenset: frozenset,
    set: set,
    Set: frozenset,
}


T = TypeVar("T")


class Serialisable:
    """Adds `to_dict` and `from_dict` to a dataclass."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the value as JSON data, one member per field; `from_dict` reads it back.

        Raises InvalidInput (`invalid_input:<field>`) for a value without a JSON form (NaN, a time without a time zone).
        """
        data: dict[str, Any] = to_json(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the value of `to_dict`; a field that has a default may be left out.

        Raises InvalidInput (`invalid_input:<field>`) for a field that is missing, unknown or of the wrong type.
        """
        return from_json(cls, data)


def to_json(value: object, declared: Any = None) -> Any:
    """Return `value` as JSON data.

    `declared` is the annotation that `from_json` will be given if that is not the value's class, such as a union.
    Raises InvalidInput (`invalid_input:<field>`) for a value without a JSON form, TypeError for such a class.
    """
    return encode_value(value, type(value) if declared is None else declared)


def from_json(declared: type[T], data: object) -> T:
    """Return the value that `to_json` turned into `data`. `declared`: its class, or an annotation.

    Raises InvalidInput (`invalid_input:<field>`) for data that is not such a value.
    """
    value: T = decode_value(declared, data)
    return value
