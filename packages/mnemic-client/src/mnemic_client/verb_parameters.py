"""Verbs at a service with the parameters of the engine's verbs, which are written down there alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Coroutine
from functools import wraps
from inspect import signature
from types import SimpleNamespace
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

from mnemic.errors import NotSupported
from mnemic_client.request_bodies import body_of, parameters_of

P = ParamSpec("P")
R = TypeVar("R")

Body = Callable[[Any, SimpleNamespace], Coroutine[Any, Any, R]]
"""Coroutine function of a verb: the engine at the service, and its arguments by name."""
IGNORED = frozenset({"self", "actor", "deadline", "facets", "whole_tenant"})
"""Arguments that a service is not sent: the credential says who asks, the client's `timeout` how long, the facets only
where a store need not look, and a queue is always that of the whole tenant, for its reviewers.
"""
ENGINE_ALONE = frozenset({"pinned", "named", "watch"})
"""Arguments of which a service has only the default."""


Verb = Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]
"""A method that is awaited."""


def like(model: Callable[Concatenate[Any, P], Any]) -> Callable[[Body[R]], Verb[P, R]]:
    """Make a verb with the parameters and defaults of the engine's `model` of a body; type checkers see them too."""
    parameters = signature(model)

    def decorate(body: Body[R]) -> Verb[P, R]:
        @wraps(body)
        async def call_service(engine: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
            bound = parameters.bind(engine, *args, **kwargs)
            bound.apply_defaults()
            for name in ENGINE_ALONE & bound.arguments.keys():
                if bound.arguments[name] != parameters.parameters[name].default:
                    raise NotSupported(f"{name}:remote", hint="a service does not offer this")
            unsent = IGNORED | ENGINE_ALONE
            return await body(
                engine,
                SimpleNamespace(**{name: value for name, value in bound.arguments.items() if name not in unsent}),
            )

        vars(call_service)["__wrapped__"] = model  # whose parameters `inspect` shows
        call_service.__name__ = model.__name__
        return call_service

    return decorate


def verb_at(
    model: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]],
    route: str,
    read: Callable[[Any], R],
    *,
    query: Collection[str] = (),
    repeatable: bool = False,
) -> Verb[P, R]:
    """Return the verb that is one request to `route`, a method and an address with the names of parameters in it.

    The other arguments are the body, or those of `query`, and all where there is no body, parameters of the address;
    an `idempotency_key` is a header. `read` makes the value of the answer.
    """
    method, path = route.split()
    named = re.findall(r"{(\w+)}", path)

    async def ask(engine: Any, given: SimpleNamespace) -> R:
        address = path.format(**{name: quote(str(getattr(given, name)), safe="") for name in named})
        headers = {"Idempotency-Key": vars(given).pop("idempotency_key", None)}
        bodiless = method in ("GET", "DELETE")
        asked = parameters_of(given, vars(given).keys() - named if bodiless else query)
        body = None if bodiless else body_of(given, without={*named, *query})
        call = engine._remote.call
        return read(await call(method, address, body or None, params=asked, headers=headers, repeatable=repeatable))

    ask.__doc__ = model.__doc__
    return like(model)(ask)
