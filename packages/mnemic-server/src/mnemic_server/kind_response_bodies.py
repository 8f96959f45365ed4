"""Response bodies of the kinds: the conversation in progress, lessons, entities, shapes of data."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, JsonValue

from mnemic.kinds.episodic import Lesson
from mnemic.kinds.short_term import Compaction
from mnemic.types import Message
from mnemic_server.openapi_descriptions import ResponseBody, shape_of
from mnemic_server.response_bodies import MemoryResponse, ReceiptResponse, ReceiptsResponse

LessonResponse: Any = shape_of(Lesson)
MessageResponse: Any = shape_of(Message, "A message of the conversation in progress, as it is kept.")
CompactionResponse = shape_of(Compaction)


class MessagesResponse(ResponseBody):
    """Messages of the conversation in progress."""

    messages: list[MessageResponse]


class KindHitResponse(ResponseBody):
    """A hit of any kind; `memory` is null for a message of the conversation in progress."""

    kind: Literal["working", "short_term", "long_term", "persona", "episodic", "entity", "structured"]
    content: str
    score: float
    key: str | None
    memory: MemoryResponse | None


class RetrievedResponse(ResponseBody):
    """Findings across kinds; `errors` names what did not answer."""

    hits: list[KindHitResponse]
    errors: dict[str, str]


class LessonsResponse(ResponseBody):
    """Failures of earlier episodes, and what worked instead."""

    lessons: list[LessonResponse]


class EndedResponse(ResponseBody):
    """Receipt of a relation that was ended; null if it was not known to be true."""

    receipt: ReceiptResponse | None


class ExtractedResponse(ResponseBody):
    """Entities that a text named."""

    receipts: list[ReceiptResponse]
    unresolved: int
    skipped: list[str]
    degraded: str | None


class ShapeResponse(ResponseBody):
    """A shape of structured data."""

    name: str
    identity: list[str]
    person: str | None = None
    title: list[str] | None = None
    modified: str | None = None
    json_schema: dict[str, JsonValue] | None = None


class ShapesResponse(ResponseBody):
    """The shapes that are known."""

    shapes: list[ShapeResponse]


class DataResponse(ResponseBody):
    """Structured data found in a text, not stored."""

    data: list[dict[str, JsonValue]]
    degraded: str | None


class CapturedDataResponse(ReceiptsResponse):
    """Structured data found in a text, and stored."""

    degraded: str | None


class SubjectResponse(ResponseBody):
    """All stored data about a user as one document; docs/subject-export.md names its sections."""

    model_config = ConfigDict(extra="allow")

    format: Literal["mnemic-subject/1"]
    memories: list[dict[str, JsonValue]]
