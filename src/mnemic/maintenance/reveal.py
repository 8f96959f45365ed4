"""Values that the markers of a memory represent: shown to the roles that policy names, each time with a line in the
audit.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mnemic.errors import NotSupported, RevealDenied
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.ports import Clock, RecordStore
from mnemic.redact.replacement import MARKER
from mnemic.types import Actor, Memory, Scope, subject_of
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.tokenisation import TokenVault, markers, vault_name, vault_prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealResult:
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
    vault: TokenVault | None,
    rules: RedactionRules,
    memory: Memory,
    *,
    actor: Actor,
    role: str,
) -> RevealResult:
    """Return the values that the markers of `memory` replace. The request is in the audit before anything is shown,
    also when it is denied.

    Raises RevealDenied (`reveal_denied:role`), NotSupported (`reveal`) without a key, KeyFailed.
    """
    if vault is None:
        raise NotSupported("reveal", hint="nothing is sealed without a key file")
    allowed = role in rules.reveal
    found = await _sealed_values(store, memory) if allowed else {}
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

    def open_values() -> dict[str, str]:
        return {marker: vault.open_value(subject, name, sealed) for marker, (subject, name, sealed) in found.items()}

    values = await asyncio.to_thread(open_values)
    return RevealResult(
        memory_id=memory.memory_id,
        content=MARKER.sub(lambda match: values.get(match.group(), match.group()), memory.content),
        values=values,
        unknown=tuple(sorted(markers([memory]) - values.keys())),
    )


async def _sealed_values(store: RecordStore, memory: Memory) -> dict[str, tuple[Scope, str, str]]:
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
