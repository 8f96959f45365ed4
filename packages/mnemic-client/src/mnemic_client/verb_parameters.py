"""Verbs of the client with the parameters of the library's verbs, which are written down there alone."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from inspect import signature
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar

from mnemic.runtime.sync_facade import verb

P = ParamSpec("P")
R = TypeVar("R")

Body = Callable[[Any, SimpleNamespace], Coroutine[Any, Any, R]]
"""Coroutine function of a verb: the face, and its arguments by name."""


def like(model: verb[Any, P, Any]) -> Callable[[Body[R]], verb[Any, P, R]]:
    """Make a verb with the parameters and defaults of `model` of a body; type checkers see them too."""
    parameters = signature(model.function)

    def decorate(body: Body[R]) -> verb[Any, P, R]:
        async def call_face(face: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
            bound = parameters.bind(face, *args, **kwargs)
            bound.apply_defaults()
            given = {name: value for name, value in bound.arguments.items() if name != "self"}
            return await body(face, SimpleNamespace(**given))

        update_wrapper(call_face, body)
        vars(call_face)["__wrapped__"] = model.function  # whose parameters `help` and `inspect` show
        return verb(call_face)

    return decorate
