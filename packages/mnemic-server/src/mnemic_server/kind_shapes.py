"""Wire formats of the kinds: episodes, entities, structured data, personas."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, StringConstraints

from mnemic.kinds.episodic import MAX_STEPS, Episode, Lesson
from mnemic.types import Neighbour, Node, Relation
from mnemic_server.shapes import Moment, Name, Strict, Text

Ending = Literal["success", "failure", "partial"]
ThingName = Annotated[str, StringConstraints(min_length=1, max_length=80)]
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
    """Feedback that somebody gave on an episode afterwards."""

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
    """A relation that holds no more."""

    source: ThingName
    relation: Word
    target: ThingName


class Reading(Strict):
    """A text to read names and relations, or structured data, from."""

    text: Text


class StructuredText(Strict):
    """A text to read data of a known shape from: plain, HTML, a mail, a calendar."""

    text: Text
    sent_at: Moment | None = None


class NewData(Strict):
    """Data of a known shape."""

    data: Annotated[dict[str, JsonValue], Field(max_length=200)]


class DataWanted(Strict):
    """Conditions on fields: a value, or operators such as `{"$gte": 3}`."""

    where: Annotated[dict[str, JsonValue], Field(default_factory=dict, max_length=20)]
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class NewTrait(Strict):
    """Something learnt about the agent, with the words it was learnt from; it waits for review."""

    trait: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    evidence: Annotated[str, StringConstraints(min_length=1, max_length=2000)] | None = None


def episode_dict(episode: Episode) -> dict[str, Any]:
    """Return an episode with the feedback that came since; `score` where something was asked."""
    return {
        "memory_id": episode.memory_id,
        "task": episode.task,
        "steps": [{"action": step.action, "result": step.result, "ok": step.ok} for step in episode.steps],
        "outcome": episode.outcome,
        "happened_at": episode.happened_at.isoformat(),
        "feedback": list(episode.feedback),
        "score": None if episode.score is None else round(episode.score, 6),
    }


def lesson_dict(lesson: Lesson) -> dict[str, Any]:
    """Return what failed before, why, and what worked instead."""
    return {
        "action": lesson.action,
        "result": lesson.result,
        "worked": lesson.worked,
        "memory_id": lesson.memory_id,
    }


def node_dict(node: Node) -> dict[str, Any]:
    """Return a named thing."""
    return {
        "node": node.node,
        "name": node.name,
        "label": node.label,
        "aliases": list(node.aliases),
        "first_seen_at": _iso(node.first_seen_at),
        "last_seen_at": _iso(node.last_seen_at),
    }


def neighbour_dict(neighbour: Neighbour) -> dict[str, Any]:
    """Return a named thing, how many relations away it is, and the way to it."""
    return {**node_dict(neighbour.node), "hops": neighbour.hops, "path": relations_list(neighbour.path)}


def relations_list(path: Sequence[Relation]) -> list[dict[str, Any]]:
    """Relations, each with the memory that says so."""
    return [
        {
            "source": one.source,
            "relation": one.relation,
            "target": one.target,
            "valid_from": _iso(one.valid_from),
            "valid_to": _iso(one.valid_to),
            "memory_id": one.memory_id,
        }
        for one in path
    ]


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
