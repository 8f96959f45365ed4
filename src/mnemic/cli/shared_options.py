"""Options of the command line that every command shares, and the engine that it opens."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mnemic.cli.terminal import note, say, say_json
from mnemic.coding_agents.repository import place_of, working_folder
from mnemic.config import Settings
from mnemic.config.settings import default_user
from mnemic.errors import InvalidConfig, InvalidInput, NotSupported, StoreUnavailable
from mnemic.maintenance.tenant_registry import Policies, Tenants
from mnemic.types import Actor, Level

if TYPE_CHECKING:
    from asyncio import Runner

    from mnemic.engine import MemoryEngine

T = TypeVar("T")
SERVICES = ("http://", "https://")
"""Beginnings of a store that is a service."""


@dataclass(frozen=True, slots=True)
class OpenMemory:
    """An open engine, the actor who asks, and the event loop that its calls run in."""

    engine: MemoryEngine
    actor: Actor
    runner: Runner

    def call(self, work: Callable[[MemoryEngine, Actor], Awaitable[T]]) -> T:
        """Return the result of `work`."""

        async def inside() -> T:
            return await work(self.engine, self.actor)

        return self.runner.run(inside())


@dataclass(slots=True)
class Given:
    """The common options, from the command line or the environment. A command that is not `personal` needs no user."""

    store: str | None = None
    user: str | None = None
    tenant: str | None = None
    agent: str | None = None
    session: str | None = None
    workspace: str | None = None
    policy: str | None = None
    api_key_file: str | None = None
    as_json: bool = False
    debug: bool = False
    personal: bool = True
    repository: bool = False

    def settings(self, **overrides: object) -> Settings:
        """Return the settings of this call. Raises InvalidConfig."""
        if self.repository:
            self._take_repository()
            if self.workspace is not None:
                overrides.setdefault("granted_levels", frozenset({Level.USER.value, Level.WORKSPACE.value}))
        return Settings.load(store=self.store, tenant=self.tenant, policy=self.policy, **overrides)

    def _take_repository(self) -> None:
        """Take what is not named from the memory of the repository around this folder."""
        place = place_of(working_folder())
        self.store, self.tenant = self.store or place.store, self.tenant or place.tenant
        self.user, self.workspace = self.user or place.user, self.workspace or place.workspace

    def actor(self, settings: Settings) -> Actor:
        """Return the actor who asks. Raises InvalidInput for a name that is no user id."""
        return Actor(
            tenant=settings.tenant,
            user=self.user_name(),
            agent=self.agent or "default",
            workspace=self.workspace,
            session=self.session or "cli",
        )

    def user_name(self) -> str:
        """Return the user who asks: the one who is named, else the login name. Raises UsageError if there is neither
        and the command is about a user's memories.
        """
        if self.user is not None:
            return self.user
        return login_name() if self.personal else operator_name()

    def with_engine(
        self,
        work: Callable[[MemoryEngine, Actor], Awaitable[T]],
        *,
        creates: bool = False,
        by_settings: bool = False,
        **overrides: object,
    ) -> T:
        """Return the result of `work` on an open engine, which goes by what is in force for the tenant, or
        `by_settings` alone. Unless it `creates`, the memory file must be there already.

        Raises StoreUnavailable for a file that is not there, and whatever opening and the work itself raise.
        """
        settings = self.settings(**overrides)
        actor = self.actor(settings)
        if not creates:
            require_store(settings.store)

        async def inside() -> T:
            if settings.store.startswith(SERVICES):
                engine, caller = await self._open_service(settings, actor)
                async with engine:
                    return await work(engine, caller)
            from mnemic.bootstrap import build_engine  # loads numpy, which the help does without

            async with build_engine(settings) as engine:
                return await work(
                    engine if by_settings else await self._apply_tenant_rules(engine, actor.tenant), actor
                )

        return asyncio.run(inside())

    @contextmanager
    def open_engine(self) -> Iterator[OpenMemory]:
        """Yield an engine that stays open for several calls, one after another; between them no event loop runs, so
        that a question to the person at the terminal can be interrupted. The memory file is made if it is not there.
        """
        from mnemic.bootstrap import build_engine  # loads numpy, which the help does without

        settings = self.settings()
        actor = self.actor(settings)
        with asyncio.Runner() as runner:
            if settings.store.startswith(SERVICES):
                governed, actor = runner.run(self._open_service(settings, actor))
                engine = runner.run(governed.open())
            else:
                engine = build_engine(settings)
                runner.run(engine.open())
                governed = runner.run(self._apply_tenant_rules(engine, actor.tenant))
            try:
                yield OpenMemory(governed, actor, runner)
            finally:
                runner.run(engine.close())

    async def _open_service(self, settings: Settings, actor: Actor) -> tuple[MemoryEngine, Actor]:
        """Return the engine of the service that the store names, and the actor: without `--user` that of the key.
        Raises InvalidConfig (`api_key_file`), ServiceRefused.
        """
        from mnemic.facade.manager import service_engine  # loads the engine, which the help does without

        key = self._api_key()
        engine = service_engine(settings.store, actor, api_key=key)
        if self.user is None:
            actor = replace(actor, user=await engine.user())
            await engine.close()
            engine = service_engine(settings.store, actor, api_key=key)
        return engine, actor

    def _api_key(self) -> str | None:
        """Return the key for a service: from the file that is named, else from the environment."""
        if self.api_key_file is None:
            return os.environ.get("MNEMIC_SERVICE_KEY")
        try:
            return Path(self.api_key_file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise InvalidConfig("api_key_file", hint=f"{self.api_key_file} cannot be read") from None

    async def _apply_tenant_rules(self, engine: MemoryEngine, tenant: str) -> MemoryEngine:
        """Return the engine by the rules of the tenant, as the service goes by them."""
        known = await Tenants(engine.store, engine.clock).find(tenant)
        put = await Policies(engine.store, engine.clock).current(tenant)
        in_force = None if put is None or put.policy is None else put.version
        if in_force and self.policy is not None:
            note(f"version {in_force} of a policy is in force for {tenant}: --policy is ignored")
        if in_force is None and (known is None or known.quotas is None):
            return engine
        # Reading a policy takes longer to load than most commands take.
        from mnemic.maintenance.tenant_engine import Tenancy

        return (await Tenancy(engine).tenant_state(tenant)).engine

    def show(self, value: Any, text: Callable[[], str]) -> None:
        """Print the result: `value` as JSON if that was requested, else `text()`."""
        if self.as_json:
            say_json(value)
        else:
            say(text())


def login_name() -> str:
    """Return the login name. Raises UsageError if there is none that could serve as a user id."""
    try:
        return default_user()
    except InvalidInput:
        raise click.UsageError("whose memory is it? name a user with --user or MNEMIC_USER") from None


def operator_name() -> str:
    """Return the name that is recorded for an operator: the login name, or `uid:` and the number of a user without a
    name, such as a container's.
    """
    try:
        return login_name()
    except click.UsageError:
        return f"uid:{os.getuid()}" if hasattr(os, "getuid") else "operator"


async def of_others(engine: MemoryEngine, actor: Actor) -> str:
    """Return the text for an empty answer if the tenant has memories of other users; "" if it has none."""
    try:
        usage = getattr(getattr(engine, "store", None), "usage", None)
    except NotSupported:  # a service does not tell of others
        return ""
    if usage is None or await engine.count(actor=actor):
        return ""
    now = engine.clock.now()
    everybody = sum(one.rows for one in (await usage(actor.tenant, since=now)).values())
    own = sum(one.rows for one in (await usage(actor.tenant, since=now, scope=actor.scope("user"))).values())
    others = everybody - own
    if not others:
        return ""
    what = "memory" if others == 1 else "memories"
    return f"the user {actor.user} has none here; other users have {others:,} {what}: name one with --user"


def _missing(path: Path) -> str:
    if not path.parent.is_dir():
        return f"the folder {path.parent} does not exist: make it, or name a file in another"
    return "there is no memory file of that name yet; `mnemic add` makes one"


def require_store(location: str) -> None:
    """Raise StoreUnavailable where `location` names no file or an empty one: a typing error is not an empty memory, and
    reading writes into no file.
    """
    from mnemic.bootstrap import store_file  # loads numpy, which the help does without

    path = None if location.startswith(SERVICES) else store_file(location)
    if path is not None and not path.exists():
        raise StoreUnavailable("missing", hint=_missing(path))
    if path is not None and path.is_file() and path.stat().st_size == 0:
        raise StoreUnavailable("missing", hint="that file is empty; `mnemic add` makes a memory file of it")
