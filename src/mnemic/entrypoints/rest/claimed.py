"""Names that a provider's token brings, as identifiers: every legal `sub` has one, and no two have the same.

OpenID Connect lets a `sub` be any text of up to 255 ASCII characters (Core 1.0, section 2): `auth0|123`, an address of
the web. What is an identifier stays what it is. Anything else becomes `claim:` and the text, in which every character
that is none of `A-Z a-z 0-9 _ . : @ -` stands as the bytes of its UTF-8, each `+` and two hexadecimal digits. Where
that is longer than an identifier may be, it is `claim:++` and the SHA-256 of issuer and text. What begins with `claim:`
already is written so, too: nobody can take the name that stands for somebody else.
"""

from __future__ import annotations

import re
from contextlib import suppress
from hashlib import sha256

from mnemic.errors import InvalidInput
from mnemic.types import checked_identifier

MARK = "claim:"
LONGEST = 128
"""Characters of an identifier."""

_OTHERS = re.compile(r"[^A-Za-z0-9_.:@-]")


def identifier_of(claimed: object, name: str, *, issuer: str) -> str:
    """The identifier that stands for what a token of `issuer` says. Raises InvalidInput (`name`) for what is no text,
    an empty one, or one with half a character in it.
    """
    if not isinstance(claimed, str) or not claimed or any("\ud800" <= character <= "\udfff" for character in claimed):
        raise InvalidInput(name)
    if not claimed.startswith(MARK):
        with suppress(InvalidInput):
            return checked_identifier(claimed, name)
    written = MARK + _OTHERS.sub(lambda found: "".join(f"+{byte:02X}" for byte in found[0].encode()), claimed)
    return written if len(written) <= LONGEST else f"{MARK}++{sha256(f'{issuer} {claimed}'.encode()).hexdigest()}"
