"""Damaged rows, for every store: the memory as far as its columns are intact, and a body that matches its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mnemic.errors import MnemicError, StoreCorrupt
from mnemic.stores.codec import DAMAGED, damage_error, load, memory_from, moment_of
from mnemic.types import Kind, Memory, Scope, Status
from mnemic.types.scope import scope_named

if TYPE_CHECKING:
    from mnemic.stores.encryption import Sealer

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
