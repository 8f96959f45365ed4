"""The process behind the hooks: it has the memory open, answers their events on a socket of this user, and remembers
after it has answered. It ends when nothing has happened for a while.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mnemic.coding_agents.hook_events import HookEvent, Moment
from mnemic.coding_agents.session_memory import SessionMemories
from mnemic.coding_agents.state_files import (
    make_private_folder,
    note_failure,
    read_state,
    socket_path,
    state_folder,
)
from mnemic.config.files import ENV_FILE
from mnemic.errors import MnemicError

IDLE_SECONDS = 45 * 60.0
LONGEST_REQUEST = 32 * 1024 * 1024


def reason_of(failure: BaseException) -> str:
    """Return the stable reason of a failure, without content."""
    return failure.reason if isinstance(failure, MnemicError) else type(failure).__name__


class HookServer:
    """Answers one event a connection, and does what remains of it afterwards, in order."""

    def __init__(self, memories: SessionMemories) -> None:
        self.memories = memories
        self.last_at = time.monotonic()
        self._later: asyncio.Queue[HookEvent] = asyncio.Queue()
        self._idle = asyncio.Event()

    async def serve(self, path: Path) -> None:
        """Serve until nothing has happened for `IDLE_SECONDS`."""
        worker = asyncio.create_task(self._work())
        await self._take_waiting()
        server = await asyncio.start_unix_server(self._connected, path, limit=LONGEST_REQUEST)
        os.chmod(path, 0o600)
        self._watch()
        async with server:
            await self._idle.wait()
        await self._later.join()
        worker.cancel()
        await self.memories.close()

    def _watch(self) -> None:
        left = self.last_at + IDLE_SECONDS - time.monotonic()
        if left <= 0:
            self._idle.set()
        else:
            asyncio.get_running_loop().call_later(left, self._watch)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.last_at = time.monotonic()
        with suppress(OSError, ValueError, asyncio.IncompleteReadError):
            request = json.loads(await reader.readline())
            answer = await self.answer(str(request["tool"]), str(request["event"]), request["payload"])
            writer.write(json.dumps(answer).encode())
            await writer.drain()
        with suppress(OSError):
            writer.close()
            await writer.wait_closed()

    async def answer(self, tool: str, name: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the hook prints, or why there is nothing to print."""
        try:
            event = HookEvent.from_payload(tool, name, payload)
            if event.moment is Moment.START:  # what an earlier session said is known to the next
                await self._take_waiting()
                await self._later.join()
            context = await self.memories.context(event)
        except Exception as failure:  # noqa: BLE001 - one event may not end the process
            return {"reason": reason_of(failure)}
        if event.moment in (Moment.PROMPT, Moment.END):
            self._later.put_nowait(event)
        return {"stdout": event.answer(context)}

    async def _take_waiting(self) -> None:
        """Take the events that came before the process was there."""
        for file in sorted((state_folder() / "waiting").glob("*.json")):
            with suppress(OSError, ValueError, KeyError, TypeError, MnemicError):
                said = json.loads(file.read_bytes())
                file.unlink()
                event = HookEvent.from_payload(said["tool"], said["event"], said["payload"])
                if event.moment in (Moment.PROMPT, Moment.END):
                    self._later.put_nowait(event)

    async def _work(self) -> None:
        while True:
            event = await self._later.get()
            try:
                await self.memories.remember(event)
            except Exception as failure:  # noqa: BLE001 - what failed is named in the status line
                note_failure(event.tool, event.name, reason_of(failure))
            finally:
                self._later.task_done()


def main() -> None:
    """Serve this user's hooks, unless another process does."""
    path = socket_path()
    make_private_folder(path.parent)
    make_private_folder(state_folder())
    with open(path.with_suffix(".lock"), "a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        path.unlink(missing_ok=True)
        os.umask(0o077)
        if env_file := read_state("agents.json").get("env_file"):
            os.environ[ENV_FILE] = env_file
        try:
            asyncio.run(_serve(path))
        finally:
            path.unlink(missing_ok=True)


async def _serve(path: Path) -> None:
    memories = SessionMemories()
    try:
        await memories.warm()
    except Exception as failure:  # noqa: BLE001 - the first event will tell the tool
        note_failure("", "start", reason_of(failure))
    await HookServer(memories).serve(path)


if __name__ == "__main__":
    main()
