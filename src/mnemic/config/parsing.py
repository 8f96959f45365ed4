"""Declaration of a setting, and parsing of its value from an argument, the environment or a file.

Readers take text, as an environment gives it, or the value itself. They raise ValueError with the accepted values,
never with the value that was given.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, field
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from mnemic.errors import InvalidConfig
from mnemic.plugins import is_offered

Reader = Callable[[Any], Any]

_ON = frozenset({"1", "true", "t", "yes", "y", "on"})
_OFF = frozenset({"0", "false", "f", "no", "n", "off"})


class Secret:
    """A text that is never displayed: only `get_secret_value` returns it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret('**********')"

    def get_secret_value(self) -> str:
        """Return the text."""
        return self._value


IN_MEMORY = frozenset({":memory:", "file::memory:", "sqlite://", "sqlite:///:memory:"})
"""Names under which SQLite and its tools know a database that is no file."""


def setting(
    default: Any, description: str, *, read: Reader | None = None, names: Collection[str] = (), shown: bool = True
) -> Any:
    """Return a field of a class of settings. `names` are its variables if MNEMIC_<NAME> is not the only one, in the
    order of preference. A value that may contain a password is not `shown` by `repr`.
    """
    return field(
        default=default, repr=shown, metadata={"description": description, "read": read or text, "names": tuple(names)}
    )


def variables(declared: Field[Any]) -> tuple[str, ...]:
    """Return the names of a setting in the environment, the best name first."""
    named: tuple[str, ...] = declared.metadata["names"]
    return named or (f"MNEMIC_{declared.name.upper()}",)


def value_of(declared: Field[Any], given: object) -> Any:
    """Return the setting's value, parsed from `given`. Raises InvalidConfig (its name)."""
    try:
        return None if given is None and declared.default is None else declared.metadata["read"](given)
    except ValueError as wrong:
        # `from None`: the cause could quote the value, which may be a password.
        raise InvalidConfig(declared.name, hint=str(wrong)) from None


def zone(given: object) -> str:
    """Return the name of a time zone. Raises ValueError if there is none of that name."""
    try:
        return ZoneInfo(text(given)).key
    except (ValueError, OSError, KeyError):
        raise ValueError("a time zone such as Europe/Berlin") from None


def text(given: object) -> str:
    """Any text."""
    if not isinstance(given, str):
        raise ValueError("a text")
    return given


def location(given: object) -> str:
    """Return a path or a URL of a store; SQLite's names for a database in memory become `memory:`, which ends with the
    process.
    """
    return "memory:" if text(given) in IN_MEMORY else _from_home(text(given))


def path(given: object) -> Path:
    """Path of a file or a folder."""
    if not isinstance(given, str | os.PathLike):
        raise ValueError("a path")
    return Path(_from_home(os.fspath(given)))


def _from_home(place: str) -> str:
    """Return a path with the home folder in the place of `~`: programs that start others expand nothing."""
    # Only the own home: `~name` stays a name.
    return os.path.expanduser(place) if place == "~" or place.startswith(("~/", "~\\")) else place


def secret(given: object) -> Secret:
    """Return a text that is not to be shown."""
    return given if isinstance(given, Secret) else Secret(text(given))


def switch(given: object) -> bool:
    """Return a setting that is true or false, or a word for it, as a bool."""
    word = str(given).strip().lower()
    if word not in _ON | _OFF:
        raise ValueError("true or false")
    return word in _ON


def words(given: object) -> frozenset[str]:
    """Return a set of texts, or a JSON list of them."""
    try:
        found = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        found = None
    if not isinstance(found, Collection) or isinstance(found, dict) or not all(isinstance(one, str) for one in found):
        raise ValueError("a JSON list of texts")
    return frozenset(found)


def one_of(*allowed: str) -> Reader:
    """One of these words."""

    def read(given: object) -> str:
        if given not in allowed:
            raise ValueError(" or ".join(allowed))
        return str(given)

    return read


def one_of_or_plugin(group: str, *allowed: str, extras: Mapping[str, str] = MappingProxyType({})) -> Reader:
    """One of these words, or a name that an installed package offers in `group` (`mnemic.plugins`). `extras`: names of
    packages of this repository, each with the extra that brings it.
    """

    def read(given: object) -> str:
        if given not in allowed and not (isinstance(given, str) and _is_offered(group, given)):
            if given in extras:
                raise ValueError(f"pip install 'mnemic[{extras[str(given)]}]'")
            raise ValueError(f"{', '.join([*allowed, *sorted(extras)])} or a plug-in of mnemic.{group}")
        return str(given)

    return read


def _is_offered(group: str, name: str) -> bool:
    return is_offered(group, name)


def number(*, above: float | None = None, most: float | None = None) -> Reader:
    """Return a number beyond `above` and up to `most`."""
    return _number_reader(float, "a number", above=above, least=None, most=most)


def prices(given: object) -> tuple[float, float]:
    """Return two numbers from 0 on, also of a text such as `0.4/1.6`."""
    parts = given.split("/") if isinstance(given, str) else given
    found = tuple(number()(one) for one in parts) if isinstance(parts, list | tuple) else ()
    if len(found) != 2 or min(found) < 0:
        raise ValueError("two numbers from 0 on, such as 0.4/1.6")
    return found


def whole(*, least: int, most: int | None = None) -> Reader:
    """Return a whole number from `least` on and up to `most`."""
    return _number_reader(_whole, "a whole number", above=None, least=least, most=most)


def _number_reader(
    convert: Callable[[Any], float], what: str, *, above: float | None, least: float | None, most: float | None
) -> Reader:
    bounds = [(f"above {above}", above), (f"from {least}", least), (f"up to {most}", most)]
    asked = " ".join([what, *(said for said, bound in bounds if bound is not None)])

    def read(given: Any) -> float:
        try:
            found = convert(given)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(asked) from None
        # Not-a-number compares with nothing, and is refused by that.
        fits = (above is None or found > above) and (least is None or found >= least) and abs(found) < float("inf")
        if isinstance(given, bool) or not fits or not (most is None or found <= most):
            raise ValueError(asked)
        return found

    return read


def _whole(given: Any) -> int:
    if not float(given).is_integer():
        raise ValueError
    return int(float(given))
