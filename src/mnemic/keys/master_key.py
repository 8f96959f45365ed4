"""The master key: 32 random bytes in a separate file, one line of base64.

While it is being changed the file has two lines: the first wraps from now on, the second still opens.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mnemic.errors import InvalidConfig, KeyFailed
from mnemic.keys.private_files import make_file, replace_file

KEY_BYTES = 32
NONCE_BYTES = 12
MAX_FILE_BYTES = 1024
_NAME_BYTES = 8


@dataclass(frozen=True)
class MasterKey:
    """One key that wraps data keys. `name` distinguishes two of them and reveals nothing about either."""

    value: bytes = field(repr=False)

    @cached_property
    def name(self) -> str:
        """16 hex digits, from the key alone."""
        return hmac.digest(self.value, b"mnemic master key", "sha256")[:_NAME_BYTES].hex()

    def wrap(self, key: bytes, bound: bytes) -> bytes:
        """Return a data key sealed with AES-256-GCM (NIST SP 800-38D), with `bound` as associated data."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + AESGCM(self.value).encrypt(nonce, key, bound)

    def unwrap(self, wrapped: bytes, bound: bytes) -> bytes:
        """Return the data key. Raises KeyFailed (`key_failed:damaged`)."""
        try:
            return AESGCM(self.value).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], bound)
        except (InvalidTag, ValueError) as error:
            raise KeyFailed("damaged", hint="a data key is not what was stored") from error


@dataclass(frozen=True, slots=True)
class MasterKeys:
    """The keys of one file, the one that wraps first. Raises nothing; `read` and `make` do."""

    keys: tuple[MasterKey, ...]

    @classmethod
    def read(cls, path: Path) -> MasterKeys:
        """Return the keys in the file at `path`. Raises InvalidConfig (`invalid_config:key_file`)."""
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                raise InvalidConfig("key_file", hint="too large for a key file")
            lines = path.read_bytes().split()
        except OSError as error:
            hint = f"cannot be read ({error.strerror}); `mnemic keys init` makes one"
            raise InvalidConfig("key_file", hint=hint) from error
        try:
            values = [base64.b64decode(line, validate=True) for line in lines]
        except binascii.Error as error:
            raise InvalidConfig("key_file", hint="not base64") from error
        if not values or any(len(value) != KEY_BYTES for value in values):
            raise InvalidConfig("key_file", hint=f"it must contain one key of {KEY_BYTES} bytes in base64")
        return cls(tuple(map(MasterKey, values)))

    @classmethod
    def make(cls, path: Path) -> MasterKeys:
        """Make a key in a new file that only its owner can read. Raises InvalidConfig if there is a file already."""
        made = cls((MasterKey(secrets.token_bytes(KEY_BYTES)),))
        try:
            make_file(path, made._text())
        except FileExistsError:
            raise InvalidConfig("key_file", hint="the file already exists") from None
        except OSError as error:
            raise InvalidConfig("key_file", hint=f"cannot be written ({error.strerror})") from error
        return made

    @property
    def first(self) -> MasterKey:
        """The key that wraps."""
        return self.keys[0]

    def find_key(self, name: str) -> MasterKey:
        """Return the key of this name. Raises KeyFailed (`key_failed:wrong_key`)."""
        for key in self.keys:
            if key.name == name:
                return key
        raise KeyFailed("wrong_key", hint="the data keys were wrapped by another master key")

    def with_next_key(self) -> MasterKeys:
        """Return a new key in front; an earlier unfinished change is continued."""
        return self if len(self.keys) > 1 else MasterKeys((MasterKey(secrets.token_bytes(KEY_BYTES)), *self.keys))

    def without_earlier_keys(self) -> MasterKeys:
        """Return the first key alone."""
        return MasterKeys(self.keys[:1])

    def store(self, path: Path) -> None:
        """Replace the keys in the file by these, all or nothing."""
        replace_file(path, self._text())

    def _text(self) -> bytes:
        return b"".join(base64.b64encode(key.value) + b"\n" for key in self.keys)
