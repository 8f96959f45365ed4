"""The audit log: the canonical JSON of a line, the hash that chains it to the line before, and the check of a chain.

The fields of a line are those of `mnemic.types.writes.AuditEvent`.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass

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


def follows(hashed: str, previous: str, event: str, sign: Sign | None = None) -> bool:
    """Check whether a line with this hash follows from the one before. Its signature is checked if there is a key to do
    so: one by another key does not count as a signature.
    """
    digest, colon, signature = hashed.partition(":")
    if digest != link(previous, event):
        return False
    return not colon or sign is None or hmac.compare_digest(signature.encode(), sign(digest).encode())


def first_broken(events: Iterable[AuditEvent], *, previous: str = "") -> int | None:
    """Return the sequence of the first line that does not follow from its predecessor, or None if the chain is intact.

    `events` start after the line with the hash `previous`, the empty text for the tenant's first line.
    """
    expected = None
    for event in events:
        if not follows(event.hash, previous, encode_event(event)) or expected not in (None, event.sequence):
            return event.sequence
        previous, expected = event.hash, event.sequence + 1
    return None


@dataclass(slots=True)
class Chain:
    """Stored lines of one tenant's audit, checked one after the other. The canonical text itself is checked, so that
    no changed byte escapes.
    """

    tenant: str
    sign: Sign | None = None
    lines: int = 0
    broken: int | None = None
    last_hash: str = ""

    def take(self, sequence: int, text: str, hashed: str) -> None:
        """Check the next line; the first broken one is recorded."""
        self.lines += 1
        if self.broken is None and not (
            sequence == self.lines and follows(hashed, self.last_hash, text, self.sign) and self._tells(text)
        ):
            self.broken = sequence
        self.last_hash = hashed

    def _tells(self, text: str) -> bool:
        try:
            event = decode_event(text, "")
        except StoreCorrupt:
            return False
        return (event.tenant, event.sequence) == (self.tenant, self.lines)

    @property
    def found(self) -> tuple[int, int | None, str]:
        """The answer of the port's `broken_audit`."""
        return self.lines, self.broken, self.last_hash
