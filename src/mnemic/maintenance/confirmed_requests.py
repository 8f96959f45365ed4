"""Carry out a message's request about memory, once its user has confirmed it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.requests import Forget, Request
from mnemic.types import Actor, MemoryRequest, RequestOutcome, Scope, Status

if TYPE_CHECKING:
    from mnemic.maintenance.erasure_receipt import ErasureReceipt
    from mnemic.ports import RecordStore


_SHOWN = frozenset({Status.ACTIVE, Status.SUPERSEDED})


class RequestEngine(Protocol):
    """The verbs of `MemoryEngine` that carry out requests."""

    store: RecordStore

    def reach(self, actor: Actor) -> tuple[Scope, ...]:
        """Return the scopes that the actor's calls reach."""

    async def handle(self, request: Request[Any], *, actor: Actor) -> Any:
        """Answer a request."""

    async def erase(self, subject: str, *, actor: Actor) -> ErasureReceipt:
        """Erase everything about a user."""


async def carried_out(engine: RequestEngine, request: MemoryRequest, actor: Actor) -> RequestOutcome:
    """Return the result; see `MemoryEngine.carry_out`."""
    if not isinstance(request, MemoryRequest):
        raise InvalidInput("memory_request")
    if request.kind == "forget_all":
        return RequestOutcome(erasure=(await engine.erase(actor.user, actor=actor)).as_dict())
    if request.kind == "show":
        found = await engine.store.get_many(request.memory_ids, scopes=engine.reach(actor))
        live = [one for name in request.memory_ids if (one := found.get(name)) and one.status in _SHOWN]
        return RequestOutcome(memories=tuple(live))
    forgotten = []
    for memory_id in request.memory_ids:
        with suppress(MemoryNotFound):
            await engine.handle(Forget(memory_id=memory_id), actor=actor)
            forgotten.append(memory_id)
    return RequestOutcome(forgotten=tuple(forgotten))
