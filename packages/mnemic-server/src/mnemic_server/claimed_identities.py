"""User ids and tenants from the claims of a provider's token: an injective mapping of every legal `sub`.

OpenID Connect allows any text of up to 255 ASCII characters as a `sub` (Core 1.0, section 2): `auth0|123`, a web
address. A user's name is unchanged if it can name a user (`checked_name`), a tenant's if it is an identifier. Anything
else becomes `claim:` followed by the text, in which every character outside `A-Z a-z 0-9 _ . : @ -` is written as its
UTF-8 bytes, each as `+` and two hexadecimal digits. If that exceeds the length of an identifier, it is `claim:++` and
the SHA-256 of issuer and text. A text that begins with `claim:` is encoded as well, so that no caller can claim another
user's name.
"""

from __future__ import annotations

import re
from contextlib import suppress
from hashlib import sha256

from mnemic.errors import InvalidInput
from mnemic.types import checked_identifier, checked_name
from mnemic.types.values import LONGEST_NAME

MARK = "claim:"

_OTHERS = re.compile(r"[^A-Za-z0-9_.:@-]")


def identifier_of(claimed: object, name: str, *, issuer: str) -> str:
    """Return the identifier for the claim of a token by `issuer`. Raises InvalidInput (`name`) for a value that is not
    a text, is empty, or contains half a surrogate pair.
    """
    if not isinstance(claimed, str) or not claimed or any("\ud800" <= character <= "\udfff" for character in claimed):
        raise InvalidInput(name)
    if not claimed.startswith(MARK):
        with suppress(InvalidInput):
            return checked_identifier(claimed, name)
    written = MARK + _OTHERS.sub(lambda found: "".join(f"+{byte:02X}" for byte in found[0].encode()), claimed)
    return written if len(written) <= LONGEST_NAME else f"{MARK}++{sha256(f'{issuer} {claimed}'.encode()).hexdigest()}"


def user_of(claimed: object, *, issuer: str) -> str:
    """Return the user id for the name in a token: the name itself if it can name a user, else its identifier. Raises
    InvalidInput (`user`).
    """
    identifier = identifier_of(claimed, "user", issuer=issuer)
    if str(claimed).startswith(MARK):
        return identifier
    try:
        return checked_name(claimed, "user")
    except InvalidInput:
        return identifier
