"""Messages of a call to a model: the user's question, the model's answer, and the turns before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.extract import is_name_of
from mnemic.extract.conversation_context import TURNS_BEFORE
from mnemic.inject.messages import (
    ASSISTANT,
    USER,
    has_tool_result,
    is_user_turn,
    named_as,
    role_of,
    text_of,
    user_text_of,
)
from mnemic.types import Message


def latest_ask(messages: Sequence[Any]) -> tuple[int, str] | None:
    """Return the index of the user's latest request in `messages`, and its text; None if there is none."""
    return next(((at, text_of(messages[at])) for at in reversed(range(len(messages))) if is_ask(messages[at])), None)


def latest_asks(messages: Sequence[Any], user: str = "") -> list[str]:
    """Return what `user` said in the latest turn: in the last ask, and in those right before it without an answer. A
    message under another person's name is that person's.
    """
    latest = latest_ask(messages)
    if latest is None:
        return []
    turn = messages[_turn_start(messages, latest[0]) : latest[0] + 1]
    return [user_text_of(message) for message in turn if is_name_of(named_as(message), user)]


def answer_in(messages: Sequence[Any]) -> str | None:
    """Return the text of the last message if it is the model's; None for any other, and for one without text."""
    try:
        last = messages[-1] if messages else None
        return text_of(last) or None if last is not None and role_of(last) == ASSISTANT else None
    except InvalidInput:
        return None


def asks_of_turn(messages: Sequence[Any]) -> tuple[list[str], bool]:
    """Return the user's messages of the open turn: the ask that began it, and those added while its tool loop ran. And
    whether a tool has answered in it.
    """
    said: list[str] = []
    looped = passing = False
    for message in reversed(messages):
        if is_ask(message):
            said.append(text_of(message))
            passing = False
        elif _is_tool_result(message):
            looped = passing = True
        elif said and not passing:
            break
    return said[::-1], looped


def turns_before(messages: Sequence[Any], session: str | None = None) -> tuple[Message, ...]:
    """Return the last turns in words before the user's latest question, oldest first."""
    latest = latest_ask(messages)
    return spoken(messages[: _turn_start(messages, latest[0])] if latest is not None else (), session)


def _turn_start(messages: Sequence[Any], ask: int) -> int:
    """Return the index of the first of the asks without an answer that end with the one at `ask`."""
    while ask > 0 and is_ask(messages[ask - 1]):
        ask -= 1
    return ask


def spoken(messages: Sequence[Any], session: str | None = None) -> tuple[Message, ...]:
    """Return the last of the messages with words of user or model, oldest first."""
    found: list[Message] = []
    for message in reversed(messages):
        said = message if isinstance(message, Message) else _as_message(message, session)
        if said is not None:
            found.insert(0, said)
        if len(found) == TURNS_BEFORE:
            break
    return tuple(found)


def _as_message(message: Any, session: str | None) -> Message | None:
    try:
        role = role_of(message)
        text = text_of(message) if role in (USER, ASSISTANT) and not has_tool_result(message) else ""
    except InvalidInput:
        return None
    return Message(role=role, content=text, session=session) if text else None


def mark_of(message: Any) -> int:
    """Return a number by which the same message is recognised in a later call."""
    return hash(repr(message))


def _is_tool_result(message: Any) -> bool:
    try:
        return has_tool_result(message)
    except InvalidInput:
        return False


def is_ask(message: Any) -> bool:
    """Return True if the message is the user's, with words, and no answer of a tool."""
    try:
        return is_user_turn([message]) and bool(text_of(message))
    except InvalidInput:
        return False
