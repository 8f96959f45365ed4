"""One store behind four faces: the library, the command line, REST and MCP, each as its own users call it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from unittest.mock import patch

import httpx
from click.testing import CliRunner
from mcp import Client

from mnemic.agents.mcp import memory_server
from mnemic.bootstrap import build_engine
from mnemic.cli import cli
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError
from mnemic.retrieve.export import FORMAT
from mnemic.types import Actor, Candidate, Memory, Message, Status
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys

ANA, BEN = Actor(user="ana"), Actor(user="ben")
POLICY = """
open_keys = true
keyless = true

[keys.seat]
allowed_values = ["aisle", "window"]

[keys.tier]
sensitive = true
allowed_values = ["free", "pro"]

[keys.address]
on_change = "review"
"""


Command = Callable[..., str | None]
"""Runs one command line; the reason of a refusal, or None."""


def command_line(folder: Path, made: Callable[[], MemoryEngine]) -> Command:
    """The command line in this process, on the engines that `made` returns; none of them is closed."""
    file = folder / "there.db"
    file.write_bytes(b"not read: the engines of `made` take its place")  # an empty file would be refused

    @asynccontextmanager
    async def opened_engine(settings: Settings) -> AsyncIterator[MemoryEngine]:
        engine = made()
        await engine.open()
        yield engine

    def run(*words: str) -> str | None:
        verb, *rest = words
        common = ["--store", str(file), "--user", ANA.user, "--json"]
        with patch("mnemic.bootstrap.build_engine", opened_engine):
            result = CliRunner().invoke(cli, [verb, *common, *rest], prog_name="mnemic")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.stderr.partition(" ")[0] or None if result.exit_code else None

    return run


@dataclass(frozen=True)
class Faces:
    """The open faces, and the engine that they share. Each verb returns the reason of a refusal, or None."""

    engine: MemoryEngine
    client: httpx.AsyncClient
    headers: dict[str, str]
    command: Command | None = None
    reviewer: dict[str, str] = field(default_factory=dict)
    """Headers of Ben, who reviews."""

    async def add(self, face: str, content: str, key: str | None = None) -> str | None:
        """Ask the face to remember something."""
        if face == "library":
            return await _reason(self.engine.add(content, key=key, actor=ANA))
        if face == "cli":
            return await self._ran("add", *(("--key", key) if key else ()), "--", content)
        if face == "rest":
            body = {"content": content, **({"key": key} if key else {})}
            return self._told(await self.client.post("/v1/memories", json=body, headers=self.headers))
        told = content if key is None else f"My {key} is {content}."
        return await self._tool("add_memory", content=told)

    async def update(self, face: str, memory_id: str, content: str) -> str | None:
        """Ask the face to correct a memory."""
        if face == "library":
            return await _reason(self.engine.update(memory_id, content, actor=ANA))
        if face == "cli":
            return await self._ran("update", "--", memory_id, content)
        if face == "rest":
            path = f"/v1/memories/{memory_id}"
            return self._told(await self.client.patch(path, json={"content": content}, headers=self.headers))
        return await self._tool("update_memory", memory_id=memory_id, content=content, dry_run=False)

    async def capture(self, face: str, message: str) -> str | None:
        """Ask the face to remember what is worth it in a message."""
        if face == "library":
            report = await self.engine.capture(message, actor=ANA)
            return None if report.stop_reason == "success" else report.stop_reason
        if face == "cli":
            return await self._ran("capture", "--", message)
        if face == "rest":
            return self._told(await self.client.post("/v1/capture", json={"message": message}, headers=self.headers))
        return await self._tool("capture", message=message)

    async def forget(self, face: str, memory_id: str) -> str | None:
        """Ask the face to delete a memory."""
        if face == "library":
            return await _reason(self.engine.forget(memory_id, actor=ANA))
        if face == "cli":
            return await self._ran("forget", "--yes", memory_id)
        if face == "rest":
            return self._told(await self.client.delete(f"/v1/memories/{memory_id}", headers=self.headers))
        return await self._tool("forget_memory", memory_id=memory_id, dry_run=False)

    async def undo(self, face: str, memory_id: str) -> str | None:
        """Ask the face to take back what a memory replaced."""
        if face == "library":
            return await _refusal(self.engine.undo(memory_id, actor=ANA))
        if face == "cli":
            return await self._ran("undo", "--", memory_id)
        return await self._sent("post", f"/v1/memories/{memory_id}/undo")

    async def rollback(self, face: str, memory_id: str, version: int) -> str | None:
        """Ask the face to go back to an earlier version of a memory."""
        if face == "library":
            return await _reason(self.engine.rollback(memory_id, version, actor=ANA))
        if face == "cli":
            return await self._ran("rollback", "--", memory_id, str(version))
        return await self._sent("post", f"/v1/memories/{memory_id}/rollback", {"version": version})

    async def approve(self, face: str, by: Actor, memory_id: str, content: str | None = None) -> str | None:
        """Ask the face to let a waiting memory in, as `by`."""
        if face == "library":
            return await _reason(self.engine.approve(memory_id, actor=by, content=content, whole_tenant=True))
        if face == "cli":
            said = ("--content", content) if content else ()
            return await self._ran("review", "--user", by.user, *said, "--", "approve", memory_id)
        body = {} if content is None else {"content": content}
        return await self._sent("post", f"/v1/reviews/{memory_id}/approval", body, by=by)

    async def reject(self, face: str, by: Actor, memory_id: str) -> str | None:
        """Ask the face to turn a waiting memory down, as `by`."""
        if face == "library":
            return await _refusal(self.engine.reject(memory_id, actor=by, whole_tenant=True))
        if face == "cli":
            return await self._ran("review", "--user", by.user, "--", "reject", memory_id)
        return await self._sent("post", f"/v1/reviews/{memory_id}/rejection", by=by)

    async def consent(self, face: str, key: str, *, granted: bool) -> str | None:
        """Say on the face whether a key may be remembered."""
        if face == "library":
            engine = self.engine
            return await _refusal((engine.grant_consent if granted else engine.revoke_consent)(key, actor=ANA))
        if face == "cli":
            return await self._ran("consent", "--", "grant" if granted else "revoke", key)
        return await self._sent("put" if granted else "delete", f"/v1/consents/{key}")

    async def record(self, face: str, role: str, message: str) -> str | None:
        """Ask the face to keep a message of a conversation."""
        if face == "library":
            return await _refusal(self.engine.record([Message(role=role, content=message)], actor=ANA))
        if face == "cli":
            return await self._imported([{"role": role, "content": message}], "--no-extract", "--format", "chat")
        return await self._sent("post", "/v1/messages", {"messages": [{"role": role, "content": message}]})

    async def capture_many(self, face: str, messages: Sequence[tuple[str, str]]) -> str | None:
        """Ask the face to remember what is worth it in a conversation: roles, and what they said."""
        if face == "library":
            said = [Message(role=role, content=content) for role, content in messages]
            return await _refusal(self.engine.capture_many(said, actor=ANA))
        return await self._imported([{"role": role, "content": said} for role, said in messages], "--format", "chat")

    async def add_many(self, face: str, given: Sequence[tuple[str, str | None]]) -> str | None:
        """Ask the face to remember several things: what they say, and under which key."""
        if face == "library":
            many = [Candidate(content=content, key=key) for content, key in given]
            return await _refusal(self.engine.add_many(many, actor=ANA))
        if face == "cli":
            return await self._imported([_exported(content, key) for content, key in given], "--again")
        memories = [{"content": content, **({"key": key} if key else {})} for content, key in given]
        return await self._sent("post", "/v1/memories/batch", {"memories": memories})

    async def take_in(self, import_id: str, given: Sequence[tuple[str, str | None]]) -> str | None:
        """Import by parts, over REST."""
        memories = [{"content": content, **({"key": key} if key else {})} for content, key in given]
        return await self._sent("post", f"/v1/imports/{import_id}", {"at": 0, "memories": memories})

    async def erase(self, face: str) -> str | None:
        """Ask the face to erase everything about Ana; it is done on return."""
        if face == "library":
            return await _refusal(self.engine.erase(ANA.user, actor=ANA))
        if face == "cli":
            return await self._ran("erase", "--yes", "--", ANA.user)
        begun = await self.client.post("/v1/erasures", json={}, headers=self.headers)
        job = begun.json()
        while begun.status_code < 400 and job["state"] == "running":
            told = await self.client.get(f"/v1/erasures/{job['erasure_id']}?wait=10", headers=self.headers)
            job = told.json()
        return self._told(begun)

    async def scan(self) -> list[Memory]:
        """Everything in the store, whatever its status."""
        return await self.engine.store.scan("default", statuses=list(Status), limit=10_000)

    async def live(self) -> dict[str | None, list[str]]:
        """What is active, by key."""
        found: dict[str | None, list[str]] = {}
        for memory in await self.scan():
            if memory.status is Status.ACTIVE:
                found.setdefault(memory.key, []).append(memory.content)
        return found

    async def _sent(self, method: str, path: str, body: Any = None, *, by: Actor = ANA) -> str | None:
        headers = self.headers if by == ANA else self.reviewer
        given = {} if body is None else {"json": body}
        return self._told(await self.client.request(method.upper(), path, headers=headers, **given))

    async def _imported(self, lines: Sequence[Mapping[str, Any]], *words: str) -> str | None:
        with NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            file.write("".join(json.dumps(one) + "\n" for one in lines))
            file.flush()
            return await self._ran("import", *words, "--", file.name)

    async def _ran(self, *words: str) -> str | None:
        assert self.command is not None
        return await asyncio.to_thread(self.command, *words)

    async def _tool(self, name: str, **arguments: Any) -> str | None:
        async with Client(memory_server(self.engine, ANA)) as model:
            result = await model.call_tool(name, arguments)
        told = result.structured_content or json.loads(result.content[0].text)  # type: ignore[union-attr]
        reasons = [told.get("error"), told.get("reason") if told.get("stored") is False else None]
        return next((str(reason) for reason in reasons if reason), None)

    def _told(self, answer: httpx.Response) -> str | None:
        if answer.status_code == 204:
            return None
        told = answer.json()
        if answer.status_code >= 400:
            return str(told.get("reason", answer.status_code))
        return str(told["reason"]) if told.get("outcome") == "blocked" and told["reason"] != "rejected" else None


def _exported(content: str, key: str | None) -> dict[str, Any]:
    """A line as `mnemic export` writes it, which calls what it holds the user's own words."""
    return {"format": FORMAT, "content": content, "key": key, "source": {"origin": "user_stated"}}


async def _refusal(work: Awaitable[object]) -> str | None:
    try:
        await work
    except MnemicError as error:
        return error.reason
    return None


async def bearer(engine: MemoryEngine, user: str, *roles: str) -> dict[str, str]:
    """Headers with a new key of the service for `user`."""
    _, key = await ApiKeys(engine.store, engine.clock).create(tenant="default", roles=roles, user=user)
    return {"Authorization": f"Bearer {key}"}


async def _reason(work: Any) -> str | None:
    try:
        done = await work
    except MnemicError as error:
        return error.reason
    return done.reason if done is not None and not done.stored else None


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Faces]:
    """The faces on a new file in `folder`, under `POLICY`."""
    policy = folder / "policy.toml"
    policy.write_text(POLICY)
    engine = build_engine(Settings.load(store=str(folder / "m.db"), policy=str(policy)))
    async with engine:
        headers = await bearer(engine, "ana", "reader", "writer", "subject")
        app = create_app(engine, per_second=10_000.0, burst=10_000)
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            yield Faces(engine, client, headers)
