"""Options of a command that are the fields of a request (`mnemic.requests`): names, types, defaults and help."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar, get_type_hints

import click

from mnemic.cli.option_values import KIND, LEVEL, MOMENT, json_object
from mnemic.requests import PARAMETERS, Request

R = TypeVar("R", bound=Request[Any])
C = TypeVar("C", bound=Callable[..., Any])

FLAGS = {
    "categories": ("--category",),
    "happened_from": ("--since",),
    "happened_to": ("--until",),
    "keys": ("--key",),
    "kinds": ("--kind",),
    "levels": ("--level",),
    "limit": ("--limit", "-n"),
    "top_k": ("--top-k", "-k"),
}
"""Options that are not called as their field, or have a letter too."""
WORDS = {"kinds": KIND, "levels": LEVEL, "before": click.STRING}
HELP = {"asked_at": "Reference time for phrases such as 'last week'. [default: now]"}
"""Help that differs at a terminal."""


def options_of(
    request: type[Request[Any]], *, without: Collection[str] = (), **declared: dict[str, Any]
) -> Callable[[C], C]:
    """Give a command an option for each field of `request` that has a default, but for those `without`. `declared` are
    settings of a field's option that differ here.
    """
    hints = get_type_hints(request)

    def decorate(command: C) -> C:
        for one in reversed(fields(request)):
            if _default(one) is not MISSING and one.name not in without:
                flags = FLAGS.get(one.name, ("--" + one.name.replace("_", "-"),))
                settings = _settings(one, hints[one.name]) | declared.get(one.name, {})
                command = click.option(*flags, one.name, **settings)(command)
        return command

    return decorate


def parse_request(request: Callable[..., R], /, **options: Any) -> R:
    """Return the request that the options of a command spell. Raises InvalidInput for a filter that is no JSON object
    (`invalid_input:<name>`).
    """
    values: dict[str, Any] = {
        name: list(value) or None if isinstance(value, tuple) else value for name, value in options.items()
    }
    for name in {"where", "data"} & values.keys():
        values[name] = json_object(values[name], name) or None
    return request(**values)


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _settings(field: Field[Any], hint: Any) -> dict[str, Any]:
    """Return the settings of a field's option."""
    default, text = _default(field), HELP.get(field.name, PARAMETERS.get(field.name, ""))
    written = str(hint)
    if "Mapping" in written:
        return {"metavar": "JSON", "help": text}
    if "Sequence" in written or "tuple" in written:
        return {"multiple": True, "type": WORDS.get(field.name), "help": text.removesuffix(".") + "; may be repeated."}
    if default is False:
        return {"is_flag": True, "help": text}
    if "datetime.datetime" in written:
        return {"type": MOMENT, "help": text}
    number = float if "float" in written else int if "int" in written else None
    shown = {"default": default, "show_default": True} if default else {"default": default}
    return {"type": number, "help": text, **shown}
