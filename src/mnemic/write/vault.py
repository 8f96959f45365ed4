"""What policy tokenises: a marker in the text, and what it stands for kept sealed beside the memories.

A value is sealed with the data key of its subject, bound to the place it is kept in, and committed with the memory that
names it. Its name carries keyed hashes alone.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from mnemic.errors import KeyFailed
from mnemic.identity import token_of
from mnemic.ports import Keyring, Transaction
from mnemic.types import Scope
from mnemic.write.draft import Draft


def vault_prefix(secret: bytes, subject: Scope) -> str:
    """What the names of a subject's sealed values begin with."""
    return token_prefix(token_of(secret, subject.owner))


def token_prefix(token: str) -> str:
    """The same for the subject that `token` stands for."""
    return f"vault/{token}/"


def vault_name(prefix: str, marker: str) -> str:
    """The name under which the value behind `marker` is kept."""
    return prefix + marker.strip("[]")


def marker_of(name: str) -> str:
    """The marker whose value is kept under `name`."""
    return f"[{name.rpartition('/')[2]}]"


@dataclass(frozen=True, slots=True)
class Vault:
    """Seals and opens values. Both wait for a small file at most; KeyFailed is raised as the keyring raises it."""

    keyring: Keyring

    @classmethod
    def of(cls, keyring: Keyring | None) -> Vault | None:
        """The vault of the keyring, or None: without a key nothing is sealed."""
        return None if keyring is None else cls(keyring)

    def sealed(self, draft: Draft) -> Draft:
        """The draft with its tokens sealed under the names they will be kept by."""
        prefix = vault_prefix(draft.secret, draft.subject)
        vaulted = {}
        for marker, value in draft.tokens.items():
            name = vault_name(prefix, marker)
            sealed = self.keyring.seal(
                draft.subject, value.encode("utf-8", "surrogatepass"), _bound(draft.subject, name)
            )
            vaulted[name] = base64.b64encode(sealed).decode()
        return draft.decided(draft.decision, tokens={}, vaulted=vaulted)

    def opened(self, subject: Scope, name: str, sealed: str) -> str:
        """The value that is kept under `name`."""
        try:
            raw = base64.b64decode(sealed, validate=True)
        except ValueError as error:
            raise KeyFailed("damaged", hint="this was never sealed") from error
        return self.keyring.open(raw, _bound(subject, name)).decode("utf-8", "surrogatepass")


async def keep(tx: Transaction, draft: Draft) -> None:
    """Keep what the draft sealed, where it is not kept already."""
    for name, sealed in draft.vaulted.items():
        if await tx.find_mark(draft.scope.tenant, name) is None:
            await tx.put_mark(draft.scope.tenant, name, sealed)


def _bound(subject: Scope, name: str) -> bytes:
    return f"{subject.tenant}\x1f{name}".encode()
