"""The user whose memory it is where nobody is named: one for the library and the command line."""

from __future__ import annotations

import os

from mnemic.errors import InvalidInput
from mnemic.types import checked_name


def default_user() -> str:
    """Return the user that `MNEMIC_USER` names, else the name of whoever is logged in. Raises InvalidInput (`user`)
    where there is none that could serve as a user id.
    """
    if named := os.environ.get("MNEMIC_USER"):
        return checked_name(named, "user")
    import getpass

    try:
        return checked_name(getpass.getuser(), "user")
    except (InvalidInput, OSError, KeyError, ImportError):
        raise InvalidInput("user", hint="whose memory is it? name a user, or set MNEMIC_USER") from None
