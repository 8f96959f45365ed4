"""The port for data keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Protocol, runtime_checkable

from mnemic.types import Scope

Reseal = Callable[[bytes, bytes], bytes | None]
"""A function from a sealed value and its binding to the value sealed with the current key; None if it stays as it is.
"""


class Keyring(Protocol):
    """A data key for each subject (the owner of a scope), stored apart from the data sealed with it: once it is
    destroyed, no copy of that data can be read. The methods wait for a small file at most, on any thread, and raise
    KeyFailed.
    """

    def seal(self, subject: Scope, plain: bytes, bound: bytes) -> bytes:
        """`plain`, readable again only by `open` with the same `bound`. A subject without a key gets one, durably."""

    def open(self, sealed: bytes, bound: bytes) -> bytes:
        """Return the plain text. Raises KeyFailed: `missing`, `destroyed`, `rotated`, `wrong_key`, `damaged`."""

    def holds(self, subject: Scope) -> bool:
        """Return True if the subject has a key now."""

    def destroy(self, subject: Scope) -> bool:
        """Destroy the subject's key, durably; return False if there is none. Later data gets a new one."""

    def subject_name(self, subject: Scope) -> bytes:
        """Return the name that represents the subject: a salted hash."""

    def whose(self, sealed: bytes) -> bytes:
        """Return the name that represents the subject this was sealed for. Raises KeyFailed (`damaged`)."""

    def follow(self, names: Collection[bytes]) -> dict[bytes, int]:
        """Create a new key for each of these subjects that has one; data sealed with the former keys can be opened
        until `retire`. An unfinished rotation is continued. Return the generation of each key.
        """

    def reseal_value(self, sealed: bytes, bound: bytes) -> bytes | None:
        """Return the value sealed with the current key; None if it already is, or can no longer be opened."""

    def retire(self, followed: Mapping[bytes, int]) -> int:
        """Destroy the keys before those of `follow`, durably; return the number. One with another successor stays."""


@runtime_checkable
class SigningKeyring(Protocol):
    """A keyring that signs too, with a key that outlives every subject's."""

    def sign(self, message: bytes) -> str:
        """Return the name of the key, a colon, and the HMAC of `message` in hexadecimal digits. Raises KeyFailed."""


@runtime_checkable
class SignatureFence(Protocol):
    """A keyring that records the first signed line of a tenant's audit."""

    def signed_since(self, tenant: str, first: int | None) -> int | None:
        """Return the sequence of the earliest line of the tenant that was ever found signed; None: none was. `first` is
        the first that is signed now, and recorded. Raises KeyFailed.
        """
