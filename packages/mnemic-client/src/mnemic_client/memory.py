"""Verbs of a memory on a service. Each corresponds to the library's verb of the same name; see there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from types import SimpleNamespace
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from mnemic.engine.message_forms import each_message, in_places, messages_of
from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.facade.verbs import MemoryVerbs
from mnemic.maintenance.undo import UndoReceipt
from mnemic.retrieve.export import plain
from mnemic.runtime.sync_facade import CallMode, M, verb
from mnemic.types import (
    Candidate,
    ConversationReceipts,
    ForgetResult,
    Kind,
    MemoryRequest,
    Message,
    Origin,
    RequestOutcome,
    WriteReceipt,
    from_json,
)
from mnemic.types.memory_kinds import CATALOG
from mnemic.types.trace import RunReport
from mnemic_client.conversation import RemoteConversation
from mnemic_client.failures import failure_of
from mnemic_client.governance import carried_out
from mnemic_client.kinds import RemoteEntities, RemoteEpisodes, RemotePersona
from mnemic_client.read_verbs import RemoteReading
from mnemic_client.remote import events
from mnemic_client.request_bodies import (
    ImportState,
    body_of,
    candidate_body,
    import_state,
    iso,
    lower,
    memory_address,
    message_body,
    names,
    narrowing_fields,
    receipts,
    ttl_text,
)
from mnemic_client.response_values import receipt_of, report_of
from mnemic_client.structured import RemoteData
from mnemic_client.verb_parameters import like

K = TypeVar("K")

PART = 100
"""Memories that an import sends at once."""
TURNS = 12
"""Messages that are captured at once: as many as a language model reads in one call."""


class MemoryClient(RemoteReading[M]):
    """The memory of the credential's user. Errors are the library's, and ServiceRefused for what the
    service itself refuses (`service_refused:unauthenticated`, `:role_required:...`, `:rate_limited`, `:unreachable`).
    """

    # -- writing ------------------------------------------------------------------------------------------------------

    @like(MemoryVerbs.add)
    async def add(self, given: SimpleNamespace) -> WriteReceipt:
        """Remember one thing; of a ready `Candidate` the other arguments are ignored."""
        candidate = given.content if isinstance(given.content, Candidate) else None
        headers = {"Idempotency-Key": given.idempotency_key}
        if candidate is None:
            body = body_of(given, without=("idempotency_key",))
            body |= {
                "kind": str(given.kind),
                "level": str(given.level or CATALOG[Kind(given.kind)].level),
                "data": dict(given.data or {}),
                "ttl": ttl_text(given.ttl),
            }
        else:
            body = candidate_body(candidate)
        return receipt_of(await self._remote.call("POST", "/v1/memories", body, headers=headers))

    @like(MemoryVerbs.add_many)
    async def add_many(self, given: SimpleNamespace) -> Sequence[WriteReceipt]:
        """Remember many things; one receipt each, in order."""
        body = {
            "memories": [candidate_body(candidate) for candidate in given.candidates],
            "idempotency_keys": None if given.idempotency_keys is None else [*given.idempotency_keys],
        }
        return receipts(await self._remote.call("POST", "/v1/memories/batch", body))

    @like(MemoryVerbs.record)
    async def record(self, given: SimpleNamespace) -> Sequence[WriteReceipt]:
        """Keep the messages of a conversation themselves, as episodic memories."""
        body = {"messages": [message_body(message) for message in messages_of(given.messages, session=None)]}
        return receipts(await self._remote.call("POST", "/v1/messages", body))

    @like(MemoryVerbs.capture)
    async def capture(self, given: SimpleNamespace) -> RunReport:
        """Remember the lasting facts in the user's message."""
        message = given.message
        if not isinstance(message, str | Message):
            raise InvalidInput("message", hint="a text or a Message; `remember` takes dictionaries and lists")
        said = message if isinstance(message, Message) else Message(role="user", content=message)
        headers = {"Idempotency-Key": given.idempotency_key}
        body = {"message": message_body(said)}
        return report_of(await self._remote.call("POST", "/v1/capture", body, headers=headers))

    @like(MemoryVerbs.capture_many)
    async def capture_many(self, given: SimpleNamespace) -> Sequence[RunReport | None]:
        """Remember the lasting facts in several messages: one report for each of the user's messages, None for the
        others. Sent in parts, so that no request takes as long as all of them.
        """
        found = each_message(given.messages, session=None)
        keys = [None] * len(found) if given.idempotency_keys is None else [*given.idempotency_keys]
        if len(keys) != len(found):
            raise InvalidInput("idempotency_keys", hint="one for each message, or None")
        kept = [(one, key) for one, key in zip(found, keys, strict=True) if one is not None]
        reports: list[RunReport | None] = []
        for start in range(0, len(kept), TURNS):
            some = [message_body(one) for one, _ in kept[start : start + TURNS]]
            part = [key for _, key in kept[start : start + TURNS]]
            body = {"messages": some, "idempotency_keys": part}
            answer = await self._remote.call("POST", "/v1/capture/batch", body, repeatable=None not in part)
            reports += [None if one is None else report_of(one) for one in answer["reports"]]
        return in_places(found, reports)

    @like(MemoryVerbs.remember)
    async def remember(self, given: SimpleNamespace) -> ConversationReceipts:
        """Remember a conversation as a program has it; see `MemoryEngine.remember`. Sent in parts."""
        said = [message_body(one) for one in messages_of(given.messages, session=None)]
        receipts_so_far: list[WriteReceipt] = []
        asked: list[MemoryRequest] = []
        for start in range(0, len(said), TURNS):
            about = None if given.metadata is None else dict(given.metadata)
            body = {"messages": said[start : start + TURNS], "infer": given.infer, "metadata": about}
            answer = await self._remote.call("POST", "/v1/remember", body)
            receipts_so_far += receipts(answer)
            asked += map(MemoryRequest.from_dict, answer.get("asked", ()))
        return ConversationReceipts(receipts_so_far, asked)

    @like(MemoryVerbs.update)
    async def update(self, given: SimpleNamespace) -> WriteReceipt:
        """Correct a memory in its next version; omitted fields stay unchanged. Raises VersionConflict,
        MemoryNotFound.
        """
        return await self.corrected(**vars(given))

    async def corrected(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        data: Mapping[str, Any] | None = None,
        ttl: timedelta | str | None = None,
        expected_version: int | None = None,
        origin: Origin | None = None,
        **changed: Any,
    ) -> WriteReceipt:
        """Return the same, awaited, with words that came through another channel than the user's own."""
        headers = {"If-Match": None if expected_version is None else f'"{expected_version}"'}
        fields = {name: iso(one, name) if isinstance(one, datetime) else one for name, one in changed.items()}
        body = {"content": content, "data": None if data is None else plain(data), "ttl": ttl_text(ttl)}
        body |= fields | {"origin": lower(origin)}
        return receipt_of(await self._remote.call("PATCH", memory_address(memory_id), body, headers=headers))

    @like(MemoryVerbs.forget)
    async def forget(self, given: SimpleNamespace) -> None:
        """Delete a memory with all its versions. Raises MemoryNotFound."""
        await self._remote.call("DELETE", memory_address(given.memory_id))

    @like(MemoryVerbs.forget_matching)
    async def forget_matching(self, given: SimpleNamespace) -> ForgetResult:
        """Delete the active memories that meet a filter, the newest `limit` of them; `dry_run` only says which."""
        body: dict[str, Any] = {
            name: None if (one := getattr(given, name)) is None else list(one) for name in ("categories", "keys")
        }
        body |= {"kinds": names(given.kinds), "where": None if given.where is None else plain(given.where)}
        body |= {"limit": given.limit, "dry_run": given.dry_run}
        times = {"happened_from": given.happened_from, "happened_to": given.happened_to}
        body |= {name: iso(moment, "window") for name, moment in times.items() if moment is not None}
        answer = await self._remote.call("POST", "/v1/memories/forget", body)
        return ForgetResult(**answer | {name: tuple(answer[name]) for name in ("memory_ids", "refused")})

    @like(MemoryVerbs.carry_out)
    async def carry_out(self, given: SimpleNamespace) -> RequestOutcome:
        """Carry out a message's request about memory, once its user has confirmed it. Returns once an erasure has
        finished.
        """
        answer = await self._remote.call("POST", "/v1/memory-requests", given.request.to_dict())
        return await carried_out(self._remote, answer)

    @like(MemoryVerbs.undo)
    async def undo(self, given: SimpleNamespace) -> UndoReceipt:
        """Undo a merge, a new value of a key, or an approval."""
        return from_json(UndoReceipt, await self._remote.call("POST", f"{memory_address(given.memory_id)}/undo"))

    @like(MemoryVerbs.rollback)
    async def rollback(self, given: SimpleNamespace) -> WriteReceipt:
        """Restore the content that a memory had in `version`."""
        return receipt_of(
            await self._remote.call("POST", f"{memory_address(given.memory_id)}/rollback", {"version": given.version})
        )

    @verb
    async def import_all(
        self, import_id: str, memories: Iterable[Mapping[str, Any]], *, part: int = PART
    ) -> ImportState:
        """Import memories (in the form that `add` takes: `content`, `key`, ...), `part` (at most 500) at a time. After
        an interruption, another call with the same memories continues. Raises the failures of the service's store or
        embedder (StoreFailed, EmbedderFailed): the memories from there on are not imported yet.
        """
        place = f"/v1/imports/{quote(import_id, safe='')}"
        try:
            state = import_state(await self._remote.call("GET", place))
        except MemoryNotFound:
            state = ImportState(import_id=import_id, taken=0, outcomes={})
        source = islice(iter(memories), state.taken, None)
        while some := list(islice(source, part)):
            body = {"at": state.taken, "memories": [dict(one) for one in some]}
            answer = await self._remote.call("POST", place, body, repeatable=True)
            state, before = import_state(answer), state.taken
            if state.taken < before + len(some):
                raise failure_of(answer["receipts"][state.taken - before], None)
        return state

    @like(MemoryVerbs.run)
    async def run(self, given: SimpleNamespace) -> RunReport:
        """One memory-augmented turn."""
        said = message_body(given.message) if isinstance(given.message, Message) else given.message
        body = {"message": said, "goal": given.goal, "context": dict(given.context or {})}
        body |= narrowing_fields(given)
        headers = {"Idempotency-Key": given.idempotency_key}
        return report_of(await self._remote.call("POST", "/v1/runs", body, headers=headers))

    async def user(self) -> str | None:
        """Return the user of the credential; None for an application."""
        user: str | None = (await self._remote.call("GET", "/v1/whoami"))["user"]
        return user

    def kinds_on(
        self, ground: CallMode[K]
    ) -> tuple[RemotePersona[K], RemoteEpisodes[K], RemoteEntities[K], RemoteData[K], RemoteConversation[K]]:
        """Return the kinds of this memory, called as `ground` says."""
        remote = self._remote
        views = (RemotePersona(ground, remote), RemoteEpisodes(ground, remote), RemoteEntities(ground, remote))
        return (*views, RemoteData(ground, remote), RemoteConversation(ground, remote))

    # -- as it comes --------------------------------------------------------------------------------------------------

    def exported(self, *, archive: bool = False) -> AsyncIterator[str]:
        """Yield the user's own memories, as JSON lines; as an `archive` with every version and the consents."""
        return self._remote.lines("GET", f"/v1/export?archive={str(archive).lower()}")

    def exported_subject(self, subject: str | None, *, form: str, values: bool) -> AsyncIterator[str]:
        """Yield all data about the user, or for an operator about `subject`, as the chunks of one document."""
        asked = {"subject": subject, "form": form, "values": str(values).lower()}
        wanted = urlencode({name: value for name, value in asked.items() if value is not None})
        return self._remote.chunks("GET", f"/v1/export/subject?{wanted}")

    def changes(self, *, after: str | None = None) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield each change of the user's memories with its id, after `after` (default: from now on), until the service
        stops. Never contains content.
        """
        return self._changes(after)

    async def _changes(self, after: str | None) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        headers = {} if after is None else {"Last-Event-ID": after}
        async for name, data, event_id in events(self._remote.lines("GET", "/v1/changes", headers=headers)):
            if name == "change" and event_id is not None:
                yield event_id, data
