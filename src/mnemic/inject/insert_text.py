"""Insert text into the model's input for one call. The given messages are never changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mnemic.errors import InvalidInput
from mnemic.inject.messages import USER, block_text, content_of, has_tool_result, role_of

Placement = Literal["auto", "append"]

SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertedText:
    """The messages with the text in them. `at` is the place of the message that contains it, None if there was none:
    then `messages` is the list that was given. `front` if the text precedes the present content. `trailing` counts the
    blocks added at the very end of the input, which a prompt cache had better leave out.
    """

    messages: Sequence[Any]
    at: int | None = None
    front: bool = False
    trailing: int = 0


def fold(
    messages: Sequence[Any], text: str, *, placement: Placement = "auto", separator: str = SEPARATOR
) -> InsertedText:
    """`text` in the last user message. `append` puts it after the present content; `auto` puts it before a plain user
    ask, so that the ask stays last, and after a tool result, which must stay first.

    The result shares every message except the changed one. Raises InvalidInput (`invalid_input:message`) for messages
    of no known shape.
    """
    # The last one: the input before it stays unchanged, as a prompt cache requires.
    at = next((place for place in reversed(range(len(messages))) if role_of(messages[place]) == USER), None)
    if at is None:
        return InsertedText(messages=messages)
    # Providers require a tool result directly after its call, so no text may precede it.
    front = placement == "auto" and not any(has_tool_result(one) for one in messages[at:])
    return fold_at(messages, text, at, front=front, separator=separator)


def fold_at(messages: Sequence[Any], text: str, at: int, *, front: bool, separator: str = SEPARATOR) -> InsertedText:
    """`text` in the message `at`, in `front` of its present content or after it. Raises as `fold` does."""
    message = messages[at]
    content = content_of(message)
    if isinstance(content, str):
        new: str | list[Any] = _join_parts([text, content] if front else [content, text], separator)
    else:
        new = _with_block(content, text, front, separator, like=messages, mapping=isinstance(message, Mapping))
    folded = [*messages[:at], _with_content(message, new), *messages[at + 1 :]]
    return InsertedText(messages=folded, at=at, front=front, trailing=int(not front and at == len(messages) - 1))


def _join_parts(parts: Sequence[str], separator: str) -> str:
    return separator.join(part for part in parts if part)


def _with_block(
    content: list[Any], text: str, front: bool, separator: str, *, like: Sequence[Any], mapping: bool
) -> list[Any]:
    speaks = any(block_text(block) is not None for block in content)
    apart = separator if speaks and not text.startswith("\n") else ""
    block = _block(text + apart if front else apart + text, content, like, mapping)
    return [block, *content] if front else [*content, block]


def _block(text: str, content: list[Any], like: Sequence[Any], mapping: bool) -> dict[str, Any]:
    """Return a text block in the style of the blocks around it."""
    # APIs refuse a block in another API's style, and the message itself may have none to copy.
    around = [block for block in content if isinstance(block, Mapping)] or list(_blocks(like))
    types = [str(block["type"]) for block in around if "type" in block]
    if any(kind.startswith(("input_", "output_")) for kind in types):
        return {"type": "input_text", "text": text}
    if types or not mapping:
        return {"type": "text", "text": text}
    return {"text": text}


def _blocks(messages: Sequence[Any]) -> Iterable[Mapping[str, Any]]:
    for message in messages:
        content = message.get("content") if isinstance(message, Mapping) else getattr(message, "content", None)
        if isinstance(content, list | tuple):
            yield from (block for block in content if isinstance(block, Mapping))


def _with_content(message: Any, content: str | list[Any]) -> Any:
    if isinstance(message, Mapping):
        return {**message, "content": content}
    if hasattr(message, "model_copy"):
        return message.model_copy(update={"content": content})
    if dataclasses.is_dataclass(message) and not isinstance(message, type):
        return dataclasses.replace(message, content=content)
    raise InvalidInput("message", hint="a message is a mapping, a dataclass, or has model_copy")
