"""Signatures as `help()`, type checkers, editors and pages print them, made comparable."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from mnemic.facade import verbs


class Shown(NamedTuple):
    parameters: dict[str, tuple[str, Any]]
    result: str


def shown(text: str) -> Shown:
    """What a signature tells, from "name(query: str, *, top_k: int=10) -> SearchResult" or the same without a name."""
    [function] = ast.parse(f"def named{text[text.index('(') :]}: ...").body
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    named = [*given.posonlyargs, *given.args]
    required: list[ast.expr | None] = [None] * (len(named) - len(given.defaults))
    told = zip([*named, *given.kwonlyargs], [*required, *given.defaults, *given.kw_defaults], strict=True)
    parameters = {one.arg: (written(one.annotation), value(default)) for one, default in told if one.arg != "self"}
    return Shown(parameters, written(function.returns))


def in_help(function: Callable[..., Any]) -> Shown:
    """The same from what `help()` prints, which writes a member of an enumeration as <Kind.LONG_TERM: 'long_term'>."""
    signature = inspect.signature(function)
    told = {
        name: (one.annotation, inspect.Parameter.empty if one.default is one.empty else one.default)
        for name, one in signature.parameters.items()
        if name != "self"
    }
    return Shown(told, str(signature.return_annotation))


def written(annotation: ast.expr | None) -> str:
    return ast.unparse(annotation) if annotation else "None"


def value(default: ast.expr | None) -> Any:
    return eval(ast.unparse(default), vars(verbs)) if default else inspect.Parameter.empty
