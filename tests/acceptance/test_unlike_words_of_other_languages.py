"""Updates and ends that a model proposes in words unlike the known ones, in six languages: right ones take effect as in
English, and wrong ones change nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mnemic.engine import MemoryEngine
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.types import Actor, Completion, Deadline, Prompt
from mnemic.write.model_judge import ModelTranslator

LEAST_RIGHT = 10
"""Of 30. The judge of changes takes as many of the same statements in English: its certainty is high."""


class Case(NamedTuple):
    kind: str
    language: str
    op: str
    known: str
    message: str
    quote: str
    value: str
    known_in_english: str
    message_in_english: str


def cases() -> list[Case]:
    lines = (Path(__file__).parent / "data" / "unlike_words.tsv").read_text(encoding="utf-8").splitlines()
    return [Case(*line.split("\t")) for line in lines if not line.startswith("#")]


class Model:
    """A language model that proposes the operation of a case, right or wrong, and translates what it is asked to."""

    model = "played"

    def __init__(self, told: Sequence[Case]) -> None:
        self.told = {one.message: one for one in told}
        self.english = {one.known: one.known_in_english for one in told}
        self.english |= {one.quote: one.message_in_english for one in told}

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        asked = json.loads(prompt.user)
        answer = self.translated(asked["texts"]) if "texts" in asked else self.items(asked)
        return Completion(text=json.dumps(answer), model=self.model)

    def translated(self, texts: Sequence[str]) -> dict[str, Any]:
        return {
            "english": [next(self.english[one] for one in self.english if said in one or one in said) for said in texts]
        }

    def items(self, asked: dict[str, Any]) -> dict[str, Any]:
        said = asked["user_message"]
        case, known = self.told.get(said), asked["known"]
        labels = {"subject": "me", "holds": "now", "category": "fact", "key": None}
        if case is None or not known:
            return {"items": [{"quote": said, "op": "add", "id": None, **labels, "value": said}]}
        labels["holds"] = "was" if case.op == "end" else "now"
        return {"items": [{"quote": case.quote, "op": case.op, "id": known[0]["id"], **labels, "value": case.value}]}

    async def close(self) -> None:
        """Nothing to free."""


async def test_right_ones_take_effect_and_wrong_ones_change_nothing() -> None:
    told = cases()
    model, embedder = Model(told), MiniLmEmbedder()
    ended: dict[str, int] = {"right": 0, "wrong": 0}
    async with MemoryEngine(
        store=InProcessStore(),
        embedder=embedder,
        completer=model,
        extractor=LayeredExtractor(ModelExtractor(model), RuleExtractor(embedder)),
        translator=ModelTranslator(model, lambda: 0.0),
    ) as engine:
        for number, case in enumerate(told):
            actor = Actor(user=f"u{number}")
            for text in (case.known, case.message):
                await engine.capture(text, actor=actor)
            held = [one.source.quote or one.content for one in await engine.list(actor=actor, limit=20)]
            ended[case.kind] += case.known.rstrip(".") not in {one.rstrip(".") for one in held}
    assert ended["wrong"] == 0
    assert ended["right"] >= LEAST_RIGHT
