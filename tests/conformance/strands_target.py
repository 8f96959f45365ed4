"""Our injection, injector plugin and store as Strands' own tests take them; see the Makefile's `conformance`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

from mnemic.agents import strands as ours
from mnemic.bootstrap.models import build_completer
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.inject.configuration import InjectionContext
from mnemic.inject.messages import fold, is_user_turn
from mnemic.ports import RecordStore
from mnemic.runtime.clock import SystemClock
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Origin
from tests.conformance.backend import ON_POSTGRES, read_along, server

_is_user_turn = is_user_turn


def _fold_into_last_user_message(messages: list[Any], text: str) -> tuple[Any, int]:
    folded = fold(messages, text, placement="append")
    return folded.messages, folded.trailing


def _create_injection_middleware(render_content: Callable[..., Any], *, trigger: Any = None) -> Any:
    return _middleware(render_content, trigger=trigger or "userTurn")


def _resolve_trigger(trigger: Any) -> Callable[[Any], bool]:
    """Whether our injector injects at all with this trigger."""
    injector = ours.text_injector(lambda context: "x", trigger=trigger or "userTurn")

    def fires(context: Any) -> bool:
        agent = SimpleNamespace(state=None)
        injection = asyncio.run(injector.inject(InjectionContext(messages=context.messages).messages, state=agent))
        return injection.injected or injection.reason == "no_user_message"

    return fires


def _middleware(render_content: Callable[..., Any], **options: Any) -> Any:
    injector = ours.text_injector(render_content, **options)

    async def inject(context: Any) -> Any:
        return await injector.inject(context.messages, state=context.agent)

    return ours.injection_handler(inject)


pr2797 = SimpleNamespace(
    _fold_into_last_user_message=lambda messages, text: fold(messages, text, separator="").messages,
    _create_injection_middleware=lambda render_content, *, trigger=None: _middleware(
        render_content, trigger=trigger or "userTurn", placement="auto", separator=""
    ),
    _is_user_turn=is_user_turn,
    _resolve_trigger=_resolve_trigger,
)


class ContextInjector(ours.ContextInjector):
    """Ours under the name that Strands' tests expect."""

    name = "strands:context-injector"


def make_store(name: str, path: str, **config: Any) -> ours.MnemicMemoryStore:
    """A store in the file at `path`, or for a tenant of that name on the server. What Strands' tests hand over are the
    user's words, which come back as they are; what a model writes (the default) comes back with who said it in front.
    """
    config.setdefault("origin", Origin.USER_STATED)
    if ON_POSTGRES:
        store: RecordStore = PostgresStore(server().dsn())
        actor = Actor(tenant=sha256(str(path).encode()).hexdigest(), user="tester")
    else:
        store, actor = SqliteStore(path, durability="fast"), Actor(user="tester")
    read_along()
    embedder, clock = WordEmbedder(), SystemClock()
    completer = build_completer(Settings.load(), clock)
    model: dict[str, Any] = {}
    if completer is not None:
        model = {"completer": completer, "extractor": LayeredExtractor(ModelExtractor(completer))}
    engine = MemoryEngine(store=store, embedder=embedder, clock=clock, **model)
    return ours.MnemicMemoryStore(engine, actor, name=name, **config)
