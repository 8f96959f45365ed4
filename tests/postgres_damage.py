"""Statements that damage one part of a memory in PostgreSQL, for the tests of what is noticed."""

from __future__ import annotations

SPOIL: dict[str, str] = {
    "body": "UPDATE mnemic.memory_version v SET body = replace(body, ',', ';') FROM mnemic.memory m"
    " WHERE m.tenant = v.tenant AND m.memory_id = v.memory_id AND m.version = v.version AND v.memory_id = '{}'",
    "version": "UPDATE mnemic.memory_version SET body = replace(body, ',', ';') WHERE version = 1 AND memory_id = '{}'",
    "column": "UPDATE mnemic.memory SET expires_at = 1 WHERE memory_id = '{}'",
    "vector": "UPDATE mnemic.memory SET vector = vector + vector WHERE memory_id = '{}'",
    "words": "UPDATE mnemic.memory SET content = set_byte(content, 0, get_byte(content, 0) # 1) WHERE memory_id = '{}'",
    "mark": "UPDATE mnemic.mark SET value = 'gone' WHERE name = '{}'",
}
