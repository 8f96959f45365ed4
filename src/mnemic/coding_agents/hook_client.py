"""What a tool starts at each of its events: passes the event on to the process that has the memory open, and prints its
answer. A prompt waits for 300 ms at most, and passes whatever happens.

Everything here counts at every prompt: it imports nothing beyond the standard library.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

from mnemic.coding_agents.state_files import make_private_folder, note_failure, socket_path, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_EVENT = 8 * 1024 * 1024
"""Bytes of an event that are read."""
_WARM, _COLD, _START = 0.25, 3.0, 8.0
"""Seconds that a prompt waits for the process (with the start of this one: 300 ms), and for one that has to be started
first; and that the start of a session waits.
"""
_STARTS = frozenset({"SessionStart", "sessionStart", "session.created"})
_PASSES = {"cursor": '{"continue": true}'}
"""What lets a prompt through in a tool that does not take silence for it."""


class _NotDelivered(Exception):
    """The process was not reached."""


def run_hook(words: list[str], began: float) -> int:
    """Handle one event of the tool that `words` name; return 0, the only exit code that lets every prompt through."""
    tool, event, payload, reason, printed = (words or ["unknown"])[0], "", None, None, None
    try:
        raw = sys.stdin.buffer.read(LONGEST_EVENT)
        payload = json.loads(raw or b"{}")
        event = words[1] if len(words) > 1 else str(payload.get("hook_event_name", ""))
        answer = _ask({"tool": tool, "event": event, "payload": payload}, event in _STARTS, began)
        printed, reason = answer.get("stdout"), answer.get("reason")
    except _NotDelivered:
        reason = "not_started"
        _leave_for_later(tool, event, payload)
    except TimeoutError:
        reason = "timeout"
    except BaseException as failure:  # noqa: BLE001 - nothing may stop a prompt, an interrupt included
        reason = type(failure).__name__
    if reason:
        note_failure(tool, event, reason)
    with suppress(OSError, ValueError):
        sys.stdout.write(_PASSES.get(tool, "") if printed is None else printed)
        sys.stdout.flush()
    return 0


def _ask(request: dict[str, Any], starts: bool, began: float) -> dict[str, Any]:
    """Return the answer of the process, which is started if it does not run. Raises _NotDelivered, TimeoutError."""
    limit = float(os.environ.get("MNEMIC_HOOK_SECONDS") or 0)
    path = socket_path()
    connection = _connect(path)
    if connection is None:
        deadline = began + (limit or (_START if starts else _COLD))
        connection = _start(path, deadline)
    else:
        deadline = began + (limit or (_START if starts else _WARM))
    with connection:
        connection.settimeout(max(0.01, deadline - time.monotonic()))
        connection.sendall(json.dumps(request).encode() + b"\n")
        connection.shutdown(socket.SHUT_WR)
        parts = []
        while True:
            connection.settimeout(max(0.01, deadline - time.monotonic()))
            part = connection.recv(65536)
            if not part:
                break
            parts.append(part)
    answer = json.loads(b"".join(parts))
    return answer if isinstance(answer, dict) else {}


def _connect(path: Path) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        return None
    return connection


def _start(path: Path, deadline: float) -> socket.socket:
    """Start the process, and return a connection to it. Raises _NotDelivered."""
    import subprocess  # only the first event of a while pays for it

    make_private_folder(path.parent)
    subprocess.Popen(
        [sys.executable, "-m", "mnemic.coding_agents.hook_server"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    while time.monotonic() < deadline:
        if (connection := _connect(path)) is not None:
            return connection
        time.sleep(0.02)
    raise _NotDelivered


def _leave_for_later(tool: str, event: str, payload: Any) -> None:
    """Put an event where the process finds it when it has started: what was said is not lost because it came first."""
    folder = state_folder() / "waiting"
    with suppress(OSError):
        make_private_folder(folder)
        name = folder / f"{time.time_ns()}-{os.getpid()}.json"
        with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump({"tool": tool, "event": event, "payload": payload}, file)
