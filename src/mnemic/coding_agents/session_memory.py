"""What the hooks ask of memory: what bears on a prompt, and to remember what the user said."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from mnemic.coding_agents.hook_events import LONGEST_PROMPT, TRANSCRIPTS, HookEvent, Moment, own_words
from mnemic.coding_agents.repository import Place, place_of
from mnemic.coding_agents.state_files import note_failure, read_state, state_folder, write_state
from mnemic.config.files import secret_in
from mnemic.errors import InvalidInput
from mnemic.importers.conversation_files import read_conversation
from mnemic.inject import InjectionConfig
from mnemic.inject.engine_injector import account_for, injector_for
from mnemic.inject.memory_source import SourceEntry
from mnemic.inject.render import render
from mnemic.language.sentences.general_knowledge_messages import speaks_of_self_alone
from mnemic.maintenance.background_capture import is_kept
from mnemic.types import Actor, Hit, Kind, Level, Message
from mnemic.types.trace import RunReport, RunStatus

MOST_AT_PROMPT, TOKENS_AT_PROMPT = 5, 600
MOST_AT_START, TOKENS_AT_START, PROFILE_AT_START = 8, 700, 300
SERVICES = ("http://", "https://")
_PATIENCE = timedelta(seconds=20)
_FAILURE_SECONDS = 3600
"""How long the status line tells of a failure."""
_MOST_SESSIONS, _MOST_PROMPTS = 200, 2000
"""Sessions whose state is kept, and prompts of one."""
_INTRODUCED = (
    "Who the user is, and what they said in earlier sessions in this repository, newest first. `mnemic` has more: "
    "search it where the answer may depend on what was decided or said before."
)


class SessionMemories:
    """The memories of the repositories that tools work in, opened at the first event of each store."""

    def __init__(self) -> None:
        self._engines: dict[tuple[str, bool], Any] = {}

    async def warm(self) -> None:
        """Load what the first prompt would wait for."""
        place = place_of(Path.home())
        engine, actor = await self._open(place, "warm")
        if not place.store.startswith(SERVICES):
            await engine.context("how is this tested?", actor=actor, top_k=1)
            await engine.embedder.embed(["how is this tested?"])

    async def close(self) -> None:
        """Close the engines."""
        for engine in self._engines.values():
            await engine.close()

    async def context(self, event: HookEvent) -> str:
        """Return the text for the model at this event, "" if there is nothing new to show; for the status line, its
        text.
        """
        place = place_of(event.folder)
        if event.moment is Moment.STATUS:
            return await self._status(place)
        engine, actor = await self._open(place, event.session)
        if event.moment is Moment.START:
            if event.anew:
                _Session.load(event.session).forget_shown()
            return await self._newest(engine, actor, place, event)
        if event.moment is Moment.PROMPT and event.tool != "cursor":
            return await self._bearing_on(engine, actor, place, event)
        return ""

    async def remember(self, event: HookEvent) -> None:
        """Remember what the user said in a prompt, or at the end of a session what its hooks missed. Raises
        MnemicError.
        """
        if event.of_program:
            return
        place = place_of(event.folder)
        engine, actor = await self._open(place, event.session)
        session = _Session.load(event.session)
        prompts = [event.prompt] if event.moment is Moment.PROMPT else _prompts_in(event)
        for prompt in prompts:
            said = own_words(prompt)
            if said and session.begins(said):
                await self._capture(engine, actor, place, said, session)
                session.save()

    async def _bearing_on(self, engine: Any, actor: Actor, place: Place, event: HookEvent) -> str:
        query = own_words(event.prompt) or event.prompt[:LONGEST_PROMPT]
        if not query.strip() or event.prompt.lstrip().startswith(("/", "!")):
            return ""
        if place.store.startswith(SERVICES):
            block = await engine.context(query, actor=actor, top_k=MOST_AT_PROMPT, max_tokens=TOKENS_AT_PROMPT)
        else:
            # The hook has a limit of its own; what comes too late for one prompt warms the next.
            config = InjectionConfig(max_entries=MOST_AT_PROMPT, max_tokens=TOKENS_AT_PROMPT, timeout=_PATIENCE)
            injector = injector_for(engine, actor, config, by=event.tool)
            block = (await injector.inject([{"role": "user", "content": query}])).block()
        if block.degraded:
            note_failure(event.tool, event.name, block.reason or "degraded")
        session = _Session.load(event.session)
        return block.text if session.shows(block.memory_ids) else ""

    async def _newest(self, engine: Any, actor: Actor, place: Place, event: HookEvent) -> str:
        if place.store.startswith(SERVICES):
            return ""  # a service answers questions
        profile = await engine.profile(actor=actor, max_tokens=PROFILE_AT_START)
        newest = await engine.hot(actor=actor, kinds=[Kind.LONG_TERM], limit=MOST_AT_START)
        lines = [Hit(memory=line.memory, score=0.0) for line in profile]
        known = {hit.memory.memory_id for hit in lines}
        hits = [*lines, *(hit for hit in newest.hits if hit.memory.memory_id not in known)]
        if not hits:
            return ""
        entries = [SourceEntry.from_hit(hit, "memory", reader=actor) for hit in hits]
        block = render(entries, max_tokens=TOKENS_AT_START, count=engine.token_count)
        shown = [entry.hit for entry in block.entries if entry.hit is not None]
        await account_for(engine, actor, shown)
        _Session.load(event.session).shows([hit.memory.memory_id for hit in shown])
        return f"{_INTRODUCED}\n{block.text}" if block.text else ""

    async def _capture(self, engine: Any, actor: Actor, place: Place, said: str, session: _Session) -> None:
        message = Message(role="user", content=said, session=actor.session)
        report = await engine.capture(message, actor=actor)
        receipts = list(report.receipts)
        keeps = place.store.startswith(SERVICES) or engine.policy.keep_messages
        if keeps and report.status is RunStatus.OK and is_kept(report):
            receipts += await engine.record([message], actor=actor)
        session.shows([one.memory_id for one in receipts if one.stored and one.memory_id])
        if place.workspace is not None:
            await self._share(engine, actor, report)

    async def _share(self, engine: Any, actor: Actor, report: RunReport) -> None:
        """Add what was said of the project, and not of the user, to the team's memory, where it awaits approval."""
        for receipt in report.receipts:
            if receipt.stored and receipt.key is None and receipt.memory_id and not receipt.was_duplicate:
                memory = await engine.get(receipt.memory_id, actor=actor)
                if not speaks_of_self_alone(memory.content):
                    await engine.add(memory.content, level=Level.WORKSPACE, actor=actor)

    async def _status(self, place: Place) -> str:
        engine, actor = await self._open(place, "status")
        count = await engine.count(actor=actor)
        parts = [f"mnemic: {place.repository.name}", f"{count:,} {'memory' if count == 1 else 'memories'}"]
        if place.workspace is not None:
            parts.append(f"team {place.workspace}")
        failed = read_state("hook-failure.json")
        parts += [place.note] if place.note else []
        if failed.get("reason") and time.time() - failed["at"] < _FAILURE_SECONDS:
            parts.append(f"last failure {failed['event']}: {failed['reason']}")
        return " · ".join(parts)

    async def _open(self, place: Place, session: str) -> tuple[Any, Actor]:
        """Return the engine of a place, with the rules of its tenant, and the actor."""
        # Loaded with the first engine: the process answers its first event meanwhile.
        from mnemic.bootstrap import build_engine
        from mnemic.config import Settings
        from mnemic.facade.manager import service_engine
        from mnemic.maintenance.tenant_engine import Tenancy

        actor = Actor(tenant=place.tenant, user=place.user, agent="default", workspace=place.workspace, session=session)
        key = (place.store, place.workspace is not None)
        chosen = read_state("agents.json")
        if place.store.startswith(SERVICES):
            if key not in self._engines:
                self._engines[key] = await service_engine(place.store, actor, api_key=_service_key(chosen)).open()
            return self._engines[key], actor
        if key not in self._engines:
            levels = frozenset({"user", "workspace"}) if place.workspace is not None else None
            settings = Settings.load(
                store=place.store,
                policy=chosen.get("policy"),
                **({"granted_levels": levels} if levels else {}),
            )
            self._engines[key] = await build_engine(settings).open()
        return (await Tenancy(self._engines[key]).tenant_state(actor.tenant)).engine, actor


class _Session:
    """State of one session: which prompts were read, by a digest, and which memories its model has seen."""

    def __init__(self, name: str, said: dict[str, Any]) -> None:
        self._file = f"sessions/{hashlib.sha256(name.encode()).hexdigest()[:24]}.json"
        self.read: list[str] = list(said.get("read", ()))
        self.shown: list[str] = list(said.get("shown", ()))

    @classmethod
    def load(cls, name: str) -> _Session:
        """Return the state of a session, empty for a new one."""
        session = cls(name, {})
        said = read_state(session._file)
        return cls(name, said)

    def begins(self, said: str) -> bool:
        """Note that this prompt is read now; return False if it was before."""
        digest = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        if digest in self.read:
            return False
        self.read.append(digest)
        return True

    def shows(self, memory_ids: Sequence[str]) -> bool:
        """Note that the session's model knows these memories now; return False if it knew them all before."""
        new = [one for one in memory_ids if one not in self.shown]
        self.shown += new
        if new:
            self.save()
        return bool(new)

    def forget_shown(self) -> None:
        """Note that the model has none of the earlier blocks before it any more."""
        self.shown.clear()
        self.save()

    def save(self) -> None:
        """Store the state, and drop the oldest of other sessions."""
        write_state(self._file, {"read": self.read[-_MOST_PROMPTS:], "shown": self.shown[-_MOST_PROMPTS:]})
        folder = (state_folder() / self._file).parent
        files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for file in files[:-_MOST_SESSIONS]:
            file.unlink(missing_ok=True)


def _prompts_in(event: HookEvent) -> Iterator[str]:
    """Yield what the user sent in a session, from its file."""
    if event.transcript is None or not event.transcript.is_file():
        return
    try:
        for item in read_conversation(event.transcript, TRANSCRIPTS[event.tool]):
            if isinstance(item.content, Message) and item.content.role == "user":
                yield item.content.content
    except InvalidInput as unread:
        if unread.reason != "invalid_input:file:empty":
            raise


def _service_key(chosen: dict[str, Any]) -> str | None:
    if file := chosen.get("api_key_file"):
        return secret_in(Path(file), "api_key_file")
    return os.environ.get("MNEMIC_SERVICE_KEY")
