"""Base of the views of the kinds: the engine's verbs, one actor, and how a verb is called."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from mnemic.runtime.sync_facade import CallMode, DualModeApi, M
from mnemic.types import Actor
from mnemic.write.limiter import refuse_if_erased_since

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine


V = TypeVar("V", bound="KindView[Any]")
P = ParamSpec("P")
T = TypeVar("T")


def one_statement(
    function: Callable[Concatenate[V, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[V, P], Coroutine[Any, Any, T]]:
    """Make all that a verb writes one statement of the time of its call: an erasure that begins while it is written
    refuses the rest of it.
    """

    @wraps(function)
    async def stated(self: V, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with refuse_if_erased_since(self._engine.clock.now()):
            return await function(self, *args, **kwargs)

    return stated


class KindView(DualModeApi[M]):
    """One kind of memory of one actor."""

    def __init__(self, engine: MemoryEngine, actor: Actor, call_mode: CallMode[M]) -> None:
        super().__init__(call_mode)
        self._engine = engine
        self._actor = actor
