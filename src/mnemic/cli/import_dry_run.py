"""Dry run of an import: the messages, memories and facts that it would store, and the reasons for the rest.

Facts are read by rules into a memory that ends with the call, from the first messages alone: a language model would
cost money, and a long export time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from mnemic.bootstrap import build_engine
from mnemic.cli.file_import import KEYLESS, KEYLESS_HINT, captured_in, is_nod
from mnemic.cli.terminal import one_line, pairs, tally
from mnemic.engine import MemoryEngine
from mnemic.maintenance.archive import ArchivedMemory
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.types import Candidate, Memory, Message

if TYPE_CHECKING:
    from mnemic.config import Settings
    from mnemic.importers.file_readers.item import Item
    from mnemic.types import Actor
    from mnemic.types.trace import RunReport

READ_MESSAGES = 200
_TALK = 10 * READ_MESSAGES
SAMPLES = 3
_WIDTH = 72
_TOGETHER = 20
_RULES = ("policy", "trusted_keys", "granted_levels", "near_duplicate", "conflict", "timezone")
"""Settings that affect the result. The others name servers, which a dry run does not ask."""


@dataclass(slots=True)
class Rehearsal:
    """Content of a file: counts, a few samples of each kind, and the facts that rules find in the user's messages."""

    roles: Counter[str] = field(default_factory=Counter)
    memories: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[str, str]] = field(default_factory=list)
    hints: dict[str, str] = field(default_factory=dict)
    samples: list[dict[str, Any]] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)
    captured: Counter[str] = field(default_factory=Counter)
    passed_over: Counter[str] = field(default_factory=Counter)
    blocked: Counter[str] = field(default_factory=Counter)
    read: int = 0
    own: int = 0
    said: list[Message] = field(default_factory=list)
    _shown: Counter[str] = field(default_factory=Counter)

    @property
    def messages(self) -> int:
        """Number of messages that would be recorded."""
        return self.roles.total()

    def note(self, item: Item) -> None:
        """Count an item, and add it to the samples while there are few of its kind."""
        said = item.content
        if item.problem is not None:
            self.failed.append((item.place, item.problem.reason))
            self.hints[item.place] = item.problem.hint or ""
        elif item.skipped is not None:
            self.skipped[item.skipped] += 1
        elif isinstance(said, Message):
            if is_nod(said):
                self.skipped["small_talk"] += 1
            else:
                self.roles[said.role] += 1
                self._sample(item.place, said.role, said.content, said.speaker, said.sent_at)
            if self.own < READ_MESSAGES and len(self.said) < _TALK:  # others' words are context of the user's own
                self.own += said.role == "user"
                self.said.append(said)
        else:
            self.memories += 1
            memory = said.versions[-1] if isinstance(said, ArchivedMemory) else said
            if isinstance(memory, Candidate | Memory):
                self._sample(item.place, "memory", memory.content, memory.key, None)

    def _sample(self, place: str, kind: str, content: str, who: str | None, at: Any) -> None:
        self._shown[kind] += 1
        if self._shown[kind] <= SAMPLES:
            when = None if at is None else at.isoformat()
            self.samples.append({"place": place, "kind": kind, "by": who, "at": when, "content": content})

    def count(self, report: RunReport) -> None:
        """Count the results of reading one message."""
        if report.status != "ok":
            self.passed_over[report.stop_reason] += 1
        self.captured.update(captured_in(report))
        self.passed_over.update(one.reason for one in report.skipped)
        self.blocked.update(f"{one.key or 'memory'}: {one.reason}" for one in report.blocked)

    def as_dict(self) -> dict[str, Any]:
        """Return the rehearsal as JSON data."""
        return {
            "messages": self.messages,
            "memories": self.memories,
            "roles": dict(self.roles),
            "samples": self.samples,
            "facts": {
                "read_messages": self.read,
                "captured": dict(self.captured),
                "kept": self.facts,
                "left_out": dict(self.passed_over),
                "blocked": dict(self.blocked),
            },
            "skipped": dict(self.skipped),
            "failed": [{"place": place, "reason": reason} for place, reason in self.failed],
            "dry_run": True,
        }

    def as_text(self) -> str:
        """Return the rehearsal for people."""
        if not self.messages and not self.memories:
            return pairs({"skipped": tally(self.skipped)}) or "nothing that could be imported"
        rows = {
            "messages": tally(self.roles),
            "memories": self.memories or None,
            "captured": self._captured_text() if self.read else None,
            "blocked": tally(self.blocked),
            "left out": tally(self.passed_over),
            "skipped": tally(self.skipped),
            "failed": len(self.failed) or None,
        }
        hints = [KEYLESS_HINT] if any(one.endswith(KEYLESS) for one in self.blocked) else []
        blocks = [pairs(rows), *self._lists(), *hints, "nothing was imported"]
        return "\n\n".join(blocks)

    def _captured_text(self) -> str:
        """Return the count that the import reports as captured, and how many of them nothing later replaces."""
        made, kept = self.captured.total(), len(self.facts)
        in_force = "" if made == kept else f", {kept} of them in force at the end"
        return f"{made}{in_force} (read by rules from {self._read_text()})"

    def _read_text(self) -> str:
        return "the user's messages" if self.read == self.roles["user"] else f"the user's first {self.read} messages"

    def _lists(self) -> list[str]:
        kept = [f"  {_key_text(one['key'])}{one_line(one['content'], _WIDTH)}" for one in self.facts]
        said = [f"  {_sample_text(one)}{one_line(one['content'], _WIDTH)}" for one in self.samples]
        shown = [*kept[:_TOGETHER], *([f"  ... and {len(kept) - _TOGETHER} more"] if len(kept) > _TOGETHER else [])]
        lists = {"facts that would be kept": shown, "samples": said}
        return ["\n".join([title, *lines]) for title, lines in lists.items() if lines]


def _key_text(key: str | None) -> str:
    return "" if key is None else f"{key}: "


def _sample_text(sample: dict[str, Any]) -> str:
    at = "" if sample["at"] is None else f"{sample['at'][:10]}  "
    by = sample["by"] if sample["kind"] == "memory" else sample["by"] or sample["kind"]
    return f"{at}{'' if by is None else f'{by}: '}"


async def rehearse(items: Iterable[Item], settings: Settings, actor: Actor, *, extract: bool) -> Rehearsal:
    """Return the result that an import of `items` would have. Nothing is written, and no language model is asked."""
    defaults = {one.name: one.default for one in fields(settings) if one.name not in _RULES}
    async with build_engine(settings.with_values(**{**defaults, "store": "memory:"})) as engine:
        return await _rehearse_items(engine, items, actor, extract=extract)


async def rehearse_beside(engine: MemoryEngine, items: Iterable[Item], actor: Actor, *, extract: bool) -> Rehearsal:
    """Return the result that an import of `items` into an open engine would have, by its policy and with its embedder.
    Nothing is written, and no language model is asked.
    """
    rules = engine.rules
    beside = MemoryEngine(
        store=InProcessStore(),
        embedder=engine.embedder,
        clock=engine.clock,
        rules=engine.write_rules,
        policy=rules.policy,
        grant=rules.grant,
        budget=rules.budget,
        limits=rules.limits,
        redaction=engine.redaction,
    )
    await beside.open()
    try:
        return await _rehearse_items(beside, items, actor, extract=extract)
    finally:
        await beside.store.close()  # the embedder is the other's


async def _rehearse_items(engine: MemoryEngine, items: Iterable[Item], actor: Actor, *, extract: bool) -> Rehearsal:
    found = Rehearsal()
    for item in items:
        found.note(item)
    if found.messages and not engine.policy.allows_keyless:
        found.blocked[f"memory: {KEYLESS}"] += found.messages
    if not extract or not found.own:
        return found
    for report in await engine.capture_many(found.said, actor=actor):
        if report is not None:
            found.count(report)
    kept = await engine.list(actor=actor, limit=1_000)
    found.read = found.own
    found.facts = [{"key": one.key, "kind": str(one.kind), "content": one.content} for one in kept]
    return found
