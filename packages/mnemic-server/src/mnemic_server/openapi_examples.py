"""Examples in the service's description: of every request body, and of the parameters whose type says little."""

from __future__ import annotations

from typing import Any

_MEMORY_ID = "01a2b3c4d5e6f708090a0b0c0d0e0f10"
_THEN = "2026-03-14T09:30:00+00:00"
_DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def exemplify(document: dict[str, Any]) -> None:
    """Give each request body of an OpenAPI document its example, and the parameters theirs."""
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in PARAMETERS:
                    parameter.setdefault("example", PARAMETERS[parameter["name"]])
            for content in operation.get("requestBody", {}).get("content", {}).values():
                schema = content["schema"]
                name = schema.get("$ref", schema.get("title", "")).rpartition("/")[2]
                content.setdefault("example", REQUESTS[name])


PARAMETERS: dict[str, Any] = {
    "Idempotency-Key": "order-4711",
    "If-Match": '"3"',
    "Last-Event-ID": "1207",
    "Mnemic-Session": "trip-to-oslo",
    "as_of": _THEN,
    "categories": ["preference"],
    "happened_from": _THEN,
    "happened_to": "2026-09-01T00:00:00+00:00",
    "keys": ["seat"],
    "kinds": ["long_term"],
    "known_at": _THEN,
    "label": "person",
    "memory_id": _MEMORY_ID,
    "name": "Robert Smith",
    "shape": "FlightReservation",
    "since": _THEN,
    "where": '{"trip": "oslo"}',
}

_SAID = {"role": "user", "content": "I am vegetarian and I prefer aisle seats.", "message_id": "m-17"}

REQUESTS: dict[str, Any] = {
    "Approval": {"content": "Prefers aisle seats."},
    "Captured": {"message": "I am vegetarian and I prefer aisle seats."},
    "CapturedMessages": {"messages": [_SAID], "idempotency_keys": ["chat-1-m-17"]},
    "CompactionRequest": {"max_tokens": 2000, "keep": 6},
    "ConsolidationRequest": {"rules": {"by": "rules", "quiet": "PT1H"}},
    "ContextRequest": {"query": "Find me a flight to Denver.", "max_tokens": 600},
    "Conversation": {"messages": [_SAID, {"role": "assistant", "content": "Noted."}]},
    "Correction": {"content": "I prefer window seats."},
    "DataRequest": {"where": {"reservationNumber": "X7K2LM"}, "limit": 50},
    "EndedRelation": {"source": "me", "relation": "works_at", "target": "Acme"},
    "Erasure": {"block": False},
    "ExpiryRequest": {"rules": {"grace": "P30D"}, "dry_run": True},
    "Feedback": {"content": "The seat was fine."},
    "ForgetRequest": {"categories": ["preference"], "dry_run": True},
    "ImportPart": {"at": 0, "memories": [{"content": "I prefer aisle seats.", "key": "seat", "ref": "crm-17"}]},
    "KeyRequest": {"roles": ["reader", "writer"], "user": "ana", "label": "chat backend"},
    "MemoryRequested": {"kind": "show"},
    "NewData": {
        "data": {"reservationNumber": "X7K2LM", "reservationFor": {"flightNumber": "SK4711"}},
    },
    "NewEntity": {"name": "Robert Smith", "label": "person", "aliases": ["Bob"]},
    "NewEpisode": {
        "task": "Book a flight to Denver.",
        "steps": [{"action": "search flights", "result": "two found", "ok": True}],
        "outcome": "success",
        "episode_id": "booking-2026-03-14",
    },
    "NewMemories": {"memories": [{"content": "The cat is called Miso."}, {"content": "aisle", "key": "seat"}]},
    "NewMemory": {"content": "I prefer aisle seats.", "key": "seat", "category": "preference"},
    "NewRelation": {"source": "Emma", "relation": "lives_in", "target": "Madrid"},
    "NewTrait": {"trait": "Asks before it books.", "evidence": "You always ask before you book. I like that."},
    "Opening": {"user": "ana", "reason": "case 4711"},
    "PolicyBack": {"version": 0},
    "PolicyRequest": {"policy": {"open_keys": True, "default_ttl_days": 365}},
    "QuotasRequest": {"quotas": [{"per": "user", "rows": 5000}]},
    "Reading": {"text": "My sister Emma lives in Madrid."},
    "RunsOpening": {"user": "ana", "reason": "case 4711"},
    "Receipt": {
        "format": "mnemic-erasure/1",
        "receipt_id": "r_01a2b3",
        "tenant": "acme",
        "subject": _DIGEST,
        "at": _THEN,
        "complete": True,
        "blocks_relearning": False,
        "counts": {"memories": 12},
        "traces": {},
        "memory_ids": [_MEMORY_ID],
        "fingerprints": [_DIGEST],
        "removed_at": None,
        "kept": [],
    },
    "RememberRequest": {"messages": [_SAID], "infer": True, "data": {"channel": "chat"}},
    "RetrieveRequest": {"query": "Where do I like to sit?", "top_k": 5},
    "RatingRequest": {"verdict": "useful"},
    "Rollback": {"version": 1},
    "Search": {"query": "Where do I like to sit?", "top_k": 5},
    "SessionMessage": {"role": "user", "content": "Find me a flight to Denver."},
    "StructuredText": {"text": "Your booking X7K2LM: OSL to DEN on 14 March 2026, seat 12C."},
    "Task": {"task": "Book a flight to Boston.", "top_k": 5},
    "TenantRequest": {"tenant": "acme", "label": "Acme Ltd."},
    "TextOfUser": {"text": "Write to ana@example.org."},
    "TextToExtract": {"text": "Your booking X7K2LM: OSL to DEN on 14 March 2026, seat 12C."},
    "TokenRequest": {"user": "ana", "roles": ["reader", "writer"], "ttl_seconds": 3600},
    "Turn": {"message": "I prefer aisle seats.", "goal": "Find me a flight to Denver."},
    "UploadPiece": {
        "name": "conversations.json",
        "text": '{"role": "user", "content": "I prefer aisle seats."}',
        "dry_run": True,
    },
    "WebhookRequest": {"url": "https://app.example.com/hooks/memory", "actions": ["created", "superseded"]},
    "TwoNames": {"name": "Bob", "other": "Robert Smith"},
}
"""An example of each request body, by the name of its shape."""
