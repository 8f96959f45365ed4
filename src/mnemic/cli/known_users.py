"""Users that a tenant knows, for acts on a person that name them."""

from __future__ import annotations

from difflib import get_close_matches

from mnemic.errors import InvalidInput
from mnemic.maintenance.personal_keys import names_of_key_owners
from mnemic.maintenance.subject_data import users_of
from mnemic.ports import RecordStore

_NEAR = 3


async def require_known(store: RecordStore, tenant: str, user: str) -> None:
    """Raise InvalidInput (`subject:unknown`), whose hint has similar names, unless the user has written, done or been
    given something in the tenant. Reads the whole tenant.
    """
    known = await users_of(store, tenant) | await names_of_key_owners(store, tenant)
    if user in known:
        return
    near = get_close_matches(user, sorted(known), n=_NEAR)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    raise InvalidInput("subject:unknown", hint=f"nobody of the name {user!r} is known here{meant}")
