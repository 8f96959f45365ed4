"""Verbs that are written once, as coroutines, for callers with an event loop and for callers without one.

A class of verbs derives from `DualModeApi[M]` and marks its coroutine functions with `@verb`. With `CallMode[Awaited]`
a verb returns an awaitable; with `CallMode[Blocking]` it blocks and returns the result. Type checkers infer which,
parameters included, so no second class with the same verbs has to be maintained.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from mnemic.errors import UnknownArgument


class Awaited:
    """Marker of facades with awaitable verbs."""


class Blocking:
    """Marker of facades with blocking verbs."""


M = TypeVar("M")
F = TypeVar("F")
P = ParamSpec("P")
T = TypeVar("T")


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
    """Base of a class whose verbs are awaited or block, as its call mode says."""

    def __init__(self, call_mode: CallMode[M]) -> None:
        self.call_mode = call_mode


class verb(Generic[F, P, T]):  # noqa: N801 - a decorator
    """A coroutine function as a verb of a `DualModeApi`."""

    def __init__(self, function: Callable[Concatenate[F, P], Coroutine[Any, Any, T]]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

        @wraps(function)
        async def begin(face: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
            try:  # only binds the arguments: the coroutine has not begun
                begun = function(face, *args, **kwargs)
            except TypeError as error:
                raise _explained(error, function, kwargs) from None
            return await begun

        self._begin = begin

    @overload
    def __get__(self, face: None, owner: type) -> Callable[Concatenate[Any, P], Any]: ...
    @overload
    def __get__(self, face: DualModeApi[Blocking], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, face: DualModeApi[Awaited], owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, face: Any, owner: type) -> Any:
        """Return the verb of `face`, ready to be called; of a class a function that takes the face first, for `help`
        and `inspect`.
        """
        if face is None:
            # Not the coroutine function: whether a verb is awaited depends on the face.
            @wraps(self.function)
            def taking_face(one: Any, /, *args: Any, **kwargs: Any) -> Any:
                called: Any = self.__get__(one, owner)
                return called(*args, **kwargs)

            return taking_face
        method = MethodType(self._begin, face)
        call = face.call_mode.call
        if call is None:
            return method

        @wraps(method)
        def waiting(*args: Any, **kwargs: Any) -> Any:
            return call(method, *args, **kwargs)

        return waiting


class engine_verb(verb[F, P, T]):  # noqa: N801 - a decorator
    """A verb that is only declared: the verb of that name of the face's `engine` answers it, for the face's `actor`."""

    def __init__(self, function: Callable[Concatenate[F, P], Coroutine[Any, Any, T]]) -> None:
        @wraps(function)
        def ask_engine(face: Any, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
            function(face, *args, **kwargs).close()  # binds the arguments as declared: the engine takes more
            answer: Coroutine[Any, Any, T] = getattr(face.engine, function.__name__)(*args, actor=face.actor, **kwargs)
            return answer

        super().__init__(ask_engine)


def explain_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Return a method that refuses an argument that it does not have, or is given twice, with UnknownArgument."""

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> T:
        known = signature(function).parameters
        if named.keys() - known.keys():
            raise _explained(TypeError(), function, named)
        for name in [*known][: len(args)]:
            if name in named:
                told = f"its first value is the {name} already; a file or an address is `store`"
                raise UnknownArgument(f"open:{name}", hint=told)
        return function(*args, **named)

    return call


def _explained(error: TypeError, function: Callable[..., Any], given: Mapping[str, Any]) -> Exception:
    """Return the error of a call with these arguments: for an unknown one UnknownArgument, which says what may have
    been meant.
    """
    known = [name for name in signature(function).parameters if name != "self"]
    for unknown in given:
        if unknown not in known:
            meant = [*get_close_matches(unknown, known, n=1), *(one for one in MEANT.get(unknown, ()) if one in known)]
            told = f"did you mean {meant[0]}?" if meant else _ELSEWHERE.get(unknown, f"it takes {', '.join(known)}")
            name = "open" if function.__name__ == "__init__" else function.__name__
            return UnknownArgument(f"{name}:{unknown}", hint=told)
    return error


MEANT = {
    "metadata": ("data",),
    "filters": ("where",),
    "filter": ("where",),
    "limit": ("top_k",),
    "k": ("top_k", "limit"),
    "n_results": ("top_k",),
    "q": ("query",),
    "text": ("content", "query"),
    "message": ("content", "messages"),
    "id": ("memory_id",),
    "path": ("store",),
    "db": ("store",),
    "database": ("store",),
    "user": ("user_id",),
    "llm": ("model",),
}
"""Names of other libraries for parameters of verbs."""
_ELSEWHERE = dict.fromkeys(
    ("user_id", "user", "agent_id", "actor", "tenant"), "a memory is that of one user: name them where you open it"
)
