"""Verbs of one user's memory, defined once for blocking and for awaiting callers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnemic.engine import MemoryEngine
from mnemic.errors import UnknownVerb
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.maintenance.governance import AuditTrail, ConsentBook, Privacy, ReviewQueue
from mnemic.runtime.sync_facade import CallMode, DualModeApi, M, engine_verb, verb
from mnemic.types import Actor, AuditEvent, Candidate, Kind, Level, Message, WriteReceipt
from mnemic.types.recall_limits import DEFAULT_MAX_ENTRIES, DEFAULT_MAX_TOKENS, DEFAULT_PROFILE_TOKENS
from mnemic.types.writes import AUDIT_END

if TYPE_CHECKING:
    from mnemic.engine.lineage import Lineage, Use
    from mnemic.kinds.entity import EntityMemory
    from mnemic.kinds.episodic import EpisodicMemory
    from mnemic.kinds.long_term import LongTermMemory
    from mnemic.kinds.persona import PersonaMemory
    from mnemic.kinds.retrieval import KindRetrieval
    from mnemic.kinds.short_term import ShortTermMemory
    from mnemic.kinds.working import WorkingMemory
    from mnemic.maintenance.consolidate import ConsolidationReport, ConsolidationRules
    from mnemic.maintenance.expiry_job import ExpiryReport, ExpiryRules
    from mnemic.maintenance.health import Health
    from mnemic.maintenance.import_undo import ImportUndone
    from mnemic.maintenance.reports import MaintenanceReport
    from mnemic.maintenance.reread import RereadReport
    from mnemic.maintenance.undo import UndoReceipt
    from mnemic.structured.structured_memory import StructuredMemory
    from mnemic.types import (
        ContextBlock,
        ConversationReceipts,
        ForgetResult,
        Memory,
        MemoryRequest,
        RequestOutcome,
        SearchResult,
        UserProfile,
    )
    from mnemic.types.ratings import RatedMemory, Rating
    from mnemic.types.trace import RunReport

POLL_SECONDS = 0.5
"""Seconds between two looks of `changes` for new lines of the audit."""

_VERBS_ELSEWHERE = {
    "delete": "forget",
    "delete_all": "privacy.erase",
    "get_all": "list",
    "insert": "add",
    "put": "add",
    "query": "search",
    "remove": "forget",
    "reset": "privacy.erase",
    "retain": "add",
    "save": "add",
    "store": "add",
}
"""Names of other libraries for verbs."""
_SET_LATER = frozenset({"engine", "actor", "call_mode"})
"""Attributes that are missing only in a memory that could not be opened."""


class MemoryVerbs(DualModeApi[M]):
    """Verbs of one user's memory. An `engine_verb` is only declared here: the engine's verb of the same name answers it
    for the actor.
    """

    def __init__(self, call_mode: CallMode[M], engine: MemoryEngine, actor: Actor, kinds: SevenKinds[M]) -> None:
        super().__init__(call_mode)
        self.engine = engine
        self.actor = actor
        self._kinds = kinds

    if not TYPE_CHECKING:  # a type checker names an unknown verb itself

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or name in _SET_LATER:
                raise AttributeError(name)
            known = [one for one in dir(type(self)) if not one.startswith("_")]
            meant = _VERBS_ELSEWHERE.get(name) or next(iter(get_close_matches(name, known, n=1)), None)
            raise UnknownVerb(name, hint=f"did you mean {meant}?" if meant else "see help(MemoryManager)")

    # -- the seven kinds ----------------------------------------------------------------------------------------------

    @property
    def working(self) -> WorkingMemory:
        """Scratch values of one task, in this process."""
        return self._kinds.working

    @property
    def short_term(self) -> ShortTermMemory[M]:
        """The messages of the session."""
        return self._kinds.short_term

    @property
    def long_term(self) -> LongTermMemory[M]:
        """Facts and preferences."""
        return self._kinds.long_term

    @property
    def persona(self) -> PersonaMemory[M]:
        """Memory of who the agent is."""
        return self._kinds.persona

    @property
    def episodic(self) -> EpisodicMemory[M]:
        """Memory of the agent's actions and their outcomes."""
        return self._kinds.episodic

    @property
    def entity(self) -> EntityMemory[M]:
        """Memory of the people and things that the user speaks of."""
        return self._kinds.entity

    @property
    def structured(self) -> StructuredMemory[M]:
        """Data of a known shape."""
        return self._kinds.structured

    # -- writing ------------------------------------------------------------------------------------------------------

    @verb
    async def add(
        self,
        content: str | Candidate,
        kind: Kind | str = Kind.LONG_TERM,
        *,
        key: str | None = None,
        level: Level | str | None = None,
        category: str | None = None,
        data: Mapping[str, Any] | None = None,
        ttl: timedelta | str | None = None,
        confidence: float = 0.8,
        occurred_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> WriteReceipt:
        """Remember one statement and return once it is durable. For the messages of a conversation, see `remember`.

        Args:
            content: The statement, or a ready `Candidate`; of that all other arguments but `idempotency_key` are
                ignored.
            kind: One of the seven kinds. `working` and `short_term` keep it for the task or the session only.
            key: Key to store the content under, such as `seat`: a new value of a key ends the old one.
            level: Who shares it: `user`, `agent`, `session`, `workspace`, `tenant`; None for that of the kind. All but
                `user` must be granted by the policy or `MNEMIC_GRANTED_LEVELS`; else the receipt is `blocked`.
            category: A category to group memories by.
            data: Fields to store with the memory, which `where` filters by.
            ttl: How long it is stored, as a duration or as `30d`, `10y`, `never`.
            confidence: Confidence that it is true, 0 to 1.
            occurred_at: Time of the event, with its time zone.
            idempotency_key: A second call with the same key stores nothing and returns the first receipt.

        Returns:
            The outcome (`created`, `refreshed`, `merged`, `superseded`, `pending_review`, `blocked` ...) with its
            reason and the `memory_id`.

        Raises:
            InvalidInput: The content or an argument cannot be used.
            KeyNotAllowed, ScopeNotAllowed, InvalidCandidates: Policy forbids it.
            EmbedderFailed, StoreFailed: Nothing has been stored.
        """
        return await self._kinds.add(
            content,
            kind,
            key=key,
            level=level,
            category=category,
            data=data,
            ttl=ttl,
            confidence=confidence,
            occurred_at=occurred_at,
            idempotency_key=idempotency_key,
        )

    @engine_verb
    async def add_many(
        self, candidates: Sequence[Candidate], *, idempotency_keys: Sequence[str | None] | None = None
    ) -> Sequence[WriteReceipt]:
        """Remember many statements.

        Args:
            candidates: The statements.
            idempotency_keys: One for each, or None.

        Returns:
            One receipt for each, in order: a bad one is `blocked` with a reason and stops no other.

        Raises:
            EmbedderFailed, StoreFailed: What was not stored yet is not.
        """

    @engine_verb
    async def record(self, messages: Sequence[str | Message | Mapping[str, Any]]) -> Sequence[WriteReceipt]:
        """Store the messages of a conversation themselves, as episodic memories.

        Args:
            messages: Texts, `Message`s, or objects with `role` and `content`.

        Returns:
            One receipt for each that has text, and for each part of one that is too long for a memory. A message that
            was recorded before is only refreshed.

        Raises:
            InvalidInput: A message has another form.
        """

    @engine_verb
    async def capture(
        self, message: str | Message | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> RunReport:
        """Remember the durable facts in one message of the user.

        Args:
            message: A text, a `Message`, or an object with `role` and `content`, which may be parts with pictures,
                recordings and files.
            idempotency_key: A second call with the same key stores nothing.

        Returns:
            The facts written, blocked and skipped, and what the message asks of the memory (`asked`).

        Raises:
            InvalidInput: The message has no text or another form.
        """

    @engine_verb
    async def capture_many(
        self,
        messages: Sequence[str | Message | Mapping[str, Any]],
        *,
        idempotency_keys: Sequence[str | None] | None = None,
    ) -> Sequence[RunReport | None]:
        """Remember the durable facts in several messages, in order.

        Args:
            messages: Texts, `Message`s, or objects with `role` and `content`.
            idempotency_keys: One for each message, or None.

        Returns:
            A report for each of the user's messages; None for the others, which serve as context only.

        Raises:
            InvalidInput: A message has another form.
        """

    @engine_verb
    async def remember(
        self,
        messages: str | Message | Mapping[str, Any] | Sequence[str | Message | Mapping[str, Any]],
        *,
        infer: bool = True,
        data: Mapping[str, Any] | None = None,
    ) -> ConversationReceipts:
        """Remember a conversation, in the form in which a program has it.

        Args:
            messages: A text, a `Message`, an object with `role` and `content`, or a list of them.
            infer: True stores the durable facts in the user's messages, False every message as it is.
            data: Fields to store with each memory, which `where` filters by.

        Returns:
            A receipt for each memory, and what the messages ask of the memory (`asked`).

        Raises:
            InvalidInput: A message has another form.
            ModelFailed, BudgetSpent: Memories written so far remain.
        """

    @engine_verb
    async def carry_out(self, request: MemoryRequest) -> RequestOutcome:
        """Carry out what a message asks of the memory, once its user has confirmed it: forget the named memories, erase
        everything about the user, or return the memories to show.

        Args:
            request: One of `RunReport.asked`.

        Returns:
            What was forgotten, erased or found. Absent memories count as done.

        Raises:
            InvalidInput: It is no request about memory.
        """

    @engine_verb
    async def rollback(self, memory_id: str, version: int) -> WriteReceipt:
        """Restore the content that a memory had in an earlier version, as its next one.

        Args:
            memory_id: The memory.
            version: A version that was once active.

        Returns:
            The receipt of the new version.

        Raises:
            MemoryNotFound: There is none, or not in this user's scopes.
            InvalidInput: It has no such version.
            VersionConflict: It was changed at the same time.
        """

    @engine_verb
    async def undo(self, memory_id: str) -> UndoReceipt:
        """Undo a merge, a replacement or an approval.

        Args:
            memory_id: The memory that the change made.

        Returns:
            What is in force again.

        Raises:
            MemoryNotFound: There is none, or not in this user's scopes.
            InvalidInput: It replaced nothing.
            VersionConflict: It was changed since.
        """

    @engine_verb
    async def update(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        key: str | None = None,
        category: str | None = None,
        data: Mapping[str, Any] | None = None,
        context: str | None = None,
        ttl: timedelta | str | None = None,
        confidence: float | None = None,
        occurred_at: datetime | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        expected_version: int | None = None,
    ) -> WriteReceipt:
        """Correct a memory in its next version; the old one stays in the history. Omitted fields stay unchanged.

        Args:
            memory_id: The memory.
            content: The corrected text.
            key: Another key; empty for none.
            category: Another category; empty for none.
            data: The fields that replace the present ones.
            context: What the text needs to be understood; empty for none.
            ttl: How long it is stored from now, as a duration or as `30d`, `10y`, `never`.
            confidence: Confidence that it is true, 0 to 1.
            occurred_at: Time of the event, with its time zone.
            valid_from: Time from which the statement was true.
            valid_to: Time until which the statement was true.
            expected_version: Fail unless the memory is still at this version.

        Returns:
            The receipt of the new version.

        Raises:
            MemoryNotFound: There is none, or not in this user's scopes.
            VersionConflict: It is no longer at `expected_version`.
            InvalidInput: Another memory has the key (`key:taken`), or a value cannot be used.
        """

    @engine_verb
    async def forget(self, memory_id: str) -> None:
        """Delete a memory with all its versions.

        Args:
            memory_id: The memory.

        Raises:
            MemoryNotFound: There is none, or not in this user's scopes.
        """

    @engine_verb
    async def forget_matching(
        self,
        *,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        limit: int = 1000,
        dry_run: bool = False,
    ) -> ForgetResult:
        """Delete the active memories that meet a filter, with all their versions, each in a transaction of its own.

        Args:
            kinds: Only memories of these kinds.
            categories: Only memories of these categories.
            keys: Only memories under these keys.
            where: Only memories whose `data` meets this filter: values, and operators such as `$gte`.
            happened_from: Only events from this time on.
            happened_to: Only events before this time.
            limit: At most so many, the newest (1 to 1,000).
            dry_run: Delete nothing and report what would be deleted.

        Returns:
            The memories deleted, and those that could not be.

        Raises:
            InvalidInput: There is no filter (`filter:empty`): `privacy.erase` deletes everything of a user.
        """

    @engine_verb
    async def run(
        self,
        *,
        message: str | Message | None = None,
        goal: str | None = None,
        context: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        min_score: float = 0.0,
        asked_at: datetime | None = None,
    ) -> RunReport:
        """Run one memory-augmented turn: remember from `message`, answer `goal` from memory, audit the answer.

        Args:
            message: The user's message to learn from.
            goal: The question or task to answer.
            context: What the answer needs beside memory.
            idempotency_key: A second call with the same key stores nothing.
            min_score: The least relevance of each memory that policy does not pin, 0 to 1.
            asked_at: Reference time for phrases such as `last week` in the goal; None: now.

        Returns:
            The answer and every step. A failure of the turn is not raised: the report has `status` and `stop_reason`.

        Raises:
            InvalidInput: Neither `message` nor `goal` is given, or one has no text.
        """

    # -- reading ------------------------------------------------------------------------------------------------------

    @engine_verb
    async def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        levels: Sequence[str] | None = None,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        asked_at: datetime | None = None,
        min_score: float = 0.0,
        max_tokens: int | None = None,
        preference_bias: bool = False,
    ) -> SearchResult:
        """Find the best memories for a question, each with why it was found.

        Args:
            query: The question or search text; empty for the newest memories.
            top_k: At most so many hits (1 to 100).
            levels: Only memories at these levels.
            kinds: Only memories of these kinds.
            categories: Only memories of these categories.
            keys: Only memories under these keys.
            where: Only memories whose `data` meets this filter: values, and operators such as `$gte`.
            happened_from: Only events from this time on.
            happened_to: Only events before this time.
            as_of: Statements that were true at this time.
            known_at: Memories as they were stored at this time.
            asked_at: Reference time for phrases such as `last week` in the query; None: now.
            min_score: The least relevance of a hit, 0 to 1.
            max_tokens: As many hits as this many tokens have room for.
            preference_bias: Boost the policy's preference keys.

        Returns:
            The hits, best first, as a sequence: `result[0].content`. `abstains` is True if probably nothing about the
            query is known, `errors` names the lists that failed.

        Raises:
            InvalidInput, InvalidIntent: An argument cannot be used.
            ScopeDenied: A level is not granted.
            StoreFailed, EmbedderFailed: Every list failed.
        """

    @engine_verb
    async def context(
        self,
        query: str,
        *,
        top_k: int = DEFAULT_MAX_ENTRIES,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        min_score: float = 0.0,
        profile_tokens: int = 0,
        asked_at: datetime | None = None,
    ) -> ContextBlock:
        """Return the memories that a model asked `query` is shown, and log them as injected.

        Args:
            query: The user's message.
            top_k: At most so many memories.
            max_tokens: At most so many tokens.
            min_score: The least relevance of each memory that policy does not pin, 0 to 1.
            profile_tokens: So many tokens of the user's `profile` come first, whatever is asked; 0: what bears on it.
            asked_at: Reference time for phrases such as `last week` in the query; None: now.

        Returns:
            A block whose `text` goes into the model's input as data. An outage is not raised: `degraded` and `reason`
            report it.

        Raises:
            InvalidInput: An argument cannot be used.
        """

    @engine_verb
    async def profile(self, *, max_tokens: int = DEFAULT_PROFILE_TOKENS) -> UserProfile:
        """Return who the user is and what holds now, read from the memories in force.

        Args:
            max_tokens: At most so many tokens; what matters for every answer comes first.

        Returns:
            The lines, each with the memory that proves it, and as `text` a block for a model's input, to be put there
            as data. To correct or forget a line, correct or forget its memory.

        Raises:
            InvalidInput: An argument cannot be used.
            StoreFailed: The store does not answer.
        """

    @verb
    async def retrieve(
        self, query: str, kinds: Sequence[Kind | str] | None = None, *, top_k: int = 10
    ) -> KindRetrieval:
        """Find the best results across the seven kinds, those of the task and the session included.

        Args:
            query: The question or search text.
            kinds: Only these kinds; None for all.
            top_k: At most so many results (1 to 100).

        Returns:
            The results, best first. A kind that failed is named in `errors`.

        Raises:
            InvalidInput: An argument cannot be used.
        """
        return await self._kinds.retrieve(query, kinds, top_k=top_k)

    @engine_verb
    async def get(self, memory_id: str, *, as_of: datetime | None = None, known_at: datetime | None = None) -> Memory:
        """Return one memory.

        Args:
            memory_id: The memory.
            as_of: Not found unless it was true at this time.
            known_at: The version that was stored at this time.

        Returns:
            The memory in that version, else in its present one.

        Raises:
            MemoryNotFound: There is none, not in this user's scopes, or it awaits review.
        """

    @engine_verb
    async def list(
        self,
        *,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> Sequence[Memory]:
        """Return active memories, newest first.

        Args:
            kinds: Only memories of these kinds.
            categories: Only memories of these categories.
            keys: Only memories under these keys.
            where: Only memories whose `data` meets this filter: values, and operators such as `$gte`.
            happened_from: Only events from this time on.
            happened_to: Only events before this time.
            as_of: Statements that were true at this time.
            known_at: Memories as they were stored at this time.
            limit: At most so many.
            before: The memory_id that ended the previous page.

        Returns:
            One page of memories.

        Raises:
            InvalidInput: An argument cannot be used.
        """

    @engine_verb
    async def count(
        self,
        *,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> int:
        """Return how many active memories meet a filter.

        Args:
            kinds: Only memories of these kinds.
            categories: Only memories of these categories.
            keys: Only memories under these keys.
            where: Only memories whose `data` meets this filter: values, and operators such as `$gte`.
            happened_from: Only events from this time on.
            happened_to: Only events before this time.
            as_of: Statements that were true at this time.
            known_at: Memories as they were stored at this time.

        Returns:
            The number of memories.

        Raises:
            InvalidInput: An argument cannot be used.
        """

    @engine_verb
    async def history(
        self, memory_id: str, *, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> Sequence[Memory]:
        """Return all versions of a memory, or all values of a key.

        Args:
            memory_id: The memory, or a key.
            as_of: Only versions that were true at this time.
            known_at: Only versions that were stored by this time.

        Returns:
            The versions, oldest first.

        Raises:
            MemoryNotFound: There is none, not in this user's scopes, or it awaits review.
        """

    @engine_verb
    async def rate(self, memory_id: str, verdict: str) -> Rating | None:
        """Say that a memory that was found or shown is useful or wrong to this user.

        Args:
            memory_id: The memory.
            verdict: `useful` or `wrong`, in place of what was said before; `none` withdraws it.

        Returns:
            The rating, None if it was withdrawn. It moves the memory by a fixed amount in this user's searches and
            contexts alone; the memory itself stays as it is. One that is corrected later is no longer wrong.

        Raises:
            MemoryNotFound: There is none, not in this user's scopes, or it awaits review.
            InvalidInput: The verdict is another word.
        """

    @engine_verb
    async def ratings(self) -> Sequence[RatedMemory]:
        """Return what this user said of memories, with the effect that it has.

        Returns:
            The newest 200, newest first; `shift` is added to the score of the memory, 0 if the rating no longer counts.

        Raises:
            StoreFailed: The store does not answer.
        """

    @engine_verb
    async def lineage(self, memory_id: str) -> Lineage:
        """Return what a memory replaced and what replaced it.

        Args:
            memory_id: The memory.

        Returns:
            Its predecessors, newest first, and its successors, in order.

        Raises:
            MemoryNotFound: There is none, or not in this user's scopes.
        """

    @engine_verb
    async def uses(
        self, memory_id: str, *, before: int | None = None, limit: int = 50
    ) -> tuple[Sequence[Use], int | None]:
        """Return what was done with a memory: written, injected, cited, revealed.

        Args:
            memory_id: The memory.
            before: The start of the page, as the previous one returned it.
            limit: At most so many.

        Returns:
            The uses, newest first, and the start of the next page or None.

        Raises:
            MemoryNotFound: There is none, or not in this user's scopes.
        """

    # -- upkeep -------------------------------------------------------------------------------------------------------

    @engine_verb
    async def maintain(self, *, whole: bool = False, dry_run: bool = False) -> MaintenanceReport:
        """Do every job of upkeep: background capture, expiry and purge, copies, the file.

        Args:
            whole: Rewrite the whole file.
            dry_run: Change nothing and report what would change.

        Returns:
            What each job did.

        Raises:
            StoreFailed: A job could not finish; another call continues.
        """

    @engine_verb
    async def expire(self, *, rules: ExpiryRules | None = None, dry_run: bool = False) -> ExpiryReport:
        """Mark expired memories, and purge those marked a grace period ago.

        Args:
            rules: The periods; None for the defaults.
            dry_run: Change nothing and report what would change.

        Returns:
            How many were marked and purged.

        Raises:
            StoreFailed: Another call continues.
        """

    @engine_verb
    async def consolidate(
        self, *, rules: ConsolidationRules | None = None, dry_run: bool = False
    ) -> ConsolidationReport:
        """Consolidate memories into summaries, profiles and reflections.

        Args:
            rules: What is consolidated; without them no model is called.
            dry_run: Change nothing and report what would change.

        Returns:
            What was written.

        Raises:
            StoreFailed, EmbedderFailed: What was written before remains.
        """

    @engine_verb
    async def reread(
        self,
        *,
        since: datetime | None = None,
        limit: int | None = None,
        progress: str | Path | None = None,
        dry_run: bool = False,
    ) -> RereadReport:
        """Read the recorded messages again with today's reader, and bring memory to what it would hold.

        Args:
            since: Only messages from this time on.
            limit: At most so many messages.
            progress: A file in which an interrupted run continues.
            dry_run: Change nothing and report the differences.

        Returns:
            The differences, and the `run_id` by which `undo_reread` takes them back.

        Raises:
            InvalidInput: An argument cannot be used.
            StoreFailed: Another call continues.
        """

    @engine_verb
    async def undo_reread(self, run_id: str) -> int:
        """Take back what a `reread` changed.

        Args:
            run_id: The run, as its report tells it.

        Returns:
            The number of memories that are as before.

        Raises:
            InvalidInput: There was no such run (`reread:unknown`).
        """

    @engine_verb
    async def undo_import(self, import_id: str) -> ImportUndone:
        """Take back an import: what it made is forgotten, and what it changed or ended is as it was before.

        Args:
            import_id: The import, as its summary tells it.

        Returns:
            The memories that are forgotten, those that are as before, and those that stay because they have changed
            since.

        Raises:
            InvalidInput: None of the user's last imports has this id (`import:unknown`).
        """

    @engine_verb
    async def doctor(self, *, limit: int = 2000) -> Health:
        """Find duplicates, contradictions, junk, unused memories and memories without a vector. Changes nothing.

        Args:
            limit: Look at so many of the newest active memories of the tenant.

        Returns:
            What needs a person.

        Raises:
            StoreFailed: The store does not answer.
        """

    # -- governance ---------------------------------------------------------------------------------------------------

    @property
    def consent(self) -> ConsentBook[M]:
        """Consent of this user, key by key."""
        return ConsentBook[M](self.call_mode, self.engine, self.actor)

    @property
    def privacy(self) -> Privacy[M]:
        """Personal data stored about a user, and its erasure."""
        return Privacy[M](self.call_mode, self.engine, self.actor)

    @property
    def audit(self) -> AuditTrail[M]:
        """Audit log of the tenant's memories."""
        return AuditTrail[M](self.call_mode, self.engine, self.actor)

    def review(self, *, whole_tenant: bool = False) -> ReviewQueue[M]:
        """Return the memories that await review in this user's scopes; `whole_tenant` includes all users and is the
        program's responsibility.
        """
        return ReviewQueue[M](self.call_mode, self.engine, self.actor, whole_tenant=whole_tenant)

    async def _changes(self, after: int | None) -> AsyncIterator[AuditEvent]:
        """Yield each change of the user's own memories as it happens, after sequence `after` (default: from now on)."""
        streamed = getattr(self.engine, "changes", None)  # a service has a stream
        if streamed is not None:
            async for event in streamed(after=after):
                yield event
            return
        scopes = self.engine.reach(self.actor)
        if after is None:
            last = await self.engine.audit(actor=self.actor, before=AUDIT_END, limit=1)
            after = last[-1].sequence if last else 0
        while True:
            events = await self.engine.audit(actor=self.actor, after=after, limit=200)
            for event in events:
                after = event.sequence
                if event.memory_id is not None and event.scope in scopes:
                    yield event
            # A full page is followed by the next one without delay; only an empty one means that it has caught up.
            if not events:
                await asyncio.sleep(POLL_SECONDS)
