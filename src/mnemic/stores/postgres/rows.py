"""A memory as rows, and its texts as term hashes."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from mnemic.errors import InvalidInput, StoreCorrupt
from mnemic.language.text.analyse import analyse
from mnemic.stores.codec import (
    LoggedDamage,
    blob_check,
    body_check,
    cues_of,
    earlier,
    fields_of,
    placeholder,
    to_micros,
    vector_check,
    words_check,
)
from mnemic.stores.encryption import Sealer
from mnemic.stores.scope_index import ScopeIndex
from mnemic.types import Memory, Scope, Vector, Where
from mnemic.types.facets import ANY, facets_of
from mnemic.types.scope import scope_named

ANY_FACET = 0
"""Wildcard for every facet."""

_TERM_BYTES = 5
_HEADER_BYTES = 4
"""Header of pgvector's binary form: the dimension, and a zero. Big-endian float32 values follow."""


def decode_vector(data: bytes | None) -> Vector | None:
    """Return the vector in the output of `vector_send`."""
    if data is None:
        return None
    values = array("f", data[_HEADER_BYTES:])
    # pgvector sends big-endian floats; this package stores little-endian ones.
    values.byteswap()
    return values.tobytes()


def floats(vector: Vector) -> array[float]:
    """Return the values of a vector."""
    return array("f", vector)


def vector_parameter(vector: Vector | None) -> array[float] | None:
    """Return a vector as a parameter of type `real[]`."""
    return None if vector is None else floats(vector)


class Bodies:
    """Decoder of rows with the part `columns`; each is compared with its checksums."""

    def __init__(self, sealer: Sealer) -> None:
        self.sealer = sealer
        self.noted = LoggedDamage()

    def memory(self, row: Any, scope: Scope | None = None) -> Memory:
        """Return the memory of a row, which belongs to `scope` unless it names another. A damaged vector is dropped;
        raises StoreCorrupt (`memory`) if anything else differs from its written state.
        """
        vector = decode_vector(row["vector"])
        if vector is not None and row["vector_check"] != blob_check(vector):
            self.noted.note(row["memory_id"])
            vector = None
        place = scope or scope_named(row["tenant"], row["level"], row["owner"])
        return self.sealer.decode_checked(row["body"], row["checksum"], place, vector)

    def whole(self, rows: Iterable[Any]) -> list[Memory]:
        """Return the memories of the undamaged rows; the others are skipped, and recorded."""
        found = []
        for row in rows:
            try:
                found.append(self.memory(row))
            except StoreCorrupt:
                self.noted.note(row["memory_id"])
        return found

    def recall(self, index: ScopeIndex, memories: Sequence[Memory]) -> None:
        """Keep memories beside their places in an index, which forgets them when they change. Sealed content is not
        kept: it stays readable only as long as its key exists.
        """
        if not self.sealer.opens:
            index.recalled.keep(memories, index.places_of([memory.memory_id for memory in memories]))

    def data(self, row: Any, scope: Scope) -> Mapping[str, Any] | None:
        """Return the data of a row's memory of `scope`; None if it is damaged, which is recorded."""
        try:
            return self.sealer.data(row["body"], row["checksum"], scope)
        except StoreCorrupt:
            self.noted.note(row["memory_id"])
            return None

    def read_fields(self, row: Any) -> Memory:
        """Return the memory of a row; of a damaged one the fields known without its body, so that it can be removed."""
        try:
            return self.memory(row)
        except StoreCorrupt:
            self.noted.note(row["memory_id"])
            return placeholder(row, (row["tenant"], row["level"], row["owner"]))

    def before(self, row: Any) -> Memory | None:
        """Return the memory of a row that is about to change; None for a damaged one, which has no neighbours."""
        try:
            return self.memory(row)
        except StoreCorrupt:
            return None

    def encode_body(self, memory: Memory, content: Words, context: Words) -> tuple[str, int, int | None, int]:
        """Return the body of a memory with those words, and the checksums of its row: of body, vector and words."""
        words = words_check(content.packed, context.packed, raw(memory.source.speaker), cues_of(memory))
        body = self.sealer.body(memory)
        return body, body_check(*place_of(memory.scope), body), vector_check(memory.vector), words

    def version(self, row: Any, current: Memory) -> Memory:
        """Return an earlier version of the memory `current`; of a damaged row the known fields."""
        return earlier(self.sealer, row["body"], row["checksum"], row["version"], current)


def words_are_whole(row: Any) -> bool:
    """Return True if content, context, speaker and cues of a row are intact."""
    return bool(row["words_check"] == words_check(row["content"], row["context"], row["speaker"], row["cues"]))


class ScopeState(NamedTuple):
    """Scope in this database. `large`: its vectors are in the approximate index. `changes` counts its changes so far,
    `removed_at` is the last change that removed a memory.
    """

    scope_id: int
    large: bool
    active: int
    changes: int
    removed_at: int


def place_of(scope: Scope) -> tuple[str, str, str]:
    """Return a scope as parameters."""
    return scope.tenant, scope.level.value, scope.owner


def places_of(tenant: str, scopes: Iterable[Scope]) -> tuple[str, list[str], list[str]]:
    """Return the scopes of one tenant as the parameters $1 to $3."""
    inside = [scope for scope in dict.fromkeys(scopes) if scope.tenant == tenant]
    return tenant, [scope.level.value for scope in inside], [scope.owner for scope in inside]


def filter_of(where: Where) -> dict[str, Any]:
    """Return the conditions of a filter other than the scopes, by name."""
    # At an earlier time, a statement that is superseded today may have been the valid one.
    statuses = where.statuses if where.as_of is None else where.statuses | {"superseded"}
    asked = {
        "statuses": [str(status) for status in statuses],
        "kinds": None if where.kinds is None else [str(kind) for kind in where.kinds],
        "categories": _digests(where.categories),
        "keys": _digests(where.keys),
        "hidden_keys": _digests(where.hidden_keys) or None,
        "memory_ids": None if where.memory_ids is None else storable(where.memory_ids),
        "happened_from": to_micros(where.happened_from),
        "happened_to": to_micros(where.happened_to),
        "live_at": to_micros(where.live_at),
        "as_of": to_micros(where.as_of),
    }
    return {name: value for name, value in asked.items() if value is not None}


def storable(memory_ids: Iterable[str]) -> list[str]:
    """Return the identifiers that a memory here can have: PostgreSQL's text contains neither NUL nor
    lone surrogates.
    """
    return [memory_id for memory_id in memory_ids if "\x00" not in memory_id and _encodes(memory_id)]


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def raw(text: str | None) -> bytes | None:
    """Return `text` as bytes. Raises InvalidInput (`surrogate`) if it is not valid Unicode."""
    try:
        return None if text is None else text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("surrogate") from error


def digest(text: str | None) -> bytes | None:
    """Return the stored form of a text that is only compared."""
    data = raw(text)
    return None if data is None else hashlib.blake2b(data, digest_size=16).digest()


def _digests(texts: Iterable[str] | None) -> list[bytes | None] | None:
    return None if texts is None else [digest(text) for text in texts]


def lock_of(scope: Scope) -> int:
    """Return the advisory lock of the scope: 64 bits, so that two scopes hardly ever wait for each other."""
    return _lock("\n".join(place_of(scope)), b"mnemic.scope")


def lock_of_tenant(tenant: str) -> int:
    """Return the advisory lock of a whole tenant. It is taken after the locks of the scopes."""
    return _lock(tenant, b"mnemic.tenant")


def lock_of_mark(tenant: str, name: str) -> int:
    """Return the advisory lock of a mark. It is taken after the locks of the scopes."""
    return _lock(f"{tenant}\n{name}", b"mnemic.mark")


# Advisory locks of PostgreSQL are signed 64-bit numbers shared by all programs of a database. `person` separates the
# hashes of scopes, tenants and marks.
def _lock(name: str, person: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8, person=person).digest(), "big", signed=True)


@dataclass(frozen=True, slots=True)
class Words:
    """The terms of one field: packed in the order of the words, and counted."""

    packed: bytes
    counts: Counter[int]

    @property
    def length(self) -> int:
        """Number of terms, repeated ones included."""
        return self.counts.total()


class Written(NamedTuple):
    """Memory that a transaction inserted or replaced, with its words. `row`: the number, turn and change that the
    database gave it.
    """

    memory: Memory
    content: Words
    context: Words
    row: Any


class HashedTerms:
    """Terms as salted hashes: the words cannot be recovered from the stored search data."""

    def __init__(self, salt: bytes) -> None:
        self._salt = salt
        self.number = lru_cache(maxsize=8192)(self._number)

    def _number(self, term: str) -> int:
        """Return 32 bits that represent `term`, signed as in PostgreSQL; never 0, the separator."""
        data = term.encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(data, digest_size=4, key=self._salt).digest(), "big", signed=True) or 1

    def words(self, text: str) -> Words:
        """Return the terms of `text`: in the order of its words, a zero, then its further spellings."""
        found = analyse(text, stems=True)
        sequence, extras = ([self.number(term) for term in terms] for terms in found)
        return Words(pack([*sequence, 0, *extras] if extras else sequence), Counter(sequence + extras))

    def hash_terms(self, memory: Memory) -> tuple[Words, Words]:
        """Return the terms of the memory's two fields."""
        content, context = fields_of(memory)
        return self.words(content), self.words(context)


def facet_numbers(terms: HashedTerms, memory: Memory) -> list[int]:
    """Return the numbers that represent the facets of the memory in this database. They are hashed as its words are."""
    found = facets_of(memory)
    return [ANY_FACET] if ANY in found else [terms.number(facet) for facet in sorted(found)]


def pack(numbers: Iterable[int]) -> bytes:
    """Encode each term as five bytes, only the first of which has its high bit set: so a sequence of terms is contained
    in another exactly if its bytes are.
    """
    packed = bytearray()
    for number in numbers:
        bits = number & 0xFFFFFFFF
        packed += bytes((0x80 | bits >> 28, bits >> 21 & 0x7F, bits >> 14 & 0x7F, bits >> 7 & 0x7F, bits & 0x7F))
    return bytes(packed)


def unpack(packed: bytes) -> set[int]:
    """Return the terms in the output of `pack`, each once, without the zero."""
    found = set()
    for start in range(0, len(packed), _TERM_BYTES):
        first, *rest = packed[start : start + _TERM_BYTES]
        bits = first & 0x0F
        for septet in rest:
            bits = bits << 7 | septet
        # Two's complement: terms are signed 32-bit numbers, as PostgreSQL's integer is.
        found.add(bits - (bits >> 31 << 32))
    return found - {0}


def postings_of(content: Words, context: Words) -> tuple[list[int], list[int], list[int]]:
    """Return the terms of a memory, and how often each occurs in the two fields."""
    terms = sorted(content.counts.keys() | context.counts.keys())
    return terms, [content.counts[term] for term in terms], [context.counts[term] for term in terms]


def columns_of(memory: Memory, content: Words, context: Words) -> tuple[Any, ...]:
    """Return the values of the columns of `memory` from `version` to `created_at`, in the order of the statements."""
    source = memory.source
    return (
        *column_values(memory).values(),
        # NULL is not equal to NULL, so messages outside a session share the empty digest and thereby one sequence of
        # turns.
        digest(source.session) or b"",
        raw(source.speaker),
        digest(source.speaker),
        cues_of(memory),
        content.packed,
        context.packed,
        content.length,
        context.length,
        vector_parameter(memory.vector),
        to_micros(memory.created_at),
    )


def column_values(memory: Memory) -> dict[str, Any]:
    """Return the values of the columns that repeat fields of the body, in the order of the statements."""
    happened_at = to_micros(memory.happened_at)
    return {
        "version": memory.version,
        "kind": memory.kind.value,
        "status": memory.status.value,
        "key": digest(memory.key),
        "category": digest(memory.category),
        "fingerprint": memory.fingerprint,
        "happened_at": happened_at,
        "began_at": happened_at if memory.valid_from is None else to_micros(memory.valid_from),
        "ended_at": to_micros(memory.valid_to),
        "expires_at": to_micros(memory.expires_at),
        "session": raw(memory.source.session),
    }


def columns(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """Return rows as arrays for `unnest`, one per column."""
    return [[row[column] for row in rows] for column in range(width)]


K = TypeVar("K")
V = TypeVar("V")


class LruMapping(Generic[K, V]):
    """At most `most` entries; the least recently used one is evicted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Return the value of `key`, now the most recently used; None if it is not cached."""
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def put(self, key: K, value: V) -> V:
        """Store `value`, and return it."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)
        return value
