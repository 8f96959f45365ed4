"""Messages of the frameworks, read uniformly (the role, the text, and the place where text can be inserted), and text
put there for one call; the given messages are never changed.

Known shapes: mappings with `role` and `content` (text, or blocks as of Bedrock and Strands, Anthropic, and OpenAI's two
protocols), items of OpenAI's Responses protocol, and message objects with `type` and `content` as LangChain's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mnemic.errors import InvalidInput
from mnemic.inject.attachments import MOST, attached_file, attachment_note
from mnemic.types import AttachedFile

USER, ASSISTANT, TOOL, SYSTEM = "user", "assistant", "tool", "system"

_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("user", "human"), USER),
    **dict.fromkeys(("assistant", "ai", "model", "reasoning", "function_call", "AIMessageChunk"), ASSISTANT),
    **dict.fromkeys(("tool", "function", "function_call_output", "custom_tool_call_output"), TOOL),
    **dict.fromkeys(("system", "developer"), SYSTEM),
}
_TEXT_TYPES = frozenset({None, "text", "input_text", "output_text"})
_TOOL_RESULT_TYPES = frozenset({"tool_result", "mcp_tool_result", "function_call_output", "function_result"})


def role_of(message: Any) -> str:
    """Return `user`, `assistant`, `tool`, `system`, or the framework's own role. Raises InvalidInput
    (`invalid_input:message`) for an object that is not a message.
    """
    names = ("role", "type")
    # LangChain's messages have a `type` and no role; both are looked up, the role first.
    given = [message.get(name) for name in names] if isinstance(message, Mapping) else []
    if not isinstance(message, Mapping):
        given = [getattr(message, name, None) for name in names]
    for name in given:
        if isinstance(name, str):
            return _ROLES.get(name, name)
    raise InvalidInput("message", hint="a message has a role or a type")


def content_of(message: Any) -> str | list[Any]:
    """Return the message's text or its list of blocks; only a user's message must have one of the two.

    Raises InvalidInput (`invalid_input:message`) if it has not.
    """
    content = message.get("content") if isinstance(message, Mapping) else getattr(message, "content", None)
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence) and not isinstance(content, bytes):
        return list(content)
    if content is None and role_of(message) != USER:
        return []
    raise InvalidInput("message", hint="a message's content is a text or a list of blocks")


def block_text(block: Any) -> str | None:
    """Return the text of a text block, None for any other."""
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping) and block.get("type") in _TEXT_TYPES and isinstance(block.get("text"), str):
        text: str = block["text"]
        return text
    return None


def text_of(message: Any) -> str:
    """All the message's text blocks, joined by line ends, stripped."""
    content = content_of(message)
    texts = [content] if isinstance(content, str) else [block_text(block) for block in content]
    return "\n".join(text for text in texts if text).strip()


def user_text_of(message: Any) -> str:
    """Return the text of a user's message; what a program puts beside the user's words, as a text block of several
    lines before the last one, is fenced: it is shown and not said. A picture, a sound or a file is a line at the end.
    """
    content = content_of(message)
    if isinstance(content, str):
        return content.strip()
    texts = [text for one in content if (text := block_text(one))]
    *before, last = [text.strip() for text in texts if text.strip()] or [""]
    notes = [note for one in content if (note := attachment_note(one))]
    if len(notes) > MOST:
        notes[MOST - 1 :] = [f"[attached file: and {len(notes) - MOST + 1} more files]"]
    said = [*(f"```\n{text}\n```" if "\n" in text else text for text in before), last, *notes]
    return "\n".join(one for one in said if one)


def files_of(message: Any) -> tuple[AttachedFile, ...]:
    """Return the files in a message, `MOST` of them, of which the bytes are there."""
    content = content_of(message)
    found = [] if isinstance(content, str) else [file for one in content if (file := attached_file(one))]
    return tuple(found[:MOST])


def named_as(message: Any) -> str | None:
    """Return the name that a framework's message has for who says it; None without one."""
    name = message.get("name") if isinstance(message, Mapping) else getattr(message, "name", None)
    return name if isinstance(name, str) and name.strip() else None


def has_tool_result(message: Any) -> bool:
    """Return True if the message carries a tool's answer."""
    if role_of(message) == TOOL:
        return True
    content = content_of(message)
    return not isinstance(content, str) and any(_is_tool_result(block) for block in content)


def _is_tool_result(block: Any) -> bool:
    return isinstance(block, Mapping) and ("toolResult" in block or block.get("type") in _TOOL_RESULT_TYPES)


def is_user_turn(messages: Sequence[Any]) -> bool:
    """Return True if the model is asked by the user now, and not by a tool's result. False for no messages."""
    return bool(messages) and role_of(messages[-1]) == USER and not has_tool_result(messages[-1])


def default_query(messages: Sequence[Any]) -> str | None:
    """Return the query: the user's text on a user turn, else the assistant's last text, else the user's last question.
    None if there is no text.
    """
    if is_user_turn(messages):
        return text_of(messages[-1]) or None
    return _latest(messages, ASSISTANT) or _latest(messages, USER)


def _latest(messages: Sequence[Any], role: str) -> str | None:
    latest = next((message for message in reversed(messages) if _speaks(message, role)), None)
    return (text_of(latest) or None) if latest is not None else None


def _speaks(message: Any, role: str) -> bool:
    return role_of(message) == role and (role == ASSISTANT or not has_tool_result(message))


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
