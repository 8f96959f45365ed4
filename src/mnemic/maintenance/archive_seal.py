"""Seals of an archive's lines: an HMAC of the line's content, with the key that signs the audit log.

A changed line cannot be sealed again without the key folder. A removed line leaves no trace.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.ports.keyring import SigningKeyring

SEAL = "seal"


@dataclass(frozen=True, slots=True)
class Seal:
    """Return the seal of a line, None if it has none, and the sealed content."""

    given: str | None = field(repr=False)
    message: bytes = field(repr=False)


def seal_line(line: dict[str, Any], keyring: object) -> dict[str, Any]:
    """Return the line with its seal, if `keyring` has a key that signs. Raises KeyFailed."""
    return {**line, SEAL: keyring.sign(_message(line))} if isinstance(keyring, SigningKeyring) else line


def seal_of(line: Mapping[str, Any]) -> Seal:
    """Return the seal of a line as it was read."""
    given = line.get(SEAL)
    return Seal(given if isinstance(given, str) else None, _message(line))


def require_sealed(seal: Seal | None, keyring: object) -> None:
    """Raise InvalidInput (`archive:seal`) if there is a key that signs, and it has not sealed this line as it is.
    Raises KeyFailed.
    """
    if not isinstance(keyring, SigningKeyring):
        return
    if seal is None or seal.given is None or not hmac.compare_digest(seal.given, keyring.sign(seal.message)):
        hint = "this key has not sealed the line as it is: without --own it counts as imported by you"
        raise InvalidInput("archive:seal", hint=hint)


def _message(line: Mapping[str, Any]) -> bytes:
    fields = {name: value for name, value in line.items() if name != SEAL}
    return b"mnemic archive line\n" + json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
