"""Values that the markers of a memory represent: shown to the roles that policy names, each time with a line in the
audit.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mnemic.errors import NotSupported, RevealDenied
from mnemic.policy.redaction import RedactionRules
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, JsonValue, Memory, Scope, Status, Where, subject_of
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.tokenisation import Vault, marker_of, vault_name, vault_prefix
from mnemic_redact.replacement import MARKER

PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Revealed:
    """Original content of a memory, and the value of each of its markers. `unknown` are markers of values that were
    replaced permanently, or are gone.
    """

    memory_id: str
    content: str = field(repr=False)
    values: Mapping[str, str] = field(repr=False)
    unknown: tuple[str, ...] = ()


async def reveal(
    store: RecordStore,
    clock: Clock,
    vault: Vault | None,
    rules: RedactionRules,
    memory: Memory,
    *,
    actor: Actor,
    role: str,
) -> Revealed:
    """Return the values that the markers of `memory` replace. The request is in the audit before anything is shown,
    also when it is denied.

    Raises RevealDenied (`reveal_denied:role`), NotSupported (`reveal`) without a key, KeyFailed.
    """
    if vault is None:
        raise NotSupported("reveal", hint="nothing is sealed without a key file")
    allowed = role in rules.reveal
    found = await _sealed(store, memory) if allowed else {}
    entities = Counter(marker[1:].partition("#")[0] for marker in found)
    detail: dict[str, Any] = {
        "role": role if allowed else "",
        "agent": actor.agent,
        "entities": dict(sorted(entities.items())),
    }
    action = "revealed" if allowed else "reveal_denied"
    await apply(store, Mutation.line(action, actor=actor, at=clock.now(), about=memory, detail=detail))
    if not allowed:
        raise RevealDenied("role", hint="the policy's [redaction] reveal names the roles that may")

    def opened() -> dict[str, str]:
        return {marker: vault.opened(subject, name, sealed) for marker, (subject, name, sealed) in found.items()}

    values = await asyncio.to_thread(opened)
    return Revealed(
        memory_id=memory.memory_id,
        content=MARKER.sub(lambda match: values.get(match.group(), match.group()), memory.content),
        values=values,
        unknown=tuple(sorted(markers([memory]) - values.keys())),
    )


async def sweep(store: RecordStore, tenant: str, subject: Scope | None = None) -> int:
    """Take away the sealed values that no memory names any more: of one subject, or of the whole tenant; how many."""
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


async def _sealed(store: RecordStore, memory: Memory) -> dict[str, tuple[Scope, str, str]]:
    """Return by marker: the subject, the name and the sealed value. Any author of the memory may be the subject."""
    secret = await store.secret(memory.scope.tenant)
    versions = [memory]
    if memory.version > 1:
        versions += await store.versions(memory.memory_id, scopes=[memory.scope])
    found: dict[str, tuple[Scope, str, str]] = {}
    for subject in dict.fromkeys(subject_of(one.scope, one.author) for one in versions):
        prefix = vault_prefix(secret, subject)
        kept = await store.marks(subject.tenant, prefix)
        for marker in markers([memory]) - found.keys():
            name = vault_name(prefix, marker)
            if name in kept:
                found[marker] = subject, name, kept[name]
    return found


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
