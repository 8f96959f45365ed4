"""Default user of the library and the command line."""

from __future__ import annotations

import os

from mnemic.errors import InvalidInput
from mnemic.types import checked_name


def default_user() -> str:
    """Return the user that `MNEMIC_USER` names, else the login name. Raises InvalidInput (`user`) if neither is a valid
    user id.
    """
    if named := os.environ.get("MNEMIC_USER"):
        return checked_name(named, "user")
    import getpass

    try:
        return checked_name(getpass.getuser(), "user")
    except (InvalidInput, OSError, KeyError, ImportError):
        raise InvalidInput("user", hint="whose memory is it? name a user, or set MNEMIC_USER") from None
