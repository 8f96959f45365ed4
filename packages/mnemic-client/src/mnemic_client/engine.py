"""A service in the place of an engine, so that one user's memory there has the verbs that it has in a file."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from types import MappingProxyType, SimpleNamespace, TracebackType
from typing import Any, NoReturn, Self, TypeVar, cast
from urllib.parse import quote, urlencode

from mnemic import requests
from mnemic.engine import MemoryEngine
from mnemic.engine.message_forms import each_message, in_places, messages_of, one_message
from mnemic.errors import InvalidInput, MemoryNotFound, NotSupported
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.kinds.retrieval import KindRetrieval
from mnemic.maintenance.consolidate import ConsolidationReport
from mnemic.maintenance.expiry_job import ExpiryReport
from mnemic.maintenance.health import Health
from mnemic.maintenance.import_undo import ImportUndone
from mnemic.maintenance.reports import MaintenanceReport
from mnemic.maintenance.reread import RereadReport
from mnemic.maintenance.undo import UndoReceipt
from mnemic.policy.expiry_rule import ttl_of
from mnemic.policy.key_rules import Policy
from mnemic.requests import Request, arguments_of
from mnemic.retrieve.export import from_dict, plain
from mnemic.runtime.clock import SystemClock
from mnemic.runtime.sync_facade import CallMode, M
from mnemic.types import (
    Actor,
    AuditEvent,
    Candidate,
    ConversationReceipts,
    ForgetResult,
    Kind,
    Memory,
    MemoryRequest,
    Message,
    Origin,
    RequestOutcome,
    Source,
    WriteReceipt,
    from_json,
)
from mnemic.types.memory_kinds import CATALOG, kind_of
from mnemic.types.trace import RunReport
from mnemic_client.conversation import RemoteConversation
from mnemic_client.failures import failure_of
from mnemic_client.governance import RemoteGovernance, carried_out
from mnemic_client.kinds import RemoteEntities, RemoteEpisodes, RemotePersona
from mnemic_client.remote import Remote, events
from mnemic_client.request_bodies import (
    ImportState,
    block_of,
    candidate_body,
    found_in,
    import_state,
    iso,
    lineage_of,
    lower,
    memories,
    memory_address,
    message_body,
    names,
    parameters_of,
    profile_of,
    rating_of,
    ratings_of,
    receipts,
    ttl_text,
    uses_of,
    versions_of,
)
from mnemic_client.response_values import kind_hit_of, receipt_of, report_of
from mnemic_client.structured import RemoteData
from mnemic_client.verb_parameters import like, verb_at

T = TypeVar("T")

PAGE = 200
"""Page size of a list of memories."""
PART = 100
"""Memories that an import sends at once."""
TURNS = 12
"""Messages that are captured at once: as many as a language model reads in one call."""


class _NotOffered:
    """A verb that a service does not offer, or a part of an engine that it has for itself, such as its store."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise NotSupported(f"{self._name}:remote", hint=_AT_THE_SERVICE)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotSupported(f"{self._name}:remote", hint=_AT_THE_SERVICE)


_AT_THE_SERVICE = "a service does not offer this: run it where the service has its store"


class RemoteEngine(RemoteGovernance):
    """Verbs of `MemoryEngine` for the one user of the credential. Verbs that a service does not offer raise
    NotSupported (`not_supported:<verb>:remote`); what the service itself refuses raises ServiceRefused
    (`service_refused:unauthenticated`, `:role_required:...`, `:rate_limited`, `:unreachable`).
    """

    sessions = completer = graph = None

    def __init__(self, remote: Remote, actor: Actor) -> None:
        super().__init__(remote)
        self._actor = actor
        self.clock = SystemClock()

    @classmethod
    def from_url(cls, url: str, actor: Actor, *, api_key: str | None, policy: Policy | None) -> Self:
        """Return the engine of the service at `url`. Raises InvalidInput (`policy`): its rules are those of the
        service.
        """
        if policy is not None:
            raise InvalidInput("policy", hint="a service has its own policy: PUT /v1/policy")
        return cls(Remote(url, api_key, timeout=30.0, attempts=3, transport=None, user=actor), actor)

    async def open(self) -> Self:
        """Check that the credential is the user's. Raises ServiceRefused, InvalidInput (`user_id`)."""
        try:
            if await self.user() != self._actor.user:
                raise InvalidInput("user_id", hint="the key is that of another user")
        except BaseException:
            await self.close()
            raise
        return self

    async def user(self) -> str:
        """Return the user of the credential. Raises ServiceRefused."""
        return str((await self._remote.call("GET", "/v1/whoami"))["user"])

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        await self._remote.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __getattr__(self, name: str) -> _NotOffered:
        if name.startswith("_"):
            raise AttributeError(name)
        return _NotOffered(name)

    async def handle(self, request: Request[T], *, actor: Actor) -> T:
        """Answer a request by its verb. Raises NotSupported for one that only an engine answers."""
        verb = VERBS.get(type(request))
        if verb is None:
            raise NotSupported(f"{type(request).__name__}:remote")
        answer: T = await verb(self, **arguments_of(request), actor=actor)
        return answer

    # -- writing ------------------------------------------------------------------------------------------------------

    async def add(
        self,
        content: str | Candidate,
        *,
        actor: Actor,
        idempotency_key: str | None = None,
        deadline: object = None,
        **fields: Any,
    ) -> WriteReceipt:
        """Remember one thing. The time that it may take is the client's `timeout`."""
        if isinstance(content, str):
            named = {name: value for name, value in fields.items() if value is not None}
            origin, kind = named.pop("origin", actor.channel), kind_of(named.pop("kind", Kind.LONG_TERM))
            until = ttl_of(named.pop("ttl")) if "ttl" in named else None
            named.setdefault("level", CATALOG[kind].level)
            content = Candidate(content=content, kind=kind, ttl=until, source=Source(origin=origin), **named)
        headers = {"Idempotency-Key": idempotency_key}
        return receipt_of(await self._remote.call("POST", "/v1/memories", candidate_body(content), headers=headers))

    @like(MemoryEngine.add_many)
    async def add_many(self, given: SimpleNamespace) -> Sequence[WriteReceipt]:
        """Remember many things; one receipt each, in order."""
        body = {
            "memories": [candidate_body(candidate) for candidate in given.candidates],
            "idempotency_keys": None if given.idempotency_keys is None else [*given.idempotency_keys],
        }
        return receipts(await self._remote.call("POST", "/v1/memories/batch", body))

    @like(MemoryEngine.record)
    async def record(self, given: SimpleNamespace) -> Sequence[WriteReceipt]:
        """Keep the messages of a conversation themselves, as episodic memories."""
        body = {"messages": [message_body(message) for message in messages_of(given.messages, session=None)]}
        return receipts(await self._remote.call("POST", "/v1/messages", body))

    @like(MemoryEngine.capture)
    async def capture(self, given: SimpleNamespace) -> RunReport:
        """Remember the lasting facts in the user's message."""
        message = given.message
        said = Message(role="user", content=message) if isinstance(message, str) else one_message(message, session=None)
        headers = {"Idempotency-Key": given.idempotency_key}
        body = {"message": message_body(said)}
        return report_of(await self._remote.call("POST", "/v1/capture", body, headers=headers))

    @like(MemoryEngine.capture_many)
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

    @like(MemoryEngine.remember)
    async def remember(self, given: SimpleNamespace) -> ConversationReceipts:
        """Remember a conversation as a program has it; see `MemoryEngine.remember`. Sent in parts."""
        said = [message_body(one) for one in messages_of(given.messages, session=None)]
        receipts_so_far: list[WriteReceipt] = []
        asked: list[MemoryRequest] = []
        for start in range(0, len(said), TURNS):
            about = None if given.data is None else dict(given.data)
            body = {"messages": said[start : start + TURNS], "infer": given.infer, "data": about}
            answer = await self._remote.call("POST", "/v1/remember", body)
            receipts_so_far += receipts(answer)
            asked += map(MemoryRequest.from_dict, answer.get("asked", ()))
        return ConversationReceipts(receipts_so_far, asked)

    forget = verb_at(MemoryEngine.forget, "DELETE /v1/memories/{memory_id}", lambda _: None)

    forget_matching = verb_at(
        MemoryEngine.forget_matching, "POST /v1/memories/forget", partial(from_json, ForgetResult)
    )

    @like(MemoryEngine.carry_out)
    async def carry_out(self, given: SimpleNamespace) -> RequestOutcome:
        """Carry out a message's request about memory, once its user has confirmed it. Returns once an erasure has
        finished.
        """
        answer = await self._remote.call("POST", "/v1/memory-requests", given.request.to_dict())
        return await carried_out(self._remote, answer)

    undo = verb_at(MemoryEngine.undo, "POST /v1/memories/{memory_id}/undo", partial(from_json, UndoReceipt))

    rollback = verb_at(MemoryEngine.rollback, "POST /v1/memories/{memory_id}/rollback", receipt_of)

    rate = verb_at(MemoryEngine.rate, "PUT /v1/memories/{memory_id}/rating", rating_of)

    ratings = verb_at(MemoryEngine.ratings, "GET /v1/ratings", ratings_of)

    @like(MemoryEngine.run)
    async def run(self, given: SimpleNamespace) -> RunReport:
        """One memory-augmented turn."""
        said = message_body(given.message) if isinstance(given.message, Message) else given.message
        body = {"message": said, "goal": given.goal, "context": dict(given.context or {})}
        body |= {"min_score": given.min_score, "asked_at": iso(given.asked_at, "asked_at")}
        headers = {"Idempotency-Key": given.idempotency_key}
        return report_of(await self._remote.call("POST", "/v1/runs", body, headers=headers))

    async def update(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        actor: object = None,
        data: Mapping[str, Any] | None = None,
        ttl: timedelta | str | None = None,
        expected_version: int | None = None,
        origin: Origin | None = None,
        **changed: Any,
    ) -> WriteReceipt:
        """Correct a memory in its next version; omitted fields stay unchanged. Raises VersionConflict,
        MemoryNotFound.
        """
        headers = {"If-Match": None if expected_version is None else f'"{expected_version}"'}
        fields = {name: iso(one, name) if isinstance(one, datetime) else one for name, one in changed.items()}
        body = {"content": content, "data": None if data is None else plain(data), "ttl": ttl_text(ttl)}
        body |= fields | {"origin": lower(origin)}
        return receipt_of(await self._remote.call("PATCH", memory_address(memory_id), body, headers=headers))

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

    async def upload(self, piece: Mapping[str, Any]) -> dict[str, Any]:
        """Import a piece of a file, as `POST /v1/uploads` takes it; return its counts. Repeating it changes nothing."""
        done: dict[str, Any] = await self._remote.call("POST", "/v1/uploads", piece, repeatable=True)
        return done

    # -- reading ------------------------------------------------------------------------------------------------------

    search = verb_at(MemoryEngine.search, "POST /v1/search", found_in, repeatable=True)

    context = verb_at(MemoryEngine.context, "POST /v1/context", block_of)

    profile = verb_at(MemoryEngine.profile, "GET /v1/profile", profile_of)

    async def retrieve(
        self, query: str, kinds: Sequence[Kind | str] | None = None, *, top_k: int = 10
    ) -> KindRetrieval:
        """Return the best results across kinds (None: all), best first, with failures in `errors`. The service knows no
        working memory.
        """
        body = {"query": query, "kinds": names(kinds), "top_k": top_k}
        answer = await self._remote.call("POST", "/v1/retrieve", body, repeatable=True)
        return KindRetrieval([kind_hit_of(one) for one in answer["hits"]], answer["errors"])

    async def redact_text(self, text: str, *, actor: object = None) -> str:
        """`text` without personal data, as the policy of the service has it; nothing is kept."""
        answer: str = (await self._remote.call("POST", "/v1/redactions", {"text": text}, repeatable=True))["text"]
        return answer

    get = verb_at(MemoryEngine.get, "GET /v1/memories/{memory_id}", from_dict)

    @like(MemoryEngine.list)
    async def list(self, given: SimpleNamespace) -> Sequence[Memory]:
        """Active memories, newest first; `before` is the memory_id that ended the previous page."""
        asked = parameters_of(given, vars(given).keys())
        found: list[Memory] = []
        while True:
            asked["limit"] = min(given.limit - len(found), PAGE)
            answer = await self._remote.call("GET", "/v1/memories", params=asked)
            found += memories(answer["memories"])
            if answer["next"] is None or len(found) >= given.limit:
                return found
            asked["before"] = answer["next"]

    count = verb_at(MemoryEngine.count, "GET /v1/memories/count", lambda answer: int(answer["count"]))

    history = verb_at(MemoryEngine.history, "GET /v1/memories/{memory_id}/history", versions_of)

    lineage = verb_at(MemoryEngine.lineage, "GET /v1/memories/{memory_id}/lineage", lineage_of)

    uses = verb_at(MemoryEngine.uses, "GET /v1/memories/{memory_id}/uses", uses_of)

    # -- upkeep -------------------------------------------------------------------------------------------------------

    @like(MemoryEngine.maintain)
    async def maintain(self, given: SimpleNamespace) -> MaintenanceReport:
        """Every job of upkeep, one after the other. For operators."""
        if given.rules is not None:
            raise NotSupported("rules:remote", hint="a service expires by its own settings")
        asked = {"whole": str(given.whole).lower(), "dry_run": str(given.dry_run).lower()}
        return from_json(MaintenanceReport, await self._remote.call("POST", "/v1/maintenance", params=asked))

    expire = verb_at(MemoryEngine.expire, "POST /v1/expiry", partial(from_json, ExpiryReport))

    consolidate = verb_at(
        MemoryEngine.consolidate,
        "POST /v1/consolidations",
        partial(from_json, ConsolidationReport),
        query=("dry_run",),
    )

    @like(MemoryEngine.reread)
    async def reread(self, given: SimpleNamespace) -> RereadReport:
        """Read the recorded messages again with the service's reader. Raises NotSupported (`progress`)."""
        if given.progress is not None:
            raise NotSupported("progress", hint="a service keeps what was read itself: call it again to go on")
        asked = {"dry_run": str(given.dry_run).lower(), "limit": given.limit, "since": iso(given.since, "since")}
        return from_json(RereadReport, await self._remote.call("POST", "/v1/rereads", params=asked))

    undo_reread = verb_at(
        MemoryEngine.undo_reread, "POST /v1/rereads/{run_id}/undo", lambda answer: int(answer["memories"])
    )

    undo_import = verb_at(
        MemoryEngine.undo_import, "POST /v1/imports/{import_id}/undo", partial(from_json, ImportUndone)
    )

    doctor = verb_at(MemoryEngine.doctor, "GET /v1/doctor", partial(from_json, Health))

    # -- as it comes --------------------------------------------------------------------------------------------------

    def export_lines(self, *, archive: bool = False) -> AsyncIterator[str]:
        """Yield the user's own memories, as JSON lines; as an `archive` with every version and the consents."""
        return self._remote.lines("GET", f"/v1/export?archive={str(archive).lower()}")

    async def export(self, *, actor: Actor, archive: bool = False) -> AsyncIterator[dict[str, Any]]:
        """Yield the user's own memories, as JSON data."""
        async for line in self.export_lines(archive=archive):
            if line:
                yield json.loads(line)

    def export_subject(
        self, subject: str | None, *, actor: Actor | None = None, form: str = "json", values: bool = False
    ) -> AsyncIterator[str]:
        """Yield all data about the user, or for an operator about `subject`, as the chunks of one document."""
        named = None if actor is not None and subject == actor.user else subject
        asked = {"subject": named, "form": form, "values": str(values).lower()}
        wanted = urlencode({name: value for name, value in asked.items() if value is not None})
        return self._remote.chunks("GET", f"/v1/export/subject?{wanted}")

    async def change_lines(self, *, after: str | None = None) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield each change of the user's memories with its id, after `after` (default: from now on), until the service
        stops. Never contains content.
        """
        headers = {} if after is None else {"Last-Event-ID": after}
        async for name, data, event_id in events(self._remote.lines("GET", "/v1/changes", headers=headers)):
            if name == "change" and event_id is not None:
                yield event_id, data

    async def changes(self, *, after: int | None = None) -> AsyncIterator[AuditEvent]:
        """Yield each change of the user's memories as it happens. `actor` is empty: a service does not reveal the
        author.
        """
        async for _, result in self.change_lines(after=None if after is None else str(after)):
            scope = self._actor.scope(result["level"])
            fields = {name: result[name] for name in ("sequence", "action", "memory_id", "version")}
            at = datetime.fromisoformat(result["at"])
            yield AuditEvent(**fields, tenant=self._actor.tenant, at=at, actor="", scope=scope)


VERBS: Mapping[type[Request[Any]], Callable[..., Awaitable[Any]]] = MappingProxyType(
    {
        requests.Capture: RemoteEngine.capture,
        requests.Context: RemoteEngine.context,
        requests.Correction: RemoteEngine.update,
        requests.Count: RemoteEngine.count,
        requests.ForgetMatching: RemoteEngine.forget_matching,
        requests.Get: RemoteEngine.get,
        requests.History: RemoteEngine.history,
        requests.Import: RemoteEngine.capture_many,
        requests.List: RemoteEngine.list,
        requests.NewMemory: RemoteEngine.add,
        requests.Profile: RemoteEngine.profile,
        requests.Run: RemoteEngine.run,
        requests.Search: RemoteEngine.search,
    }
)
"""The verb that answers a request."""


def views_at(
    remote: Remote, call_mode: CallMode[M]
) -> tuple[RemotePersona[M], RemoteEpisodes[M], RemoteEntities[M], RemoteData[M], RemoteConversation[M]]:
    """Return the kinds of a memory that a service keeps, called as `call_mode` says."""
    views = (RemotePersona(call_mode, remote), RemoteEpisodes(call_mode, remote), RemoteEntities(call_mode, remote))
    return (*views, RemoteData(call_mode, remote), RemoteConversation(call_mode, remote))


class RemoteKinds(SevenKinds[M]):
    """The kinds of a memory that a service keeps. Working memory stays in this process."""

    def __init__(self, engine: RemoteEngine, actor: Actor, call_mode: CallMode[M]) -> None:
        super().__init__(cast(MemoryEngine, engine), actor, call_mode)
        self._views = views_at(engine._remote, call_mode)
        self.persona, self.episodic, self.entity, self.structured, self.short_term = cast(Any, self._views)

    async def _extract_entities(self, content: str, idempotency_key: str | None) -> Sequence[WriteReceipt]:
        return (await self._views[2].extracted(content, idempotency_key)).receipts

    async def _traits(self) -> Sequence[Memory]:
        return await self._views[0].known()

    async def _remember_said(self, content: str) -> None:
        await self._views[4].add_async("user", content)

    async def _messages(self, limit: int) -> Sequence[Message]:
        return await self._views[4].newest(limit)


class ServiceKinds(RemoteKinds[M]):
    """The same for a client, of which the service does everything across the kinds."""

    async def add(self, content: str | Candidate, kind: Kind | str = Kind.LONG_TERM, **given: Any) -> WriteReceipt:
        """Remember one thing."""
        return await self._engine.add(content, actor=self._actor, kind=kind, **given)

    async def retrieve(
        self, query: str, kinds: Sequence[Kind | str] | None = None, *, top_k: int = 10
    ) -> KindRetrieval:
        """Return the best results across kinds."""
        return await cast(RemoteEngine, self._engine).retrieve(query, kinds, top_k=top_k)
