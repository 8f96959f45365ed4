"""Data keys in a folder, one small file for each subject.

The folder is stored and backed up apart from the store: data encrypted for a subject can be decrypted only while their
file exists, in the store as in every copy of it. A file contains the data key wrapped by the master key; its name is a
salted hash of the subject. A destroyed key leaves its generation, so that "destroyed" and "the wrong folder" are two
answers. During a re-encryption the file contains the key and its successor; afterwards only the generation of the old
one, so that an older copy is reported as "rotated".
"""

from __future__ import annotations

import base64
import fcntl
import hmac
import json
import os
import secrets
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mnemic.errors import KeyFailed
from mnemic.keys import first_signed_lines
from mnemic.keys.master_key import KEY_BYTES, NONCE_BYTES, MasterKey, MasterKeys
from mnemic.keys.private_files import make_file, replace_file
from mnemic.types import Scope

FORMAT = "mnemic-key/1"
FOLLOWED = "mnemic-key/2"
"""Format of a file that also contains the previous keys: a reader that does not know them must not report them as
destroyed.
"""
MAX_CACHED = 10_000
_SEAL = b"\x01"
_NAME_BYTES = 16
_SIGNING_NAME_BYTES = 8
_GENERATION_BYTES = 4
_HEADER_BYTES = len(_SEAL) + _NAME_BYTES + _GENERATION_BYTES
_SEALED_AT = _HEADER_BYTES + NONCE_BYTES

Seen = tuple[int, int, int]
"""Signature that an unchanged file has: its inode, its size, its time."""


@dataclass(frozen=True, slots=True)
class _DataKey:
    """Content of a subject's file; `wrapped` None once the key is destroyed. `before`: earlier keys that still open;
    `retired`: generations of earlier keys with successors that open all they sealed.
    """

    generation: int
    master: str = ""
    wrapped: bytes | None = None
    before: tuple[_DataKey, ...] = ()
    retired: tuple[int, ...] = ()

    def text(self) -> bytes:
        return json.dumps({"format": FOLLOWED if self.before else FORMAT} | self._fields()).encode()

    def _fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"generation": self.generation}
        if self.wrapped is not None:
            fields |= {"master": self.master, "wrapped": base64.b64encode(self.wrapped).decode()}
        before = [key._fields() for key in self.before]
        return fields | {name: given for name, given in (("before", before), ("retired", list(self.retired))) if given}

    @classmethod
    def from_text(cls, text: bytes) -> _DataKey:
        try:
            fields = json.loads(text)
            if fields["format"] not in (FORMAT, FOLLOWED):
                raise KeyFailed("unreadable", hint=f"expected {FORMAT} or {FOLLOWED}")
            return cls._from_fields(fields)
        except (ValueError, KeyError, TypeError) as error:
            raise KeyFailed("unreadable", hint="a data key's file is damaged") from error

    @classmethod
    def _from_fields(cls, fields: Mapping[str, Any]) -> _DataKey:
        wrapped = base64.b64decode(fields["wrapped"]) if "wrapped" in fields else None
        before = tuple(map(cls._from_fields, fields.get("before", ())))
        retired = tuple(map(int, fields.get("retired", ())))
        return cls(int(fields["generation"]), str(fields.get("master", "")), wrapped, before, retired)


class KeyCount(NamedTuple):
    """Numbers of subjects with a key, with a destroyed key, and with a key that has a successor and still opens."""

    live: int
    destroyed: int
    followed: int


class _Opened(NamedTuple):
    """The keys of one file by generation, the one that seals, and the retired ones."""

    generation: int
    keys: Mapping[int, AESGCM]
    retired: tuple[int, ...]


class KeyFolder:
    """A `Keyring` in the folder at `path`, under the master key in `key_file`; many processes may use it at once.

    The folder is created at the first use. A key destroyed by another process is gone here at the next call; a master
    key changed by another process is read again. Raises InvalidConfig (`invalid_config:key_file`).
    """

    def __init__(self, path: Path, key_file: Path) -> None:
        self._path = path
        self._key_file = key_file
        self._master = MasterKeys.read(key_file)
        self._cache: dict[bytes, tuple[Seen, _Opened]] = {}
        self._salt: bytes | None = None
        self._signing: bytes | None = None
        self._mutex = threading.Lock()

    def seal(self, subject: Scope, plain: bytes, bound: bytes) -> bytes:
        name = self._name(subject)
        known = self._known_keys(name)
        if known is None:
            self._make(name)
            known = self._known_keys(name)
        if known is None:
            raise KeyFailed("destroyed", hint="the subject is being erased")
        return _seal_value(name, known, plain, bound)

    def open(self, sealed: bytes, bound: bytes) -> bytes:
        name, generation = _header(sealed)
        key = self._key(name, generation)
        try:
            return key.decrypt(sealed[_HEADER_BYTES:_SEALED_AT], sealed[_SEALED_AT:], sealed[:_HEADER_BYTES] + bound)
        except InvalidTag as error:
            raise KeyFailed("damaged", hint="what was sealed has been changed") from error

    def _key(self, name: bytes, generation: int) -> AESGCM:
        known = self._known_keys(name)
        if known is not None and generation in known.keys:
            return known.keys[generation]
        if known is not None and generation in known.retired:
            raise KeyFailed("rotated", hint="this copy is older than its data keys: use the key folder of its time")
        absent = not Path(self._file(name)).exists()
        raise KeyFailed("missing" if absent else "destroyed", hint="the data key is not in the key folder")

    def holds(self, subject: Scope) -> bool:
        return self._known_keys(self._name(subject)) is not None

    def destroy(self, subject: Scope) -> bool:
        name = self._name(subject)
        with self._lock_folder():
            stored = self._read_key(name)
            if stored is None or stored.wrapped is None:
                return False
            self._put(name, _DataKey(stored.generation))
        return True

    def sign(self, message: bytes) -> str:
        """Return the port's `sign`: HMAC-SHA256. The key is stored among the data keys and, like them, wrapped by the
        master key.
        """
        if self._signing is None:
            name = self._signing_name()
            if self._read_key(name) is None:
                self._make(name)
            stored = self._read_key(name)
            if stored is None or stored.wrapped is None:
                raise KeyFailed("missing", hint="the key that signs the audit is not in the key folder")
            self._signing = self._unwrap_key(name, stored)
        # The signature includes the key's name, so that a line signed with another folder's key is not reported as a
        # forged one.
        key_name = hmac.digest(self._signing, b"mnemic signing key", "sha256")[:_SIGNING_NAME_BYTES].hex()
        return f"{key_name}:{hmac.digest(self._signing, message, 'sha256').hex()}"

    def signed_since(self, tenant: str, first: int | None) -> int | None:
        with self._lock_folder():
            name = hmac.digest(self._salt or b"", b"mnemic audit of " + tenant.encode(), "sha256").hex()
            return first_signed_lines.signed_since(self._path, name, first)

    def _signing_name(self) -> bytes:
        self._salt = self._salt or self._read_salt()
        return hmac.digest(self._salt, b"mnemic signing key", "sha256")[:_NAME_BYTES]

    def subject_name(self, subject: Scope) -> bytes:
        return self._name(subject)

    def whose(self, sealed: bytes) -> bytes:
        return _header(sealed)[0]

    def follow(self, names: Collection[bytes]) -> dict[bytes, int]:
        followed = {}
        for name in names:
            with self._lock_folder():
                stored = self._read_key(name)
                if stored is None or stored.wrapped is None:
                    continue
                if not stored.before:
                    self._unwrap_key(name, stored)  # under a wrong master key nothing is changed
                    made = self._wrap_key(name, stored.generation + 1, secrets.token_bytes(KEY_BYTES))
                    stored = replace(made, before=(replace(stored, retired=()),), retired=stored.retired)
                    self._put(name, stored)
            followed[name] = stored.generation
        return followed

    def reseal_value(self, sealed: bytes, bound: bytes) -> bytes | None:
        name, generation = _header(sealed)
        known = self._known_keys(name)
        if known is None or known.generation == generation or generation not in known.keys:
            return None
        return _seal_value(name, known, self.open(sealed, bound), bound)

    def retire(self, followed: Mapping[bytes, int]) -> int:
        retired = 0
        for name, generation in followed.items():
            with self._lock_folder():
                stored = self._read_key(name)
                if stored is not None and stored.before and stored.generation == generation:
                    gone = tuple(key.generation for key in stored.before)
                    self._put(name, replace(stored, before=(), retired=stored.retired + gone))
                    retired += len(gone)
        return retired

    def rotate(self) -> int:
        """Write a new master key into the key file, and wrap every data key by it; return their number.

        If interrupted, it leaves both keys in the file, and the next call continues. Afterwards the old master key
        opens nothing in the folder. Raises KeyFailed, InvalidConfig.
        """
        with self._lock_folder():
            self._replace_master(self._master.with_next_key())
            names = list(self._names())
            count = sum(self._rewrap(name) for name in names)
            self._replace_master(self._master.without_earlier_keys())
        return count

    def _replace_master(self, master: MasterKeys) -> None:
        try:
            master.store(self._key_file)
        except OSError as error:
            raise _unreadable(error) from error
        self._master = master

    def count(self) -> KeyCount:
        """Count the keys of each sort."""
        signing = self._signing_name()
        stored = [self._read_key(name) for name in self._names() if name != signing]
        live = [one for one in stored if one is not None and one.wrapped is not None]
        return KeyCount(len(live), len(stored) - len(live), sum(bool(one.before) for one in live))

    def _rewrap(self, name: bytes) -> bool:
        stored = self._read_key(name)
        if stored is None or stored.wrapped is None:
            return False
        # Interrupted rotations leave some files under the new key already; those are skipped.
        if any(key.master != self._master.first.name for key in (stored, *stored.before)):
            before = tuple(self._wrap_key(name, key.generation, self._unwrap_key(name, key)) for key in stored.before)
            anew = self._wrap_key(name, stored.generation, self._unwrap_key(name, stored))
            self._put(name, replace(anew, before=before, retired=stored.retired))
        return True

    def _make(self, name: bytes) -> None:
        with self._lock_folder():
            stored = self._read_key(name)
            if stored is None or stored.wrapped is None:
                generation = 1 if stored is None else stored.generation + 1
                self._put(name, self._wrap_key(name, generation, secrets.token_bytes(KEY_BYTES)))

    def _wrap_key(self, name: bytes, generation: int, key: bytes) -> _DataKey:
        master: MasterKey = self._master.first
        return _DataKey(generation, master.name, master.wrap(key, _bound(name, generation)))

    def _unwrap_key(self, name: bytes, stored: _DataKey) -> bytes:
        assert stored.wrapped is not None
        try:
            master = self._master.find_key(stored.master)
        except KeyFailed:
            self._master = MasterKeys.read(self._key_file)
            master = self._master.find_key(stored.master)
        return master.unwrap(stored.wrapped, _bound(name, stored.generation))

    def _known_keys(self, name: bytes) -> _Opened | None:
        """Return the keys, from the cache while the file is unchanged; None if there is none."""
        try:
            about = os.stat(self._file(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(error) from error
        # A `stat` at every use instead of a cache with a lifetime: a key that another process destroys must be gone
        # here at once.
        seen = (about.st_ino, about.st_size, about.st_mtime_ns)
        cached = self._cache.get(name)
        if cached is not None and cached[0] == seen:
            return cached[1]
        self._cache.pop(name, None)
        stored = self._read_key(name)
        if stored is None or stored.wrapped is None:
            return None
        keys = {key.generation: AESGCM(self._unwrap_key(name, key)) for key in (stored, *stored.before)}
        # Unwrapping is cheap, so the cache is simply emptied instead of tracking use.
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        self._cache[name] = seen, _Opened(stored.generation, keys, stored.retired)
        return self._cache[name][1]

    def _read_key(self, name: bytes) -> _DataKey | None:
        try:
            return _DataKey.from_text(Path(self._file(name)).read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(error) from error

    def _put(self, name: bytes, key: _DataKey) -> None:
        file = Path(self._file(name))
        try:
            file.parent.mkdir(mode=0o700, exist_ok=True)
            replace_file(file, key.text())
        except OSError as error:
            raise _unreadable(error) from error

    def _file(self, name: bytes) -> str:
        text = name.hex()
        return f"{self._path}/{text[:2]}/{text}"

    def _names(self) -> Iterator[bytes]:
        for file in sorted(self._path.glob("[0-9a-f][0-9a-f]/*")):
            with suppress(ValueError):
                yield bytes.fromhex(file.name)

    def _name(self, subject: Scope) -> bytes:
        if self._salt is None:
            self._salt = self._read_salt()
        said = f"{subject.tenant}\x1f{subject.level}\x1f{subject.owner}"
        return hmac.digest(self._salt, said.encode(), "sha256")[:_NAME_BYTES]

    def _read_salt(self) -> bytes:
        file = self._path / "salt"
        try:
            self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                if not file.exists():
                    make_file(file, secrets.token_bytes(KEY_BYTES))
            return file.read_bytes()
        except OSError as error:
            raise _unreadable(error) from error

    @contextmanager
    def _lock_folder(self) -> Iterator[None]:
        """One writer at a time, among threads and processes, with the master key as it is now."""
        self._salt = self._salt or self._read_salt()
        with self._mutex:
            try:
                lock = os.open(self._path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            except OSError as error:
                raise _unreadable(error) from error
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._master = MasterKeys.read(self._key_file)
                yield
            finally:
                os.close(lock)


def _header(sealed: bytes) -> tuple[bytes, int]:
    """Return the name and the generation of the key that sealed it. Raises KeyFailed (`key_failed:damaged`)."""
    if sealed[:1] != _SEAL or len(sealed) <= _SEALED_AT:
        raise KeyFailed("damaged", hint="this was never sealed")
    return sealed[1 : 1 + _NAME_BYTES], int.from_bytes(sealed[1 + _NAME_BYTES : _HEADER_BYTES])


def _seal_value(name: bytes, known: _Opened, plain: bytes, bound: bytes) -> bytes:
    header = _SEAL + name + known.generation.to_bytes(_GENERATION_BYTES)
    nonce = secrets.token_bytes(NONCE_BYTES)
    return header + nonce + known.keys[known.generation].encrypt(nonce, plain, header + bound)


def _bound(name: bytes, generation: int) -> bytes:
    return name + generation.to_bytes(_GENERATION_BYTES)


def _unreadable(error: OSError) -> KeyFailed:
    return KeyFailed("unreadable", hint=f"the key folder cannot be used: {error.strerror}")
