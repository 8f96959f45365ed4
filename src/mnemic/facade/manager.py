"""Facade for programs: one user's memory, opened in one line, for blocking and for asynchronous callers."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mnemic import bootstrap
from mnemic.config import Settings
from mnemic.config.settings import default_user
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, NotSupported
from mnemic.facade.verbs import MemoryVerbs
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.plugins.extras import brought_by
from mnemic.policy.key_rules import Policy
from mnemic.runtime.event_loop_thread import Portal, PortalOwner
from mnemic.runtime.sync_facade import Awaited, Blocking, CallMode, M, async_mode, blocking, explain_arguments
from mnemic.types import Actor, AuditEvent

if TYPE_CHECKING:
    from mnemic.kinds.persona import Profile
    from mnemic.maintenance.subject_export import Form
    from mnemic.ports import Completer, Embedder, Reranker
    from mnemic.providers.plain_functions import EmbedFunction, ModelFunction, RerankFunction

SERVICES = ("http://", "https://")
_STORES = ("sqlite:", "postgresql:", "postgres:", "cassandra:", "memory:")
_FILES = (".db", ".sqlite", ".sqlite3")


class UserMemory(MemoryVerbs[M]):
    """One user's memory, opened from the arguments that both managers take."""

    @explain_arguments
    def __init__(
        self,
        user_id: str | None = None,
        agent_id: str = "default",
        *,
        store: str | Path | None = None,
        api_key: str | None = None,
        tenant: str | None = None,
        workspace: str | None = None,
        session: str | None = None,
        policy: Policy | str | Path | None = None,
        settings: Settings | None = None,
        engine: MemoryEngine | None = None,
        embedder: Embedder | EmbedFunction | str | None = None,
        model: Completer | ModelFunction | str | None = None,
        reranker: Reranker | RerankFunction | str | None = None,
        profile: Profile | None = None,
    ) -> None:
        call_mode = self._mode()
        try:
            if user_id is not None and _is_place(user_id) and store is None and settings is None and engine is None:
                told = f"the first value is a user; the place of the memories is `store={user_id!r}`"
                raise InvalidInput("user:place", hint=told)
            parts = {"embedder": embedder, "model": model, "reranker": reranker}
            names = {name: one for name, one in parts.items() if isinstance(one, str)}
            settings = _settings(settings, store, names)
            models = {name: one for name, one in parts.items() if one is not None and name not in names}
            actor = _actor(settings, user_id, agent_id, tenant=tenant, workspace=workspace, session=session)
            shown: dict[str, Any] = {"policy": policy, "profile": profile, "api_key": api_key}
            given = _Parts(settings, actor, engine=engine, models=models, **shown)
            super().__init__(call_mode, given.engine, actor, given.kinds(call_mode))
            self._prepare()
        # Also for an interrupt: the thread of the portal would otherwise run on.
        except BaseException:
            self._abandon()
            raise

    def _mode(self) -> CallMode[M]:
        """Return how the verbs are called."""
        raise NotImplementedError

    def _prepare(self) -> None:
        """Prepare for the first call."""

    def _abandon(self) -> None:
        """Release the resources that `_mode` acquired, for a memory that could not be opened."""


class MemoryManager(UserMemory[Blocking], PortalOwner):
    """One user's memory with one agent.

            with MemoryManager("ana") as memory:
                memory.capture("I am vegetarian and I prefer aisle seats.")
                print(memory.search("do I eat meat?").hits)

    Opens immediately: the file `store`, else MNEMIC_STORE, else `mnemic.db`. Threads may share a manager. `engine` is
    an engine that the caller has built; the manager opens and closes it as well. `embedder`, `model` and `reranker` are
    names as in the settings, plain functions (texts to vectors, a prompt to an answer, a query and texts to scores), or
    objects of `mnemic.ports`. `profile` is the persona given by the
    agent's developers; the default comes from the folder of personas in the settings.

    If `store` is the URL of a service (`https://...`), the same verbs call that service with `api_key`: the user's key,
    or an application's key, which is exchanged for a token of the user. Requires `mnemic[client]`.

    The seven kinds are `working`, `short_term`, `long_term`, `persona`, `episodic`, `entity` and `structured`; `add`
    and `retrieve` work across them. The default user is that of the command line: `MNEMIC_USER`, else the login name.
    """

    def _mode(self) -> CallMode[Blocking]:
        self._portal = Portal()
        return blocking(self._portal.call)

    def _prepare(self) -> None:
        self._portal.call(self.engine.open)

    def _abandon(self) -> None:
        # The portal is a thread, which must not outlive a manager that could not open.
        self._portal.close()

    async def _release(self) -> None:
        await self.engine.close()

    def export(self) -> Iterator[dict[str, Any]]:
        """Yield every memory in this user's scopes as JSON data, one at a time."""
        return self._portal.iterate(self.engine.export(actor=self.actor))

    def export_subject(self, subject: str | None = None, *, form: Form = "json", values: bool = False) -> Iterator[str]:
        """Yield one subject's stored data as chunks of one document; see `MemoryEngine.export_subject`."""
        wanted = self.actor.user if subject is None else subject
        return self._portal.iterate(self.engine.export_subject(wanted, actor=self.actor, form=form, values=values))

    def changes(self, *, after: int | None = None) -> Iterator[AuditEvent]:
        """Yield each change of this user's memories as it happens, after sequence `after` (default: from now on). Never
        contains content.
        """
        return self._portal.iterate(self._changes(after))


A = TypeVar("A", bound="AsyncMemoryManager")


class AsyncMemoryManager(UserMemory[Awaited]):
    """Asynchronous `MemoryManager`: every verb is awaited.

    async with AsyncMemoryManager("ana") as memory:
        await memory.capture("I am vegetarian and I prefer aisle seats.")
    """

    def _mode(self) -> CallMode[Awaited]:
        return async_mode()

    async def open(self: A) -> A:
        """Open the store. `async with` does so, too."""
        await self.engine.open()
        return self

    async def close(self) -> None:
        """Release all resources. May be called twice."""
        await self.engine.close()

    def __enter__(self) -> None:
        """Raise NotSupported: it is opened by `async with`."""
        raise NotSupported("with", hint="use `async with`, or MemoryManager where nothing is awaited")

    def __exit__(self, *_: object) -> None:
        """Do nothing; `with` asks for it before it begins."""

    async def __aenter__(self: A) -> A:  # jedi, which completes in IPython and vim, does not read `Self`
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def export(self) -> AsyncIterator[dict[str, Any]]:
        """Yield every memory in this user's scopes as JSON data, one at a time."""
        return self.engine.export(actor=self.actor)

    def export_subject(
        self, subject: str | None = None, *, form: Form = "json", values: bool = False
    ) -> AsyncIterator[str]:
        """Yield all data stored about this user, or about `subject` of the tenant, as the chunks of one document."""
        wanted = self.actor.user if subject is None else subject
        return self.engine.export_subject(wanted, actor=self.actor, form=form, values=values)

    def changes(self, *, after: int | None = None) -> AsyncIterator[AuditEvent]:
        """Yield each change of this user's memories as it happens, after sequence `after` (default: from now on). Never
        contains content.
        """
        return self._changes(after)


class _Parts:
    """The engine and the kinds that the arguments of a manager ask for: in this process, or of a service."""

    def __init__(
        self,
        settings: Settings,
        actor: Actor,
        *,
        policy: Policy | str | Path | None,
        engine: MemoryEngine | None,
        profile: Profile | None,
        api_key: str | None,
        models: Mapping[str, Any],
    ) -> None:
        if isinstance(policy, str | Path):
            settings, policy = settings.with_values(policy=policy), None
        self._settings, self._actor, self._profile = settings, actor, profile
        self._remote = engine is None and settings.store.startswith(SERVICES)
        if models and (engine is not None or self._remote):
            where = "a service has its own" if self._remote else "the engine has its own"
            raise InvalidInput(next(iter(models)), hint=where)
        if engine is not None:
            self.engine = engine
        elif self._remote:
            self.engine = self._open_service(api_key, policy)
        else:
            given = {"completer" if name == "model" else name: one for name, one in models.items()}
            self.engine = bootstrap.build_engine(settings, policy=policy, **given)

    def _open_service(self, api_key: str | None, policy: Policy | None) -> MemoryEngine:
        return cast(MemoryEngine, service_engine(self._settings.store, self._actor, api_key=api_key, policy=policy))

    def kinds(self, call_mode: CallMode[M]) -> SevenKinds[M]:
        """Return the seven kinds, called by the convention of `call_mode`."""
        if self._remote:
            return cast(SevenKinds[M], _client().RemoteKinds(self.engine, self._actor, call_mode))
        profile = self._profile
        if profile is None and self._settings.personas is not None:
            profile = bootstrap.build_profile(self._settings, self._actor.agent)
        return SevenKinds(self.engine, self._actor, call_mode, profile=profile)


def service_engine(url: str, actor: Actor, *, api_key: str | None, policy: Policy | None = None) -> Any:
    """Return the `RemoteEngine` of the service at `url` for one user. Raises MissingExtra (`missing_extra:client`),
    InvalidInput (`policy`), InvalidConfig (`api_key`).
    """
    return _client().RemoteEngine.from_url(url, actor, api_key=api_key, policy=policy)


def _client() -> Any:
    """Return the client of a service, which needs `mnemic[client]`: imported only if a service is used."""
    with brought_by("client"):
        return import_module("mnemic_client.engine")


def _settings(settings: Settings | None, store: str | Path | None, names: Mapping[str, str]) -> Settings:
    """Return the settings, by default those of the environment, with `store` and the models' `names` replacing
    theirs.
    """
    given: dict[str, Any] = {**names} if store is None else {**names, "store": str(store)}
    return Settings.load(**given) if settings is None else settings.with_values(**given)


def _is_place(name: object) -> bool:
    """Return True for the name of a memory file, or an address as `store` takes it."""
    if not isinstance(name, str):
        return False
    # The users of an identity provider may be addresses of the web, with a path.
    of_service = name.startswith(SERVICES) and name.rstrip("/").count("/") == len("//")
    return of_service or name.startswith(_STORES) or Path(name).suffix in _FILES


def _actor(
    settings: Settings, user: str | None, agent: str, *, tenant: str | None, workspace: str | None, session: str | None
) -> Actor:
    if user is None:
        user = default_user()
    return Actor(
        tenant=tenant or settings.tenant,
        user=user,
        agent=agent,
        workspace=workspace,
        session=session or f"session-{uuid.uuid4().hex[:12]}",
    )
