"""`Memory` and `AsyncMemory` with the signatures of mem0 2.x, on a store of mnemic.

    from mnemic.agents.compat.mem0 import Memory

A program that uses mem0 changes this import and nothing else: filters, results and errors have the shapes it knows. The
differences are in the page "Moving from another product".
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date, timedelta
from types import TracebackType
from typing import Any, Self

from mnemic.agents.compat.mem0_values import (
    Ids,
    LLMError,
    MemoryConfig,
    ValidationError,
    Wanted,
    argument_error,
    change,
    checked_call,
    deletions,
    expiration,
    is_unreadable,
    item,
    key_shown,
    message_list,
    message_of,
    moment,
    of_user,
    own_metadata,
    parse_filters,
    payload,
    score_details,
    settings_of,
    text_of,
    written_in,
)
from mnemic.bootstrap import build_engine
from mnemic.engine import MemoryEngine
from mnemic.engine.extraction import NO_MODEL
from mnemic.engine.message_forms import remember
from mnemic.errors import InvalidCandidates, MemoryNotFound, MnemicError, ModelFailed, NotSupported
from mnemic.maintenance.summarise import shorten_messages
from mnemic.reason_codes import NOT_UNDERSTOOD
from mnemic.runtime.event_loop_thread import Portal, PortalOwner
from mnemic.runtime.sync_facade import Awaited, Blocking, CallMode, DualModeApi, M, async_mode, blocking, verb
from mnemic.types import Actor, Deadline, Hit, Message, Outcome, Status
from mnemic.types import Memory as Kept
from mnemic.types.filter_language import checked_filter, meets

PROCEDURAL = "procedural_memory"
_MAX_TOKENS = 1_000
_WITHIN = timedelta(seconds=60)


async def summary(
    engine: MemoryEngine, messages: Sequence[Message], instructions: str = ""
) -> tuple[dict[str, Any], Message]:
    """Return the conversation in one message of the assistant's, with mem0's form of it: by the language model if there
    is one, else by its most telling sentences. `instructions`: facts that the model should include or leave out. Raises
    ValidationError for a conversation without content, NotSupported (`wishes`) if no model could follow them.
    """
    if instructions and engine.completer is None:
        raise NotSupported("wishes", hint=NO_MODEL)
    deadline = Deadline.after(_WITHIN, engine.clock.monotonic)
    short = await shorten_messages(
        messages, max_tokens=_MAX_TOKENS, completer=engine.completer, deadline=deadline, instructions=instructions
    )
    text = "\n".join(short.lines).strip()
    if not text:
        raise argument_error("messages", "There is no content for the procedural memory summary.")
    return {"role": "assistant", "content": text}, Message(role="assistant", content=text)


__all__ = ["AsyncMemory", "LLMError", "Memory", "MemoryConfig", "ValidationError"]

_LOG = logging.getLogger(__name__)
_UNSET: Any = object()
_EVENTS = {Outcome.CREATED: "ADD", Outcome.SUPERSEDED: "ADD", Outcome.MERGED: "UPDATE"}
_PAGE = 500
_MOST = 100
"""Hits of one search."""


class _Verbs(DualModeApi[M]):
    """The verbs of mem0. Each memory is its user's, or that of an agent or a run if no user is named."""

    def __init__(self, call_mode: CallMode[M], engine: MemoryEngine, tenant: str) -> None:
        super().__init__(call_mode)
        self.engine = engine
        self._tenant = tenant
        self._opened: asyncio.Task[Any] | None = None

    async def _open(self) -> MemoryEngine:
        """Return the engine, opened by the first verb."""
        if self._opened is None:
            self._opened = asyncio.ensure_future(self.engine.open())
        await asyncio.shield(self._opened)
        return self.engine

    # -- writing ------------------------------------------------------------------------------------------------------

    @verb
    async def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Capture the memories in messages, or with `infer=False` store the messages themselves; of an agent's
        `procedural_memory`, a summary. `prompt` tells the language model which facts to include or leave out this time.
        What a message asks of memory is in `asked`, for `engine.carry_out` once the user confirms it. Raises
        ValidationError, and NotSupported (`wishes`) for a `prompt` without a language model.
        """
        if memory_type not in (None, PROCEDURAL):
            raise argument_error("memory_type", f"Invalid memory_type: {memory_type}. Only {PROCEDURAL} is known.")
        ids = Ids.from_arguments(user_id=user_id, agent_id=agent_id, run_id=run_id)
        ids.require_any("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
        data = own_metadata(metadata) | ids.data
        ends = expiration(expiration_date)
        if ends is not None:
            data["expiration_date"] = ends
        sent_at = moment(timestamp)
        given = [one for one in message_list(messages) if one["role"] != "system"]
        stored_messages = [(one, message_of(one, text, ids, sent_at)) for one in given if (text := written_in(one))]
        if memory_type == PROCEDURAL and ids.agent_id:
            said = [message for _, message in stored_messages]
            stored_messages = [await summary(await self._open(), said, (prompt or "").strip())]
            infer = False
        if infer:
            said = [message for _, message in stored_messages]
            added = await self._add_inferred(said, ids, data, (prompt or "").strip())
            if not isinstance(messages, str) or added.get("asked") or added["results"] or not said:
                return added
            if not await self._is_unread(said[0], ids):
                return added
        return {
            "results": [
                row for one, message in stored_messages for row in await self._add_verbatim(one, message, ids, data)
            ]
        }

    async def _add_inferred(
        self, messages: Sequence[Message], ids: Ids, data: Mapping[str, Any], instructions: str
    ) -> dict[str, Any]:
        engine, actor = await self._open(), ids.actor(self._tenant)
        results = []
        try:
            receipts = await remember(engine, messages, actor=actor, data=data, instructions=instructions)
        except (ModelFailed, InvalidCandidates) as failure:
            if is_unreadable(failure):
                return {"results": []}
            raise LLMError(failure.reason) from failure
        for receipt in receipts:
            if receipt.outcome in _EVENTS and receipt.memory_id is not None and not receipt.replayed:
                memory = await engine.get(receipt.memory_id, actor=actor)
                results.append({"id": memory.memory_id, "memory": text_of(memory), "event": _EVENTS[receipt.outcome]})
        return {"results": results, **({"asked": [one.to_dict() for one in receipts.asked]} if receipts.asked else {})}

    async def _is_unread(self, message: Message, ids: Ids) -> bool:
        """Return True if rules alone read a text and understood no part of it: a program that adds it wants it kept."""
        engine = await self._open()
        if engine.completer is not None:
            return False
        skipped = (await engine.capture(message, actor=ids.actor(self._tenant))).skipped
        return bool(skipped) and all(one.reason == NOT_UNDERSTOOD for one in skipped)

    async def _add_verbatim(
        self, given: Mapping[str, Any], message: Message, ids: Ids, data: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Store one message verbatim; a row for each part of a long one."""
        engine, actor = await self._open(), ids.actor(self._tenant)
        about: dict[str, Any] = {**data, "role": given["role"]}
        if message.speaker is not None:
            about["actor_id"] = message.speaker
        rows = []
        for receipt in await engine.remember([message], actor=actor, infer=False, data=about):
            if receipt.memory_id is not None and receipt.stored:
                memory = await engine.get(receipt.memory_id, actor=actor)
                row = {"id": memory.memory_id, "memory": text_of(memory), "event": "ADD"}
                rows.append({**row, "actor_id": message.speaker, "role": given["role"]})
        return rows

    @verb
    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Correct the text of a memory, its metadata or its expiry date (None: no expiry). `data` is an older name of
        `text`. Raises ValidationError.
        """
        if data is not None:
            _LOG.warning("the argument `data` of update() is deprecated: use `text`")
            text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise argument_error("update", "At least one of text, metadata, or expiration_date must be provided.")
        known, actor = await self._find_memory(memory_id)
        new = own_metadata(metadata)
        new.pop("created_at", None)  # of a memory that is there it never changes
        about = {**known.data, **new}
        if expiration_date is not _UNSET:
            about["expiration_date"] = expiration(expiration_date)
        about = {name: value for name, value in about.items() if name != "expiration_date" or value is not None}
        # What is shown of a value begins with its key; a text that was edited as it was shown still does.
        content = known.content if text is None else text.removeprefix(key_shown(known))
        await self.engine.update(memory_id, content, actor=actor, data=about)
        return {"message": "Memory updated successfully!"}

    @verb
    async def delete(self, memory_id: str) -> dict[str, str]:
        """Delete a memory with all its versions. Raises ValidationError if it is not there."""
        _, actor = await self._find_memory(memory_id)
        await self.engine.forget(memory_id, actor=actor)
        return {"message": "Memory deleted successfully!"}

    @verb
    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Delete every memory of a user, an agent or a run. Raises ValidationError if none is named."""
        ids = Ids.from_arguments(user_id=user_id, agent_id=agent_id, run_id=run_id)
        ids.require_any("At least one filter is required to delete all memories. `reset()` deletes every memory.")
        await self._open()
        where = checked_filter(ids.known) or {}
        await self._forget([one async for one in self._all_active() if meets(payload(one), where)])
        return {"message": "Memories deleted successfully!"}

    @verb
    async def reset(self) -> None:
        """Delete every memory of everybody in this tenant."""
        await self._open()
        await self._forget([one async for one in self._all_active()])

    async def _forget(self, memories: Sequence[Kept]) -> None:
        """Delete these. One that fails stops no other; its error is raised at the end."""
        failed: MnemicError | None = None
        for memory in memories:
            try:
                await self.engine.forget(memory.memory_id, actor=self._actor(memory))
            except MemoryNotFound:
                _LOG.debug("a memory was gone before it was deleted")
            except MnemicError as failure:
                failed = failed or failure
        if failed is not None:
            raise failed

    # -- reading ------------------------------------------------------------------------------------------------------

    @verb
    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory, None if there is none."""
        try:
            known, _ = await self._find_memory(memory_id)
        except ValidationError:
            return None
        return item(known)

    @verb
    async def get_all(
        self,
        /,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **others: Any,
    ) -> dict[str, Any]:
        """List memories, newest first. Raises ValidationError."""
        asked, most = self._parse_search("get_all", filters, top_k, show_expired, others)
        engine = await self._open()
        found: list[Kept] = []
        for owner, where in await self._owners(asked):
            found += await engine.list(actor=owner, where=where, limit=most)
        newest = sorted(found, key=lambda memory: memory.memory_id, reverse=True)
        return {"results": [item(memory) for memory in newest[:most]]}

    @verb
    async def search(
        self,
        /,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **others: Any,
    ) -> dict[str, Any]:
        """Find memories, best first, at most 100. `rerank` changes nothing: a reranker is a setting. Raises
        ValidationError.
        """
        asked, most = self._parse_search("search", filters, top_k, show_expired, others)
        if not isinstance(query, str) or not query.strip():
            raise argument_error("query", "Invalid query: cannot be empty or whitespace-only.")
        if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, int | float)):
            raise argument_error("threshold", "threshold must be a valid number")
        if threshold is not None and not 0 <= threshold <= 1:
            raise argument_error("threshold", f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")
        engine = await self._open()
        hits: list[Hit] = []
        for owner, where in await self._owners(asked) if most else []:
            found = await engine.search(
                query,
                actor=owner,
                top_k=min(most, _MOST),
                where=where,
                min_score=threshold or 0.0,
                asked_at=moment(reference_date),
            )
            hits += found.hits
        hits.sort(key=lambda hit: hit.score, reverse=True)
        results = []
        for hit in hits[:most]:
            row = item(hit.memory, score=hit.score if hit.relevance is None else hit.relevance)
            details = score_details(hit, float(row["score"]), threshold or 0.0) if explain else None
            results.append({**row, "score_details": details} if details else row)
        return {"results": results}

    @verb
    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return each change of a memory, oldest first; of a deleted one only that it was deleted."""
        try:
            known, _ = await self._find_memory(memory_id)
        except ValidationError:
            return [row async for row in deletions(self.engine.store, self._tenant, memory_id)]
        versions = await self.engine.store.versions(memory_id, scopes=[known.scope])
        before: list[Kept | None] = [None, *versions]
        return [change(memory, earlier) for memory, earlier in zip(versions, before, strict=False)]

    # -- the owner --------------------------------------------------------------------------------------------------

    def _parse_search(
        self, name: str, filters: Mapping[str, Any] | None, top_k: object, show_expired: bool, others: Mapping[str, Any]
    ) -> tuple[Wanted, int]:
        """Return the filter and the maximum number of results."""
        most = checked_call(name, top_k, others)
        today: date = self.engine.clock.now().date()
        return parse_filters(filters, show_expired=show_expired, today=today), most

    async def _owners(self, asked: Wanted) -> list[tuple[Actor, dict[str, Any]]]:
        """Return the owners of the memories to read, each with the filter on theirs: the user who is named, else all
        who have a matching one.
        """
        if asked.owner is not None:
            return [(asked.owner.actor(self._tenant), asked.where)]
        where = checked_filter(asked.where) or {}
        # Data is stored without personal data, which a filter may name; the name of a user stays as it is.
        cleaned = await self.engine.gateway.as_stored(where, Actor(tenant=self._tenant, user="mem0")) or {}
        stored = [(one, payload(one)) async for one in self._all_active()]
        matching = [(one, result) for one, result in stored if meets(result, where) or meets(result, cleaned)]
        owners = {one.scope.owner: result.get("user_id") for one, result in matching}
        return [(Actor(tenant=self._tenant, user=owner), of_user(where, user)) for owner, user in owners.items()]

    async def _all_active(self) -> AsyncIterator[Kept]:
        """Yield the active memories of everybody in the tenant."""
        after: str | None = None
        while page := await self.engine.store.scan(self._tenant, statuses=[Status.ACTIVE], after=after, limit=_PAGE):
            for memory in page:
                yield memory
            after = page[-1].memory_id

    async def _find_memory(self, memory_id: str) -> tuple[Kept, Actor]:
        """Return an active memory and its owner. Raises ValidationError if there is none."""
        engine = await self._open()
        found = await engine.store.scan(self._tenant, statuses=[Status.ACTIVE], memory_ids=[memory_id], limit=1)
        if not found:
            raise argument_error(
                "memory_id", f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'"
            )
        return found[0], self._actor(found[0])

    def _actor(self, memory: Kept) -> Actor:
        return Actor(tenant=self._tenant, user=memory.scope.owner, agent=memory.agent)


class Memory(_Verbs[Blocking], PortalOwner):
    """mem0's `Memory` on mnemic. `config`: a dict as for `from_config`, or mem0's `MemoryConfig`. `engine`: one that is
    already built.
    """

    def __init__(self, config: Any = None, *, engine: MemoryEngine | None = None) -> None:
        settings = settings_of(config)
        self._portal = Portal()
        try:
            super().__init__(blocking(self._portal.call), engine or build_engine(settings), settings.tenant)
            self._portal.call(self._open)
        except BaseException:
            self._portal.close()
            raise

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Return a memory by a configuration; see `settings_of`."""
        return cls(config_dict)

    async def _release(self) -> None:
        await self.engine.close()


class AsyncMemory(_Verbs[Awaited]):
    """mem0's `AsyncMemory` on mnemic: every verb is awaited; the first opens the store."""

    def __init__(self, config: Any = None, *, engine: MemoryEngine | None = None) -> None:
        settings = settings_of(config)
        super().__init__(async_mode(), engine or build_engine(settings), settings.tenant)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Return a memory by a configuration."""
        return cls(config_dict)

    async def close(self) -> None:
        """Release all resources."""
        await self.engine.close()

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
