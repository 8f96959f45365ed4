"""Strands: a memory store for its `MemoryManager`, and plugins that inject and capture through the engine.

`pip install "mnemic[strands]"`. Needs the public middleware of strands-agents 1.62.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

from mnemic.agents.turns import TurnMemory, answer_in, capture_message, latest_asks, said_by_user, shown_for, spoken
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig, InvalidInput, MnemicError
from mnemic.extract import is_name_of
from mnemic.inject import Injection, InjectionConfig, InjectionContext, MemorySource, SourceEntry, TextInjector
from mnemic.inject.messages import is_user_turn, named_as, role_of, text_of, user_text_of
from mnemic.inject.text_injection import RenderContent
from mnemic.plugins.extras import brought_by
from mnemic.retrieve.search import MAX_TOP_K
from mnemic.types import Actor, Candidate, Deadline, Hit, MemoryRequest, Message, Origin, Source
from mnemic.types.recall_limits import DEFAULT_MAX_ENTRIES

with brought_by("strands"):
    from strands import Agent, tool
    from strands.hooks import AfterInvocationEvent, MessageAddedEvent
    from strands.injection import InjectionContext as StrandsContext
    from strands.memory import AddMessagesContext, ExtractionConfig, MemoryEntry, SearchOptions
    from strands.middleware import InvokeModelContext, InvokeModelStage
    from strands.plugins import Plugin

DEFAULT_MAX_SEARCH_RESULTS = DEFAULT_MAX_ENTRIES
SEARCH_TIMEOUT = timedelta(seconds=5)


class MnemicMemoryStore:
    """One actor's memories as a Strands `MemoryStore`.

        agent = Agent(memory_manager=MemoryManager(stores=[MnemicMemoryStore(engine, Actor(user="ana"))]))

    The program determines the actor; neither the model nor a tool's arguments can. `origin` is the channel of what
    `add` receives: a model's tool calls and extractions, which have less trust than the user's own words. With
    `extraction=True` the user's messages come to `add_messages`, and the engine extracts facts worth remembering.
    `min_score` is the least relevance of each memory that policy does not pin. `asked` is what the latest messages
    asked of memory, as in `TurnMemory`. May be used from any thread and event loop; the engine is opened at the first
    use and closed by its owner.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        *,
        name: str = "mnemic",
        description: str | None = "What is known of the user from earlier conversations.",
        max_search_results: int | None = None,
        min_score: float = 0.0,
        writable: bool = True,
        extraction: ExtractionConfig | bool | None = None,
        origin: Origin = Origin.AGENT_INFERRED,
    ) -> None:
        if max_search_results is not None and not 1 <= max_search_results <= MAX_TOP_K:
            raise InvalidConfig("max_search_results", hint=f"1 to {MAX_TOP_K}")
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.min_score = min_score
        self.writable = writable
        self.extraction = extraction
        self._engine = engine
        self._actor = actor
        self._origin = origin
        self._opening = threading.Lock()
        self._open = False
        self._captured: set[str] = set()
        self._talk: tuple[Message, ...] = ()
        self.asked: tuple[MemoryRequest, ...] = ()

    async def initialize(self) -> None:
        """Open the engine; Strands calls this before the agent runs. Raises as the engine does."""
        if not self._open:
            await asyncio.to_thread(self._open_once)

    def _open_once(self) -> None:
        with self._opening:
            if not self._open:
                asyncio.run(_open_engine(self._engine))
                self._open = True

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Return the memories for a model that is asked `query` (`mnemic.engine.recall`); none for a query without
        words. Raises MnemicError if nothing could be searched, which Strands logs and reports.
        """
        if not any(character.isalnum() for character in query):
            return []
        await self.initialize()
        limit = (options or {}).get("max_search_results") or self.max_search_results or DEFAULT_MAX_SEARCH_RESULTS
        deadline = Deadline.after(SEARCH_TIMEOUT, self._engine.clock.monotonic)
        most, least = min(limit, MAX_TOP_K), self.min_score
        found = await shown_for(self._engine, self._actor, query, most, min_score=least, deadline=deadline)
        if found.errors and not found.found.hits:
            raise MnemicError("partial")
        return [_entry(SourceEntry.from_hit(hit, self.name, reader=self._actor), hit) for hit in found.hits]

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> str | None:
        """Remember `content`; its memory_id. The same content again changes nothing. `metadata` comes back with it.

        Raises ValueError for empty content or a store that is not writable, MnemicError if it was not stored.
        """
        self._check_writable()
        if not content.strip():
            raise InvalidInput("content:empty", hint="content must not be empty")
        await self.initialize()
        candidate = Candidate(
            content=content, data=metadata or {}, source=Source(origin=self._origin, session=self._actor.session)
        )
        receipt = await self._engine.add(candidate, actor=self._actor)
        if not receipt.stored:
            raise MnemicError(receipt.reason)
        return receipt.memory_id

    async def add_messages(self, messages: list[Any], context: AddMessagesContext | None = None) -> None:
        """Remember the durable facts in the user's own messages. Raises MnemicError if that failed, so that Strands
        delivers the batch again; statements that were already captured are skipped.
        """
        self._check_writable()
        await self.initialize()
        self.asked = ()
        numbers = (context.sequence_numbers if context is not None else None) or [-1] * len(messages)
        for place, (number, message) in enumerate(zip(numbers, messages, strict=True)):
            if (
                role_of(message) != "user"
                or not text_of(message)
                or not is_name_of(named_as(message), self._actor.user)
            ):
                continue
            token = f"{number}:{hashlib.sha256(text_of(message).encode('utf-8', 'surrogatepass')).hexdigest()}"
            if token not in self._captured:
                now = self._engine.clock.now()
                said = said_by_user(self._actor, user_text_of(message), now)
                before = spoken([*self._talk, *messages[:place]], self._actor.session)
                self.asked += await capture_message(self._engine, self._actor, said, before)
                self._captured.add(token)
        self._captured.clear()
        self._talk = spoken([*self._talk, *messages], self._actor.session)

    def _check_writable(self) -> None:
        if not self.writable:
            raise InvalidInput("store", hint="the store is not writable")


def _entry(entry: SourceEntry, hit: Hit) -> MemoryEntry:
    memory = hit.memory
    known = {
        "memory_id": memory.memory_id,
        "version": memory.version,
        "score": hit.score,
        "relevance": hit.relevance,
        "why": hit.why,
    }
    return MemoryEntry(content=entry.shown, metadata={**dict(memory.data), **known})


async def _open_engine(engine: MemoryEngine) -> None:
    await engine.open()


# -- plugins -----------------------------------------------------------------------------------------------------------

Inject = Callable[[InvokeModelContext], Awaitable[Injection]]


def injection_handler(inject: Inject) -> Callable[[InvokeModelContext], Awaitable[InvokeModelContext]]:
    """Return a handler for `InvokeModelStage.Input`: the call's context with the injection in its messages, or the same
    context object. The messages of a context are the call's own, so the agent's history stays as it is.
    """

    async def handler(context: InvokeModelContext) -> InvokeModelContext:
        injection = await inject(context)
        if not injection.injected:
            return context
        trailing = context.dynamic_trailing_blocks + injection.trailing
        return context.replace(messages=list(injection.messages), dynamic_trailing_blocks=trailing)

    return handler


class ContextInjector(Plugin):
    """Injects any text before a model call: Strands' plugin of this name over mnemic's engine.

    `render_content` gets Strands' `InjectionContext`. An exception of it or the trigger skips the injection and is
    counted (`counts`); malformed messages do, too.
    """

    name = "mnemic:context-injector"

    def __init__(
        self, render_content: Callable[[StrandsContext], Any], *, name: str | None = None, trigger: Any = None
    ) -> None:
        self.name = name or type(self).name
        self.counts: Counter[str] = Counter()
        self._render = render_content
        self._trigger = trigger or "userTurn"
        super().__init__()

    def init_agent(self, agent: Agent) -> None:
        """Register on the agent's model input."""
        injector = text_injector(self._render, trigger=self._trigger)
        injector.counts = self.counts
        agent.add_middleware(InvokeModelStage.Input, injection_handler(_texts(injector)))


def text_injector(render_content: Callable[[StrandsContext], Any], *, trigger: Any, **options: Any) -> TextInjector:
    """Return a `TextInjector` with Strands' callbacks: they see the agent, too."""
    render: RenderContent = _strands_callback(render_content)
    chosen = _strands_callback(trigger) if callable(trigger) else trigger
    return TextInjector(render, trigger=chosen, **{"placement": "append", **options})


def _strands_callback(callback: Callable[[StrandsContext], Any]) -> Callable[[InjectionContext], Any]:
    def call(context: InjectionContext) -> Any:
        agent = context.state
        return callback(StrandsContext(messages=list(context.messages), state=agent.state, agent=agent))

    return call


def _texts(injector: TextInjector) -> Inject:
    async def inject(context: InvokeModelContext) -> Injection:
        return await injector.inject(context.messages, state=context.agent)

    return inject


class MnemicMemory(Plugin):
    """Memory for an agent without a `MemoryManager`: injects before the model is called, captures after the turn.

        agent = Agent(plugins=[MnemicMemory(engine, Actor(user="ana"))])

    `last` is the latest turn's injection, `counts` the outcomes of all injections and captures. A turn with a failed
    capture has its answer; the messages are captured with the next turn. `capture=False` only injects; with `tools` the
    model may search and add, too.
    """

    name = "mnemic:memory"

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        config: InjectionConfig | None = None,
        *,
        sources: Sequence[MemorySource] = (),
        capture: bool = True,
        tools: bool = False,
    ) -> None:
        self.memory = TurnMemory(
            engine, actor, config or InjectionConfig(placement="append"), sources=sources, by="strands"
        )
        self._captures = capture
        self._offers = tools
        self._said: list[str] = []
        super().__init__()

    @property
    def last(self) -> Injection | None:
        """Injection that the latest turn was shown, in every call of its tool loop."""
        return self.memory.last

    @property
    def counts(self) -> Counter[str]:
        """Number of times each thing happened, by its reason."""
        return self.memory.counts

    def init_agent(self, agent: Agent) -> None:
        """Register on the agent's model input, its turns, and its tools."""
        agent.add_middleware(InvokeModelStage.Input, injection_handler(self._inject))
        if self._captures:
            agent.add_hook(self._heard, MessageAddedEvent)
            agent.add_hook(self._capture_turn, AfterInvocationEvent)
        if self._offers:
            agent.tool_registry.process_tools([tool(function) for function in self.memory.tools])

    async def _inject(self, context: InvokeModelContext) -> Injection:
        return await self.memory.inject(context.messages, state=context.agent.state)

    def _heard(self, event: MessageAddedEvent) -> None:
        if is_user_turn([event.message]) and text_of(event.message):
            self._said += latest_asks([event.message], self.memory.actor.user)

    async def _capture_turn(self, event: AfterInvocationEvent) -> None:
        said, self._said = self._said, []
        await self.memory.capture(*said, answer=answer_in(event.agent.messages))
