"""Verbs that are written once, as coroutines, for callers with an event loop and for callers without one.

A class of verbs derives from `DualModeApi[M]` and marks its coroutine functions with `@verb`. With `CallMode[Awaited]`
a verb returns an awaitable; with `CallMode[Blocking]` it blocks and returns the result. Type checkers infer which,
parameters included, so no second class with the same verbs has to be maintained.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from mnemic.requests import Request


class Awaited:
    """Marker of facades with awaitable verbs."""


class Blocking:
    """Marker of facades with blocking verbs."""


M = TypeVar("M")
F = TypeVar("F")
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., Any])


class Call(Protocol):
    """Run a coroutine function to completion on an event loop and return its result."""

    def __call__(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result, or the exception."""


@dataclass(frozen=True, slots=True)
class CallMode(Generic[M]):
    """Mode of calling verbs: through `call`, or awaited if that is None. Created by `awaited` and `blocking`."""

    call: Call | None = None


def async_mode() -> CallMode[Awaited]:
    """Return the call mode of asynchronous facades."""
    return CallMode(None)


def blocking(call: Call) -> CallMode[Blocking]:
    """Return the call mode of blocking facades: verbs run through `call`, such as `Portal.call`."""
    return CallMode(call)


class DualModeApi(Generic[M]):
    """Something with verbs."""

    def __init__(self, ground: CallMode[M]) -> None:
        self.ground = ground


class verb(Generic[F, P, T]):  # noqa: N801 - a decorator
    """A coroutine function as a verb of a `DualModeApi`; with `part`, of the attribute of that name."""

    part: str | None = None

    def __init__(self, function: Callable[Concatenate[F, P], Coroutine[Any, Any, T]], part: str | None = None) -> None:
        self.function, self.part = function, part
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, face: None, owner: type) -> Self: ...
    @overload
    def __get__(self, face: DualModeApi[Blocking], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, face: DualModeApi[Awaited], owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, face: Any, owner: type) -> Any:
        """Return the verb of `face`, ready to be called."""
        if face is None:
            return self
        method = MethodType(self.function, face if self.part is None else getattr(face, self.part))
        call = face.ground.call
        if call is None:
            return method

        @wraps(self.function)
        def waiting(*args: Any, **kwargs: Any) -> Any:
            return call(method, *args, **kwargs)

        return waiting


def forward_verb(part: str, model: verb[Any, P, T]) -> verb[Any, P, T]:
    """Return the verb `model` of the attribute `part` as a verb of its owner, with the same parameters."""
    return verb(model.function, part)


def takes_request(request: Callable[P, R]) -> Callable[[Callable[[F, R], Coroutine[Any, Any, T]]], verb[F, P, T]]:
    """Make a verb of a function that is given a request. Its parameters are the fields of the request, written down
    there alone.
    """

    def decorate(function: Callable[[F, R], Coroutine[Any, Any, T]]) -> verb[F, P, T]:
        @wraps(function)
        def called(face: F, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
            return function(face, _made(request, function.__name__, args, kwargs))

        return verb(_with_fields(called, request))

    return decorate


def _made(request: Callable[..., R], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> R:
    """Return the request of a verb's arguments. Raises TypeError, which for an unknown one names the verb and what may
    have been meant.
    """
    try:
        return request(*args, **kwargs)
    except TypeError:
        known = signature(request).parameters
        for unknown in [one for one in kwargs if one not in known]:
            meant = [*get_close_matches(unknown, known, n=1), *(one for one in _MEANT.get(unknown, ()) if one in known)]
            told = f"did you mean {meant[0]}?" if meant else _ELSEWHERE.get(unknown, f"it takes {', '.join(known)}")
            raise TypeError(f"{name}() got an unexpected argument {unknown!r}: {told}") from None
        raise


_MEANT = {
    "metadata": ("data",),
    "filters": ("where",),
    "filter": ("where",),
    "limit": ("top_k",),
    "k": ("top_k", "limit"),
    "n_results": ("top_k",),
    "text": ("content", "query"),
    "message": ("content",),
}
"""Names of other libraries for parameters of verbs."""
_ELSEWHERE = dict.fromkeys(
    ("user_id", "user", "agent_id", "actor", "tenant"), "a memory is that of one user: name them where you open it"
)


def _with_fields(function: C, request: Callable[..., Any]) -> C:
    """Give the function of a verb the signature of the request that is made of its arguments."""
    face = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    taken = signature(request)
    # `inspect.signature` prefers `__signature__`; help, OpenAPI and the command line all read it from there.
    vars(function)["__signature__"] = taken.replace(parameters=[face, *taken.parameters.values()])
    return function


class request_verb(verb[Any, P, T]):  # noqa: N801 - as `verb`
    """A verb that makes a request of its arguments and has the engine answer it. Its parameters are the fields of the
    request, written down there alone.
    """

    def __init__(self, request: Callable[P, Request[T]]) -> None:
        self._name = "verb"

        async def answer(face: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
            result: T = await face.engine.handle(_made(request, self._name, args, kwargs), actor=face.actor)
            return result

        answer.__doc__ = request.__doc__
        super().__init__(_with_fields(answer, request))

    def __set_name__(self, owner: type, name: str) -> None:
        """Note the name under which it is called."""
        self._name = name
