"""Claude Agent SDK: injects into the calls of its command line to the model, captures at the end of a turn, with tools.

`pip install "mnemic[claude-agent]"`.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any

from mnemic.agents.turns import TurnMemory, latest_ask
from mnemic.engine import MemoryEngine
from mnemic.errors import NotSupported
from mnemic.inject import Injection, InjectionConfig, MemorySource
from mnemic.inject.messages import SYSTEM, block_text, role_of
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor

with brought_by("claude-agent"):
    import httpx2
    import uvicorn
    from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, create_sdk_mcp_server, tool
    from starlette.applications import Starlette
    from starlette.background import BackgroundTask
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route


_SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for, in plain words."},
        "max_results": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
        "min_score": {"type": "number", "minimum": 0, "maximum": 1, "default": 0},
        "asked_at": {
            "type": "string",
            "description": 'The time by which words such as "last week" are read, in ISO 8601 with a zone.',
            "default": "",
        },
    },
    "required": ["query"],
}
_ADD = {
    "type": "object",
    "properties": {"content": {"type": "string", "description": "What to remember, as one short statement."}},
    "required": ["content"],
}
_ANTHROPIC = "https://api.anthropic.com"
_OTHER_SERVERS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
_PROMPTS = 256
_ADDED_BY_THE_CLI = "<system-reminder>"


class MnemicMemory:
    """Memory for the Claude Agent SDK: the block is in the calls to the model alone, and the user's message is captured
    when the turn has ended.

        memory = MnemicMemory(engine, Actor(user="ana"))
        async with memory.options(ClaudeAgentOptions(model="...")) as options, ClaudeSDKClient(options) as client:
            await client.query("Which seat do I prefer?")

    The SDK stores all that a hook adds in the transcript of its session. Therefore its command line talks to the model
    through a server of this process, on the loopback, which adds the block to the calls that carry the user's prompt
    and changes nothing else. `memory` has the outcome (`last`, `counts`). With `tools` the model may search and add,
    too.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        config: InjectionConfig | None = None,
        *,
        sources: Sequence[MemorySource] = (),
        tools: bool = False,
    ) -> None:
        self.memory = TurnMemory(engine, actor, config, sources=sources, by="claude-agent")
        self._offers = tools
        self._prompts: OrderedDict[str, str] = OrderedDict()
        self._asked: dict[str, str] = {}

    @asynccontextmanager
    async def options(self, options: ClaudeAgentOptions | None = None) -> AsyncIterator[ClaudeAgentOptions]:
        """Yield `options` with the hooks, the address of the server, and the tools if they are offered, in addition to
        what `options` contain. The server runs until the block ends. Raises NotSupported (`claude_agent:provider`) if
        the command line asks another provider than Anthropic.
        """
        options = options or ClaudeAgentOptions()
        environment = {**os.environ, **options.env}
        if any(environment.get(name) for name in _OTHER_SERVERS):
            raise NotSupported("claude_agent:provider", hint="only Anthropic's own protocol has a base URL")
        hooks = {name: list(matchers) for name, matchers in (options.hooks or {}).items()}
        hooks.setdefault("UserPromptSubmit", []).append(HookMatcher(hooks=[self._on_prompt]))
        hooks.setdefault("Stop", []).append(HookMatcher(hooks=[self._on_stop]))
        async with serving(environment.get("ANTHROPIC_BASE_URL") or _ANTHROPIC, self._add_block) as address:
            given = replace(options, hooks=hooks, env={**options.env, "ANTHROPIC_BASE_URL": address})
            yield self._with_tools(given) if self._offers else given

    @property
    def server(self) -> Any:
        """A server in the process with `search_memory` and `add_memory`, for `mcp_servers`."""

        async def search_memory(given: dict[str, Any]) -> dict[str, Any]:
            return _answer(await self.memory.search_memory(**given))

        async def add_memory(given: dict[str, Any]) -> dict[str, Any]:
            return _answer(await self.memory.add_memory(**given))

        searching = tool("search_memory", "Search what is known of the user from earlier conversations.", _SEARCH)
        adding = tool("add_memory", "Remember one thing about the user for later conversations.", _ADD)
        return create_sdk_mcp_server("mnemic", tools=[searching(search_memory), adding(add_memory)])

    def _with_tools(self, options: ClaudeAgentOptions) -> ClaudeAgentOptions:
        given = options.mcp_servers if isinstance(options.mcp_servers, dict) else {}
        names = [f"mcp__mnemic__{name}" for name in ("search_memory", "add_memory")]
        servers = {**given, "mnemic": self.server}
        return replace(options, mcp_servers=servers, allowed_tools=[*options.allowed_tools, *names])

    async def _on_prompt(self, given: Any, _tool_use_id: str | None, _context: Any) -> dict[str, Any]:
        """Note the user's prompt: a hook of `UserPromptSubmit`, which adds nothing."""
        prompt, session = str(given["prompt"]), str(given["session_id"])
        self._asked[session] = prompt
        self._prompts[prompt.strip()] = session
        self._prompts.move_to_end(prompt.strip())
        if len(self._prompts) > _PROMPTS:
            self._prompts.popitem(last=False)
        return {}

    async def _on_stop(self, given: Any, _tool_use_id: str | None, _context: Any) -> dict[str, Any]:
        """Capture the turn, which has ended: a hook of `Stop`."""
        said = self._asked.pop(str(given["session_id"]), None)
        if said is not None:
            await self.memory.capture(said, answer=given.get("last_assistant_message"))
        return {}

    async def _add_block(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a call's body with the block in the user's message. Requests of the command line itself, such as for a
        title, are not prompts of the user and pass unchanged.
        """
        messages = body.get("messages")
        if not isinstance(messages, list):
            return body
        places = [at for at, message in enumerate(messages) if role_of(message) != SYSTEM]
        plain = [_without_reminders(messages[at]) for at in places]
        asked = latest_ask(plain)
        if asked is None or asked[1] not in self._prompts:
            return body
        injection = await self.memory.inject(plain, thread=self._prompts[asked[1]])
        return {**body, "messages": _inject_blocks(messages, places, injection)}


def _inject_blocks(messages: Sequence[Any], places: Sequence[int], injection: Injection) -> list[Any]:
    given = list(messages)
    for block in injection.blocks:
        message = given[places[block.at]]
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        text = {"type": "text", "text": block.text}
        given[places[block.at]] = {**message, "content": [text, *parts] if block.front else [*parts, text]}
    return given


def _without_reminders(message: Any) -> Any:
    """Return the message without the blocks that the command line adds to a user's."""
    content = message.get("content")
    if isinstance(content, str):
        return message
    kept = [block for block in content if not (block_text(block) or "").lstrip().startswith(_ADDED_BY_THE_CLI)]
    return {**message, "content": kept}


def _answer(result: dict[str, Any]) -> dict[str, Any]:
    """Return a tool's answer as MCP has it. An outage is an error."""
    content = [{"type": "text", "text": json.dumps(result, ensure_ascii=False)}]
    return {"content": content, "is_error": "error" in result}


Changed = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Returns the body of a call to the model with additions."""

_OF_THE_CONNECTION = frozenset(
    {"host", "connection", "keep-alive", "content-length", "transfer-encoding", "upgrade", "te", "trailer"}
)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@asynccontextmanager
async def serving(upstream: str, changed: Changed) -> AsyncIterator[str]:
    """Yield the address of a server that passes calls on to `upstream`, until the block ends."""
    secret = secrets.token_urlsafe(24)
    async with httpx2.AsyncClient(timeout=None) as http:

        async def forward(request: Request) -> Response:
            body = await request.body()
            if request.method == "POST" and request.path_params["path"] == "v1/messages":
                body = await _add_block(body, changed)
            url = f"{upstream.rstrip('/')}/{request.path_params['path']}"
            query = request.url.query
            headers = _own(request.headers.items())
            ask = http.build_request(
                request.method, f"{url}?{query}" if query else url, headers=headers, content=body or None
            )
            try:
                answer = await http.send(ask, stream=True)
            except httpx2.HTTPError as failure:
                return JSONResponse({"error": {"type": "api_error", "message": type(failure).__name__}}, 502)
            return StreamingResponse(
                answer.aiter_raw(),
                answer.status_code,
                dict(_own(answer.headers.items())),
                background=BackgroundTask(answer.aclose),
            )

        app = Starlette(routes=[Route(f"/{secret}/{{path:path}}", forward, methods=list(_METHODS))])
        with socket.create_server(("127.0.0.1", 0)) as listening:
            config = uvicorn.Config(
                app, log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1
            )
            server = _Server(config)
            running = asyncio.create_task(server.serve(sockets=[listening]))
            try:  # a connection that comes before the server runs waits in the socket
                yield f"http://127.0.0.1:{listening.getsockname()[1]}/{secret}"
            finally:
                server.should_exit = True
                await running


class _Server(uvicorn.Server):
    """A server inside another program, which handles the signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


async def _add_block(body: bytes, changed: Changed) -> bytes:
    """Return the body of a call with the block added; an unreadable one passes unchanged."""
    try:
        given = json.loads(body)
    except ValueError:
        return body
    if not isinstance(given, dict):
        return body
    after = await changed(given)
    return body if after is given else json.dumps(after, ensure_ascii=False).encode()


def _own(headers: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() not in _OF_THE_CONNECTION]
