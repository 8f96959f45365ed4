"""Conversations in the form in which programs have them: a text, a message as a dictionary, a list of either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mnemic.engine.extraction import read_message, read_messages, with_implied_changes
from mnemic.errors import BudgetSpent, InvalidInput, MnemicError, RunStopped, error_behind
from mnemic.extract import Extraction, Extractor, is_name_of, is_other_person, name_parts
from mnemic.extract.messages import in_parts, message_candidates
from mnemic.extract.model_extractor import TURNS_BEFORE, windows
from mnemic.inject.messages import (
    SYSTEM,
    TOOL,
    USER,
    content_of,
    files_of,
    has_tool_result,
    role_of,
    text_of,
    user_text_of,
)
from mnemic.language.sentences.speaker_labels import label_of
from mnemic.maintenance.background_capture import TurnEngine
from mnemic.requests import Run
from mnemic.types import (
    PARTICIPANT,
    Actor,
    AttachedFile,
    ConversationReceipts,
    JsonValue,
    Message,
    Origin,
)
from mnemic.types.memory import MESSAGE_ROLES

if TYPE_CHECKING:
    from mnemic.types.trace import RunReport

Said = str | Message | Mapping[str, Any]
_Made = TypeVar("_Made")


def messages_of(given: Said | Sequence[Said], *, session: str | None, user: str | None = None) -> list[Message]:
    """Return the messages in `given`: a text is the user's, a dictionary is in the form of OpenAI's and similar
    protocols: `role`, `content` as a text or in parts, `name` or `speaker`, `sent_at` or `timestamp` (a datetime, ISO
    8601, or seconds since 1970), `session`, `message_id`; other members are not read. Instructions to a model and
    messages without text are dropped. A dictionary of role `user` under a `name` that is not one of `user`'s is another
    person's. Raises InvalidInput (`messages`, `message`, `message:role`, `sent_at`).
    """
    forms: Any = [given] if isinstance(given, str | Message | Mapping) else given
    return [one for one in each_message(forms, session=session, user=user) if one is not None]


def each_message(given: Sequence[Said], *, session: str | None, user: str | None = None) -> list[Message | None]:
    """Return a message for each in `given`, in the forms of `messages_of`; None in the place of an instruction to a
    model and of a message without text. Raises InvalidInput (`messages`, `message`).
    """
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise InvalidInput("messages", hint="a text, a message, or a list of them")
    found = [_message(one, session, user) for one in given]
    return [one if one is not None and one.content.strip() else None for one in found]


def one_message(given: Message | Mapping[str, Any], *, session: str | None, user: str | None = None) -> Message:
    """Return the message in one of the forms of `messages_of`. Raises InvalidInput (`message`), for a list, too, and
    (`message:empty`) for one without text or file.
    """
    if not isinstance(given, Message | Mapping):
        raise InvalidInput(
            "message", hint="a text, a Message, or an object with role and content; `remember` takes lists"
        )
    (found,) = each_message([given], session=session, user=user)
    if found is None:
        raise InvalidInput("message:empty")
    return found


def in_places(found: Sequence[Message | None], made: Sequence[_Made]) -> list[_Made | None]:
    """Return the report of each user message, and None for any other message."""
    left = iter(made)
    return [None if one is None else next(left) for one in found]


def message_content(role: str, content: str | Sequence[Any]) -> tuple[str, tuple[AttachedFile, ...]]:
    """Return the text of a message's content, which is a text or a list of parts, and the files in it."""
    given = {"role": role, "content": content}
    return (user_text_of(given), files_of(given)) if role == USER else (text_of(given), ())


def _message(given: Said, session: str | None, user: str | None) -> Message | None:
    """Return one message; None for an instruction to a model. Raises InvalidInput (`message:role`)."""
    if isinstance(given, Message):
        if not given.derived_from:  # a summary of other messages has a role of its own
            _require_role(given.role)
        return given
    if isinstance(given, str):
        return Message(role="user", content=given, session=session)
    if not isinstance(given, Mapping):
        raise InvalidInput("message", hint="a text, a Message, or an object with role and content")
    role = TOOL if has_tool_result(given) else role_of(given)
    _require_role(role)
    if role == SYSTEM:
        return None
    name = _text(given, "name", "speaker")
    others = role == USER and user is not None and not is_name_of(name, user)
    text, files = message_content(role, content_of(given))
    return Message(
        role=PARTICIPANT if others else role,
        content=text,
        files=files,
        session=_text(given, "session") or session,
        speaker=name,
        message_id=_text(given, "message_id"),
        sent_at=_moment(given),
    )


def _require_role(role: object) -> None:
    if role not in MESSAGE_ROLES:
        raise InvalidInput("message:role", hint="user, assistant, tool, system, or participant for another person")


def message_of(given: Message, user: str | None) -> Message:
    """Return a message as it is, or as another person's: one of role `user` under a name that is not one of `user`'s.
    In an import the role says whose it is, since its owner named himself to the reader. A program that writes the
    user's name before their words has named the speaker.
    """
    if user is None or given.origin is Origin.IMPORT or given.role != USER:
        return given
    if given.speaker is None:
        label = label_of(given.content)
        named = name_parts(label)
        return replace(given, speaker=label) if named and named <= name_parts(user) else given
    return given if is_name_of(given.speaker, user) else replace(given, role=PARTICIPANT)


def _text(given: Mapping[str, Any], *names: str) -> str | None:
    """Return the first of these members that is a text."""
    return next((one for name in names if isinstance(one := given.get(name), str) and one), None)


def _moment(given: Mapping[str, Any]) -> datetime | None:
    """Return the time of a message: a datetime, ISO 8601, or seconds since 1970. Raises InvalidInput (`sent_at`)."""
    given_time = next((one for name in ("sent_at", "timestamp") if (one := given.get(name)) is not None), None)
    if given_time is None or isinstance(given_time, datetime):
        return given_time
    try:
        if isinstance(given_time, str):
            return datetime.fromisoformat(given_time)
        return datetime.fromtimestamp(given_time, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        raise InvalidInput("sent_at", hint="a datetime, ISO 8601, or seconds since 1970") from None


async def remember(
    engine: TurnEngine,
    messages: Said | Sequence[Said],
    *,
    actor: Actor,
    infer: bool = True,
    data: Mapping[str, JsonValue] | None = None,
    instructions: str = "",
) -> ConversationReceipts:
    """Return a receipt for each new memory, and the requests about memory; see `MemoryEngine.remember`. `instructions`
    tell the language model which facts to include or leave out in this call. Raises NotSupported (`wishes`) without a
    model.
    """
    parsed, fields = messages_of(messages, session=actor.session, user=actor.user), dict(data or {})
    if not infer:
        parts = [part for message in parsed for part in in_parts(message)]
        made = [replace(one, data={**one.data, **fields}) for one in message_candidates(parts)]
        return ConversationReceipts(await engine.add_many(made, actor=actor))
    parsed = [message_of(one, actor.user) for one in parsed]
    made_of = await capture_messages(engine, parsed, actor=actor, data=fields, instructions=instructions)
    reports = [one for one in made_of if one is not None]
    for report in reports:
        if report.status != "ok":
            raise _failure(report.stop_reason)
    receipts = (receipt for report in reports for receipt in report.receipts)
    return ConversationReceipts(receipts, (asked for report in reports for asked in report.asked))


def _failure(reason: str) -> MnemicError:
    """Return the error that a run stopped on."""
    kind, detail = error_behind(reason), reason.partition(":")[2]
    return RunStopped(reason) if kind in (MnemicError, RunStopped, BudgetSpent) else kind(detail or None)


async def captured_each(
    engine: TurnEngine, given: Sequence[Said], *, actor: Actor, idempotency_keys: Sequence[str | None] | None
) -> list[RunReport | None]:
    """Return a report in the place of each message; see `MemoryEngine.capture_many`. Raises InvalidInput
    (`idempotency_keys`) if there is not one key for each message.
    """
    found = each_message(given, session=actor.session, user=actor.user)
    keys = [None] * len(found) if idempotency_keys is None else idempotency_keys
    if len(keys) != len(found):
        raise InvalidInput("idempotency_keys", hint="one for each message, or None")
    kept = [(message_of(one, actor.user), key) for one, key in zip(found, keys, strict=True) if one is not None]
    made = await capture_messages(
        engine, [one for one, _ in kept], actor=actor, idempotency_keys=[key for _, key in kept]
    )
    return in_places(found, made)


class CaptureLog(Protocol):
    """Record of earlier captures of the same messages, which are named by their places."""

    def is_finished(self, place: int) -> bool:
        """Return True if everything in the message is captured: then it is context only."""

    async def remaining(self, place: int, found: Extraction) -> Extraction:
        """Return the part of `found` to be written now. Called before each message's own writes."""

    def note(self, place: int, report: RunReport) -> None:
        """Record the outcome of the capture of a message."""


class _NoLog:
    """Log of messages of which none was captured before."""

    def is_finished(self, place: int) -> bool:
        return False

    async def remaining(self, place: int, found: Extraction) -> Extraction:
        return found

    def note(self, place: int, report: RunReport) -> None:
        """Forget it."""


async def capture_messages(
    engine: TurnEngine,
    messages: Sequence[Message],
    *,
    actor: Actor,
    idempotency_keys: Sequence[str | None] | None = None,
    data: Mapping[str, JsonValue] | None = None,
    instructions: str = "",
    log: CaptureLog | None = None,
) -> list[RunReport | None]:
    """Remember the lasting facts in several messages; see `MemoryEngine.capture_many`. `data` is stored with each
    memory; `instructions` as in `remember`. A message that `log` calls finished gets no report.
    """
    extractor = engine.extractor
    people = any(map(is_other_person, messages))
    log = log or _NoLog()
    keys = idempotency_keys if idempotency_keys is not None else [None] * len(messages)
    capture = _Capture(engine=engine, actor=actor, extractor=extractor, keys=keys, data=data or {}, log=log)
    reports: list[RunReport | None] = []
    for places in windows(messages):  # one is written before the next is read, which may concern it
        if all(map(log.is_finished, places)):
            reports += [None] * len(places)
            continue
        part = messages[places.start : places.stop]
        before = [one for one in messages[: places.start] if one.session == part[0].session][-TURNS_BEFORE:]
        read = await read_messages(
            engine.gateway, extractor, actor, part, before=before, instructions=instructions, between_people=people
        )
        for place, message, one in zip(places, part, read, strict=True):
            reports.append(await capture.message(place, message, one))
    return reports


@dataclass(frozen=True, slots=True, kw_only=True)
class _Capture:
    """Writes of a capture of several messages that have been read."""

    engine: TurnEngine
    actor: Actor
    extractor: Extractor
    keys: Sequence[str | None]
    data: Mapping[str, JsonValue]
    log: CaptureLog

    async def message(self, place: int, message: Message, read: Extraction | MnemicError | None) -> RunReport | None:
        """Write the finds of the message at `place`; return None if there are none to write."""
        if self.log.is_finished(place):
            return None
        key = self.keys[place]
        found = await with_implied_changes(self.engine.gateway, self.extractor, self.actor, message, read)
        if isinstance(found, Extraction):
            found = await self.log.remaining(place, found)
        if self.data and isinstance(found, Extraction):
            about = tuple(replace(one, data={**one.data, **self.data}) for one in found.candidates)
            found = replace(found, candidates=about)
        if found is None:
            return None
        report = await self.engine.run_turn(Run(message=message, idempotency_key=key), self.actor, read=found)
        self.log.note(place, report)
        return report


async def captured_after(
    engine: TurnEngine,
    message: Message,
    before: Sequence[Message] | None,
    *,
    actor: Actor,
    extractor: Extractor | None = None,
) -> RunReport:
    """Remember the lasting facts in one message that was said after the turns `before`, oldest first, which serve as
    context only; None for those that its session recorded. See `MemoryEngine.capture`. `extractor`: another than the
    engine's.
    """
    gateway = engine.gateway
    deadline = gateway.budget.deadline(gateway.clock.monotonic)
    extractor = extractor or engine.extractor
    read: Extraction | MnemicError
    try:
        read = await read_message(gateway, extractor, actor, message, deadline=deadline, before=before)
    except MnemicError as failure:
        read = failure
    return await engine.run_turn(Run(message=message), actor, read=read)
