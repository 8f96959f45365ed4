"""The meaning of each field of a request: help of the command line, and descriptions in the service's OpenAPI."""

from __future__ import annotations

PARAMETERS: dict[str, str] = {
    "as_of": "A time: statements that were true then. Without a zone it is read as UTC.",
    "asked_at": "Reference time for phrases such as `last week` in the query; null: now.",
    "before": "Cursor: `next` of the previous page.",
    "categories": "Only memories of these categories.",
    "category": "A category to group memories by.",
    "confidence": "Confidence that it is true, 0 to 1.",
    "data": "Data fields to store with the memory, as a JSON object.",
    "dry_run": "Change nothing and report what would change.",
    "expected_version": "Fail unless the memory is still at this version.",
    "happened_from": "Only events from this time on. Without a zone it is read as UTC.",
    "happened_to": "Only events before this time. Without a zone it is read as UTC.",
    "key": "Key to store the content under, such as `seat`.",
    "keys": "Only memories under these keys.",
    "kinds": "Only memories of these kinds.",
    "known_at": "A time: memories as they were stored then. Without a zone it is read as UTC.",
    "levels": "Only memories at these levels.",
    "limit": "Maximum number of results.",
    "max_tokens": "Maximum number of tokens.",
    "min_score": "The minimum relevance of a hit, 0 to 1; its minimum score where the relevance is unknown.",
    "occurred_at": "Time of the event. Without a zone it is read as UTC.",
    "preference_bias": "Boost the policy's preference keys.",
    "query": "The question or search text.",
    "top_k": "Maximum number of results.",
    "valid_from": "Time from which the statement was true. Without a zone it is read as UTC.",
    "valid_to": "Time until which the statement was true. Without a zone it is read as UTC.",
    "where": "Only memories whose `data` meets this filter, a JSON object: values, and operators such as `$gte`.",
}
