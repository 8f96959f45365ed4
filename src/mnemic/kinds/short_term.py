"""Short-term memory: the conversation in progress. It may be lost, and it expires after an hour without messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from mnemic.errors import InvalidInput, NotSupported
from mnemic.inject.token_count import estimated_tokens
from mnemic.kinds.view import KindView
from mnemic.maintenance.subject_data import leave
from mnemic.maintenance.summarise import SUMMARY, shorten_messages
from mnemic.ports import SessionStore
from mnemic.runtime.sync_facade import M, verb
from mnemic.types import ROLES, Kind, Level, Message, Origin, Scope
from mnemic.types.memory_kinds import CATALOG
from mnemic.types.scope import new_id
from mnemic.write.limiter import is_erased_in, subject_token

MAX_LINEAGE = 1_000
_OVERHEAD_TOKENS = 4
"""Role and separators around one message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """Result of a compaction: the number of messages that were folded into `summary` (None: nothing had to be), the
    estimated tokens of the session before and after, by what, and why a model that was asked did not do it.
    """

    summary: Message | None = field(default=None, repr=False)
    folded: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    by: Literal["model", "extract"] | None = None
    degraded: str | None = None


def tokens_of(messages: Sequence[Message]) -> int:
    """About how many tokens the messages cost in a prompt."""
    return sum(estimated_tokens(message.content) + _OVERHEAD_TOKENS for message in messages)


def split(messages: Sequence[Message], *, max_tokens: int, keep: int) -> int:
    """Return the number of oldest messages that must go so that the rest costs at most `max_tokens`; the newest `keep`
    never.
    """
    left, cut = max_tokens, len(messages)
    for place in range(len(messages) - 1, -1, -1):
        left -= tokens_of(messages[place : place + 1])
        if left < 0 and len(messages) - place > keep:
            break
        cut = place
    return cut


def lineage(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return the messages that a summary of `messages` comes from, through summaries before it; the newest 1,000."""
    names = [name for one in messages for name in (one.derived_from or ((one.message_id,) if one.message_id else ()))]
    return tuple(names[-MAX_LINEAGE:])


_CHANNELS = {"user": Origin.USER_STATED, "assistant": Origin.AGENT_INFERRED, "tool": Origin.TOOL_OUTPUT}
KEEP = 200
MAX_TAIL = 200
ATTEMPTS = 3


class ShortTermMemory(KindView[M]):
    """The messages of the actor's session, at most 200."""

    @verb
    async def append(
        self, role: str, content: str, *, speaker: str | None = None, origin: Origin | None = None
    ) -> Message:
        """Add a message and return it as it is kept: redacted, its speaker too. The oldest beyond the limit fall out,
        and the session's hour starts again.

        Raises InvalidInput (`invalid_input:role`, `invalid_input:content:empty`).
        """
        if role not in ROLES:
            raise InvalidInput("role", hint=f"one of {', '.join(sorted(ROLES))}")
        if not isinstance(content, str) or not content.strip():
            raise InvalidInput("content:empty")
        now = self._engine.clock.now()
        message = Message(
            role=role,
            content=await self._engine.redact_text(content, actor=self._actor),
            message_id=new_id(now),
            session=self._actor.session,
            speaker=None if speaker is None else await self._engine.redact_text(speaker, actor=self._actor),
            sent_at=now,
            origin=origin or _CHANNELS[role],
            author=self._actor.user,
        )
        await self._sessions.append(self._scope, message, ttl=self._ttl, keep=KEEP)
        store, tenant = self._engine.store, self._actor.tenant
        # A session store knows no erasure: one that began meanwhile may have looked before the message was there.
        if await is_erased_in(store, tenant, await subject_token(store, tenant, self._actor.user), read_at=now):
            await leave(self._sessions, self._scope, self._actor.user)
        return message

    @verb
    async def tail(self, limit: int = 10) -> Sequence[Message]:
        """Return the newest `limit` (0 to 200) messages, oldest of them first."""
        if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit <= MAX_TAIL:
            raise InvalidInput("limit", hint=f"0 to {MAX_TAIL}")
        return await self._sessions.tail(self._scope, limit=limit)

    @verb
    async def compact(self, *, max_tokens: int = 2_000, keep: int = 6) -> Compaction:
        """Fold the oldest messages into one summary if all of them exceed `max_tokens` (estimated) in a prompt; the
        summary gets a quarter of that. The newest `keep` messages are never folded, whatever their length.

        A model writes the summary if there is one, else sentences are selected; see `mnemic.maintenance.summarise`.
        Messages that arrive meanwhile are untouched. Raises InvalidInput (`invalid_input:max_tokens`, `:keep`).
        """
        for name, number, least in (("max_tokens", max_tokens, 100), ("keep", keep, 1)):
            if isinstance(number, bool) or not isinstance(number, int) or number < least:
                raise InvalidInput(name, hint=f"a whole number from {least} up")
        for _ in range(ATTEMPTS):
            done = await self._compact(max_tokens, keep)
            if done is not None:
                return done
        return Compaction(degraded="busy")

    async def _compact(self, max_tokens: int, keep: int) -> Compaction | None:
        """One attempt; None if the session's oldest messages changed meanwhile."""
        messages = await self._sessions.tail(self._scope, limit=MAX_TAIL)
        before = tokens_of(messages)
        cut = split(messages, max_tokens=max_tokens - max_tokens // 4, keep=keep) if before > max_tokens else 0
        older = messages[:cut]
        if not older or [message.role for message in older] == [SUMMARY]:
            return Compaction(tokens_before=before, tokens_after=before)
        clock = self._engine.clock
        short = await shorten_messages(
            older,
            max_tokens=max_tokens // 4,
            completer=self._engine.completer,
            deadline=self._engine.rules.budget.deadline(clock.monotonic),
        )
        summary = Message(
            role=SUMMARY,
            content="\n".join(short.lines),
            message_id=new_id(clock.now()),
            session=self._actor.session,
            sent_at=clock.now(),
            origin=Origin.AGENT_INFERRED,
            derived_from=lineage(older),
            author=self._actor.user if {one.author for one in older} == {self._actor.user} else None,
        )
        if not await self._sessions.fold(self._scope, older, summary):
            return None
        after = tokens_of([summary, *messages[cut:]])
        return Compaction(
            summary=summary,
            folded=len(older),
            tokens_before=before,
            tokens_after=after,
            by=short.by,
            degraded=short.degraded,
        )

    @verb
    async def clear(self) -> None:
        """End the session."""
        await self._sessions.clear(self._scope)

    @property
    def _sessions(self) -> SessionStore:
        if self._engine.sessions is None:
            raise NotSupported("short_term", hint="this engine was built without a session store")
        return self._engine.sessions

    @property
    def _scope(self) -> Scope:
        return self._actor.scope(Level.SESSION)

    @property
    def _ttl(self) -> timedelta:
        retention = CATALOG[Kind.SHORT_TERM].retention
        assert retention is not None
        return retention
