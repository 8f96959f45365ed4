"""The blocks of one run, put back into the messages that took them up: a tool loop sends these again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mnemic.inject.fold import fold_at
from mnemic.inject.injection import Injection, InjectionRun, Placed
from mnemic.inject.messages import USER, role_of, text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """Messages with the `blocks` of the calls before in them, each at its place of now."""

    messages: Sequence[Any] = field(repr=False)
    blocks: tuple[Placed, ...] = ()

    def injection(self, run: InjectionRun, new: Placed | None = None) -> Injection:
        """The injection of these blocks, and of a `new` one."""
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


def carry(messages: Sequence[Any], placed: Sequence[Placed]) -> Carried:
    """`messages` with each block in the message that took it up; a block whose message is gone is left out. Raises
    InvalidInput (`invalid_input:message`) for messages of no known shape.
    """
    blocks: list[Placed] = []
    folded = messages
    for block in placed:
        at = _place_of(block, messages)
        if at is not None:
            blocks.append(replace(block, at=at))
            folded = fold_at(folded, block.text, at, front=block.front).messages
    return Carried(messages=folded, blocks=tuple(blocks))


def _place_of(block: Placed, messages: Sequence[Any]) -> int | None:
    """Return the place of the message that took up the block: its old place, or another where an earlier message was
    cut away.
    """
    if block.at < len(messages) and text_of(messages[block.at]) == block.said:
        return block.at
    places = (at for at in reversed(range(len(messages))) if role_of(messages[at]) == USER)
    return next((at for at in places if text_of(messages[at]) == block.said), None)
