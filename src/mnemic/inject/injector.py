"""Injection of memories into the model's input for one call: search within a time limit, selection, rendering as data.

Nothing here stops a model call, unless configured to: failures are reported in the result, counted and logged, and the
messages are returned unchanged.

A tool loop sends the same messages again and again: the blocks of the run are put back into those that took them up.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mnemic.errors import InjectionFailed, InvalidConfig
from mnemic.inject.configuration import InjectionConfig, InjectionContext, MeasuringLog, RecallLog, Trigger, context_of
from mnemic.inject.injection_log import digest_of
from mnemic.inject.injection_result import (
    Injection,
    InjectionRun,
    PlacedBlock,
    SkippedInjection,
    await_within,
    error_reason,
    run_guarded,
)
from mnemic.inject.memory_source import MemorySource, SourceEntries, SourceEntry, fair_cut, pinned_cut
from mnemic.inject.messages import (
    TOOL,
    USER,
    content_of,
    default_query,
    fold,
    fold_at,
    has_tool_result,
    is_user_turn,
    role_of,
    text_of,
)
from mnemic.inject.render import RenderedBlock, render
from mnemic.inject.token_count import TokenCount, estimated_tokens
from mnemic.ports import Clock
from mnemic.reason_codes import NOT_TRIGGERED, NOTHING_NEW, NOTHING_RELEVANT
from mnemic.runtime.clock import SystemClock
from mnemic.types import Deadline
from mnemic.types.recall_limits import shorten_question


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinsertedBlocks:
    """Messages with the `blocks` of the calls before in them, each at its place of now."""

    messages: Sequence[Any] = field(repr=False)
    blocks: tuple[PlacedBlock, ...] = ()

    def injection(self, run: InjectionRun, new: PlacedBlock | None = None) -> Injection:
        """Return the injection of these blocks, and of a `new` one."""
        blocks = self.blocks if new is None else (*self.blocks, new)
        if not blocks:
            return Injection(messages=self.messages, run=run)
        last = blocks[-1]
        return Injection(
            messages=self.messages,
            injected=True,
            entries=tuple(entry for block in blocks for entry in block.entries),
            text=last.text,
            digest=last.digest,
            at=last.at,
            front=last.front,
            trailing=sum(not block.front and block.at == len(self.messages) - 1 for block in blocks),
            blocks=blocks,
            run=run,
        )


def carry(messages: Sequence[Any], placed: Sequence[PlacedBlock]) -> ReinsertedBlocks:
    """Return `messages` with each block in its former message. If that was cut off, the block of the user's question
    goes into the user's last remaining message, else into the last answer of a tool; any other block is dropped. Raises
    InvalidInput (`invalid_input:message`) for messages of an unknown shape.
    """
    blocks: list[PlacedBlock] = []
    folded = messages
    for block in placed:
        now = _placed_now(block, messages)
        if now is not None:
            blocks.append(now)
            folded = fold_at(folded, now.text, now.at, front=now.front).messages
    return ReinsertedBlocks(messages=folded, blocks=tuple(blocks))


def words_in(message: Any) -> str:
    """Return the identity of a message in a later call: its text, or the answer of a tool in it."""
    return text_of(message) or repr(content_of(message))


def _placed_now(block: PlacedBlock, messages: Sequence[Any]) -> PlacedBlock | None:
    at = _place_of(block, messages)
    if at is not None:
        return replace(block, at=at)
    at = _last_left(messages) if block.is_asks else None
    if at is None:
        return None
    front = block.front and not has_tool_result(messages[at])
    return replace(block, at=at, front=front, said=words_in(messages[at]))


def _place_of(block: PlacedBlock, messages: Sequence[Any]) -> int | None:
    """Return the place of the message that contains the block: its old place, or another if an earlier message was cut
    away.
    """
    if block.at < len(messages) and words_in(messages[block.at]) == block.said:
        return block.at
    places = (at for at in reversed(range(len(messages))) if role_of(messages[at]) in (USER, TOOL))
    return next((at for at in places if words_in(messages[at]) == block.said), None)


def _last_left(messages: Sequence[Any]) -> int | None:
    """Return the place of the user's last message, a tool's answer only if no other message takes a text."""
    places = [at for at in reversed(range(len(messages))) if role_of(messages[at]) in (USER, TOOL)]
    asks = (at for at in places if not has_tool_result(messages[at]))
    return next(asks, next((at for at in places if content_of(messages[at])), None))


logger = logging.getLogger(__name__)

LOADING_SECONDS = 30.0
"""Seconds that the first turn of a process waits for models at most."""


class Injector:
    """Injects the memories of `sources` into the input of one model call at a time. May be shared by concurrent calls.

    `counts` is the number of each event: `injected`, `abstained`, `skipped:<reason>`, `degraded:<reason>`.
    """

    def __init__(
        self,
        sources: Sequence[MemorySource],
        config: InjectionConfig | None = None,
        *,
        recall: RecallLog | None = None,
        clock: Clock | None = None,
        count: TokenCount = estimated_tokens,
    ) -> None:
        names = [source.name for source in sources]
        if not names or len(set(names)) != len(names):
            raise InvalidConfig("sources", hint="at least one source, each with a distinct name")
        self.config = config or InjectionConfig()
        self.counts: Counter[str] = Counter()
        self._sources = tuple(sources)
        self._recall = recall
        self._clock = clock or SystemClock()
        self._count = count

    async def inject(self, messages: Sequence[Any], *, state: Any = None, run: InjectionRun | None = None) -> Injection:
        """`messages` with a block of memories in them, or as they are, and why.

        Calls that belong to one run (a tool loop) are given the same `run`: the same query is then searched once, and
        each block is in the same message of every call, so that the call that writes the answer has it and a prompt
        cache stays valid. Raises InjectionFailed only if the configuration is fail-closed.
        """
        run = run or InjectionRun()
        errors: dict[str, str] = {}
        carried = ReinsertedBlocks(messages=messages)
        try:
            await run_guarded("messages", _check_single, messages, run.placed)
            carried = await run_guarded("messages", carry, messages, run.placed)
            run.move_blocks(carried.blocks)
            injection = await self._inject(messages, carried, state, run, errors)
        except SkippedInjection as skip:
            injection = self._without_new_block(carried, skip, run, errors)
            if injection.carried and not skip.degraded:
                self.counts["carried"] += injection.injected
                return injection
        if run.outcome is None or (injection.injected and not injection.carried):
            run.outcome = injection
        count_outcome(injection, self.counts)
        if injection.degraded and self.config.on_failure == "stop":
            raise InjectionFailed(injection.reason or "source")
        return injection

    async def _inject(
        self, messages: Sequence[Any], carried: ReinsertedBlocks, state: Any, run: InjectionRun, errors: dict[str, str]
    ) -> Injection:
        await self._wait_for_models()
        # One deadline for all steps: a slow trigger leaves less time for the search, not a later answer.
        deadline = Deadline.after(self.config.timeout, self._clock.monotonic)
        context = await run_guarded("messages", context_of, messages, state)
        if not await run_guarded("trigger", should_inject, self.config.trigger, context, deadline):
            raise SkippedInjection(NOT_TRIGGERED)
        query = await run_guarded("query", self._query, context, deadline)
        if not query:
            raise SkippedInjection("no_query")
        # Blocks of earlier calls stay in the input; their memories are not repeated.
        known = {entry.identity for block in carried.blocks for entry in block.entries}
        entries = [one for one in await self._search(query, run, errors, deadline) if one.identity not in known]
        if not entries:
            raise SkippedInjection(NOTHING_NEW)
        rendered = await run_guarded("render", self._render, entries, deadline)
        if not rendered.text.strip():
            raise SkippedInjection("no_room" if rendered.entries == () else "empty_block")
        # Byte for byte the same text as before, so that a prompt cache stays valid.
        rendered = replace(rendered, text=run.text_before(rendered.entries) or rendered.text)
        folded = await run_guarded("messages", self._fold, carried.messages, rendered.text)
        if folded.at is None:
            raise SkippedInjection("no_user_message")
        digest = digest_of(rendered.text)
        if self._recall is not None:
            await run_guarded("recall_log", self._log_injection, run.run_id, rendered, digest, deadline)
        block = _place_block(rendered, digest, folded.at, messages[folded.at], front=folded.front)
        # Only after the log: a block that could not be logged is not shown either.
        run.placed.append(block)
        return replace(
            carried.injection(run, block),
            messages=folded.messages,
            degraded=bool(errors),
            abstained=query in run.abstained,
            reason=f"source:{next(iter(errors))}" if errors else None,
            errors=errors,
        )

    async def _wait_for_models(self) -> None:
        """Wait while the sources load models and tables, once in a process and at most `LOADING_SECONDS`: that is no
        part of a turn's time, or the first turn of each process of a slow machine would go without memory.
        """
        loading = [one() for source in self._sources if (one := getattr(source, "loading", None)) is not None]
        if waiting := [asyncio.ensure_future(one) for one in loading if one is not None]:
            logger.info("loading the models and tables of memory | waiting before the first turn")
            _, late = await asyncio.wait(waiting, timeout=LOADING_SECONDS)
            for one in waiting:
                one.add_done_callback(_forget)  # the search that follows reports a failure
            for one in late:
                one.cancel()

    async def _log_injection(self, run_id: str, rendered: RenderedBlock, digest: str, deadline: Deadline) -> None:
        if self._recall is None:
            return
        if not isinstance(self._recall, MeasuringLog):
            await self._recall(run_id, rendered.entries, digest)
            return
        spent = self.config.timeout.total_seconds() - deadline.remaining()
        tokens = self._count(rendered.text)
        await self._recall.record_measured(run_id, rendered.entries, digest, tokens=tokens, ms=max(0.0, spent) * 1000)

    def _without_new_block(
        self, carried: ReinsertedBlocks, skip: SkippedInjection, run: InjectionRun, errors: dict[str, str]
    ) -> Injection:
        """Return the input without a new block: with those of earlier calls of the run, if any."""
        before, injection = run.outcome, carried.injection(run)
        # The blocks are those of an earlier call, so its outcome describes this input, too.
        if before is not None and not skip.degraded and (carried.blocks or skip.reason == NOT_TRIGGERED):
            return replace(
                injection,
                carried=True,
                reason=before.reason,
                degraded=before.degraded,
                abstained=before.abstained,
                errors=before.errors,
            )
        return replace(
            injection,
            carried=bool(carried.blocks),
            reason=skip.reason,
            degraded=skip.degraded,
            abstained=skip.reason == NOTHING_RELEVANT,
            errors=errors,
        )

    async def _query(self, context: InjectionContext, deadline: Deadline) -> str | None:
        if self.config.query is None:
            query = default_query(context.messages)
        else:
            query = await await_within(self.config.query(context), deadline)
        return shorten_question(query) if query else None

    async def _search(
        self, query: str, run: InjectionRun, errors: dict[str, str], deadline: Deadline
    ) -> Sequence[SourceEntry]:
        # A tool loop repeats its question; one search serves all calls of the run.
        if query not in run.found:
            found = await self._ask_all(query, errors, deadline)
            # Only if no source answered: one answer, even an empty one, is not an outage.
            if not found:
                raise SkippedInjection("search:" + next(iter(errors.values())), degraded=True)
            if self._knows_nothing(found):
                run.abstained.add(query)
            chosen = self._chosen(found)
            if errors:
                # An incomplete answer is not cached: the next call of the run asks again.
                return _some(chosen, query in run.abstained, degraded=True)
            run.found[query] = chosen
        return _some(run.found[query], query in run.abstained)

    def _is_weak(self, entry: SourceEntry) -> bool:
        """Return True if the entry is there only because a search always has a nearest."""
        # Policy put these here, so their relevance to the query does not matter.
        meant = entry.pinned or (entry.hit is not None and entry.hit.reason == "preference_bias")
        return not meant and entry.relevance is not None and entry.relevance < self.config.least_relevance

    def _knows_nothing(self, found: Mapping[str, Sequence[SourceEntry]]) -> bool:
        """Return True if all entries other than the pinned ones are weak."""
        rest = [entry for entries in found.values() for entry in entries if not entry.pinned]
        left_out = any(isinstance(entries, SourceEntries) and entries.abstained for entries in found.values())
        return (bool(rest) or left_out) and all(map(self._is_weak, rest))

    def _chosen(self, found: Mapping[str, Sequence[SourceEntry]]) -> list[SourceEntry]:
        """Return the pinned entries, within their share of the tokens, followed by the best of the rest."""
        config = self.config
        most = min(config.max_tokens, int(config.max_tokens * config.pinned_share) + config.profile_tokens)
        pinned = pinned_cut(found, most, self._count)
        # Several sources may contain the same memory.
        known = {entry.identity for entry in pinned}
        rest = {
            name: [one for one in entries if not (one.pinned or one.identity in known or self._is_weak(one))]
            for name, entries in found.items()
        }
        return [*pinned, *fair_cut(rest, self.config.max_entries, max_untrusted=self.config.max_untrusted)]

    async def _ask_all(
        self, query: str, errors: dict[str, str], deadline: Deadline
    ) -> Mapping[str, Sequence[SourceEntry]]:
        limit = self.config.max_entries
        tasks = {
            source.name: asyncio.ensure_future(source.search(query, limit=limit, deadline=deadline))
            for source in self._sources
        }
        try:
            # Sources run concurrently; a late one is left out, and the others still count.
            await asyncio.wait(tasks.values(), timeout=deadline.remaining())
        finally:
            for task in tasks.values():
                task.cancel()
                task.add_done_callback(_forget)
        found: dict[str, Sequence[SourceEntry]] = {}
        for name, task in tasks.items():
            # A cancelled task is not done yet, and has no exception to ask for.
            failure = TimeoutError() if not task.done() else task.exception()
            if failure is None:
                entries = task.result()
                found[name] = _limit_entries(entries, limit)
                if isinstance(entries, SourceEntries) and entries.partial is not None:
                    errors[name] = entries.partial
            else:
                errors[name] = "timeout" if isinstance(failure, TimeoutError) else error_reason(failure)
        return found

    async def _render(self, entries: Sequence[SourceEntry], deadline: Deadline) -> RenderedBlock:
        if self.config.format is None:
            return render(entries, max_tokens=self.config.max_tokens, count=self._count)
        # A format of the caller's own cannot be cut: leave out the last entry until it fits.
        kept = list(entries)
        while kept:
            text = await await_within(self.config.format(tuple(kept)), deadline)
            if self._count(text) <= self.config.max_tokens:
                return RenderedBlock(text=text, entries=tuple(kept))
            kept.pop()
        return RenderedBlock(text="", entries=())

    def _fold(self, messages: Sequence[Any], text: str) -> Any:
        return fold(messages, text, placement=self.config.placement)


def _limit_entries(entries: Sequence[SourceEntry], limit: int) -> Sequence[SourceEntry]:
    """Return the pinned entries, and `limit` of the rest."""
    pinned = [entry for entry in entries if entry.pinned]
    kept = (*pinned, *[entry for entry in entries if not entry.pinned][:limit])
    return SourceEntries(entries=kept, abstained=isinstance(entries, SourceEntries) and entries.abstained)


def _some(entries: Sequence[SourceEntry], abstained: bool, *, degraded: bool = False) -> Sequence[SourceEntry]:
    if not entries:
        raise SkippedInjection(NOTHING_RELEVANT if abstained else "no_match", degraded=degraded)
    return entries


def _check_single(messages: Sequence[Any], placed: Sequence[PlacedBlock]) -> None:
    """Raise Skip if a block of this run is in the input already, as in frameworks that store the inserted text."""
    # A second copy of the block would only cost tokens.
    if placed and any(block.text in text_of(message) for message in messages for block in placed):
        raise SkippedInjection("already_injected")


async def should_inject(trigger: Trigger, context: InjectionContext, deadline: Deadline) -> bool:
    """Return True if `trigger` wants an injection into this call."""
    if trigger == "everyTurn":
        return True
    if isinstance(trigger, str):
        return is_user_turn(context.messages)
    return bool(await await_within(trigger(context), deadline))


def count_outcome(injection: Injection, counts: Counter[str]) -> None:
    """Count the outcome of an injection, and log an unintended one: reasons, never content."""
    if injection.injected and not injection.carried:
        counts["injected"] += 1
    if injection.abstained:
        counts["abstained"] += 1
    if injection.degraded:
        counts[f"degraded:{injection.reason}"] += 1
        consequence = "some of it is missing" if injection.injected else "skipping injection"
        logger.warning("reason=<%s> | memory injection degraded | %s", injection.reason, consequence)
    elif not injection.injected:
        counts[f"skipped:{injection.reason}"] += 1


def _forget(task: asyncio.Future[Any]) -> None:
    """Read the result of a late task, so that asyncio does not log it as never retrieved."""
    if not task.cancelled():
        task.exception()


def _place_block(rendered: RenderedBlock, digest: str, at: int, taker: Any, *, front: bool) -> PlacedBlock:
    """Return the block in the form that `taker`, the message at `at`, contains."""
    return PlacedBlock(
        text=rendered.text,
        entries=rendered.entries,
        digest=digest,
        at=at,
        front=front,
        said=words_in(taker),
        is_asks=not has_tool_result(taker),
    )
