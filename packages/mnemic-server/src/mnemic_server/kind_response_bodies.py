"""Response bodies of the kinds: the conversation in progress, lessons, entities, shapes of data."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, JsonValue

from mnemic.kinds.compaction import Compaction
from mnemic.kinds.episodic import Lesson
from mnemic.types import Message
from mnemic_server.openapi_descriptions import Answer, shape_of
from mnemic_server.response_bodies import MemoryResponse, ReceiptResponse

LessonAnswer: Any = shape_of(Lesson)
MessageAnswer: Any = shape_of(Message, "A message of the conversation in progress, as it is kept.")
CompactionAnswer = shape_of(Compaction)


class MessagesResponse(Answer):
    """Messages of the conversation in progress."""

    messages: list[MessageAnswer]


class KindHitResponse(Answer):
    """A hit of any kind; `memory` is null for a message of the conversation in progress."""

    kind: Literal["working", "short_term", "long_term", "persona", "episodic", "entity", "structured"]
    content: str
    score: float
    key: str | None
    memory: MemoryResponse | None


class RetrievedResponse(Answer):
    """Findings across kinds; `errors` names what did not answer."""

    hits: list[KindHitResponse]
    errors: dict[str, str]


class LessonsResponse(Answer):
    """Failures of earlier episodes, and what worked instead."""

    lessons: list[LessonAnswer]


class EndedResponse(Answer):
    """Receipt of a relation that was ended; null if it was not known to be true."""

    receipt: ReceiptResponse | None


class ExtractedResponse(Answer):
    """Entities that a text named."""

    receipts: list[ReceiptResponse]
    unresolved: int
    skipped: list[str]


class ShapeResponse(Answer):
    """A shape of structured data."""

    name: str
    identity: list[str]
    person: str | None = None
    title: list[str] | None = None
    modified: str | None = None
    json_schema: dict[str, JsonValue] | None = None


class ShapesResponse(Answer):
    """The shapes that are known."""

    shapes: list[ShapeResponse]


class DataResponse(Answer):
    """Structured data found in a text, not stored."""

    data: list[dict[str, JsonValue]]


class SubjectResponse(Answer):
    """All stored data about a user as one document; docs/subject-export.md names its sections."""

    model_config = ConfigDict(extra="allow")

    format: Literal["mnemic-subject/1"]
    memories: list[dict[str, JsonValue]]
