"""The blocks of one run, put back into the messages that took them up: a tool loop sends these again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mnemic.inject.injection_result import Injection, InjectionRun, PlacedBlock
from mnemic.inject.insert_text import fold_at
from mnemic.inject.messages import TOOL, USER, content_of, has_tool_result, role_of, text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinsertedBlocks:
    """Messages with the `blocks` of the calls before in them, each at its place of now."""

    messages: Sequence[Any] = field(repr=False)
    blocks: tuple[PlacedBlock, ...] = ()

    def injection(self, run: InjectionRun, new: PlacedBlock | None = None) -> Injection:
        """Return the injection of these blocks, and of a `new` one."""
        blocks = self.blocks if new is None else (*self.blocks, new)
        if not blocks:
            return Injection(messages=self.messages, run=run)
        last = blocks[-1]
        return Injection(
            messages=self.messages,
            injected=True,
            entries=tuple(entry for block in blocks for entry in block.entries),
            text=last.text,
            digest=last.digest,
            at=last.at,
            front=last.front,
            trailing=sum(not block.front and block.at == len(self.messages) - 1 for block in blocks),
            blocks=blocks,
            run=run,
        )


def carry(messages: Sequence[Any], placed: Sequence[PlacedBlock]) -> ReinsertedBlocks:
    """Return `messages` with each block in its former message. If that was cut off, the block of the user's question
    goes into the user's last remaining message, else into the last answer of a tool; any other block is dropped. Raises
    InvalidInput (`invalid_input:message`) for messages of an unknown shape.
    """
    blocks: list[PlacedBlock] = []
    folded = messages
    for block in placed:
        now = _placed_now(block, messages)
        if now is not None:
            blocks.append(now)
            folded = fold_at(folded, now.text, now.at, front=now.front).messages
    return ReinsertedBlocks(messages=folded, blocks=tuple(blocks))


def words_in(message: Any) -> str:
    """Return the identity of a message in a later call: its text, or the answer of a tool in it."""
    return text_of(message) or repr(content_of(message))


def _placed_now(block: PlacedBlock, messages: Sequence[Any]) -> PlacedBlock | None:
    at = _place_of(block, messages)
    if at is not None:
        return replace(block, at=at)
    at = _last_left(messages) if block.is_asks else None
    if at is None:
        return None
    front = block.front and not has_tool_result(messages[at])
    return replace(block, at=at, front=front, said=words_in(messages[at]))


def _place_of(block: PlacedBlock, messages: Sequence[Any]) -> int | None:
    """Return the place of the message that contains the block: its old place, or another if an earlier message was cut
    away.
    """
    if block.at < len(messages) and words_in(messages[block.at]) == block.said:
        return block.at
    places = (at for at in reversed(range(len(messages))) if role_of(messages[at]) in (USER, TOOL))
    return next((at for at in places if words_in(messages[at]) == block.said), None)


def _last_left(messages: Sequence[Any]) -> int | None:
    """Return the place of the user's last message, a tool's answer only if no other message takes a text."""
    places = [at for at in reversed(range(len(messages))) if role_of(messages[at]) in (USER, TOOL)]
    asks = (at for at in places if not has_tool_result(messages[at]))
    return next(asks, next((at for at in places if content_of(messages[at])), None))
