"""Is what should stand in every answer in the context that a model call would be given?

The user's messages of a chat are captured by rules, beside the messages themselves, as a program does that remembers a
conversation; then a block is made for each question, with the defaults of an injection. `in_context`: an entry of the
block says what is wanted (`says_same`), or is the user's own message that said it.
`standing`: a pinned entry says it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np

from mnemic.extract import is_users_own
from mnemic.inject import InjectionConfig, SourceEntry, injector_for
from mnemic.language.text.analyse import terms
from mnemic.ports import Embedder
from mnemic.types import Message
from mnemic.types.search import MESSAGE_CATEGORY
from mnemic_eval.outcome import Asked
from mnemic_eval.replay import Replayed

FIGURES = ("in_context", "standing")
SAME_WORDS, FEWEST_WORDS, SAME_COSINE = 0.5, 2, 0.7
PATIENT = InjectionConfig(timeout=timedelta(minutes=2))
"""The defaults of an injection, but for the time it has: figures do not depend on the load of the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A question, and the instruction or preference that its answer has to follow, with the messages that said it."""

    question_id: str
    question: str = field(repr=False)
    category: str
    wanted: str = field(repr=False)
    evidence: frozenset[str]


async def follow_wishes(
    conversation: Replayed, messages: Sequence[Message], wishes: Sequence[Wish], split: str
) -> list[Asked]:
    """Capture the user's `messages`, then look into the context of each question."""
    if not wishes:
        return []
    for message in messages:
        if is_users_own(message) and message.content.strip():
            await conversation.engine.capture(message, actor=conversation.actor)
    return [await _look_into_context(conversation, wish, split) for wish in wishes]


async def _look_into_context(conversation: Replayed, wish: Wish, split: str) -> Asked:
    injection = await injector_for(conversation.engine, conversation.actor, PATIENT).inject(
        [{"role": "user", "content": wish.question}]
    )
    captured = [entry for entry in injection.entries if not _is_message(entry)]
    texts = [entry.content for entry in captured]
    same = await says_same(texts, wish.wanted, conversation.engine.embedder)
    saying = [entry for entry, says in zip(captured, same, strict=True) if says]
    said = any(_is_message(entry) and _ref(entry) in wish.evidence for entry in injection.entries)
    return Asked(
        question_id=wish.question_id,
        category=wish.category,
        split=split,
        figures={
            "in_context": float(said or bool(saying)),
            "standing": float(any(entry.pinned for entry in saying)),
        },
        question=wish.question,
        wanted=tuple(sorted(wish.evidence)),
        ranked=tuple(_ref(entry) for entry in injection.entries),
    )


async def says_same(texts: Sequence[str], wanted: str, embedder: Embedder) -> list[bool]:
    """Return whether each text says what is wanted: it shares half of the content words of the shorter (two at least),
    or is as near to it.
    """
    if not texts:
        return []
    vectors = np.stack([np.frombuffer(one, np.float32) for one in await embedder.embed([*texts, wanted])])
    return [
        _shared_part(text, wanted) >= SAME_WORDS or float(vector @ vectors[-1]) >= SAME_COSINE
        for text, vector in zip(texts, vectors[:-1], strict=True)
    ]


def _shared_part(one: str, other: str) -> float:
    left, right = set(terms(one)), set(terms(other))
    both = len(left & right)
    return both / min(len(left), len(right)) if both >= FEWEST_WORDS else 0.0


def _is_message(entry: SourceEntry) -> bool:
    return entry.hit is not None and entry.hit.memory.category == MESSAGE_CATEGORY


def _ref(entry: SourceEntry) -> str:
    return str(entry.hit.memory.source.ref) if entry.hit is not None else ""
