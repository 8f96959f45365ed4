"""Wire formats: request bodies are strict, response bodies come from the library's own values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Header, Path
from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
)

from mnemic import requests
from mnemic.engine.message_forms import message_content
from mnemic.errors import InvalidInput
from mnemic.json_output import memory_dict
from mnemic.policy.expiry_rule import ttl_of
from mnemic.policy.limits import Quota
from mnemic.policy.strict_json import NotStrictJson, loads
from mnemic.types import Candidate, Kind, Memory, MemoryRequest, Message, Origin, Source
from mnemic.types.ratings import Verdict
from mnemic_server.library_value_bodies import fields_of

MAX_BATCH = 500
MAX_TEXT = 32_768


def _day_begun(given: object) -> object:
    return f"{given}T00:00:00Z" if isinstance(given, str) and _DAY.fullmatch(given) else given


_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_day_begun)]
"""A time with its zone, or a date, which is the beginning of that day in UTC."""
Zoned = Annotated[AwareDatetime, Field(strict=False)]
"""Time with its zone: it determines calendar days, which may differ in UTC."""
MemoryId = Annotated[str, Path(min_length=1, max_length=128)]
IdempotencyKey = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=128)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=128)]
Levels = Literal["user", "workspace", "agent", "session"]
TimeToLive = Annotated[
    Annotated[str, StringConstraints(max_length=64)] | None,
    Field(description="How long it is kept: 12h, 30d, 2w, 10y, ISO 8601 (P30D) or never; the policy may say less."),
]
Kinds = Literal["long_term", "persona", "episodic", "entity", "structured"]


class Strict(BaseModel):
    """Request body that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True)


LowerOrigin = Annotated[
    Literal["import", "agent_inferred", "tool_output", "web"] | None,
    Field(description="Where the words come from, if not from the user: it lowers the trust, and never raises it."),
]


WIRE: dict[str, Any] = {
    "asked_at": Zoned,
    "as_of": Moment,
    "categories": Annotated[list[Name], Field(min_length=1, max_length=50)],
    "category": Name,
    "confidence": Annotated[float, Field(ge=0, le=1, strict=False)],
    "content": Annotated[str, StringConstraints(min_length=1, max_length=8192)],
    "context": Annotated[str, StringConstraints(max_length=8192)],
    "data": Annotated[dict[str, JsonValue], Field(max_length=100)],
    "dry_run": bool,
    "happened_from": Moment,
    "happened_to": Moment,
    "kind": Kinds,
    "keys": Annotated[list[Name], Field(min_length=1, max_length=50)],
    "kinds": Annotated[list[Kinds], Field(min_length=1)],
    "known_at": Moment,
    "level": Levels,
    "levels": Annotated[list[Levels], Field(min_length=1)],
    "limit": Annotated[int, Field(ge=1, le=1000)],
    "max_tokens": Annotated[int, Field(ge=1, le=100_000)],
    "min_score": Annotated[
        float, BeforeValidator(lambda given: 0.0 if given is None else given), Field(ge=0, le=1, strict=False)
    ],
    "occurred_at": Moment,
    "preference_bias": bool,
    "profile_tokens": Annotated[int, Field(ge=0, le=100_000)],
    "query": Text,
    "top_k": Annotated[int, Field(ge=1, le=100)],
    "valid_from": Moment,
    "valid_to": Moment,
    "where": dict[str, JsonValue],
}
"""The type in JSON of each field of a request, by its name."""


@fields_of(Candidate, WIRE, without=("context", "data", "ttl", "source", "clamped", "replaces", "ends"), key=Name)
class NewMemory(Strict):
    """One thing to remember."""

    context: Annotated[str, StringConstraints(max_length=8192)] = ""
    data: dict[str, JsonValue] = Field(default_factory=dict, max_length=100)
    ttl: TimeToLive = None
    origin: LowerOrigin = None
    ref: Name | None = None
    speaker: Name | None = None

    def candidate(self, session: str | None) -> Candidate:
        """Return the candidate that the engine is asked to keep; its origin is the channel's, or a lower one that the
        caller names.
        """
        fields = {name: one for name, one in vars(self).items() if name in Candidate.__slots__}
        origin = Origin(self.origin or Origin.USER_STATED)
        fields["source"] = Source(origin=origin, ref=self.ref, session=session, speaker=self.speaker)
        fields["ttl"] = ttl_of(self.ttl)
        return Candidate(**fields | {"kind": Kind(fields["kind"])})


class NewMemories(Strict):
    """Things to remember; each gets a receipt, and a bad one stops no other."""

    memories: Annotated[list[NewMemory], Field(min_length=1, max_length=MAX_BATCH)]
    idempotency_keys: Annotated[list[Name | None], Field(max_length=MAX_BATCH)] | None = None


ContentParts = Annotated[list[dict[str, JsonValue]], Field(min_length=1, max_length=100)]
"""Content of a message in the parts of OpenAI's, Anthropic's, Gemini's or Bedrock's protocol."""


class MessageBody(Strict):
    """One message of a conversation. Its content is a text, or a list of parts with texts, pictures, recordings and
    files, as OpenAI's, Anthropic's, Gemini's and Bedrock's protocols have them.
    """

    role: Literal["user", "assistant", "tool", "participant"] = "user"
    content: Text | ContentParts
    message_id: Name | None = None
    session: Name | None = None
    speaker: Name | None = None
    sent_at: Moment | None = None
    origin: LowerOrigin = None

    def message(self, session: str | None) -> Message:
        """Return the engine's message. Its origin is at most that of its role: a tool's output keeps this origin, no
        matter who sends it.
        """
        text, files = message_content(self.role, self.content)
        return Message(
            role=self.role,
            content=text,
            files=files,
            message_id=self.message_id,
            session=self.session or session,
            speaker=self.speaker,
            sent_at=self.sent_at,
            origin=Origin(self.origin or Origin.USER_STATED),
        )


class Captured(Strict):
    """Statement, as `message`: its text, or a message with its own fields."""

    message: Text | MessageBody
    role: Literal["user", "assistant", "tool", "participant"] = "user"
    message_id: Name | None = None
    session: Name | None = None
    speaker: Name | None = None
    sent_at: Moment | None = None

    def as_message(self, session: str | None) -> Message:
        """Return the engine's message."""
        if isinstance(self.message, MessageBody):
            return self.message.message(session)
        fields = self.model_dump(exclude={"message"}) | {"content": self.message}
        return MessageBody.model_validate(fields).message(session)


class CapturedMessages(Strict):
    """Messages of a conversation to learn from, in order."""

    messages: Annotated[list[MessageBody], Field(min_length=1, max_length=50)]
    idempotency_keys: Annotated[list[Name | None], Field(max_length=50)] | None = None


class RememberRequest(Strict):
    """Messages of a conversation to remember from, or with `infer` false to keep as they are."""

    messages: Annotated[list[MessageBody], Field(min_length=1, max_length=50)]
    infer: bool = True
    data: Annotated[dict[str, JsonValue], Field(max_length=100)] | None = None


class Conversation(Strict):
    """Messages to keep as they are."""

    messages: Annotated[list[MessageBody], Field(min_length=1, max_length=MAX_BATCH)]


@fields_of(requests.Search, WIRE, without=("query",))
class Search(Strict):
    """Search to make; an empty query lists the newest."""

    query: Annotated[str, StringConstraints(max_length=8192)] = ""


def filter_of(text: str | None) -> dict[str, Any] | None:
    """Return the filter that a parameter of an address spells. Raises InvalidInput (`where`)."""
    if text is None:
        return None
    try:
        data = loads(text)
    except NotStrictJson as error:
        raise InvalidInput("where", hint=f"not JSON: {error}") from None
    if not isinstance(data, dict):
        raise InvalidInput("where", hint="expected a JSON object")
    return data


@fields_of(requests.Context, WIRE, max_tokens=Annotated[int, Field(ge=16, le=100_000)])
class ContextRequest(Strict):
    """Question that a model is about to be asked, and how much room there is."""


@fields_of(requests.Run, WIRE, without=("message", "context", "idempotency_key"), goal=Text)
class Turn(Strict):
    """Turn: a statement, a question, or both."""

    message: Text | MessageBody | None = None
    context: dict[str, JsonValue] = Field(default_factory=dict, max_length=100)

    def turn_arguments(self, session: str | None) -> dict[str, Any]:
        """Return the turn as the arguments of the engine's `run`."""
        said = self.message.message(session) if isinstance(self.message, MessageBody) else self.message
        return {**vars(self), "message": said}


Cleared = Annotated[str, StringConstraints(max_length=128)]
"""A name, or nothing to take one away."""


@fields_of(
    requests.Update, WIRE, without=("memory_id", "ttl", "origin", "expected_version"), key=Cleared, category=Cleared
)
class Correction(Strict):
    """Replacement text and fields of a memory; null or omitted fields are unchanged. An empty `key`, `category` or
    `context` clears it.
    """

    ttl: TimeToLive = None
    origin: LowerOrigin = None
    expected_version: Annotated[int, Field(ge=1, le=2**31)] | None = None

    def changes(self) -> dict[str, Any]:
        """As the engine's update takes them."""
        return self.model_dump(exclude={"expected_version", "origin"})


@fields_of(requests.ForgetMatching, WIRE)
class ForgetRequest(Strict):
    """Memories to delete: those that meet all that is given, at least one bound."""


class Rollback(Strict):
    """The version whose words a memory is to say again."""

    version: Annotated[int, Field(ge=1, le=2**31)]


class RatingRequest(Strict):
    """What the user says of a memory; `none` withdraws it."""

    verdict: Verdict


class ImportPart(Strict):
    """A part of an import: `at` is the number of its first memory, counted from 0."""

    at: Annotated[int, Field(ge=0, le=2**53)]
    memories: Annotated[list[NewMemory], Field(min_length=1, max_length=MAX_BATCH)]


class PolicyRequest(Strict):
    """A policy, as a policy file in JSON says it."""

    policy: dict[str, JsonValue]


class PolicyBack(Strict):
    """Version of the policy to restore; 0 is that of the settings."""

    version: Annotated[int, Field(ge=0, le=2**31)]


class Approval(Strict):
    """Approval of a waiting memory: as it is, saying something else, or in the place of others."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=8192)] | None = None
    merge_with: Annotated[list[Name], Field(max_length=20)] = []
    expected_version: Annotated[int, Field(ge=1, le=2**31)] | None = None


class Erasure(Strict):
    """User whose memories are erased; without a name oneself."""

    subject: Name | None = None
    block: bool = False


class MemoryRequested(Strict):
    """A request about memory, as `asked` of a report has it, that its user has confirmed."""

    kind: Literal["forget", "forget_all", "wrong", "show"]
    subject: Annotated[str, StringConstraints(max_length=200)] = ""
    memory_ids: Annotated[list[Name], Field(max_length=1000)] = []
    things: Annotated[list[Annotated[str, StringConstraints(max_length=200)]], Field(max_length=1000)] = []

    def request(self) -> MemoryRequest:
        """Return the request as the engine takes it."""
        return MemoryRequest(kind=self.kind, subject=self.subject, memory_ids=tuple(self.memory_ids))


class KeyRequest(Strict):
    """A new API key."""

    roles: Annotated[list[Literal["reader", "writer", "reviewer", "subject", "operator", "admin"]], Field(min_length=1)]
    tenant: Name | None = None
    user: Name | None = None
    agent: Name = "default"
    label: Annotated[str, StringConstraints(max_length=200)] = ""
    ttl_hours: Annotated[int, Field(ge=0, le=87_600, description="0: it never expires.")] = 8760


class QuotaRequest(Strict):
    """Limits on the stored amount of a tenant, or of each of its users: of one kind, or of all together. At least one
    limit.
    """

    per: Literal["tenant", "user"] = "tenant"
    kind: Kinds | None = None
    rows: Annotated[int, Field(ge=1, le=2**53)] | None = None
    bytes: Annotated[int, Field(ge=1, le=2**53)] | None = None
    writes_a_minute: Annotated[int, Field(ge=1, le=2**53)] | None = None
    soft: Annotated[float, Field(gt=0, le=1, strict=False)] = 0.8

    def quota(self) -> Quota:
        """Return the quota that the engine keeps to. Raises InvalidConfig (`quota`) for one that limits nothing."""
        return Quota(**self.model_dump() | {"kind": None if self.kind is None else Kind(self.kind)})


Quotas = Annotated[list[QuotaRequest], Field(max_length=50)]


class TenantRequest(Strict):
    """New tenant. Without `quotas` those of the service's settings apply."""

    tenant: Name
    label: Annotated[str, StringConstraints(max_length=200)] = ""
    quotas: Quotas | None = None


class QuotasRequest(Strict):
    """Limits of a tenant in the place of the service's settings; null: the settings again."""

    quotas: Quotas | None


class TokenRequest(Strict):
    """A token for a user of the application that asks."""

    user: Name
    session: Name | None = None
    roles: Annotated[list[Literal["reader", "writer", "subject"]], Field(min_length=1)] = ["reader", "writer"]
    ttl_seconds: Annotated[int, Field(ge=1, le=86_400)] = 3600


def page_dict(memories: Sequence[Memory], limit: int) -> dict[str, Any]:
    """Return a page and the cursor of the next; None if this was the last."""
    full = len(memories) == limit
    return {"memories": [memory_dict(one) for one in memories], "next": memories[-1].memory_id if full else None}
