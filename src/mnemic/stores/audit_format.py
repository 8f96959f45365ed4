"""The format of the audit log: the canonical JSON of a line, and the hash that chains it to the line before.

The fields of a line are those of `mnemic.types.writes.AuditEvent`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from mnemic.errors import StoreCorrupt
from mnemic.stores.codec import dump, from_micros, load, to_micros
from mnemic.types import AuditEvent, Level, Scope

Sign = Callable[[str], str]
"""The signature of a text, under a key that is kept outside the store."""


def encode_event(event: AuditEvent, sequence: int | None = None) -> str:
    """Encode the input of the chain's hash: all of the event except the hash itself, with this `sequence` if given."""
    scope = event.scope
    place = None if scope is None else {"level": scope.level.value, "owner": scope.owner}
    return dump(
        {
            "sequence": event.sequence if sequence is None else sequence,
            "tenant": event.tenant,
            "action": event.action,
            "at": to_micros(event.at),
            "actor": event.actor,
            "scope": place,
            "memory_id": event.memory_id,
            "version": event.version,
            "detail": event.detail,
        },
        "audit",
        canonical=True,
    )


def decode_event(text: str, digest: str) -> AuditEvent:
    """Return the event of `encode_event`. Raises StoreCorrupt if the text is not one."""
    fields = load(text)
    try:
        fields["at"] = from_micros(fields["at"])
        if fields["scope"] is not None:
            where = fields["scope"]
            fields["scope"] = Scope(tenant=fields["tenant"], level=Level(where["level"]), owner=where["owner"])
        return AuditEvent(**fields, hash=digest.removeprefix(""))  # a damaged row may give no text
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreCorrupt("audit") from error


def link(previous: str, event: str, sign: Sign | None = None) -> str:
    """Return the hash of an audit line: SHA-256 over the previous line's hash and the line's own canonical JSON. With
    `sign` a colon and the signature of it follow: a writer of rows can compute hashes, but not signatures.
    """
    digest = hashlib.sha256(f"{previous}\n{event}".encode()).hexdigest()
    return digest if sign is None else f"{digest}:{sign(digest)}"


def next_line(event: AuditEvent, sequence: int, previous: str, sign: Sign | None = None) -> tuple[int, str, str]:
    """Return sequence, canonical JSON and hash of `event` as the line after the one with this sequence and hash."""
    line = encode_event(event, sequence + 1)
    return sequence + 1, line, link(previous, line, sign)
