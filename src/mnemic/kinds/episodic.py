"""Episodic memory: attempts step by step, their outcomes, and the lessons from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, get_args

from mnemic.errors import InvalidInput, MemoryNotFound, NotSupported
from mnemic.kinds.view import KindView
from mnemic.runtime.sync_facade import M, verb
from mnemic.types import Candidate, Kind, Level, Memory, Neighbour, Origin, Source, WriteReceipt
from mnemic.types.graph import MAX_NAME_CHARS, episode_node
from mnemic.types.memory import EPISODE

Ending = Literal["success", "failure", "partial"]

FEEDBACK = "feedback"
MAX_STEPS = 100
FEEDBACK_READ = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Step: the action, its result, and whether it succeeded (None: unknown)."""

    action: str = field(repr=False)
    result: str = field(default="", repr=False)
    ok: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A step that failed before, why, and which later step of the same episode worked, if one did."""

    action: str = field(repr=False)
    result: str = field(repr=False)
    worked: str | None = field(default=None, repr=False)
    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """Episode as it was recorded, with later feedback, oldest first. `score` is its similarity to the query (0 to 1),
    if there was one.
    """

    memory_id: str
    task: str = field(repr=False)
    steps: tuple[Step, ...]
    outcome: Ending
    happened_at: datetime
    feedback: tuple[str, ...] = field(default=(), repr=False)
    score: float | None = None

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """Its steps that failed, in order, each with the next one that worked."""
        return tuple(
            Lesson(action=step.action, result=step.result, worked=_next_good(self.steps[at:]), memory_id=self.memory_id)
            for at, step in enumerate(self.steps, start=1)
            if step.ok is False
        )


def _next_good(steps: Sequence[Step]) -> str | None:
    return next((step.action for step in steps if step.ok), None)


class EpisodicMemory(KindView[M]):
    """Episodes of one user, stored for 90 days. Nothing is changed afterwards: feedback is added."""

    @verb
    async def record(
        self,
        task: str,
        steps: Sequence[Step | Mapping[str, Any]],
        *,
        outcome: Ending,
        episode_id: str | None = None,
        occurred_at: datetime | None = None,
    ) -> WriteReceipt:
        """Store an episode: all its steps or nothing. With an `episode_id` a second delivery changes nothing, and
        another episode under the same one raises IdempotencyConflict.

        Raises InvalidInput (`invalid_input:task`, `:steps`, `:outcome`, `:data:too_long` beyond 32 KiB).
        """
        if outcome not in get_args(Ending):
            raise InvalidInput("outcome", hint="one of success, failure, partial")
        if not isinstance(task, str) or not task.strip():
            raise InvalidInput("task", hint="what was to be done, in words")
        step_values = [_step(step) for step in _as_list(steps)]
        now = self._engine.clock.now()
        candidate = Candidate(
            content=task,
            kind=Kind.EPISODIC,
            category=EPISODE,
            context=". ".join(f"{step.action}: {step.result}" for step in step_values)[:4096],
            data={"task": task, "outcome": outcome, "steps": [_as_data(step) for step in step_values]},
            source=Source(origin=Origin.USER_STATED, session=self._actor.session, ref=episode_id),
            occurred_at=occurred_at or (None if episode_id else now),
        )
        key = None if episode_id is None else f"episode:{episode_id}"
        return await self._engine.add(candidate, actor=self._actor, idempotency_key=key)

    @verb
    async def feedback(self, memory_id: str, content: str) -> WriteReceipt:
        """Add feedback to a recorded episode. Raises MemoryNotFound."""
        episode = await self._engine.get(memory_id, actor=self._actor)
        candidate = Candidate(
            content=content,
            kind=Kind.EPISODIC,
            key=_feedback_key(episode.memory_id),
            category=FEEDBACK,
            source=Source(origin=Origin.USER_STATED, session=self._actor.session, ref=episode.memory_id),
            occurred_at=self._engine.clock.now(),
        )
        return await self._engine.add(candidate, actor=self._actor)

    @verb
    async def get(self, memory_id: str) -> Episode:
        """One episode with its feedback. Raises MemoryNotFound."""
        return await self._find_episode(memory_id)

    async def _find_episode(self, memory_id: str) -> Episode:
        memory = await self._engine.get(memory_id, actor=self._actor)
        if memory.kind is not Kind.EPISODIC or memory.category != EPISODE:
            raise MemoryNotFound
        return (await self._with_feedback([memory]))[0]

    @verb
    async def walk(self, memory_id: str) -> Sequence[Neighbour]:
        """Return the steps of an episode in order and its outcome, each with the path from its task in the graph; steps
        are named by their actions. Raises MemoryNotFound, NotSupported (`graph`), StoreFailed.
        """
        if self._engine.graph is None:
            raise NotSupported("graph", hint="the engine was built without a graph")
        episode = await self._find_episode(memory_id)
        task, parts = episode_node(memory_id, "task"), len(episode.steps) + 1
        scope = self._actor.scope(Level.USER)
        found = await self._engine.graph.neighbours(scope, task, hops=1, limit=parts)
        by_node = {one.node.node: one for one in found}
        walked = [
            replace(by_node[node], node=replace(by_node[node].node, name=step.action[:MAX_NAME_CHARS]))
            for number, step in enumerate(episode.steps)
            if (node := episode_node(memory_id, f"step:{number}")) in by_node
        ]
        ended = by_node.get(episode_node(memory_id, "outcome"))
        return walked if ended is None else [*walked, ended]

    @verb
    async def recent(self, *, limit: int = 50, before: str | None = None) -> Sequence[Episode]:
        """Return the episodes that were recorded last, newest first; `before` is the memory_id that ended the page
        before.
        """
        found = await self._engine.list(
            actor=self._actor, kinds=[Kind.EPISODIC], categories=[EPISODE], limit=limit, before=before
        )
        return await self._with_feedback(found)

    @verb
    async def similar(self, task: str, *, top_k: int = 5, outcome: Ending | None = None) -> Sequence[Episode]:
        """Return the episodes whose task is most like `task`, by meaning and by words (steps count half), best first;
        with `outcome` those that ended so.
        """
        return await self._similar(task, top_k, outcome)

    @verb
    async def lessons(self, task: str, *, top_k: int = 5) -> Sequence[Lesson]:
        """Return the failed steps of the episodes most like `task`, each with the one that worked instead; most similar
        first.
        """
        return [lesson for episode in await self._similar(task, top_k, None) for lesson in episode.lessons]

    async def _similar(self, task: str, top_k: int, outcome: Ending | None) -> list[Episode]:
        wanted = top_k if outcome is None else min(100, 4 * top_k)
        result = await self._engine.search(
            task, actor=self._actor, kinds=[Kind.EPISODIC], categories=[EPISODE], top_k=wanted
        )
        hits = [hit for hit in result.hits if outcome in (None, hit.memory.data.get("outcome"))][:top_k]
        said = await self._feedback([hit.memory for hit in hits])
        return [_episode(hit.memory, said.get(hit.memory.memory_id, ()), hit.score) for hit in hits]

    async def _with_feedback(self, memories: Sequence[Memory]) -> list[Episode]:
        said = await self._feedback(memories)
        return [_episode(memory, said.get(memory.memory_id, ()), None) for memory in memories]

    async def _feedback(self, memories: Sequence[Memory]) -> dict[str, tuple[str, ...]]:
        """Return the feedback on these episodes, by their memory_id, oldest first."""
        if not memories:
            return {}
        keys = {_feedback_key(memory.memory_id): memory.memory_id for memory in memories}
        found = await self._engine.list(actor=self._actor, kinds=[Kind.EPISODIC], keys=list(keys), limit=FEEDBACK_READ)
        said: dict[str, tuple[str, ...]] = {}
        for memory in reversed(found):
            memory_id = keys[memory.key or ""]
            said[memory_id] = (*said.get(memory_id, ()), memory.content)
        return said


def _feedback_key(memory_id: str) -> str:
    return f"feedback:{memory_id}"


def _as_list(steps: object) -> Sequence[Any]:
    if not isinstance(steps, list | tuple) or len(steps) > MAX_STEPS:
        raise InvalidInput("steps", hint=f"a list of at most {MAX_STEPS} steps")
    return steps


def _step(step: Step | Mapping[str, Any]) -> Step:
    """Return a step, or a mapping with `action` and perhaps `result` and `ok`."""
    if isinstance(step, Mapping):
        known = {name: step[name] for name in ("action", "result", "ok") if name in step}
        step = Step(**known) if len(known) == len(step) and "action" in known else Step(action="")
    if not isinstance(step, Step) or not isinstance(step.action, str) or not step.action.strip():
        raise InvalidInput("steps", hint="each step has an action, and may have result and ok")
    if not isinstance(step.result, str) or step.ok not in (True, False, None):
        raise InvalidInput("steps", hint="result is text, ok is true, false or left out")
    return step


def _as_data(step: Step) -> dict[str, Any]:
    return {"action": step.action, "result": step.result, "ok": step.ok}


def _episode(memory: Memory, feedback: tuple[str, ...], score: float | None) -> Episode:
    data: Any = memory.data
    return Episode(
        memory_id=memory.memory_id,
        task=data.get("task", memory.content),
        steps=tuple(Step(**step) for step in data.get("steps", ())),
        outcome=data.get("outcome", "partial"),
        happened_at=memory.happened_at,
        feedback=feedback,
        score=score,
    )
