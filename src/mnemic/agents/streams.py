"""Streamed answers: the text that a program reads from a stream is recorded, so that the whole answer can be stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

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


class _Recording:
    """A stream, or the context manager that opens one, with the text read so far. Other attributes are the stream's."""

    def __init__(self, inner: Any, ended: Callable[[str | None], Any]) -> None:
        self._inner = inner
        self._ended = ended
        self._stream = inner
        self._pieces: list[str] = []
        self._reported = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _answer(self) -> str | None:
        """Return the text so far; a client's own stream knows it, however the program reads it."""
        for name in _SNAPSHOTS:
            try:
                if text := text_of(getattr(self._stream, name)):
                    return text
            except Exception:  # noqa: BLE001, S112 - nothing has arrived: each client has a different error for it
                continue
        return "".join(self._pieces) or None


class RecordingStream(_Recording):
    """A synchronous stream. `ended` receives the answer once, when the program has read or closed it."""

    def __iter__(self) -> Iterator[Any]:
        for event in self._stream:
            self._pieces.append(piece_of(event))
            yield event
        self._report()

    def __next__(self) -> Any:
        try:
            event = next(self._stream)
        except StopIteration:
            self._report()
            raise
        self._pieces.append(piece_of(event))
        return event

    def __enter__(self) -> RecordingStream:
        self._stream = self._inner.__enter__()
        return self

    def __exit__(self, *failure: Any) -> Any:
        self._report()
        return self._inner.__exit__(*failure)

    def close(self) -> None:
        """Close the stream."""
        self._report()
        self._stream.close()

    def _report(self) -> None:
        if not self._reported:
            self._reported = True
            self._ended(self._answer())


class RecordingAsyncStream(_Recording):
    """An asynchronous stream. `ended` receives the answer once, when the program has read or closed it."""

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for event in self._stream:
            self._pieces.append(piece_of(event))
            yield event
        await self._report()

    async def __anext__(self) -> Any:
        try:
            event = await anext(self._stream)
        except StopAsyncIteration:
            await self._report()
            raise
        self._pieces.append(piece_of(event))
        return event

    async def __aenter__(self) -> RecordingAsyncStream:
        self._stream = await self._inner.__aenter__()
        return self

    async def __aexit__(self, *failure: Any) -> Any:
        await self._report()
        return await self._inner.__aexit__(*failure)

    async def close(self) -> None:
        """Close the stream."""
        await self._report()
        await self._stream.close()

    async def _report(self) -> None:
        if not self._reported:
            self._reported = True
            await self._ended(self._answer())
