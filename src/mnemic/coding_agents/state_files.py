"""Files of the coding agents' memory: what `mnemic install` chose, and where the hooks meet the process behind them.

A hook reads this module at every prompt: it imports nothing beyond the standard library, and of that no module that
takes long to load (`typing`, `tempfile`, `hashlib`).
"""

from __future__ import annotations

import json
import os
import sys
import time
import zlib
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_SOCKET_PATH = 100
"""Bytes of an address of a Unix socket, less a margin: 104 on macOS, 108 on Linux."""


def state_folder() -> Path:
    """Return the folder with everything that this user's hooks keep beside the memory itself."""
    return Path(os.path.expanduser("~")) / ".mnemic"


def read_state(name: str) -> dict[str, Any]:
    """Return the JSON object in a file of the folder; empty where there is none."""
    try:
        found = json.loads((state_folder() / name).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_state(name: str, value: dict[str, Any]) -> None:
    """Replace a file of the folder; only its owner can read it. Raises OSError."""
    import tempfile  # a hook writes only when it failed

    path = state_folder() / name
    make_private_folder(path.parent)
    handle, written = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=1)
        os.replace(written, path)
    except BaseException:
        os.unlink(written)
        raise


def make_private_folder(path: Path) -> None:
    """Make a folder that only its owner can enter. Raises PermissionError if it is somebody else's."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if hasattr(os, "getuid") and path.stat().st_uid != os.getuid():
        raise PermissionError(f"{path} is not yours")


def note_failure(tool: str, event: str, reason: str) -> None:
    """Note why a hook did without memory, for the status line; nothing of what was said."""
    with suppress(OSError):
        write_state("hook-failure.json", {"at": int(time.time()), "tool": tool, "event": event, "reason": reason})


def socket_path() -> Path:
    """Return the address of the process behind the hooks of this installation: another one after an upgrade."""
    installed = f"{sys.executable}:{os.stat(__file__).st_mtime_ns}:{state_folder()}"
    name = f"hooks-{zlib.crc32(os.fsencode(installed)):08x}.sock"
    path = state_folder() / name
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    import tempfile  # of a home with a long name

    return Path(tempfile.gettempdir()) / f"mnemic-{os.getuid()}" / name
