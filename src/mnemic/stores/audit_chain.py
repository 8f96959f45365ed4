"""Check of a tenant's audit: every line follows from the one before."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from mnemic.errors import StoreCorrupt
from mnemic.stores.audit_format import Sign, decode_event, encode_event, link
from mnemic.types import AuditEvent


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
