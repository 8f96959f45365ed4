"""Values to JSON and back, the same for every store.

Times are integer microseconds since 1970, UTC. JSON is strict: no NaN, no infinity, nothing that is not UTF-8.
"""

from __future__ import annotations

import hashlib
import json
import logging
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mnemic.errors import InvalidInput, MnemicError, StoreCorrupt
from mnemic.language.text.cues import read_cues
from mnemic.language.text.names import further_names
from mnemic.types import JsonValue, Kind, Memory, Origin, Scope, Source, Status, Trust, Vector
from mnemic.types.scope import scope_named
from mnemic.types.values import VECTOR_STEPS

if TYPE_CHECKING:
    from mnemic.stores.encryption import Sealer


CUES = struct.Struct("<If??")
"""Packed cues: words, asking, oneself, timed."""

EXACT_UP_TO = 50_000
"""Memories of a scope up to which every vector is multiplied out: some 10 ms, the aim for a search beyond."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Looked up, not called: an enumeration takes four times as long, and a search decodes fifteen memories, a write thirty.
_KINDS = {kind.value: kind for kind in Kind}
_STATUSES = {status.value: status for status in Status}
_TRUSTS = {trust.value: trust for trust in Trust}
_SOURCES = {origin.value: Source(origin=origin) for origin in Origin}
"""The most common sources: a channel, and nothing else."""
_ASSUMED = {"context": "", "data": {}, "confidence": 0.8, "agent": "default"}
"""Values that a body leaves out: those that a memory has by default, so that every reader fills them in."""
_LINKS = ("supersedes", "conflicts_with")
_TIMES = ("created_at", "updated_at", "occurred_at", "valid_from", "valid_to", "expires_at")


def to_micros(moment: datetime | None) -> int | None:
    """Microseconds since 1970; exact, also before it."""
    return None if moment is None else (moment - EPOCH) // _MICROSECOND


def moment_of(micros: int) -> datetime:
    """Return the moment of `micros`, which is never None."""
    return EPOCH + micros * _MICROSECOND


def from_micros(micros: int | None) -> datetime | None:
    """Return the moment of `to_micros`, or None for None."""
    return None if micros is None else moment_of(micros)


def dump(value: JsonValue, what: str = "data", *, canonical: bool = False) -> str:
    """JSON without spaces, `canonical` with sorted keys.

    Raises InvalidInput (`invalid_input:<what>`) for values that JSON cannot express.
    """
    try:
        text = _ENCODERS[canonical](value)
        # The encoder lets lone surrogates pass; encoding finds them.
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(what, hint="it must be JSON without NaN, infinity or lone surrogates") from error
    return text


def _thaw(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError


_STRICT: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":"), "default": _thaw}
# Made once: `json.dumps` would make an encoder for each text.
_ENCODERS = tuple(json.JSONEncoder(sort_keys=canonical, **_STRICT).encode for canonical in (False, True))


def load(text: str) -> Any:
    """Return the value of `dump`. Raises StoreCorrupt if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise StoreCorrupt("json") from error


def memory_fields(memory: Memory, *, compact: bool = False) -> dict[str, Any]:
    """Return `memory` as JSON data, without its scope and its vector, which stores have in columns, and without what is
    None or `_ASSUMED`; if `compact`, also without empty links and the time of a first version's change.
    """
    fields: dict[str, Any] = {
        "memory_id": memory.memory_id,
        "kind": memory.kind,
        "key": memory.key,
        "category": memory.category,
        "content": memory.content,
        "context": memory.context,
        "data": memory.data,
        "status": memory.status,
        "confidence": memory.confidence,
        "trust": int(memory.trust),
        "source": _encode_source(memory.source),
        "fingerprint": memory.fingerprint,
        "version": memory.version,
        "agent": memory.agent,
        "author": memory.author,
        "supersedes": memory.supersedes,
        "conflicts_with": memory.conflicts_with,
    }
    fields |= {name: to_micros(getattr(memory, name)) for name in _TIMES}
    if compact:
        fields |= {name: fields[name] or None for name in _LINKS}
        fields["updated_at"] = None if memory.updated_at == memory.created_at else fields["updated_at"]
    return {name: value for name, value in fields.items() if value is not None and value != _ASSUMED.get(name)}


def memory_from(fields: dict[str, Any], scope: Scope, vector: Vector | None) -> Memory:
    """Return the memory of `memory_fields`, consuming them. Raises StoreCorrupt if they do not describe a memory."""
    try:
        for name in _TIMES:
            micros = fields.get(name)
            if micros is not None:
                fields[name] = moment_of(micros)
        fields["kind"] = _KINDS[fields["kind"]]
        fields["status"] = _STATUSES[fields["status"]]
        fields["trust"] = _TRUSTS[fields["trust"]]
        fields["source"] = _decode_source(fields["source"])
        fields.setdefault("updated_at", fields["created_at"])
        fields |= {name: tuple(fields.get(name, ())) for name in _LINKS}
        return Memory(**fields, scope=scope, vector=vector)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreCorrupt("memory") from error


def _encode_source(source: Source) -> dict[str, Any]:
    fields = {name: getattr(source, name) for name in ("origin", "ref", "session", "speaker", "quote", "span")}
    return {name: value for name, value in fields.items() if value is not None}


def _decode_source(fields: dict[str, Any]) -> Source:
    plain = _SOURCES[fields["origin"]]
    if len(fields) == 1:
        return plain
    span = fields.get("span")
    return Source(**fields | {"origin": plain.origin, "span": span and tuple(span)})


def checked_vector(vector: Vector | None, dimension: int) -> Vector | None:
    """Return `vector` if it is None or consists of `dimension` finite float32 values and has about unit length. Raises
    InvalidInput (`invalid_input:vector`) otherwise.
    """
    if vector is None:
        return None
    if not isinstance(vector, bytes) or len(vector) != 4 * dimension:
        raise InvalidInput("vector", hint=f"a vector of this store is {4 * dimension} bytes long")
    values = np.frombuffer(vector, "<f4")
    length = float(values @ values)
    if not 0.98 <= length <= 1.02:  # NaN and infinity fail this too
        raise InvalidInput("vector", hint="a vector has unit length")
    return vector


def packed_vector(vector: Vector | None) -> bytes | None:
    """Return the stored form of a vector: a zero byte and two bytes per value, in steps of 2^-15, if that is exact, as
    for rounded vectors of a write; else unchanged. An odd length marks the packed form.
    """
    if vector is None:
        return None
    steps = (np.frombuffer(vector, "<f4") * VECTOR_STEPS).astype("<i2")
    exact: bool = np.multiply(steps, 1 / VECTOR_STEPS, dtype="<f4").tobytes() == vector
    return b"\0" + steps.tobytes() if exact else vector


def unpacked_vector(stored: bytes | None) -> Vector | None:
    """Return the vector that `packed_vector` packed."""
    if not stored or len(stored) % 2 == 0:
        return stored
    vector: Vector = np.multiply(np.frombuffer(stored, "<i2", offset=1), 1 / VECTOR_STEPS, dtype="<f4").tobytes()
    return vector


def cosines(vectors: Sequence[Vector], vector: Vector) -> list[float]:
    """Return the cosine of each of `vectors` with `vector`; all have unit length."""
    wanted = np.frombuffer(vector, "<f4")
    scores: list[float] = np.vecdot(np.frombuffer(b"".join(vectors), "<f4").reshape(-1, len(wanted)), wanted).tolist()
    return scores


def fields_of(memory: Memory) -> tuple[str, str]:
    """Return both texts that the keyword list searches: key with content, and context with further names."""
    content = f"{memory.key}\n{memory.content}" if memory.key else memory.content
    return content, "\n".join(filter(None, (memory.context, *further_names(memory.data))))


def is_message(memory: Memory) -> bool:
    """Return True if the memory is a message of a conversation, with a place in its session."""
    return memory.kind is Kind.EPISODIC and memory.source.speaker is not None


def cues_of(memory: Memory) -> bytes:
    """Return the cues of the memory's content, packed as `CUES`."""
    cues = read_cues(memory.content)
    return CUES.pack(cues.words, cues.asking, cues.oneself, cues.timed)


def check_secret(known: bytes, given: bytes) -> None:
    """Raise InvalidInput (`move:not_empty`) if the tenant already has a secret other than the given one."""
    if known != given:
        raise InvalidInput("move:not_empty", hint="something of this tenant is there already")


logger = logging.getLogger(__name__)

_MAX_NOTED = 1000
_HINT = "the row is damaged; `mnemic doctor` names it, `mnemic forget` removes it, a backup or `mnemic salvage` helps"


def body_check(tenant: str, level: str, owner: str, body: bytes | str) -> int:
    """Return the checksum of a memory's content and scope: 64 bits."""
    digest = _in_scope(tenant, level, owner).copy()
    digest.update(body if isinstance(body, bytes) else body.encode())
    return int.from_bytes(digest.digest(), "little", signed=True)


@lru_cache(maxsize=1024)
def _in_scope(tenant: str, level: str, owner: str) -> Any:
    return hashlib.blake2b(f"{tenant}\x1f{level}\x1f{owner}\x1f".encode(), digest_size=8)


def text_check(*parts: str | bytes) -> int:
    """Return the checksum of other values of a row: 64 bits."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(b"%d\x1f" % len(data) + data)
    return int.from_bytes(digest.digest(), "little", signed=True)


def blob_check(*parts: bytes | None) -> int:
    """Return the checksum of a vector or of packed words: CRC-32, which is cheap enough for the many there are."""
    found = 0
    for part in parts:
        found = zlib.crc32(part or b"", found)
    return found


DAMAGED = "[damaged]"
"""Content of a memory with a damaged row, for a job or a person that removes it."""


def words_check(content: bytes, context: bytes, speaker: str | bytes | None, cues: bytes) -> int:
    """Return the checksum of the data of a memory in the keyword list."""
    return blob_check(content, context, speaker.encode() if isinstance(speaker, str) else speaker, cues)


def vector_check(vector: bytes | None) -> int | None:
    """Return the checksum of a vector, if there is one."""
    return None if vector is None else blob_check(vector)


def with_id(memory_id: str, memory: Memory) -> Memory:
    """Return the memory that an index gave for this identifier. Raises StoreCorrupt (`memory`) if it is another: a
    database takes a damaged index at its word, and does not compare the row.
    """
    if memory.memory_id != memory_id:
        raise damage_error("memory")
    return memory


def with_fingerprint(fingerprint: str, memory: Memory) -> Memory:
    """Return the memory that an index gave for this fingerprint. Raises StoreCorrupt (`memory`) if it is another."""
    if memory.fingerprint != fingerprint:
        raise damage_error("memory")
    return memory


def with_key(key: str, memory: Memory) -> Memory:
    """Return `memory` if it has this key or is damaged. Raises StoreCorrupt (`memory`) otherwise."""
    if memory.key != key and memory.content != DAMAGED:
        raise damage_error("memory")
    return memory


def damage_error(what: str) -> StoreCorrupt:
    """Return the error for a row of `what` that differs from what was written."""
    return StoreCorrupt(what, hint=_HINT)


def checked_marks(rows: Iterable[Sequence[Any]]) -> dict[str, str]:
    """Return the marks of rows with name, value and checksum. Raises StoreCorrupt (`mark`)."""
    found = {}
    for name, value, checksum in rows:
        if checksum != text_check(name, value):
            raise damage_error("mark")
        found[name] = value
    return found


def checked_request(digest: str, receipt: str, checksum: int) -> tuple[str, str]:
    """Digest and receipt of a request's row. Raises StoreCorrupt (`request`)."""
    if checksum != text_check(digest, receipt):
        raise damage_error("request")
    return digest, receipt


def checked_secret(tenant: str, secret: bytes, checksum: int) -> bytes:
    """Return the secret of a tenant's row. Raises StoreCorrupt (`tenant`)."""
    if checksum != text_check(tenant, secret):
        raise damage_error("tenant")
    return bytes(secret)


class LoggedDamage:
    """Rows that were skipped because they are damaged, each logged once; `rows` are those that were read so far."""

    def __init__(self) -> None:
        self._rows: set[Any] = set()

    @property
    def rows(self) -> frozenset[Any]:
        """Numbers or identifiers of these rows; some may have been removed or restored since."""
        return frozenset(self._rows)

    def note(self, row: Any) -> None:
        """Log that the row, by its number or identifier, was skipped."""
        if row not in self._rows and len(self._rows) < _MAX_NOTED:
            self._rows.add(row)
            logger.warning("row=<%s> | damaged row skipped | `mnemic doctor` names its memory", row)


UNREADABLE = (TypeError, ValueError, AttributeError, OverflowError, MnemicError)
"""Exceptions raised by reading damaged bytes."""


def placeholder(row: Mapping[str, Any], place: tuple[str, str, str], **known: Any) -> Memory:
    """Return the memory of a damaged row in the scope of that name, with the fields that its columns give and `DAMAGED`
    as its content. Raises StoreCorrupt (`memory`) if they are damaged as well.
    """
    try:
        at = moment_of(row["happened_at"])
        return Memory(
            memory_id=row["memory_id"],
            kind=Kind(row["kind"]),
            scope=scope_named(*place),
            content=DAMAGED,
            created_at=at,
            updated_at=at,
            status=Status(row["status"]),
            version=row["version"],
            expires_at=None if row["expires_at"] is None else moment_of(row["expires_at"]),
            **known,
        )
    except UNREADABLE as error:
        raise damage_error("memory") from error


def earlier(sealer: Sealer, body: bytes, checksum: int, version: int, current: Memory) -> Memory:
    """Return an earlier version of the memory `current`; of a damaged row as much as is known."""
    try:
        return sealer.decode_checked(body, checksum, current.scope, None)
    except StoreCorrupt:
        return replace(current, version=version, content=DAMAGED, context="", data={}, vector=None)


def in_columns(body: bytes, scope: Scope) -> tuple[Memory, bool]:
    """Return the memory of a body as its columns need it, and whether it is encrypted and so unreadable here. Raises
    one of `UNREADABLE` if it is no memory.
    """
    fields = load(body.decode())
    sealed = fields.pop("sealed", None) is not None
    if sealed:
        fields["content"] = ""
    return memory_from(fields, scope, None), sealed
