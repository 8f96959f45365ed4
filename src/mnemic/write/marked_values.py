"""Markers in the texts of memories, and the removal of sealed values that no memory names any more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from typing import Any

from mnemic.ports import RecordStore
from mnemic.redact.replacement import MARKER
from mnemic.types import JsonValue, Memory, Scope, Status, Where
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.tokenisation import marker_of, vault_prefix

PAGE = 500


async def sweep(store: RecordStore, tenant: str, subject: Scope | None = None) -> int:
    """Remove encrypted values that no memory names any more, of a subject or the whole tenant; return their number."""
    secret = await store.secret(tenant)
    prefix = "vault/" if subject is None else vault_prefix(secret, subject)
    names = {name: marker_of(name) for name in await store.marks(tenant, prefix)}
    unnamed = set(names.values())
    async for page in _memory_pages(store, tenant, subject):
        if not unnamed:
            return 0
        unnamed -= markers(page)
        for memory in page:
            if memory.version > 1 and unnamed:
                unnamed -= markers(await store.versions(memory.memory_id, scopes=[memory.scope]))
    gone = [name for name, marker in names.items() if marker in unnamed]
    if gone:
        await apply(store, Mutation(tenant=tenant, marks=dict.fromkeys(gone)))
    return len(gone)


def markers(memories: Iterable[Memory]) -> set[str]:
    """Return every marker in the texts of these memories."""
    return {
        match.group()
        for memory in memories
        for text in _texts(memory)
        if "#" in text
        for match in MARKER.finditer(text)
    }


def _texts(memory: Memory) -> list[str]:
    source = memory.source
    plain = (memory.content, memory.context, memory.key, memory.category, source.quote, source.speaker, source.ref)
    return [text for text in plain if text] + _inside(memory.data)


def _inside(value: JsonValue | Mapping[str, Any]) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [*value, *(text for item in value.values() for text in _inside(item))]
    if isinstance(value, Collection):
        return [text for item in value for text in _inside(item)]
    return []


async def _memory_pages(store: RecordStore, tenant: str, subject: Scope | None) -> AsyncIterator[list[Memory]]:
    """Yield the memories of the tenant; for a subject those of the subject's scope, and those the subject wrote
    anywhere.
    """
    after = None
    author = subject.owner if subject is not None else None
    while page := await store.scan(tenant, statuses=list(Status), author=author, after=after, limit=PAGE):
        after = page[-1].memory_id
        yield page
    if subject is not None:
        where, before = Where(scopes=(subject,), statuses=frozenset(Status)), None
        while page := await store.newest(where, limit=PAGE, before=before):
            before = page[-1].memory_id
            yield page
