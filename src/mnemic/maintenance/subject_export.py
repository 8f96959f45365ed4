"""Export of all data about one subject, section by section, and nothing about others.

A section is read page by page: only names of conversations and identifiers stay in memory, of the subject's statements
in shared scopes and of memories merged there from the subject's and others' statements. Each entry is of the moment it
is read.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from mnemic.errors import NotSupported, RevealDenied
from mnemic.inject.injection_log import INJECTED, injected_in
from mnemic.maintenance.erase import made_of
from mnemic.maintenance.subject_data import PAGE, conversation, touched_elsewhere, written_elsewhere
from mnemic.policy.limits import MINUTE, Quota
from mnemic.ports import Clock, RecordStore, SessionStore
from mnemic.retrieve.export import as_dict, plain
from mnemic.types import Actor, AuditEvent, Kind, Level, Memory, Message, Scope, Status, Usage, checked_name
from mnemic.types.json_forms import to_json
from mnemic.types.scope import token_of
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.limiter import consent_prefix, tombstone
from mnemic.write.prepare import request_owner
from mnemic.write.ratings import ratings_in, ratings_mark
from mnemic.write.tokenisation import TokenVault, marker_of, vault_prefix
from mnemic.write.turn_log import as_dict as as_json
from mnemic.write.turn_log import turns_of

FORMAT = "mnemic-subject/1"
MESSAGES = 1000
"""Number of messages of an open conversation that are reported, the newest."""

Form = Literal["json", "html"]
Entries = AsyncIterator[dict[str, Any]]


@dataclass(slots=True, kw_only=True)
class SubjectExport:
    """All data stored about the owner of the scope `own`. With a `vault`, sealed values are decrypted."""

    store: RecordStore
    own: Scope
    token: str
    secret: bytes = field(repr=False)
    at: datetime
    sessions: SessionStore | None = None
    vault: TokenVault | None = None
    turn_vault: TokenVault | None = None
    quotas: tuple[Quota, ...] = ()
    _conversations: set[str] = field(default_factory=set)
    _touched: Mapping[str, Scope] | None = None
    _unsigned: set[str] = field(default_factory=set)
    _merged: set[str] = field(default_factory=set)
    _used: Mapping[Kind, Usage] | None = None

    def head(self) -> dict[str, Any]:
        """Return the subject of the file and its time."""
        return {
            "format": FORMAT,
            "generated_at": self.at.isoformat(),
            "tenant": self.own.tenant,
            "subject": self.own.owner,
            "subject_token": self.token,
        }

    def sections(self) -> Mapping[str, Entries]:
        """Return every section by name, in the order to read: some need the results of earlier ones."""
        return {
            "memories": self.memories(),
            "conversations": self.conversations(),
            "consents": self.consents(),
            "ratings": self.ratings(),
            "erasures": self.erasures(),
            "sealed_values": self.sealed_values(),
            "usage": self.usage(),
            "quotas": self.limits(),
            "requests": self.requests(),
            "injections": self.injections(),
            "turns": self.turns(),
            "merged_elsewhere": self.merged_elsewhere(),
            "audit": self.audit(),
        }

    # -- memories -----------------------------------------------------------------------------------------------------

    async def memories(self, statuses: Collection[Status] = tuple(Status)) -> Entries:
        """Yield the subject's memories, in the order they were learnt, with the versions before; elsewhere than in
        their own scope those versions alone that the subject wrote.
        """
        after = None
        while page := await self._memories(statuses, scope=self.own, after=after):
            after = page[-1].memory_id
            for memory in page:
                yield await self._as_json(memory)
        if self._touched is None:
            self._touched = await touched_elsewhere(self.store, self.own)
        async for memory in written_elsewhere(self.store, self.own, self._touched):
            if memory.author is None:
                self._unsigned.add(memory.memory_id)
            if memory.status in statuses:
                yield await self._as_json(memory)

    async def _memories(self, statuses: Collection[Status], **asked: Any) -> list[Memory]:
        return await self.store.scan(self.own.tenant, statuses=statuses, limit=PAGE, **asked)

    async def _as_json(self, memory: Memory) -> dict[str, Any]:
        versions = [memory]
        if memory.version > 1:
            versions = await self.store.versions(memory.memory_id, scopes=[memory.scope])
        if memory.scope != self.own:
            versions = [one for one in versions if one.author in (self.own.owner, None)]
        self._conversations |= {one.source.session for one in versions if one.source.session}
        *before, last = map(self._version, versions)
        return last | {
            "status": memory.status.value,
            "latest_version": memory.version,
            "has_vector": memory.vector is not None,
            "earlier": before,
        }

    def _version(self, memory: Memory) -> dict[str, Any]:
        by = None if memory.author is None else self._whose(memory.author)
        return as_dict(memory) | {"agent": memory.agent, "proposed_by": by}

    def _whose(self, user: str) -> str:
        return "subject" if user == self.own.owner else "another"

    async def merged_elsewhere(self) -> Entries:
        """List the memories of shared scopes that were made from words of the subject and of others: by name alone,
        because they are not the subject's to read here. To be read after `injections`.
        """
        for batch in _batches(self._merged):
            for memory in await self._memories(tuple(Status), memory_ids=batch):
                sources = await self._memories(tuple(Status), memory_ids=memory.supersedes)
                theirs = await self._mine(memory.supersedes) | self._merged
                if made_of(memory, {one.memory_id: one for one in sources if one.memory_id in theirs}):
                    yield {
                        "memory_id": memory.memory_id,
                        "level": memory.scope.level.value,
                        "kind": memory.kind.value,
                        "status": memory.status.value,
                        "made_of": [each for each in memory.supersedes if each in theirs],
                    }

    # -- everything that is no memory ---------------------------------------------------------------------------------

    async def conversations(self) -> Entries:
        """Yield the open conversations that the subject speaks in or their memories came from. One that others write
        in as well is named, not shown. To be read after `memories`.
        """
        if self.sessions is None:
            return
        spoken = {one.owner for one in await self.sessions.spoken_in(self.own.tenant, self.own.owner)}
        for session in sorted(self._conversations | spoken):
            place = conversation(self.own.tenant, session)
            messages = [] if place is None else await self.sessions.tail(place, limit=MESSAGES)
            if messages and place is not None:
                stored = await self._memories(tuple(Status), scope=place)
                authors = {one.author for one in messages} | {one.author for one in stored}
                others = authors - {self.own.owner, None}
                shown = [] if others else [_message(one) for one in messages]
                yield {"session": session, "shared": bool(others), "messages": shown}

    async def consents(self) -> Entries:
        """Yield the subject's decisions, by key."""
        prefix = consent_prefix(self.token)
        for name, value in (await self.store.marks(self.own.tenant, prefix)).items():
            yield {"key": name.removeprefix(prefix), **json.loads(value)}

    async def ratings(self) -> Entries:
        """Yield what the subject said of memories, newest last."""
        name = ratings_mark(self.token)
        for rating in ratings_in(await self.store.marks(self.own.tenant, name), self.token).values():
            yield {**to_json(rating)}

    async def erasures(self) -> Entries:
        """Yield the last erasure of the subject, had there been one; `block`: nothing may be learnt of them again."""
        for value in (await self.store.marks(self.own.tenant, tombstone(self.token))).values():
            yield json.loads(value)

    async def sealed_values(self) -> Entries:
        """Yield the markers of sealed values of the subject; the values themselves only with a vault."""
        for name, sealed in (await self.store.marks(self.own.tenant, vault_prefix(self.secret, self.own))).items():
            marker = marker_of(name)
            entry = {"marker": marker, "entity": marker[1:].partition("#")[0]}
            if self.vault is not None:
                entry["value"] = await asyncio.to_thread(self.vault.open_value, self.own, name, sealed)
            yield entry

    async def usage(self) -> Entries:
        """Return the usage at the subject's own level, by kind; `recent` is of the last minute."""
        for kind, usage in sorted((await self._usage()).items()):
            yield {"kind": kind.value, **usage._asdict()}

    async def limits(self) -> Entries:
        """Return how far the subject's own quotas are used up, 1 being all of it."""
        usage = await self._usage()
        for quota in self.quotas:
            if quota.per == "user":
                for name, part in quota.nearest(usage).items():
                    yield {"limit": name, "used": round(part, 6), "warns_from": quota.soft}

    async def _usage(self) -> Mapping[Kind, Usage]:
        if self._used is None:
            self._used = await self.store.usage(self.own.tenant, since=self.at - MINUTE, scope=self.own)
        return self._used

    async def requests(self) -> Entries:
        """Yield the stored receipts of the subject's requests, and of requests about their memories, which make
        repeated requests harmless. The idempotency keys of others are left out.
        """
        after = None
        while page := await self.store.requests(self.own.tenant, after=after, limit=PAGE):
            after = page[-1].idempotency_key
            receipts = {one: json.loads(one.receipt) for one in page}
            mine = await self._mine({said["memory_id"] for said in receipts.values() if said.get("memory_id")})
            for request, said in receipts.items():
                own = request_owner(request.idempotency_key) == self.own.owner
                if own or said.get("memory_id") in mine:
                    yield {
                        "idempotency_key": request.idempotency_key if own else None,
                        "at": request.at.isoformat(),
                        "receipt": said,
                    }

    # -- the audit ----------------------------------------------------------------------------------------------------

    async def injections(self) -> Entries:
        """List the memories, and in which version, that were put before a model, and in which run. Of a run that was
        not the subject's, only those that are theirs.
        """
        async for event, mine in self._events():
            self._follow(event, mine)
            if event.action != INJECTED:
                continue
            whose = self._whose(event.actor)
            shown = [list(pair) for pair in injected_in(event) if whose == "subject" or pair[0] in mine]
            if shown or whose == "subject":
                yield {
                    "sequence": event.sequence,
                    "at": event.at.isoformat(),
                    "run_id": event.detail.get("run_id"),
                    "run_of": whose,
                    "memories": shown,
                }

    async def turns(self) -> Entries:
        """Yield the stored texts of the subject's turns, which are encrypted as memories are."""
        actor = Actor(tenant=self.own.tenant, user=self.own.owner)
        for turn in (await turns_of(self.store, self.turn_vault, actor)).values():
            yield as_json(turn)

    async def audit(self) -> Entries:
        """Yield the other audit lines that concern the subject: changes of their memories, their decisions, actions
        about them. Other people involved are not named.
        """
        async for event, mine in self._events():
            if event.action != INJECTED and self._concerns(event, mine):
                yield {
                    "sequence": event.sequence,
                    "at": event.at.isoformat(),
                    "action": event.action,
                    "by": self._whose(event.actor),
                    "level": event.scope.level.value if event.scope else None,
                    "memory_id": event.memory_id,
                    "version": event.version,
                    "detail": self._detail(event),
                }

    def _detail(self, event: AuditEvent) -> dict[str, Any]:
        detail: dict[str, Any] = plain(event.detail)
        if detail.get("subject") not in (None, self.token):
            del detail["subject"]
        return detail

    async def _events(self) -> AsyncIterator[tuple[AuditEvent, set[str]]]:
        """Return every line of the tenant's audit log, and which of the memories it names are the subject's."""
        line = 0
        while events := await self.store.audit(self.own.tenant, after=line):
            line = events[-1].sequence
            mine = await self._mine({each for event in events for each in _named_memories(event)})
            for event in events:
                yield event, mine

    def _concerns(self, event: AuditEvent, mine: Collection[str]) -> bool:
        return (
            event.actor == self.own.owner
            or event.scope == self.own
            or event.memory_id in mine
            or event.detail.get("subject") == self.token
        )

    def _follow(self, event: AuditEvent, mine: Collection[str]) -> None:
        """Note the successor of a memory of the subject in a shared scope, and of memories derived from one."""
        by = event.detail.get("by")
        theirs = event.memory_id in mine or event.memory_id in self._merged
        if theirs and event.scope != self.own and isinstance(by, str) and by not in mine:
            self._merged.add(by)

    async def _mine(self, memory_ids: Collection[str]) -> set[str]:
        """Those of the memories that are the subject's."""
        found = self._unsigned & set(memory_ids)
        for batch in _batches(memory_ids):
            found |= (await self.store.get_many(batch, scopes=[self.own])).keys()
            written = await self._memories(tuple(Status), author=self.own.owner, memory_ids=batch)
            found |= {memory.memory_id for memory in written}
        return found


async def open_export(
    store: RecordStore,
    clock: Clock,
    subject: str,
    *,
    actor: Actor,
    sessions: SessionStore | None = None,
    vault: TokenVault | None = None,
    values: bool = False,
    quotas: tuple[Quota, ...] = (),
) -> SubjectExport:
    """Return the data stored about the user `subject` of the actor's tenant. The audit log records the request before
    anything is shown. `values` decrypts sealed values, for the subject only.

    Raises InvalidInput (`subject`), RevealDenied (`reveal_denied:subject`) for anybody else, NotSupported (`reveal`)
    without a vault, StoreFailed.
    """
    own = Scope(tenant=actor.tenant, level=Level.USER, owner=checked_name(subject, "subject"))
    if values and actor.user != subject:
        raise RevealDenied("subject", hint="sealed values are shown to the subject alone")
    if values and vault is None:
        raise NotSupported("reveal", hint="nothing is sealed without a key file")
    secret = await store.secret(actor.tenant)
    holdings = SubjectExport(
        store=store,
        own=own,
        token=token_of(secret, subject),
        secret=secret,
        at=clock.now(),
        sessions=sessions,
        vault=vault if values else None,
        turn_vault=vault,
        quotas=quotas,
    )
    detail: dict[str, Any] = {"subject": holdings.token, "values": values, "agent": actor.agent}
    await apply(store, Mutation.line("exported", actor=actor, at=holdings.at, detail=detail))
    return holdings


async def json_chunks(holdings: SubjectExport) -> AsyncIterator[str]:
    """Yield the holdings as one JSON document, an entry a line; see docs/subject-export.md."""
    head = json.dumps(holdings.head(), indent=1)
    yield head.removesuffix("\n}")
    for name, entries in holdings.sections().items():
        yield f',\n "{name}": ['
        between = "\n  "
        async for entry in entries:
            yield between + _line(entry)
            between = ",\n  "
        yield "]" if between == "\n  " else "\n ]"
    yield "\n}\n"


def _line(entry: Mapping[str, Any]) -> str:
    text = json.dumps(entry, ensure_ascii=False, allow_nan=False)
    return text if text.isprintable() else json.dumps(entry)


def _message(message: Message) -> dict[str, Any]:
    return {
        "role": message.role,
        "content": message.content,
        "speaker": message.speaker,
        "sent_at": message.sent_at.isoformat() if message.sent_at else None,
        "origin": message.origin.value,
        "message_id": message.message_id,
        "derived_from": list(message.derived_from),
    }


def _named_memories(event: AuditEvent) -> set[str]:
    named = {event.memory_id} if event.memory_id else set()
    return named | {memory_id for memory_id, _ in injected_in(event)}


def _batches(memory_ids: Collection[str]) -> list[list[str]]:
    ordered = sorted(memory_ids)
    return [ordered[start : start + PAGE] for start in range(0, len(ordered), PAGE)]
