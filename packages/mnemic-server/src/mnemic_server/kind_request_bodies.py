"""Wire formats of the kinds: episodes, entities, structured data, personas."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator

from mnemic.kinds.episodic import MAX_STEPS
from mnemic.maintenance.consolidate import ConsolidationRules
from mnemic.maintenance.expiry_job import ExpiryRules
from mnemic.types import Neighbour, from_json, to_json
from mnemic_server.request_bodies import Kinds, LowerOrigin, MessageBody, Moment, Name, Strict, Text

Ending = Literal["success", "failure", "partial"]
ThingName = Annotated[str, StringConstraints(min_length=1, max_length=80)]
SCHEMA_CHARS = 32_768


def _short(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if len(json.dumps(schema)) > SCHEMA_CHARS:
        raise ValueError(f"at most {SCHEMA_CHARS} characters of JSON")
    return schema


Duration = Annotated[str, StringConstraints(max_length=64)] | None
Word = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]


class StepTaken(Strict):
    """One step of an episode."""

    action: Annotated[str, StringConstraints(min_length=1, max_length=8192)]
    result: Annotated[str, StringConstraints(max_length=8192)] = ""
    ok: bool | None = None


class NewEpisode(Strict):
    """Steps that were tried, and how they ended."""

    task: Annotated[str, StringConstraints(min_length=1, max_length=8192)]
    steps: Annotated[list[StepTaken], Field(default_factory=list, max_length=MAX_STEPS)]
    outcome: Ending
    episode_id: Name | None = None
    occurred_at: Moment | None = None


class Feedback(Strict):
    """Feedback on an episode."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=8192)]


class Task(Strict):
    """A task that may be like earlier ones."""

    task: Annotated[str, StringConstraints(min_length=1, max_length=8192)]
    top_k: Annotated[int, Field(ge=1, le=25)] = 5
    outcome: Ending | None = None


class NewEntity(Strict):
    """Something that has a name, and perhaps other names."""

    name: ThingName
    label: Word = "thing"
    aliases: Annotated[list[ThingName], Field(default_factory=list, max_length=16)]


class NewRelation(Strict):
    """Relation between two named things; "me" is the user."""

    source: ThingName
    relation: Word
    target: ThingName
    since: Moment | None = None


class EndedRelation(Strict):
    """A relation that has ended."""

    source: ThingName
    relation: Word
    target: ThingName


class TwoNames(Strict):
    """Two names of things that are known: one thing, or two."""

    name: ThingName
    other: ThingName


class Reading(Strict):
    """A text of the user's, or a whole message, to read names and relations from."""

    text: Text | None = None
    message: MessageBody | None = None

    @model_validator(mode="after")
    def _require_one(self) -> Reading:
        if (self.message is None) == (self.text is None):
            raise ValueError("either `text` or `message`")
        return self


class StructuredText(Strict):
    """A text to read data of a known shape from: plain, HTML, a mail, a calendar. Without a `name`, of every shape that
    installed packages read.
    """

    text: Text
    name: Name | None = None
    sent_at: Moment | None = None
    origin: Annotated[
        Literal["user_stated", "import", "agent_inferred", "tool_output", "web"],
        Field(description="Where the text comes from."),
    ] = "import"


class TextToExtract(Strict):
    """Text to extract data from, possibly for a shape defined by the caller: then a model reads it, and the caller
    validates the answer against the schema.
    """

    text: Text
    name: Name | None = None
    sent_at: Moment | None = None
    json_schema: Annotated[dict[str, JsonValue], AfterValidator(_short)] | None = None


class NewData(Strict):
    """Data of a known shape."""

    data: Annotated[dict[str, JsonValue], Field(max_length=200)]
    origin: LowerOrigin = None


class DataRequest(Strict):
    """Conditions on fields: a value, or operators such as `{"$gte": 3}`."""

    where: Annotated[dict[str, JsonValue], Field(default_factory=dict, max_length=20)]
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class NewTrait(Strict):
    """Something learnt about the agent, with the words it was learnt from; it waits for review."""

    trait: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    evidence: Annotated[str, StringConstraints(min_length=1, max_length=2000)] | None = None
    origin: Literal["agent_inferred", "tool_output", "web"] = "agent_inferred"


class SessionMessage(Strict):
    """A message of the conversation in progress."""

    role: Literal["user", "assistant", "tool"] = "user"
    content: Text
    speaker: Name | None = None
    origin: LowerOrigin = None


class CompactionRequest(Strict):
    """Room that the conversation in progress may take in a prompt."""

    max_tokens: Annotated[int, Field(ge=100, le=1_000_000)] = 2_000
    keep: Annotated[int, Field(ge=1, le=200, description="How many of the newest messages stay as they are.")] = 6


class RetrieveRequest(Strict):
    """A question to every kind, or to some."""

    query: Annotated[str, StringConstraints(max_length=8192)]
    kinds: (
        Annotated[
            list[Literal["working", "short_term", "long_term", "persona", "episodic", "entity", "structured"]],
            Field(min_length=1),
        ]
        | None
    ) = None
    top_k: Annotated[int, Field(ge=1, le=100)] = 10


class TextOfUser(Strict):
    """A text."""

    text: Text


class RulesOfExpiry(Strict):
    """Ways in which a run of expiry differs from the usual one. Durations as ISO 8601 (`P30D`)."""

    grace: Duration = None
    apart: Duration = None
    hard_kinds: Annotated[list[Kinds], Field(default_factory=list)]

    def rules(self) -> ExpiryRules:
        """Return the rules as the engine takes them."""
        return from_json(ExpiryRules, self.model_dump(exclude_none=True))


class ExpiryRequest(Strict):
    """A run of expiry."""

    rules: RulesOfExpiry | None = None
    dry_run: bool = False


class RulesOfConsolidation(Strict):
    """Ways in which a consolidation differs from the usual one. Durations as ISO 8601 (`PT1H`)."""

    by: Annotated[Literal["rules", "model"], Field(description="Whether a model writes the texts.")] = "rules"
    most: Annotated[int, Field(ge=1, le=10_000, description="How many texts one run writes.")] = 50
    quiet: Duration = None
    max_tokens: Annotated[int, Field(ge=16, le=100_000)] = 300
    timeout: Duration = None

    def rules(self) -> ConsolidationRules:
        """Return the rules as the engine takes them."""
        return from_json(ConsolidationRules, self.model_dump(exclude_none=True))


class ConsolidationRequest(Strict):
    """A consolidation. Without `rules` no model is asked."""

    rules: RulesOfConsolidation | None = None


def neighbour_dict(neighbour: Neighbour) -> dict[str, Any]:
    """Return a named thing, how many relations away it is, and the way to it."""
    return {**to_json(neighbour.node), "hops": neighbour.hops, "path": [to_json(one) for one in neighbour.path]}
