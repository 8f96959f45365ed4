"""The meaning of each field of a request: help of the command line, and descriptions in the service's OpenAPI."""

from __future__ import annotations

PARAMETERS: dict[str, str] = {
    "as_of": "A time: what was true then. Without a zone it is read as UTC.",
    "asked_at": "The time by which words such as `last week` in the query are read; null: now.",
    "before": "The end of the page before: its `next`.",
    "categories": "Only memories of these categories.",
    "category": "A category to group memories by.",
    "confidence": "Confidence that it is true, 0 to 1.",
    "data": "Data fields to store with the memory, as a JSON object.",
    "dry_run": "Do nothing and say what would be done.",
    "expected_version": "The version that the memory must still have.",
    "happened_from": "Only what happened from this time on. Without a zone it is read as UTC.",
    "happened_to": "Only what happened before this time. Without a zone it is read as UTC.",
    "key": "What the content is a value of, such as `seat`.",
    "keys": "Only memories under these keys.",
    "kinds": "Only memories of these kinds.",
    "known_at": "A time: what was believed then. Without a zone it is read as UTC.",
    "levels": "Only memories at these levels.",
    "limit": "How many at most.",
    "max_tokens": "How many tokens at most.",
    "min_score": "The minimum relevance of a hit, 0 to 1; its minimum score where the relevance is unknown.",
    "occurred_at": "When it happened. Without a zone it is read as UTC.",
    "preference_bias": "Boost the policy's preference keys.",
    "query": "What is asked.",
    "top_k": "How many at most.",
    "valid_from": "From when on it was true. Without a zone it is read as UTC.",
    "valid_to": "Until when it was true. Without a zone it is read as UTC.",
    "where": "Only memories whose `data` meets this filter, a JSON object: values, and operators such as `$gte`.",
}
