"""Extraction from a message: redacted if a model reads it, and with the author's known memories as context."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from mnemic.dispatch.gateway import MemoryGateway
from mnemic.engine.first_use import expressions_compiled
from mnemic.engine.later_words import with_later_words
from mnemic.errors import MemoryNotFound, MnemicError, NotSupported, StoreFailed, WriteBlocked
from mnemic.extract import Extraction, Extractor, is_users_own
from mnemic.extract.conversation_context import ANSWERED_WITHIN
from mnemic.extract.known_context import around_of, recorded_before
from mnemic.extract.layered_extractor import read_all, talk_around
from mnemic.extract.message_context import ALONE, WINDOW_TURNS, InformedExtractor, MessageContext
from mnemic.extract.rule_extractor import TOO_LONG
from mnemic.inject.attachments import Attached, split_attachments
from mnemic.language.sentences.requests_about_memory import split_requests
from mnemic.types import (
    ATTACHMENT,
    FILE_BYTES,
    MAX_FILE_BYTES,
    Actor,
    Candidate,
    Deadline,
    JsonValue,
    Level,
    Message,
    Origin,
    Skipped,
    Source,
    Where,
    lower_origin,
)
from mnemic.write.forget import forget

WORDS_WITH_FILE = 500
"""Characters of a message that the memory of its file repeats."""
KNOWN_FILES = 200
"""Files, the newest, that are known again by their hash and not described a second time."""
NO_MODEL = "rules take no instructions; name a language model with MNEMIC_MODEL"
"""Hint for instructions without a language model to follow them."""


async def read_message(
    gateway: MemoryGateway,
    extractor: Extractor,
    actor: Actor,
    message: Message,
    *,
    deadline: Deadline,
    before: Sequence[Message] | None = None,
) -> Extraction:
    """Return the extraction from `message`; `unknown` if it was read without known memories. `before`: the turns before
    it, oldest first; None for those that its session recorded. Raises the errors of the extractor.
    """
    await expressions_compiled()
    message, sent = await _without_attachments(gateway, actor, message, deadline)
    if not message.content.strip():
        return sent
    (shown,) = await _preceding_turns(gateway, extractor, actor, [message])
    if getattr(extractor, "asks_model", False) and not split_requests(message.content)[1]:
        return sent  # a request about memory is carried out, and states nothing
    asked: dict[str, Any] = {"policy": gateway.policy, "budget": gateway.budget, "deadline": deadline}
    unknown: str | None = None
    try:
        asked |= await surroundings(gateway, extractor, actor, shown, before, deadline=deadline)
    except StoreFailed as failure:  # extraction goes on; the write reports a store that stays unavailable
        unknown = failure.reason
    found = await extractor.extract(shown, **asked)
    found = _joined(found, sent)
    if unknown is not None:
        return replace(found, unknown=unknown)
    return await _changing(gateway, actor, shown, found, deadline)


async def surroundings(
    gateway: MemoryGateway,
    extractor: Extractor,
    actor: Actor,
    message: Message,
    before: Sequence[Message] | None,
    *,
    deadline: Deadline,
) -> dict[str, Any]:
    """Return the arguments of `extract` for the surroundings of `message` that the extractor reads: the turns `before`
    it (None: those that its session recorded), and the known memories that concern it. Raises StoreFailed.
    """
    if isinstance(extractor, InformedExtractor):
        if not is_users_own(message):
            return {}
        around = await _message_context(gateway, actor, [message], deadline)
        if before is not None:
            around = replace(around, before=await _preceding_turns(gateway, extractor, actor, before))
        return {"around": around}
    turns = await _recorded_turns(gateway, extractor, actor, message) if before is None else list(before)
    return dict(talk_around(extractor, [*turns, message], len(turns)))


async def _recorded_turns(
    gateway: MemoryGateway, extractor: Extractor, actor: Actor, message: Message
) -> list[Message]:
    """Return the turns shortly before `message` that its session recorded, for an extractor that reads them."""
    if not getattr(extractor, "reads_talk", False):
        return []
    turns = await recorded_before(gateway.searcher.store, message, await _known_to(gateway, actor))
    at = message.sent_at or gateway.clock.now()
    return [one for one in turns if at - (one.sent_at or at) <= ANSWERED_WITHIN]


async def _changing(
    gateway: MemoryGateway, actor: Actor, shown: Message, found: Extraction, deadline: Deadline
) -> Extraction:
    """`found` with the changes that the message implies; with `unknown` if the store could not be read. The write
    reports whether the rest can be stored.
    """
    try:
        return await with_later_words(gateway, actor, shown, found, deadline=deadline)
    except StoreFailed as failure:
        return replace(found, unknown=failure.reason)


async def with_implied_changes(
    gateway: MemoryGateway, extractor: Extractor, actor: Actor, message: Message, read: Extraction | MnemicError | None
) -> Extraction | MnemicError | None:
    """Return `read`, which was extracted together with other messages, extended by the changes that `message` implies
    to known memories. Call it once the earlier statements are written.
    """
    if not isinstance(read, Extraction):
        return read
    (shown,) = await _preceding_turns(gateway, extractor, actor, [message])
    return await _changing(gateway, actor, shown, read, gateway.budget.deadline(gateway.clock.monotonic))


async def read_messages(
    gateway: MemoryGateway,
    extractor: Extractor,
    actor: Actor,
    messages: Sequence[Message],
    *,
    before: Sequence[Message] = (),
    instructions: str = "",
    between_people: bool = False,
) -> list[Extraction | MnemicError | None]:
    """Return the extractions from several messages of the actor, in one call if the extractor can; None for those that
    are not the user's own words. Pass them on as `TurnRequest.read`. `before`: the preceding turns of the same session.
    `instructions`: facts that a language model should include or leave out; `between_people`: another person takes
    part. Raises NotSupported (`wishes`) if rules extract.
    """
    if instructions and not isinstance(extractor, InformedExtractor):
        raise NotSupported("wishes", hint=NO_MODEL)
    await expressions_compiled()
    deadline = gateway.budget.deadline(gateway.clock.monotonic)
    parted = [await _without_attachments(gateway, actor, one, deadline) for one in messages]
    messages = [one for one, _ in parted]
    shown = await _preceding_turns(gateway, extractor, actor, messages)
    if any(one.files for one in messages):
        deadline = gateway.budget.deadline(gateway.clock.monotonic)  # the words have the time that they have alone
    asked: dict[str, Any] = {"policy": gateway.policy, "budget": gateway.budget, "deadline": deadline}
    if isinstance(extractor, InformedExtractor):
        own = [one for one in shown if is_users_own(one)]
        around = replace(
            await _message_context(gateway, actor, own[:WINDOW_TURNS], deadline), instructions=instructions
        )
        asked["around"] = (
            replace(around, before=await _preceding_turns(gateway, extractor, actor, before)) if before else around
        )
    elif messages and not before:
        with suppress(StoreFailed):  # extraction goes on; the write reports a store that stays unavailable
            before = await _recorded_turns(gateway, extractor, actor, messages[0])
    read = await read_all(extractor, shown, before=tuple(before), between_people=between_people, **asked)
    return [
        _joined(one, sent) if isinstance(one, Extraction) else one for one, (_, sent) in zip(read, parted, strict=True)
    ]


async def _without_attachments(
    gateway: MemoryGateway, actor: Actor, message: Message, deadline: Deadline
) -> tuple[Message, Extraction]:
    """Return the message without its notes of attachments, and a statement that the user sent each, with the words that
    came with it and what a model says is in it. Without a model, or if it fails, that it was sent is not lost.
    """
    text, attached = split_attachments(message.content)
    if not attached or not is_users_own(message):
        return message, Extraction()
    files = {file.digest: file for file in message.files}
    words = " ".join(text.split())[:WORDS_WITH_FILE]
    described = await _known_descriptions(gateway, actor, files) if gateway.files.completer is not None else {}
    show = partial(redacted, gateway, actor)

    async def shows(one: Attached) -> tuple[str, str | None]:
        if one.digest in described or one.digest not in files:
            return described.get(one.digest or "", ""), None
        return await gateway.files.describe(files[one.digest], words, shown=show, deadline=deadline)

    told = f': "{words}"' if words else ""
    sent, failed, too_long = [], None, False
    for one, (seen, failure) in zip(attached, await asyncio.gather(*map(shows, attached)), strict=True):
        said = f"Sent {_an(one.word)}{f' ({one.known})' if one.known else ''}{told}"
        data: dict[str, JsonValue] = {"shows": seen} if seen else {}
        file = files.get(one.digest or "")
        if gateway.files.keeps and file is not None:
            if len(file.content) <= MAX_FILE_BYTES:
                data |= {"media": file.media, FILE_BYTES: file.base64}
            else:
                too_long = True
        source = Source(
            # What a model sees in a file, which may hold anybody's words, is not the user's own statement.
            origin=lower_origin(Origin.AGENT_INFERRED, message.origin) if seen else message.origin,
            ref=message.message_id if one.digest is None else f"sha256:{one.digest}",
            session=message.session,
            speaker=message.speaker,
        )
        sent.append(
            Candidate(
                content=f"{said}\nIt shows: {seen}" if seen else said,
                category=ATTACHMENT,
                data=data,
                source=source,
                occurred_at=message.sent_at,
            )
        )
        failed = failed or failure
    skipped = (Skipped(reason=TOO_LONG),) if too_long else ()
    return replace(message, content=text), Extraction(candidates=tuple(sent), degraded=failed, skipped=skipped)


async def _known_descriptions(gateway: MemoryGateway, actor: Actor, files: Collection[str]) -> dict[str, str]:
    """Return what is remembered to be in these files, by their hashes: a file that is sent again costs nothing. A store
    that cannot be read knows none; the write reports it.
    """
    found: dict[str, str] = {}
    if not files:
        return found
    where = replace(await _known_to(gateway, actor), categories=frozenset({ATTACHMENT}))
    with suppress(StoreFailed):
        for memory in await gateway.searcher.store.newest(where, limit=KNOWN_FILES):
            digest, shows = (memory.source.ref or "").removeprefix("sha256:"), memory.data.get("shows")
            if digest in files and isinstance(shows, str):
                found[digest] = shows
    return found


async def forget_notes(gateway: MemoryGateway, actor: Actor, written: Sequence[Candidate]) -> None:
    """Forget the notes that an earlier failure of the model left of files that are described now. If the store fails,
    they stay beside the descriptions.
    """
    described = {one.source.ref for one in written if one.category == ATTACHMENT and "shows" in one.data}
    if not described:
        return
    where = replace(await _known_to(gateway, actor), categories=frozenset({ATTACHMENT}))
    store = gateway.searcher.store
    with suppress(StoreFailed, MemoryNotFound, WriteBlocked):
        known = [one for one in await store.newest(where, limit=KNOWN_FILES) if one.source.ref in described]
        kept = {one.source.ref for one in known if "shows" in one.data}
        for memory in known:
            if "shows" not in memory.data and memory.source.ref in kept:
                await forget(store, gateway.clock, memory.memory_id, actor=actor, scopes=where.scopes)


def _joined(found: Extraction, sent: Extraction) -> Extraction:
    """Return what was read in the words of a message, with what was read in its files."""
    return replace(
        found,
        candidates=(*found.candidates, *sent.candidates),
        skipped=(*found.skipped, *sent.skipped),
        degraded=found.degraded or sent.degraded,
    )


def _an(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


async def as_shown(gateway: MemoryGateway, actor: Actor, proposer: object, text: str) -> str:
    """`text` as `proposer` may see it: redacted if it would go to a model."""
    return await redacted(gateway, actor, text) if getattr(proposer, "asks_model", False) else text


async def redacted(gateway: MemoryGateway, actor: Actor, text: str) -> str:
    """`text` as a model may see it."""
    return await gateway.pipeline.redact_text(text, tenant=actor.tenant)


async def _preceding_turns(
    gateway: MemoryGateway, extractor: Extractor, actor: Actor, messages: Sequence[Message]
) -> tuple[Message, ...]:
    texts = [await as_shown(gateway, actor, extractor, one.content) for one in messages]
    return tuple(replace(one, content=text) for one, text in zip(messages, texts, strict=True))


async def _message_context(
    gateway: MemoryGateway, actor: Actor, messages: Sequence[Message], deadline: Deadline
) -> MessageContext:
    if not messages:
        return ALONE
    where = await _known_to(gateway, actor)
    store, embedder = gateway.searcher.store, gateway.searcher.embedder
    return replace(await around_of(store, embedder, messages, where, deadline=deadline), now=gateway.clock.now())


async def _known_to(gateway: MemoryGateway, actor: Actor) -> Where:
    hidden = await gateway.hidden_keys(actor)
    return Where(scopes=actor.scopes([Level.USER]), live_at=gateway.clock.now(), hidden_keys=hidden)
