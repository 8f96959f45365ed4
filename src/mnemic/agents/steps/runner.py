"""The order of the steps, as data, and a runner that needs nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mnemic.agents.steps.nodes import MemorySteps
from mnemic.agents.steps.state import FAILED, NEEDS_REVIEW, MemoryState, waiting_candidates
from mnemic.errors import InvalidInput
from mnemic.extract.messages import is_recorded

Route = Callable[[MemoryState], str]
END = "END"

NODES = (
    "prepare_turn",
    "build_retrieval_query",
    "retrieve_long_term_memory",
    "compact_short_term_memory",
    "build_prompt_context",
    "generate_response",
    "extract_memory_candidates",
    "validate_memory_updates",
    "store_memory_updates",
    "finalize",
    "mark_needs_review",
)


def has_retrieval_error(state: MemoryState) -> str:
    """After the retrieval: to review only if the rules call its failure unsafe."""
    return "mark_needs_review" if state["status"] == NEEDS_REVIEW else "compact_short_term_memory"


def has_memory_updates(state: MemoryState) -> str:
    """After the validation: approved candidates are written first, also when another candidate waits for a person. A
    message of which nothing is approved may be recorded all the same.
    """
    if state["approved_memory_updates"]:
        return "store_memory_updates"
    if waiting_candidates(state):
        return "mark_needs_review"
    skipped = [one["reason"] for one in state["skipped_memory_updates"]]
    return "store_memory_updates" if is_recorded(skipped, stored=False) else "finalize"


def needs_review(state: MemoryState) -> str:
    """After the writes: to a person if a candidate waits for one, or a write failed and the rules require it."""
    return "mark_needs_review" if state["status"] == NEEDS_REVIEW else "finalize"


EDGES: Mapping[str, str] = {
    "prepare_turn": "build_retrieval_query",
    "build_retrieval_query": "retrieve_long_term_memory",
    "compact_short_term_memory": "build_prompt_context",
    "build_prompt_context": "generate_response",
    "generate_response": "extract_memory_candidates",
    "extract_memory_candidates": "validate_memory_updates",
    "finalize": END,
    "mark_needs_review": END,
}
ROUTES: Mapping[str, tuple[Route, tuple[str, ...]]] = {
    "retrieve_long_term_memory": (has_retrieval_error, ("compact_short_term_memory", "mark_needs_review")),
    "validate_memory_updates": (has_memory_updates, ("store_memory_updates", "finalize", "mark_needs_review")),
    "store_memory_updates": (needs_review, ("finalize", "mark_needs_review")),
}


async def take(steps: MemorySteps, node: str, state: MemoryState, decisions: Any = None) -> MemoryState:
    """Return the changes that the step `node` makes in `state`. A turn that has failed takes only its first and last
    step.
    """
    if state.get("status") == FAILED and node not in ("prepare_turn", "finalize"):
        return MemoryState()
    if node == "mark_needs_review":
        return await steps.mark_needs_review(state, decisions)
    step: Callable[[MemoryState], Awaitable[MemoryState]] = getattr(steps, node)
    return await step(state)


async def run_turn_with_memory(
    steps: MemorySteps, said: str, *, user_id: str, thread_id: str, thread: MemoryState | None = None
) -> MemoryState:
    """One turn from `prepare_turn` to its end. `thread` is the state the thread's previous turn ended with, None for a
    new thread. Never raises for failures of the turn: see `final_output`.
    """
    state = MemoryState(
        messages=list((thread or {}).get("messages", [])),
        short_term_summary=(thread or {}).get("short_term_summary", ""),
        input=said,
        user_id=user_id,
        thread_id=thread_id,
    )
    node = "prepare_turn"
    while node != END:
        state |= await take(steps, node, state)
        node = ROUTES[node][0](state) if node in ROUTES else EDGES[node]
    return state


async def resume_turn(steps: MemorySteps, state: MemoryState, decisions: Any) -> MemoryState:
    """Return the turn that ended in `state` with a person's decisions: `"approve"` or `"reject"`, for all or for each.

    Raises InvalidInput if nothing waits, or the decisions do not fit.
    """
    if not waiting_candidates(state):
        raise InvalidInput("decisions", hint="no candidate of this turn waits for review")
    return state | await steps.mark_needs_review(state, decisions)
