"""A turn with a scripted model, extractor and memory: no network, no model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemic.agents.steps import GatewayMemory, MemorySteps, TurnRules
from mnemic.engine import MemoryEngine
from mnemic.extract import Extraction
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Candidate, Message, Skipped

POLICY = Policy(
    keys={
        "seat": KeyRule("seat", preference=True),
        "flight_time": KeyRule("flight_time", preference=True),
        "allergies": KeyRule("allergies", on_change="accumulate", pinned=True),
        "hotel": KeyRule("hotel", on_change="review"),
        "passport": KeyRule("passport", sensitive=True),
        "style": KeyRule("style"),
    },
    on_violation="skip",
)


class Model:
    """Answers from a script, and remembers what it was shown."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.contexts: list[dict[str, Any]] = []

    async def __call__(self, context: dict[str, Any]) -> str:
        self.contexts.append(context)
        answer = self.answers.pop(0) if self.answers else "Certainly."
        if isinstance(answer, Exception):
            raise answer
        return str(answer)


class Proposals:
    """An extractor with a script: candidates (or an error) for each turn."""

    def __init__(self, *turns: Any) -> None:
        self.turns = list(turns)

    async def extract(self, message: Message, **_: Any) -> Extraction:
        turn: Any = self.turns.pop(0) if self.turns else ()
        if isinstance(turn, Exception):
            raise turn
        given = turn if isinstance(turn, Sequence) else [turn]
        return Extraction(
            candidates=tuple(one for one in given if isinstance(one, Candidate)),
            skipped=tuple(one for one in given if isinstance(one, Skipped)),
        )


def wish(content: str, key: str | None = None, **more: Any) -> Candidate:
    return Candidate(content=content, key=key, **more)


async def engine_of(policy: Policy = POLICY, store: Any = None) -> MemoryEngine:
    return await MemoryEngine(
        store=store or InProcessStore(),
        embedder=WordEmbedder(),
        clock=ManualClock(),
        policy=policy,
        grant=Grant.from_policy(policy),
    ).open()


def steps_of(
    engine: MemoryEngine, *, model: Model | None = None, rules: TurnRules | None = None, **more: Any
) -> MemorySteps:
    return MemorySteps(GatewayMemory(engine.gateway, collection="travel"), model or Model(), rules=rules, **more)
