"""First signed line of each tenant's audit log, stored with the keys: an attacker who strips signatures in the store
cannot remove it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from mnemic.errors import KeyFailed
from mnemic.keys.private_files import replace_file

_NAME = "signed.json"


def signed_since(folder: Path, name: str, first: int | None) -> int | None:
    """Return the earliest signed line known for `name`, a salted hash of the tenant. `first`, the first line signed
    now, is stored if none or only a later one is. The caller must have the folder's lock. Raises KeyFailed
    (`unreadable`).
    """
    file, known = folder / _NAME, {}
    try:
        with suppress(FileNotFoundError):
            known = json.loads(file.read_bytes())
        before = None if known.get(name) is None else int(known[name])
        if first is None or (before is not None and before <= first):
            return before
        replace_file(file, json.dumps(known | {name: first}).encode())
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise KeyFailed("unreadable", hint=f"{_NAME} in the key folder is damaged") from error
    return first
