"""A conversation's messages as episodic candidates, each with the context that makes a short message findable."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from mnemic.extract import is_other_person, name_parts
from mnemic.language.sentences.pasted_text import data_spans
from mnemic.policy.proposal_check import MAX_CONTENT_CHARS
from mnemic.reason_codes import NOT_DURABLE, TRANSIENT
from mnemic.types import (
    PARTICIPANT,
    PASTED,
    UTC_OFFSET,
    Candidate,
    JsonValue,
    Kind,
    Memory,
    Message,
    Origin,
    Source,
    Trust,
)
from mnemic.types.memory_kinds import TRUST
from mnemic.types.search import MESSAGE_CATEGORY

_INJECTED = re.compile(r'<memory fence="([^"\n]{1,64})">\n(?:.*\n)*?fence \1\n</memory>\n*')
"""Matches a block that an injection adds to a call (`mnemic.inject.render`). Recalled text is not extracted again."""

SHORT_WORDS = 60
"""Length in words from which a message is found by its own words; a shorter one is also found by the message it
answers.
"""

_PERSONS = frozenset({Origin.USER_STATED, Origin.OPERATOR, Origin.IMPORT})
_PASSING = frozenset({TRANSIENT, NOT_DURABLE})
_READ = _PASSING | {
    "hypothetical",
    "sarcasm",
    "joke",
    "opinion",
    "third_party",
    "not_understood",
    "too_long",
    "max_capture_items",
}
"""Reasons for omissions from messages that are still the user's own words and allowed by policy."""
_OF_PROPOSALS = (
    "unsupported",
    "duplicate",
    "unknown_memory",
    "invalid_memory_candidates",
    "memory_key_not_allowed_policy",
    "memory_scope_not_allowed_policy",
)
"""Reasons for refusing what a model proposes. They say nothing about the message: a model that proposes nonsense, or
nothing, must not cost the user their words.
"""


def is_recorded(skipped: Collection[str], *, stored: bool) -> bool:
    """Return True if a message is recorded in addition to its captured candidates, so that statements missed by the
    rules can still be found.

    False if it only asks or chats, shows another person's words, or contains something that policy leaves out.
    `skipped` are the reasons of its extraction; `stored`: a candidate of it was stored.
    """
    reasons = frozenset(one for one in skipped if one.partition(":")[0] not in _OF_PROPOSALS)
    return reasons <= _READ and (stored or not reasons <= _PASSING)


def message_candidates(messages: Sequence[Message]) -> list[Candidate]:
    """Return one candidate per message, in order; its context is the message before it.

    Messages without text and summaries give none: derived text was not said by anybody. Injected blocks are removed.
    Context never crosses the end of a session.
    """
    candidates = []
    previous: Message | None = None
    for message in map(_as_said, messages):
        if message.content.strip() and not message.derived_from:
            candidates.append(_candidate(message, previous))
            previous = message
    return candidates


def _as_said(message: Message) -> Message:
    # A plain search first: the expression is slow on long texts, and hardly any message has a block.
    if "<memory fence=" not in message.content:
        return message
    return replace(message, content=_INJECTED.sub("", message.content))


def in_parts(message: Message) -> Iterator[Message]:
    """Yield the message, or its parts if it is too long for one memory. A message without text has no part."""
    for part in text_parts(message.content):
        yield message if part == message.content else replace(message, content=part)


def text_parts(text: str) -> Iterator[str]:
    """Yield the text, or its parts if it is too long for one memory, cut between paragraphs, lines, sentences or words.
    White space at a cut is dropped, nothing else; a blank text has no part.
    """
    while len(text) > MAX_CONTENT_CHARS:
        marks = ("\n\n", "\n", ". ", " ")
        # From the end backwards, at the coarsest mark there is; a text without any is cut in the middle of a word.
        cut = next((at + 1 for mark in marks if (at := text.rfind(mark, 1, MAX_CONTENT_CHARS)) > 0), MAX_CONTENT_CHARS)
        if text[:cut].strip():
            yield text[:cut].rstrip()
        text = text[cut:].lstrip()
    if text.strip():
        yield text


def _candidate(message: Message, previous: Message | None) -> Candidate:
    return Candidate(
        content=message.content,
        kind=Kind.EPISODIC,
        category=MESSAGE_CATEGORY,
        context=_context(message, previous),
        data=_marks(message),
        source=Source(
            origin=message.origin,
            ref=message.message_id,
            session=message.session,
            speaker=message.speaker or message.role,
            quote=None,
        ),
        occurred_at=message.sent_at,
    )


def _marks(message: Message) -> dict[str, JsonValue]:
    """Return the data of a message that its memory stores in addition to the source."""
    offset = None if message.sent_at is None else message.sent_at.utcoffset()
    minutes = 0 if offset is None else int(offset.total_seconds()) // 60
    marks = {PASTED: _is_pasted(message), PARTICIPANT: is_other_person(message), UTC_OFFSET: minutes}
    return {name: given for name, given in marks.items() if given}


def _is_pasted(message: Message) -> bool:
    """Return True if a person's message has more quoted words than own ones."""
    if message.origin not in _PERSONS:
        return False
    shown = " ".join(
        message.content[start:end] for start, end in data_spans(message.content, name_parts(message.speaker))
    )
    # More than half of the words.
    return 2 * len(shown.split()) > len(message.content.split())


def _context(message: Message, previous: Message | None) -> str:
    """Return the text before it, if both are short enough to need each other."""
    if previous is None or previous.session != message.session:
        return ""
    if max(len(message.content.split()), len(previous.content.split())) > SHORT_WORDS:
        return ""
    return previous.content


def _in_own_zone(memory: Memory) -> datetime:
    minutes = memory.data.get(UTC_OFFSET)
    ahead = timedelta(minutes=minutes if type(minutes) is int else 0)
    return memory.happened_at.astimezone(timezone(ahead)) if abs(ahead) < timedelta(days=1) else memory.happened_at


def recorded_message(memory: Memory) -> Message:
    """Return the message that was recorded as this memory."""
    origin = memory.source.origin
    own = TRUST[origin] is Trust.HIGH or origin is Origin.IMPORT
    role = "user" if own else "assistant" if origin is Origin.AGENT_INFERRED else "tool"
    speaker = memory.source.speaker
    if own and PARTICIPANT in memory.data:
        role = PARTICIPANT
    return replace(
        Message(role=role, content=memory.content, sent_at=_in_own_zone(memory), origin=origin),
        session=memory.source.session,
        message_id=memory.source.ref,
        speaker=None if speaker in (None, role) else speaker,
    )
