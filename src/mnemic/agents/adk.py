"""Google ADK: a memory service, and a plugin that injects and captures.

`pip install "mnemic[adk]"`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from mnemic.agents.turns import TurnMemory, memory_fields, shown_for
from mnemic.engine import MemoryEngine
from mnemic.inject import Injection, InjectionConfig
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor, Origin
from mnemic.types.recall_limits import DEFAULT_MAX_ENTRIES

with brought_by("adk"):
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.models.llm_request import LlmRequest
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.sessions.session import Session
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types

SEARCH_RESULTS = DEFAULT_MAX_ENTRIES
_USERS = 10_000
_EVENTS = 10_000


class MnemicMemoryService(BaseMemoryService):
    """The memories of all users of a runner, as ADK's memory service: `load_memory` and `preload_memory` work with it.

        service = MnemicMemoryService(engine)
        app = App(name="travel", root_agent=agent, plugins=[MnemicPlugin(service)])
        runner = Runner(app=app, memory_service=service, session_service=...)

    The runner determines the actor: `user_id` is the user, `app_name` the agent. Raises MnemicError if the engine does;
    ADK's tools and the plugin continue without it.
    """

    def __init__(self, engine: MemoryEngine, config: InjectionConfig | None = None, *, tenant: str = "default") -> None:
        self._engine = engine
        self._config = config
        self._tenant = tenant
        self._users: OrderedDict[tuple[str, str], TurnMemory] = OrderedDict()
        self._captured: OrderedDict[str, None] = OrderedDict()

    def memory_of(self, app_name: str, user_id: str) -> TurnMemory:
        """Memory of one user; `last` and `counts` report the injections and captures."""
        memory = self._users.pop((app_name, user_id), None)
        if memory is None:
            actor = Actor(tenant=self._tenant, user=user_id, agent=app_name)
            memory = TurnMemory(self._engine, actor, self._config, by="adk")
        self._users[app_name, user_id] = memory
        if len(self._users) > _USERS:
            self._users.popitem(last=False)
        return memory

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the user's memories that are about `query`, best first."""
        memory = self.memory_of(app_name, user_id)
        await memory.open()
        found = await shown_for(self._engine, memory.actor, query, SEARCH_RESULTS)
        return SearchMemoryResponse(memories=[_entry(memory_fields(hit.memory, memory.actor)) for hit in found.hits])

    async def add_session_to_memory(self, session: Session) -> None:
        """Capture the user's statements in the session; events that were captured before are skipped."""
        await self.add_events_to_memory(app_name=session.app_name, user_id=session.user_id, events=session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Capture the user's statements in these events, each once."""
        for place, event in enumerate(events):
            if event.author == "user" and event.id not in self._captured:
                before = [_plain(one.content) for one in events[:place] if one.content is not None]
                await self.memory_of(app_name, user_id).capture(join_texts(event.content), before=before)
                self._captured[event.id] = None
                if len(self._captured) > _EVENTS:
                    self._captured.popitem(last=False)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store each entry. An entry without the `author` "user" is a model's, which has less trust. Raises
        MnemicError.
        """
        memory = self.memory_of(app_name, user_id)
        await memory.open()
        for entry in memories:
            origin = Origin.USER_STATED if entry.author == "user" else Origin.AGENT_INFERRED
            await self._engine.add(join_texts(entry.content), actor=memory.actor, origin=origin)

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget one of the user's memories. Raises MemoryNotFound, also for another user's."""
        memory = self.memory_of(app_name, user_id)
        await memory.open()
        await self._engine.forget(memory_id or "", actor=memory.actor)

    @property
    def tools(self) -> list[Callable[..., Awaitable[dict[str, Any]]]]:
        """`search_memory` and `add_memory` for an agent's `tools`; the runner determines the actor."""

        async def search_memory(
            query: str, tool_context: ToolContext, max_results: int = 5, min_score: float = 0.0, asked_at: str = ""
        ) -> dict[str, Any]:
            memory = self.memory_of(tool_context.session.app_name, tool_context.session.user_id)
            return await memory.search_memory(query, max_results, min_score, asked_at)

        async def add_memory(content: str, tool_context: ToolContext) -> dict[str, Any]:
            memory = self.memory_of(tool_context.session.app_name, tool_context.session.user_id)
            return await memory.add_memory(content)

        search_memory.__doc__ = TurnMemory.search_memory.__doc__
        add_memory.__doc__ = TurnMemory.add_memory.__doc__
        return [search_memory, add_memory]


class MnemicPlugin(BasePlugin):
    """Injects memories before the model call, and captures the user's statements after the run.

    The block is only in the contents of the request, never in the session's events.
    """

    def __init__(self, service: MnemicMemoryService, *, name: str = "mnemic", capture: bool = True) -> None:
        super().__init__(name)
        self._service = service
        self._captures = capture

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Put the block into the request."""
        session = callback_context.session
        memory = self._service.memory_of(session.app_name, session.user_id)
        contents = llm_request.contents
        thread = callback_context.invocation_id
        injection = await memory.inject([_plain(one) for one in contents], state=session.state, thread=thread)
        if injection.injected:
            llm_request.contents = _add_blocks(contents, injection)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Capture the turn, which has ended."""
        session, asked = invocation_context.session, invocation_context.user_content
        if self._captures and asked is not None:
            answer = join_texts(session.events[-1].content) if session.events else None
            await self._service.memory_of(session.app_name, session.user_id).capture(join_texts(asked), answer=answer)


def join_texts(content: types.Content | None) -> str:
    """Return the texts of a content, joined by line ends."""
    return "\n".join(part.text for part in (content.parts if content else None) or () if part.text)


def _entry(memory: Mapping[str, Any]) -> MemoryEntry:
    content = types.Content(role="user", parts=[types.Part(text=memory["content"])])
    return MemoryEntry(
        id=memory["memory_id"],
        content=content,
        timestamp=memory["date"],
        custom_metadata={"trusted": memory["trusted"]},
    )


def _add_blocks(contents: Sequence[types.Content], injection: Injection) -> list[types.Content]:
    folded = list(contents)
    for placed in injection.blocks:
        content = folded[placed.at]
        block, parts = types.Part(text=placed.text), content.parts or []
        folded[placed.at] = content.model_copy(update={"parts": [block, *parts] if placed.front else [*parts, block]})
    return folded


def _plain(content: types.Content) -> dict[str, Any]:
    """Return the content as the injection reads it: its role, its texts, and whether a tool answers in it."""
    blocks: list[dict[str, str]] = []
    for part in content.parts or []:
        if part.function_response is not None:
            blocks.append({"type": "tool_result"})
        elif part.text:
            blocks.append({"text": part.text})
    return {"role": content.role or "user", "content": blocks}
