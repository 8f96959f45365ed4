"""Answers that arrive in pieces: what a program reads of them is heard in passing, so that the whole can be kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

Ended = Callable[[str | None], Awaitable[None]]
"""Receives the answer of a stream once it has ended."""

_SNAPSHOTS = ("current_message_snapshot", "current_completion_snapshot")
"""Attributes of the clients' own streams with what has arrived so far."""


def piece_of(event: Any) -> str:
    """Return the text that an event of a stream adds to the answer, in one of the three protocols; empty for others."""
    choices = getattr(event, "choices", None)
    if isinstance(choices, list) and choices:
        content = getattr(getattr(choices[0], "delta", None), "content", None)
        return content if isinstance(content, str) else ""
    kind, delta = getattr(event, "type", None), getattr(event, "delta", None)
    if kind in ("content.delta", "response.output_text.delta"):
        return delta if isinstance(delta, str) else ""
    text = getattr(delta, "text", None) if kind == "content_block_delta" else None
    return text if isinstance(text, str) else ""


def text_of(answer: Any) -> str | None:
    """Return the text of a whole answer in one of the three protocols; None for anything else."""
    if isinstance(text := getattr(answer, "output_text", None), str):
        return text
    choices, blocks = getattr(answer, "choices", None), getattr(answer, "content", None)
    if isinstance(choices, list) and choices:
        content = getattr(choices[0].message, "content", None)
        return content if isinstance(content, str) else None
    texts = [block.text for block in blocks if hasattr(block, "text")] if isinstance(blocks, list) else []
    return "\n".join(texts) or None


class _Heard:
    """A stream, or the context manager that opens one, with the text that has passed. Everything else is its own."""

    def __init__(self, inner: Any, ended: Callable[[str | None], Any]) -> None:
        self._inner = inner
        self._ended = ended
        self._stream = inner
        self._pieces: list[str] = []
        self._told = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _answer(self) -> str | None:
        """Return the text so far; a client's own stream knows it, however the program reads it."""
        for name in _SNAPSHOTS:
            try:
                if text := text_of(getattr(self._stream, name)):
                    return text
            except Exception:  # noqa: BLE001, S112 - nothing has arrived: each client says so with an error of its own
                continue
        return "".join(self._pieces) or None


class HeardStream(_Heard):
    """A synchronous stream. `ended` receives the answer once, when the program has read or closed it."""

    def __iter__(self) -> Iterator[Any]:
        for event in self._stream:
            self._pieces.append(piece_of(event))
            yield event
        self._tell()

    def __next__(self) -> Any:
        try:
            event = next(self._stream)
        except StopIteration:
            self._tell()
            raise
        self._pieces.append(piece_of(event))
        return event

    def __enter__(self) -> HeardStream:
        self._stream = self._inner.__enter__()
        return self

    def __exit__(self, *failure: Any) -> Any:
        self._tell()
        return self._inner.__exit__(*failure)

    def close(self) -> None:
        """Close the stream."""
        self._tell()
        self._stream.close()

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            self._ended(self._answer())


class HeardAsyncStream(_Heard):
    """An asynchronous stream. `ended` receives the answer once, when the program has read or closed it."""

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for event in self._stream:
            self._pieces.append(piece_of(event))
            yield event
        await self._tell()

    async def __anext__(self) -> Any:
        try:
            event = await anext(self._stream)
        except StopAsyncIteration:
            await self._tell()
            raise
        self._pieces.append(piece_of(event))
        return event

    async def __aenter__(self) -> HeardAsyncStream:
        self._stream = await self._inner.__aenter__()
        return self

    async def __aexit__(self, *failure: Any) -> Any:
        await self._tell()
        return await self._inner.__aexit__(*failure)

    async def close(self) -> None:
        """Close the stream."""
        await self._tell()
        await self._stream.close()

    async def _tell(self) -> None:
        if not self._told:
            self._told = True
            await self._ended(self._answer())
