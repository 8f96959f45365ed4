"""A service in the place of an engine, so that one user's memory there has the verbs that it has in a file."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, NotSupported
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.policy.expiry_rule import ttl_of
from mnemic.policy.key_rules import Policy
from mnemic.requests import Request, arguments_of
from mnemic.runtime.clock import SystemClock
from mnemic.runtime.sync_facade import CallMode, M
from mnemic.types import Actor, AuditEvent, Candidate, Kind, Memory, Message, Source, WriteReceipt
from mnemic.types.memory_kinds import CATALOG, kind_of
from mnemic_client.governance import RemoteGovernance
from mnemic_client.memory import MemoryClient
from mnemic_client.opening import AsyncClient
from mnemic_client.remote import Remote

T = TypeVar("T")

SAME = frozenset(
    {
        "add_many",
        "record",
        "capture",
        "capture_many",
        "remember",
        "forget",
        "forget_matching",
        "carry_out",
        "rollback",
        "undo",
        "run",
        "search",
        "context",
        "get",
    }
    | {"count", "history", "lineage", "uses", "maintain", "expire", "consolidate", "reread", "undo_reread", "doctor"}
)
"""The verbs that the client has under the engine's name, with the engine's parameters but the actor."""


class _RemoteVerb:
    """A verb of the service; or a part of an engine that a service has for itself, such as its store."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client, self._name = client, name

    async def __call__(self, *placed: Any, **named: Any) -> Any:
        if self._name not in SAME:
            raise NotSupported(f"{self._name}:remote", hint=_AT_THE_SERVICE)
        named.pop("actor", None)  # the credential says who asks
        named.pop("deadline", None)  # the client's `timeout` says how long
        return await getattr(self._client, self._name)(*placed, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotSupported(f"{self._name}:remote", hint=_AT_THE_SERVICE)


_AT_THE_SERVICE = "a service does not offer this: run it where the service has its store"


class RemoteEngine(RemoteGovernance):
    """Verbs of `MemoryEngine` for the one user of the credential. Verbs that a service does not offer raise
    NotSupported (`not_supported:<verb>:remote`).
    """

    sessions = completer = graph = None

    def __init__(self, client: AsyncClient, actor: Actor) -> None:
        super().__init__(client._remote)
        self.client = client
        self._actor = actor
        self.clock = SystemClock()

    @classmethod
    def from_url(cls, url: str, actor: Actor, *, api_key: str | None, policy: Policy | None) -> Self:
        """Return the engine of the service at `url`. Raises InvalidInput (`policy`): its rules are those of the
        service.
        """
        if policy is not None:
            raise InvalidInput("policy", hint="a service has its own policy: PUT /v1/policy")
        return cls(AsyncClient(Remote(url, api_key, timeout=30.0, attempts=3, transport=None, user=actor)), actor)

    async def open(self) -> Self:
        """Check that the credential is the user's. Raises ServiceRefused, InvalidInput (`user_id`)."""
        try:
            if await self.client.user() != self._actor.user:
                raise InvalidInput("user_id", hint="the key is that of another user")
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        await self.client.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        if name.startswith("_"):
            raise AttributeError(name)

        return _RemoteVerb(self.client, name)

    async def handle(self, request: Request[T], *, actor: Actor) -> T:
        """Answer a request by the verb that it names. Raises NotSupported for one without."""
        if request.verb is None:
            raise NotSupported(f"{type(request).__name__}:remote")
        answer: T = await getattr(self, request.verb)(**arguments_of(request), actor=actor)
        return answer

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
        return await self.client.add(content, idempotency_key=idempotency_key)

    async def list(self, *, actor: Actor, facets: object = (), **wanted: Any) -> Sequence[Memory]:
        """Return active memories, newest first. `facets` only say where a store need not look."""
        return await self.client.list(**wanted)

    async def update(self, memory_id: str, content: str | None = None, *, actor: Actor, **changed: Any) -> WriteReceipt:
        """Correct a memory."""
        return await self.client.corrected(memory_id, content, **changed)

    async def export(self, *, actor: Actor, archive: bool = False) -> AsyncIterator[dict[str, Any]]:
        """Yield the user's own memories, as JSON data."""
        async for line in self.client.exported(archive=archive):
            if line:
                yield json.loads(line)

    def export_subject(
        self, subject: str, *, actor: Actor, form: str = "json", values: bool = False
    ) -> AsyncIterator[str]:
        """Yield all data about a user, as the chunks of one document."""
        return self.client.exported_subject(None if subject == actor.user else subject, form=form, values=values)

    async def redact_text(self, text: str, *, actor: Actor) -> str:
        """`text` without personal data, as the policy of the service has it."""
        return await self.client.redact_text(text)

    async def changes(self, *, after: int | None = None) -> AsyncIterator[AuditEvent]:
        """Yield each change of the user's memories as it happens. `actor` is empty: a service does not reveal the
        author.
        """
        async for _, result in self.client.changes(after=None if after is None else str(after)):
            scope = self._actor.scope(result["level"])
            fields = {name: result[name] for name in ("sequence", "action", "memory_id", "version")}
            at = datetime.fromisoformat(result["at"])
            yield AuditEvent(**fields, tenant=self._actor.tenant, at=at, actor="", scope=scope)


class RemoteKinds(SevenKinds[M]):
    """The kinds of a memory that a service keeps. Working memory stays in this process."""

    def __init__(self, engine: RemoteEngine, actor: Actor, ground: CallMode[M]) -> None:
        super().__init__(cast(MemoryEngine, engine), actor, ground)
        client: MemoryClient[Any] = engine.client
        self._remote = client.kinds_on(ground)
        self.persona, self.episodic, self.entity, self.structured, self.short_term = cast(Any, self._remote)

    async def _extract_entities(self, content: str, idempotency_key: str | None) -> Sequence[WriteReceipt]:
        return (await self._remote[2].extracted(content, idempotency_key)).receipts

    async def _traits(self) -> Sequence[Memory]:
        return await self._remote[0].known()

    async def _remember_said(self, content: str) -> None:
        await self._remote[4].add_async("user", content)

    async def _messages(self, limit: int) -> Sequence[Message]:
        return await self._remote[4].newest(limit)
