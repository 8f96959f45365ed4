"""Encryption of a memory's content in its row, with the data key of its subject.

Encrypted are content, context, data, and the quote, speaker and ref of the source; in a store that searches decrypted
rows, the vector and the hashed words too. Fields used by filters, constraints and jobs stay in the clear: identifiers,
scope, kind, status, key, category, session, times, fingerprint. A row itself shows whether it is sealed: sealed and
plain rows may be in one store.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mnemic.errors import KeyFailed, StoreCorrupt
from mnemic.ports.keyring import SigningKeyring
from mnemic.stores.audit_chain import Sign
from mnemic.stores.codec import CUES, body_check, damage_error, dump, load, memory_fields, memory_from, unpacked_vector
from mnemic.types import Memory, Scope, Vector, subject_of
from mnemic.types.scope import scope_named

if TYPE_CHECKING:
    from mnemic.ports import Keyring, Reseal


ERASED = "[erased]"
"""Content of a memory of a subject erased after this copy of the store was made."""

KEPT_DECODED = 4096
"""Maximum number of decoded memories in the cache, least recently read first out, keyed by the bytes of their rows:
rows are still read and compared, so a changed or damaged one is decoded and checked again.
"""

_SAID = ("content", "context", "data")
_SOURCE_SAID = ("quote", "speaker", "ref")
_LENGTH = struct.Struct("<I")


class SearchData(NamedTuple):
    """Data of a memory that a search needs in addition to its columns."""

    vector: Vector | None
    content: bytes
    context: bytes
    speaker: str | None
    cues: bytes


NOTHING = SearchData(None, b"", b"", None, CUES.pack(0, 0.0, False, False))


class Sealer:
    """Decrypts sealed content with `keyring`; encrypts new content if it `seals`. Raises KeyFailed.

    A memory with a destroyed data key reads as erased: `ERASED` as its content, no data, no vector, no words.
    `vectors`: the vectors of sealed rows are sealed too. `compact`: bodies are those of `memory_fields` with it.
    """

    def __init__(
        self, keyring: Keyring | None = None, *, seals: bool = False, vectors: bool = True, compact: bool = False
    ) -> None:
        self._keyring = keyring
        self._compact = compact
        self._vectors = vectors
        self.opens = keyring is not None
        self.seals = seals and keyring is not None
        # Encrypted content is readable only as long as its key exists: no plain text is cached.
        self._decoded = self._decode_checked if self.opens else lru_cache(maxsize=KEPT_DECODED)(self._decode_checked)

    @property
    def sign(self) -> Sign | None:
        """Signs a line of the audit with the keyring's own key; None without one."""
        if (keyring := self._keyring) is None:
            return None
        return (lambda text: keyring.sign(text.encode())) if isinstance(keyring, SigningKeyring) else None

    def body(self, memory: Memory) -> str:
        """Return the memory as JSON, without its scope and its vector."""
        fields = memory_fields(memory, compact=self._compact)
        if self._keyring is not None and self.seals:
            said: dict[str, Any] = {name: fields.pop(name) for name in _SAID if name in fields}
            source = fields["source"]
            said["source"] = {name: source.pop(name) for name in _SOURCE_SAID if name in source}
            # Bound to its place as associated data: a sealed body that is copied to another memory cannot be decrypted.
            place = place_of("body", memory.memory_id, memory.version)
            sealed = self._keyring.seal(_subject(memory), dump(said, "memory").encode(), place)
            fields["sealed"] = base64.b64encode(sealed).decode()
        return dump(fields, "memory")

    def memory(self, text: str, scope: Scope, vector: bytes | None) -> Memory:
        """Return the memory of `body`, and its vector, encrypted if the body is and the store encrypts vectors."""
        fields = load(text)
        try:
            sealed = fields.pop("sealed", None)
            if sealed is None:
                return memory_from(fields, scope, unpacked_vector(vector))
            memory_id, version = fields["memory_id"], fields["version"]
            opened = self._open_value(base64.b64decode(sealed), place_of("body", memory_id, version))
            # The row must stay readable for jobs and restores after its key was destroyed.
            said = {"content": ERASED, "source": {}} if opened is None else load(opened.decode())
            fields |= said | {"source": fields["source"] | said["source"]}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreCorrupt("memory") from error
        return memory_from(fields, scope, self.vector(memory_id, vector) if self._vectors else vector)

    def decode_checked(self, body: bytes, checksum: int, scope: Scope, vector: bytes | None) -> Memory:
        """Decode a memory's body. Raises StoreCorrupt (`memory`)."""
        return self._decoded(body, checksum, scope.tenant, scope.level, scope.owner, vector)

    def _decode_checked(
        self, body: bytes, checksum: int, tenant: str, level: str, owner: str, vector: bytes | None
    ) -> Memory:
        scope = scope_named(tenant, level, owner)
        return self.memory(whole_text(body, checksum, scope), scope, vector)

    def data(self, body: bytes, checksum: int, scope: Scope) -> Mapping[str, Any]:
        """Return the `data` of a body's memory; of a plain body nothing else is decoded. Raises as `checked` does."""
        try:
            fields = load(whole_text(body, checksum, scope))
            if "sealed" not in fields:
                return dict(fields.get("data") or {})
        except (AttributeError, ValueError, TypeError) as error:
            raise damage_error("memory") from error
        return self.decode_checked(body, checksum, scope, None).data

    def is_sealed(self, text: str) -> bool:
        """Return True if this body is sealed."""
        return "sealed" in load(text)

    def search_fields(self, memory: Memory, plain: SearchData) -> SearchData:
        """Return the search columns of a row. An encrypted row has no cues: the rest is in `content`, encrypted."""
        if self._keyring is None or not self.seals:
            return plain
        subject, memory_id = _subject(memory), memory.memory_id
        vector = plain.vector and self._keyring.seal(subject, plain.vector, place_of("vector", memory_id))
        speaker = (plain.speaker or "").encode()
        # One piece instead of four: fewer decryptions per row, and lengths are hidden together.
        packed = _pack((plain.content, plain.context, speaker, plain.cues))
        return SearchData(vector, self._keyring.seal(subject, packed, place_of("words", memory_id)), b"", None, b"")

    def read_search_data(self, memory_id: str, row: SearchData) -> SearchData:
        """Return the search data that `searched` stored."""
        if row.cues:
            return row
        packed = self._open_value(row.content, place_of("words", memory_id))
        if packed is None:
            return NOTHING
        content, context, speaker, cues = _unpack(packed)
        return SearchData(self.vector(memory_id, row.vector), content, context, speaker.decode() or None, cues)

    def vector(self, memory_id: str, stored: bytes | None) -> Vector | None:
        """Return the vector of a sealed row."""
        return unpacked_vector(self._open_value(stored, place_of("vector", memory_id))) if stored else None

    def vector_beside(self, text: str, memory: Memory, vector: Vector) -> bytes:
        """Return an additional vector as stored: encrypted like the body, empty if that cannot be decrypted."""
        if not (self._vectors and self.is_sealed(text)):
            return vector
        if self._keyring is None or memory.content == ERASED:
            return b""
        return self._keyring.seal(_subject(memory), vector, place_of("vector", memory.memory_id))

    def _open_value(self, sealed: bytes, place: bytes) -> bytes | None:
        """Return the decrypted value, or None if the key was destroyed."""
        if self._keyring is None:
            raise KeyFailed("missing", hint="the store is encrypted: name the master key in MNEMIC_KEY_FILE")
        try:
            return self._keyring.open(sealed, place)
        except KeyFailed as failed:
            # Destroyed is a regular state after an erasure; every other failure is an error.
            if failed.reason == "key_failed:destroyed":
                return None
            raise


def whole_text(body: bytes, checksum: int, scope: Scope) -> str:
    """Return the text of a body. Raises StoreCorrupt (`memory`) if its checksum differs."""
    if checksum != body_check(scope.tenant, scope.level.value, scope.owner, body):
        raise damage_error("memory")
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise damage_error("memory") from error


def _subject(memory: Memory) -> Scope:
    return subject_of(memory.scope, memory.author)


def place_of(*parts: object) -> bytes:
    """Return the associated data that binds something sealed to its place."""
    return "\x1f".join(map(str, parts)).encode()


def _pack(parts: Iterable[bytes]) -> bytes:
    return b"".join(_LENGTH.pack(len(part)) + part for part in parts)


def _unpack(packed: bytes) -> list[bytes]:
    parts, start = [], 0
    while start < len(packed):
        (length,) = _LENGTH.unpack_from(packed, start)
        start += _LENGTH.size + length
        parts.append(packed[start - length : start])
    return parts


def body_anew(text: str, anew: Reseal) -> str | None:
    """Return the body with its encrypted content replaced by the result of `anew`; None if nothing changes."""
    fields = load(text)
    if "sealed" not in fields:
        return None
    try:
        place = place_of("body", fields["memory_id"], fields["version"])
        fresh = anew(base64.b64decode(fields["sealed"]), place)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreCorrupt("memory") from error
    return None if fresh is None else dump(fields | {"sealed": base64.b64encode(fresh).decode()}, "memory")


def words_anew(memory_id: str, sealed: bytes, anew: Reseal) -> bytes:
    """Return the hashed words of an encrypted row, re-encrypted by `anew`, or unchanged if they need not be."""
    return anew(sealed, place_of("words", memory_id)) or sealed


def vector_anew(memory_id: str, sealed: bytes | None, anew: Reseal) -> bytes | None:
    """Return the vector of an encrypted row, re-encrypted by `anew`, or unchanged; None and empty stay."""
    return sealed and (anew(sealed, place_of("vector", memory_id)) or sealed)
