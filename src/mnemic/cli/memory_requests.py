"""Requests about memory in a message: forget, show, "that is wrong"; carried out once their user has confirmed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from mnemic.cli.result_texts import count_text, label, memory_dict
from mnemic.cli.terminal import ask_confirmation, at_terminal, note

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.types import Actor, MemoryRequest

    Call: TypeAlias = Callable[[Callable[[MemoryEngine, Actor], Awaitable[Any]]], Any]


def carried_out(call: Call, request: MemoryRequest, *, yes: bool = False) -> dict[str, Any] | None:
    """Carry out a request about memory; return JSON data; None if it was not confirmed. A request that only lists
    memories changes nothing and needs no confirmation.
    """
    if request.kind != "show" and not yes:
        known = call(lambda engine, actor: engine.carry_out(replace(request, kind="show"), actor=actor))
        for memory in known.memories:
            note(f"  {label(memory, 100)}{'' if memory.status == 'active' else f'  ({memory.status})'}")
        if request.things:
            named = ", ".join(request.things)
            note(f"these are about {len(request.things)} things: {named}; `mnemic forget ID` takes one")
        if not at_terminal() or not ask_confirmation(
            _QUESTIONS[request.kind].format(count_text(len(request.memory_ids)))
        ):
            return None
    done = call(lambda engine, actor: engine.carry_out(request, actor=actor))
    memories = [memory_dict(one) for one in done.memories]
    return {"forgotten": list(done.forgotten), "erasure": done.erasure and dict(done.erasure), "memories": memories}


_QUESTIONS = {
    "forget": "Delete {} permanently?",
    "wrong": "Delete {} permanently?",
    "forget_all": "Erase everything about you permanently, {}?",
}


def outcome(request: MemoryRequest, done: dict[str, Any] | None, *, unconfirmed: str = "") -> str:
    """Describe the outcome of a request about memory; `unconfirmed` is added if it was not confirmed."""
    if done is None:
        return f"not confirmed: nothing was done ({request.kind.replace('_', ' ')}){unconfirmed}"
    if done["erasure"] is not None:
        return f"erased  {count_text(len(request.memory_ids))}"
    if request.kind == "show":
        return "\n".join(f"  {one['memory_id']}  {one['content']}" for one in done["memories"]) or "nothing is known"
    return f"forgotten  {count_text(len(done['forgotten']))}"
