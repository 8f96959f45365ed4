"""Memory around plain clients of OpenAI and Anthropic, and around other clients with their methods.

Needs no extra: the program brings the client.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar, cast

from mnemic.agents.streams import RecordingAsyncStream, RecordingStream, text_of
from mnemic.agents.turns import TurnMemory, latest_asks
from mnemic.inject import Injection
from mnemic.inject.messages import is_user_turn

__all__ = ["TurnMemory", "wrap"]

C = TypeVar("C")

_CALLS: Mapping[str, str] = MappingProxyType(
    {
        f"{where}.{verb}": argument
        for where, argument in (
            ("chat.completions", "messages"),
            ("responses", "input"),
            ("messages", "messages"),
            ("beta.messages", "messages"),
        )
        for verb in ("create", "parse", "stream")
    }
)
"""Methods that call a model, and the argument that contains the messages."""

_COPIES = frozenset({"with_options", "copy"})


def wrap(client: C, memory: TurnMemory) -> C:
    """`client` with a memory: its calls carry memories, and the user's question is captured once the model has
    answered.

        memory = TurnMemory(engine, Actor(user="ana"))
        client = wrap(OpenAI(), memory)
        client.chat.completions.create(model="...", messages=[{"role": "user", "content": "Which seat?"}])

    The caller's messages are not modified, so the program's conversation never contains the block. Synchronous and
    asynchronous clients, whole answers and streams: chat completions, Responses, and Anthropic's messages; every other
    method is the client's own. `memory.last` and `memory.counts` have the outcome.
    """
    return cast(C, _Wrapped(client, memory, asynchronous=hasattr(type(client), "__aenter__")))


class _Wrapped:
    """A client, or one of its parts."""

    def __init__(self, inner: Any, memory: TurnMemory, *, asynchronous: bool, path: str = "") -> None:
        self._inner = inner
        self._memory = memory
        self._asynchronous = asynchronous
        self._path = path

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        path = f"{self._path}.{name}".lstrip(".")
        if path in _CALLS:
            call = _Call(value, self._memory, _CALLS[path])
            if not self._asynchronous:
                return call.at_once
            return call.stream_recorded if name == "stream" else call.later
        if any(call.startswith(f"{path}.") for call in _CALLS):
            return _Wrapped(value, self._memory, asynchronous=self._asynchronous, path=path)
        if not self._path and name in _COPIES:
            return lambda *args, **options: wrap(value(*args, **options), self._memory)
        return value

    def __enter__(self) -> _Wrapped:
        self._inner.__enter__()
        return self

    def __exit__(self, *failure: Any) -> None:
        self._inner.__exit__(*failure)

    async def __aenter__(self) -> _Wrapped:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *failure: Any) -> None:
        await self._inner.__aexit__(*failure)


@dataclass(frozen=True, slots=True)
class _Call:
    """A method that asks a model, and the `argument` in which it takes the messages."""

    method: Callable[..., Any]
    memory: TurnMemory
    argument: str

    def at_once(self, *args: Any, **options: Any) -> Any:
        given = self._message_list(options)
        injection = self.memory.now(self.memory.inject, given)
        answer, said = self.method(*args, **self._with_block(options, injection)), self._asks_of_call(given)
        self.memory.now(self.memory.capture, *said, answer=text_of(answer))
        if not _is_stream(answer):
            return answer
        return RecordingStream(answer, lambda text: self.memory.now(self.memory.record_answer, *said, answer=text))

    async def later(self, *args: Any, **options: Any) -> Any:
        given = self._message_list(options)
        injection = await self.memory.inject(given)
        answer, said = (
            await self.method(*args, **self._with_block(options, injection)),
            self._asks_of_call(given),
        )
        await self.memory.capture(*said, answer=text_of(answer))
        return self._recording(answer, said) if _is_stream(answer) else answer

    @asynccontextmanager
    async def stream_recorded(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        given = self._message_list(options)
        injection = await self.memory.inject(given)
        async with self._recording(
            self.method(*args, **self._with_block(options, injection)), self._asks_of_call(given)
        ) as stream:
            await self.memory.capture(*self._asks_of_call(given))
            yield stream

    def _recording(self, stream: Any, said: Sequence[str]) -> RecordingAsyncStream:
        async def on_end(text: str | None) -> None:
            await self.memory.record_answer(*said, answer=text)

        return RecordingAsyncStream(stream, on_end)

    def _asks_of_call(self, messages: Sequence[Any]) -> list[str]:
        """Return the user's message in this call; empty in a tool loop, whose message came with an earlier call."""
        return latest_asks(messages, self.memory.actor.user) if is_user_turn(messages) else []

    def _message_list(self, options: Mapping[str, Any]) -> Sequence[Any]:
        """Return the messages as a list: the Responses protocol takes a bare text, too."""
        given = options.get(self.argument, ())
        return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)

    def _with_block(self, options: Mapping[str, Any], injection: Injection) -> dict[str, Any]:
        return {**options, self.argument: list(injection.messages)} if injection.injected else dict(options)


def _is_stream(answer: Any) -> bool:
    """Return True for an answer that arrives in pieces, and for the context manager of one."""
    return any(hasattr(type(answer), name) for name in ("__next__", "__anext__", "__enter__"))
