"""Re-encryption of what a row has encrypted, after a key was rotated."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from mnemic.errors import StoreCorrupt
from mnemic.stores.codec import dump, load
from mnemic.stores.encryption import place_of

if TYPE_CHECKING:
    from mnemic.ports import Reseal


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
