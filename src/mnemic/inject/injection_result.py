"""Result of one injection, and the run that several of them belong to. Callbacks and sources of others must not stop a
model call.
"""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mnemic.errors import MnemicError
from mnemic.inject.citation_check import UsageAudit, Verdict
from mnemic.inject.memory_source import SourceEntry
from mnemic.types import ContextBlock, Deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedBlock:
    """A block in the message `at`, in `front` of the message's text `said` or after it. `is_asks`: it belongs to the
    user's question, and not to a tool's answer.
    """

    text: str = field(repr=False)
    entries: tuple[SourceEntry, ...] = field(repr=False)
    digest: str
    at: int
    front: bool
    said: str = field(repr=False)
    is_asks: bool = True


@dataclass(slots=True)
class InjectionRun:
    """State shared by the calls of one run: its id in the injection log, the results of each query, the blocks and the
    messages that contain them, the queries about which probably nothing is known, and the outcome of the first call.

    One for each user turn of one conversation; not shared by concurrent calls. `retried` has the blocks of a run that
    this one may repeat: a block of the same entries is then the same text, so that a prompt cache stays valid.
    """

    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    found: dict[str, Sequence[SourceEntry]] = field(default_factory=dict, repr=False)
    placed: list[PlacedBlock] = field(default_factory=list, repr=False)
    abstained: set[str] = field(default_factory=set, repr=False)
    outcome: Injection | None = field(default=None, repr=False)
    retried: tuple[PlacedBlock, ...] = field(default=(), repr=False)

    def move_blocks(self, blocks: Sequence[PlacedBlock]) -> None:
        """Record the messages that contain blocks now, so that the blocks stay there in the next call."""
        now = {block.digest: block for block in blocks}
        self.placed = [now.get(block.digest, block) for block in self.placed]

    def text_before(self, entries: Sequence[SourceEntry]) -> str | None:
        """Return the text that showed the same entries before; None if there was none."""
        shown = [_shown_fields(entry) for entry in entries]
        return next(
            (one.text for one in self.retried if [_shown_fields(entry) for entry in one.entries] == shown), None
        )


def _shown_fields(entry: SourceEntry) -> tuple[Any, ...]:
    """All that a block contains of an entry."""
    at = entry.hit and entry.hit.memory.happened_at
    return (entry.identity, entry.content, entry.source, entry.said_by, entry.trusted, at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """The input of one model call, and the outcome of the injection.

    `reason`: why nothing was injected, or the source that failed although something was. `degraded`: memory should have
    been consulted and was not, or only partly, so that an absent memory may exist after all. `errors` names the failed
    sources. `abstained`: probably nothing about the query is known, so that at most pinned memories were injected.
    `digest` is the digest of `text` in the injection log; the text is in the message `at`, in `front` of its text or
    after it.
    """

    messages: Sequence[Any] = field(repr=False)
    injected: bool = False
    degraded: bool = False
    abstained: bool = False
    reason: str | None = None
    errors: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[SourceEntry, ...] = field(default=(), repr=False)
    text: str = field(default="", repr=False)
    digest: str | None = None
    at: int | None = None
    front: bool = False
    trailing: int = 0
    blocks: tuple[PlacedBlock, ...] = field(default=(), repr=False)
    carried: bool = False
    run: InjectionRun = field(default_factory=InjectionRun, repr=False)

    def block(self) -> ContextBlock:
        """Return the injected block, for a caller who builds the input."""
        return ContextBlock(
            text=self.text,
            hits=tuple(entry.hit for entry in self.entries if entry.hit is not None),
            reason=self.reason,
            degraded=self.degraded,
            abstained=self.abstained,
            digest=self.digest,
        )

    def used_in(self, answer: str, *, verifiers: Mapping[str, str] | None = None) -> dict[str, Verdict]:
        """Return the evidence in `answer` that each injected memory was used, by memory_id. `verifiers` has the check
        of each key; without one there is no verdict.
        """
        audit, names = UsageAudit(), verifiers or {}
        hits = [entry.hit for entry in self.entries if entry.hit is not None]
        return {hit.memory.memory_id: audit.judge(hit, names.get(hit.memory.key or ""), answer) for hit in hits}


class SkippedInjection(Exception):
    """Nothing is injected this time, for `reason`. `degraded` if that was not intended."""

    def __init__(self, reason: str, *, degraded: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.degraded = degraded


async def run_guarded(stage: str, work: Callable[..., Any], *arguments: Any) -> Any:
    """Return the outcome of `work`, awaited if it can be; any exception skips the injection under the stage's name."""
    try:
        outcome = work(*arguments)
        return await outcome if inspect.isawaitable(outcome) else outcome
    # Not a failure: it passes through with the reason it already has.
    except SkippedInjection:
        raise
    # Before the general case, so that timeouts are counted under one name.
    except TimeoutError:
        raise SkippedInjection(f"{stage}:timeout", degraded=True) from None
    except Exception as error:
        raise SkippedInjection(f"{stage}:{error_reason(error)}", degraded=True) from error


async def await_within(answer: Any, deadline: Deadline) -> Any:
    """Return an answer, or the result of an awaitable within the time limit."""
    return await asyncio.wait_for(answer, deadline.remaining()) if inspect.isawaitable(answer) else answer


def error_reason(error: BaseException) -> str:
    """Return the stable reason of ours, the type's name of any other exception. Never its message, which may quote
    content.
    """
    return error.reason if isinstance(error, MnemicError) else type(error).__name__
