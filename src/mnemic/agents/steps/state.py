"""The state of one turn as it travels from step to step. Its names, and those of the steps, are API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypedDict

from mnemic.errors import InvalidConfig
from mnemic.inject.token_count import estimated_tokens
from mnemic.language.sentences.special_topics import TOPICS
from mnemic.types import Candidate, Kind, Origin, Source
from mnemic.types.recall_limits import DEFAULT_MAX_ENTRIES

OK, NEEDS_REVIEW, FAILED = "ok", "needs_review", "failed"
REVIEW = "needs_review:"
"""Prefix of the reason of a candidate that a person must look at."""


class MemoryState(TypedDict, total=False):
    """State of a turn. All of it is JSON data, so that any checkpointer can store it.

    `messages` are `{"role", "content", "name"}`; `final_output` always has status, response, retrieved_memories,
    stored_updates, skipped_updates and errors; `memory_requests` if the message asks something of memory.
    """

    input: str
    user_id: str
    thread_id: str
    messages: list[dict[str, Any]]
    short_term_summary: str
    retrieval_query: str
    retrieved_memories: list[dict[str, Any]]
    prompt_context: dict[str, Any]
    response: str
    memory_requests: list[dict[str, Any]]
    memory_candidates: list[dict[str, Any]]
    approved_memory_updates: list[dict[str, Any]]
    skipped_memory_updates: list[dict[str, Any]]
    memory_write_results: list[dict[str, Any]]
    errors: list[str]
    status: str
    final_output: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRules:
    """Rules of a turn for choices that the pattern leaves open, and its limits (tokens are estimated).

    `on_retrieval_failure`: continue without personalisation, with the error recorded, or stop for review.
    `on_conflict`: a changed value replaces the old one and says which, or waits for review. `on_sensitive`: personal
    data and secrets are left out, or wait for review; so is what `sensitive_topics` names (`papers`: numbers of
    identity papers; the others unless the user asks to remember it). `on_write_failure`: the answer is kept and the
    failure reported, or it also asks for review. Instructions always wait for review. Raises InvalidConfig.
    """

    on_retrieval_failure: Literal["continue", "review"] = "continue"
    on_conflict: Literal["supersede", "review"] = "supersede"
    on_sensitive: Literal["skip", "review"] = "skip"
    on_write_failure: Literal["report", "review"] = "report"
    sensitive_topics: frozenset[str] = TOPICS
    max_memories: int = DEFAULT_MAX_ENTRIES
    min_score: float = 0.1
    max_input_chars: int = 20_000
    max_history_tokens: int = 2_000
    max_summary_tokens: int = 300
    max_memory_tokens: int = 800
    retrieval_timeout: timedelta = timedelta(seconds=5)
    response_timeout: timedelta = timedelta(seconds=60)

    def __post_init__(self) -> None:
        allowed = {
            "on_retrieval_failure": ("continue", "review"),
            "on_conflict": ("supersede", "review"),
            "on_sensitive": ("skip", "review"),
            "on_write_failure": ("report", "review"),
        }
        for name, words in allowed.items():
            if getattr(self, name) not in words:
                raise InvalidConfig(name, hint=" or ".join(words))
        if not TOPICS.issuperset(self.sensitive_topics):
            raise InvalidConfig("sensitive_topics", hint="some of " + ", ".join(sorted(TOPICS)))
        for name in (
            "max_memories",
            "max_input_chars",
            "max_history_tokens",
            "max_summary_tokens",
            "max_memory_tokens",
        ):
            if type(getattr(self, name)) is not int or getattr(self, name) < 1:
                raise InvalidConfig(name, hint="a whole number from 1 up")


def as_data(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as JSON data; `candidate_of` makes it one again."""
    return {
        "content": candidate.content,
        "key": candidate.key,
        "kind": candidate.kind.value,
        "level": str(candidate.level),
        "category": candidate.category,
        "confidence": candidate.confidence,
        "ttl_days": None if candidate.ttl is None else candidate.ttl.total_seconds() / 86400,
        "quote": candidate.source.quote,
        "origin": candidate.source.origin.value,
        **({"replaces": list(candidate.replaces), "ends": candidate.ends} if candidate.replaces else {}),
    }


def candidate_of(data: Mapping[str, Any], *, session: str | None = None) -> Candidate:
    """Return the candidate of `as_data`."""
    days = data.get("ttl_days")
    return Candidate(
        content=data["content"],
        key=data.get("key"),
        kind=Kind(data.get("kind", Kind.LONG_TERM)),
        level=data.get("level", "user"),
        category=data.get("category"),
        confidence=data.get("confidence", 0.8),
        ttl=None if days is None else timedelta(days=days),
        source=Source(origin=Origin(data.get("origin", Origin.USER_STATED)), quote=data.get("quote"), session=session),
        replaces=tuple(data.get("replaces", ())),
        ends=data.get("ends", False),
    )


def waiting_candidates(state: MemoryState) -> list[dict[str, Any]]:
    """Return the candidates that wait for a person."""
    return [entry for entry in state.get("skipped_memory_updates", []) if entry["reason"].startswith(REVIEW)]


def output_of(state: MemoryState) -> dict[str, Any]:
    """`final_output`: the report of the turn for the caller, for any outcome."""
    results, asked = state.get("memory_write_results", []), state.get("memory_requests", [])
    return {
        "status": state.get("status", FAILED),
        "response": state.get("response", ""),
        "retrieved_memories": state.get("retrieved_memories", []),
        "stored_updates": [result for result in results if result["success"]],
        "skipped_updates": state.get("skipped_memory_updates", []),
        **({"memory_requests": asked} if asked else {}),
        "errors": state.get("errors", []),
    }


def with_error(state: MemoryState, step: str, reason: str) -> list[str]:
    """Return the turn's errors and one more, under the name of its step."""
    return [*state.get("errors", []), f"{step}: {reason}"]


def texts_of(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the text of each message, prefixed by its role."""
    return [f"{message['role']}: {message['content']}" for message in messages]


def clipped_end(text: str, max_tokens: int) -> str:
    """Return the end of `text` that fits: newer text matters more."""
    while estimated_tokens(text) > max_tokens:
        text = text[max(1, len(text) // 8) :]
    return text
