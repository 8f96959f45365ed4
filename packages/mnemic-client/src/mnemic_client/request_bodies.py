"""Bodies of requests, and the values of a client's answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from mnemic.engine.lineage import Lineage, Use
from mnemic.inject.attachments import attachment_note
from mnemic.policy.expiry_rule import FOREVER, NEVER, ttl_of
from mnemic.retrieve.export import from_dict, plain
from mnemic.types import (
    Candidate,
    ContextBlock,
    Kind,
    Memory,
    Message,
    Origin,
    ProfileLine,
    SearchResult,
    UserProfile,
    WriteReceipt,
    from_json,
    to_json,
)
from mnemic.types.ratings import RatedMemory, Rating
from mnemic.types.search import SearchPlan
from mnemic.types.values import aware
from mnemic_client.remote import json_of
from mnemic_client.response_values import hit_of, receipt_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportState:
    """State of an import: the number of items imported, and their outcomes."""

    import_id: str
    taken: int
    outcomes: Mapping[str, int]


def memory_address(memory_id: str) -> str:
    """Return the address of a memory."""
    return f"/v1/memories/{quote(memory_id, safe='')}"


def candidate_body(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as the body of a request."""
    names = ("content", "key", "category", "context", "confidence")
    times = ("occurred_at", "valid_from", "valid_to")
    fields = {name: getattr(candidate, name) for name in names}
    fields |= {name: iso(getattr(candidate, name), name) for name in times}
    return fields | {
        "kind": candidate.kind.value,
        "level": str(candidate.level),
        "data": plain(candidate.data),
        "ttl": ttl_text(candidate.ttl),
        "origin": lower(candidate.source.origin),
        "ref": candidate.source.ref,
        "speaker": candidate.source.speaker,
    }


LOWER = frozenset({Origin.IMPORT, Origin.AGENT_INFERRED, Origin.TOOL_OUTPUT, Origin.WEB})
"""Origins below that of the credential's user: the others are what a service takes words for anyway."""


def lower(origin: Origin | None) -> str | None:
    """Return an origin as a request names it: only one that lowers the trust is sent."""
    return origin.value if origin in LOWER else None


def ttl_text(ttl: timedelta | str | None) -> str | None:
    """Return a time to live as a request spells it."""
    ttl = ttl_of(ttl)
    text: str | None = None if ttl is None else NEVER if ttl >= FOREVER else to_json(ttl)
    return text


def uses_of(said: Mapping[str, Any]) -> tuple[Sequence[Use], int | None]:
    """Return what was done with a memory, and the start of the next page. A service reveals of the `actor` only
    whether it was the caller (`me`, else empty).
    """
    uses = [
        from_json(Use, {**{name: one[name] for name in one if name != "mine"}, "actor": "me" if one["mine"] else ""})
        for one in said["uses"]
    ]
    return uses, said["next"]


def lineage_of(said: Mapping[str, Any]) -> Lineage:
    """Return the predecessors of a memory, newest first, and its successors, in order."""
    earlier, later = (tuple(memories(said[name])) for name in ("earlier", "later"))
    return Lineage(memory=from_dict(said["memory"]), earlier=earlier, later=later, complete=said["complete"])


def block_of(said: Mapping[str, Any]) -> ContextBlock:
    """Return a block of memories."""
    fields = {name: said[name] for name in ("text", "reason", "degraded", "abstained", "digest")}
    return ContextBlock(**fields, hits=tuple(hit_of(hit) for hit in said["hits"]))


def profile_of(said: Mapping[str, Any]) -> UserProfile:
    """Return who a user is and what holds now."""
    lines = (
        ProfileLine(
            section=one["section"],
            topic=one["topic"],
            text=one["text"],
            memory=from_dict(one["memory"]),
            proof=tuple(map(from_dict, one["proof"])),
        )
        for one in said["known_lines"]
    )
    return UserProfile(lines=tuple(lines), text=said["text"], without_room=said["without_room"])


def rating_of(said: Mapping[str, Any]) -> Rating | None:
    """Return the user's rating of a memory."""
    return None if said["rating"] is None else from_json(Rating, said["rating"])


def ratings_of(said: Mapping[str, Any]) -> Sequence[RatedMemory]:
    """Return what a user said of memories."""
    return [
        RatedMemory(
            rating=from_json(Rating, {name: one[name] for name in ("memory_id", "verdict", "version", "rated_at")}),
            memory=None if one["memory"] is None else from_dict(one["memory"]),
            shift=one["shift"],
        )
        for one in said["ratings"]
    ]


_REASONS = {"happened_from": "window", "happened_to": "window"}
"""What an error names in the place of a parameter."""


def body_of(given: SimpleNamespace, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the arguments of a verb, but for those `without`, as the body of its request. Raises InvalidInput
    (`invalid_input:<name>`) for a time without a zone.
    """
    return {name: _encode_value(value, name) for name, value in vars(given).items() if name not in without}


def parameters_of(given: SimpleNamespace, wanted: Collection[str]) -> dict[str, Any]:
    """Return the `wanted` arguments of a verb as parameters of its address. Raises InvalidInput."""
    return {name: _encode_parameter(getattr(given, name), name) for name in wanted}


def _encode_parameter(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return json_of(dict(value), name)
    return str(value).lower() if isinstance(value, bool) else _encode_value(value, name)


def _encode_value(value: Any, name: str) -> Any:
    if isinstance(value, datetime):
        return iso(value, _REASONS.get(name, name))
    if is_dataclass(value):
        return to_json(value)
    return names(value) if name == "kinds" else plain(value) if isinstance(value, Mapping) else value


def iso(moment: datetime | None, name: str) -> str | None:
    """Return a time in ISO 8601. Raises InvalidInput (`invalid_input:<name>`) if it names no time zone."""
    return None if moment is None else aware(moment, name).isoformat()


def message_parts(message: Message) -> str | list[dict[str, Any]]:
    """Return the content of a message: its text, or with files parts in OpenAI's protocol."""
    if not message.files:
        return message.content
    files = [
        {"type": "file", "file": {"filename": one.name, "file_data": f"data:{one.media};base64,{one.base64}"}}
        for one in message.files
    ]
    named = [attachment_note(one) for one in files]
    text = "\n".join(line for line in message.content.split("\n") if line not in named)
    return [*([{"type": "text", "text": text}] if text.strip() else []), *files]


def message_body(message: Message) -> dict[str, Any]:
    """Return a message as the body of a request."""
    names = ("role", "message_id", "session", "speaker")
    fields = {name: getattr(message, name) for name in names} | {"content": message_parts(message)}
    return fields | {"sent_at": iso(message.sent_at, "sent_at"), "origin": lower(message.origin)}


def import_state(said: Mapping[str, Any]) -> ImportState:
    """Return the state of an import."""
    return ImportState(import_id=said["import_id"], taken=said["taken"], outcomes=said["outcomes"])


def memories(said: Sequence[Mapping[str, Any]]) -> Sequence[Memory]:
    """Memories of an answer."""
    return [from_dict(one) for one in said]


def versions_of(said: Mapping[str, Any]) -> Sequence[Memory]:
    """Return the versions of an answer, oldest first."""
    return memories(said["versions"])


def receipts(said: Mapping[str, Any]) -> Sequence[WriteReceipt]:
    """Receipts of an answer."""
    return [receipt_of(one) for one in said["receipts"]]


def names(kinds: Sequence[Kind | str] | None) -> list[str] | None:
    """Return the names of kinds."""
    return None if kinds is None else [str(kind) for kind in kinds]


def found_in(said: Mapping[str, Any]) -> SearchResult:
    """Return the result of a search."""
    fields = {name: said[name] for name in ("errors", "query", "relevance")}
    hits, plan = tuple(hit_of(hit) for hit in said["hits"]), from_json(SearchPlan, said["plan"])
    return SearchResult(hits=hits, plan=plan, **fields)
