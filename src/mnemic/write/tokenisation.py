"""Tokenised values: a marker in the text, and the original value sealed next to the memories.

A value is encrypted with the data key of its subject, bound to its storage place, and committed with the memory that
names it. Its name consists of keyed hashes only.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mnemic.errors import KeyFailed
from mnemic.ports import RecordStore
from mnemic.redact.replacement import MARKER
from mnemic.types import JsonValue, Memory, Scope, Status, Where
from mnemic.types.scope import token_of
from mnemic.unit_of_work import Mutation, apply

if TYPE_CHECKING:
    from mnemic.ports import Keyring
    from mnemic.unit_of_work import Unit
    from mnemic.write.draft import Draft


def vault_prefix(secret: bytes, subject: Scope) -> str:
    """Return the prefix of the names of a subject's sealed values."""
    return token_prefix(token_of(secret, subject.owner))


def token_prefix(token: str) -> str:
    """Return the vault for the subject of `token`."""
    return f"vault/{token}/"


def vault_name(prefix: str, marker: str) -> str:
    """Return the name under which the value of `marker` is stored."""
    return prefix + marker.strip("[]")


def marker_of(name: str) -> str:
    """Return the marker of the value that is stored under `name`."""
    return f"[{name.rpartition('/')[2]}]"


@dataclass(frozen=True, slots=True)
class TokenVault:
    """Seals and opens values. Both wait for a small file at most; KeyFailed is raised as the keyring raises it."""

    keyring: Keyring

    def seal_token(self, subject: Scope, name: str, value: str) -> str:
        """`value` in its stored form under `name`."""
        plain = value.encode("utf-8", "surrogatepass")
        return base64.b64encode(self.keyring.seal(subject, plain, _bound(subject.tenant, name))).decode()

    def reseal_value(self, tenant: str, name: str, sealed: str) -> str | None:
        """Return the value stored under `name`, sealed with the current key; None if it is already, or cannot be
        opened.
        """
        fresh = self.keyring.reseal_value(_raw(sealed), _bound(tenant, name))
        return None if fresh is None else base64.b64encode(fresh).decode()

    def whose(self, sealed: str) -> bytes:
        """Return the bytes that identify the subject it was sealed for."""
        return self.keyring.whose(_raw(sealed))

    def open_value(self, subject: Scope, name: str, sealed: str) -> str:
        """Return the value that is stored under `name`."""
        return self.keyring.open(_raw(sealed), _bound(subject.tenant, name)).decode("utf-8", "surrogatepass")


def _bound(tenant: str, name: str) -> bytes:
    # Bound to its place (AEAD): a sealed value that was copied under another name does not open.
    return f"{tenant}\x1f{name}".encode()


def _raw(sealed: str) -> bytes:
    try:
        return base64.b64decode(sealed, validate=True)
    except ValueError as error:
        raise KeyFailed("damaged", hint="this was never sealed") from error


def finish_tokens(draft: Draft, vault: TokenVault) -> None:
    """Give the draft its tokens under their final names, and a key to seal them with.

    It waits for a small file at most. Raises KeyFailed as the keyring raises it.
    """
    prefix = vault_prefix(draft.secret, draft.subject)
    draft.vaulted = {vault_name(prefix, marker): value for marker, value in draft.tokens.items()}
    # Makes the key of the subject if there is none yet: a transaction must not wait for a file.
    vault.keyring.seal(draft.subject, b"", b"")
    draft.tokens, draft.vault = {}, vault


async def keep(unit: Unit, draft: Draft) -> None:
    """Store the tokenised values that are not stored yet. They are sealed here because the key may have changed since
    the draft was made: inside a transaction the current one is known (`RecordStore.reseal`).
    """
    tenant, vault = draft.scope.tenant, draft.vault
    for name, value in draft.vaulted.items():
        if await unit.reads.find_mark(tenant, name) is None:
            assert vault is not None
            sealed = vault.seal_token(draft.subject, name, value)
            await unit.apply(Mutation(tenant=tenant, marks={name: sealed}))


PAGE = 500


async def sweep(store: RecordStore, tenant: str, subject: Scope | None = None) -> int:
    """Remove encrypted values that no memory names any more, of a subject or the whole tenant; return their number."""
    secret = await store.secret(tenant)
    prefix = "vault/" if subject is None else vault_prefix(secret, subject)
    names = {name: marker_of(name) for name in await store.marks(tenant, prefix)}
    if not names:
        return 0
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
