"""Memories of other products, with their identifiers and times, as versions to restore."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.fields import first
from mnemic.importers.file_readers.timestamps import moment
from mnemic.maintenance.archive import ArchivedMemory
from mnemic.types import Kind, Level, Memory, Origin, Scope, Source, Status

_NAMESPACE = UUID("6a1f4c5e-6f0d-5c0a-9c52-3d8a0f1d7e60")


def memory_id_of(given: str) -> str:
    """Return `given` if it is a UUID, else a UUID that is always the same for it."""
    try:
        return str(UUID(given))
    except ValueError:
        return str(uuid5(_NAMESPACE, given))


def first_moment(value: Mapping[str, Any], *names: str) -> datetime | None:
    """Return the first of these times that is present. Raises InvalidInput (`memory:<name>`)."""
    given = first(value, *names)
    return None if given is None else moment(given, f"memory:{names[0]}")


def brought(
    given: str,
    content: str,
    *,
    created: datetime | None,
    updated: datetime | None = None,
    data: Mapping[str, Any],
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
) -> ArchivedMemory:
    """Return one memory as it was in its product; one that was true until `valid_to` is superseded. Raises InvalidInput
    (`memory:created_at`) without a time of creation.
    """
    if created is None:
        raise InvalidInput("memory:created_at", hint="expected the time at which it was made")
    memory = Memory(
        memory_id=memory_id_of(given),
        kind=Kind.LONG_TERM,
        scope=Scope(tenant="import", level=Level.USER, owner="import"),
        content=content,
        data=data,
        source=Source(origin=Origin.IMPORT),
        status=Status.ACTIVE if valid_to is None else Status.SUPERSEDED,
        created_at=created,
        updated_at=max(updated or created, created),
        valid_from=valid_from,
        valid_to=valid_to,
    )
    return ArchivedMemory((memory,))
