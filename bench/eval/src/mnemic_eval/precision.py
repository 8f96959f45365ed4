"""PrecisionMemBench ("Structured Belief State and the First Precision-Aware Benchmark for LLM Memory Retrieval", 2026):
precision of retrieval.

Its 77 cases without sessions, by the protocol of its external runner: the harness adds pinned beliefs, open questions
and the participants of relations from the seed, and cuts to the case's budget; the search answers for the rest. A case
passes if every tier it asserts is true; a set that may contain listed beliefs only must contain all of them.

Each belief is a memory: its canonical name the key, its aliases `data["names"]`, its scope and whether it is an open
question the category. A belief that was superseded is the earlier version of the one that is valid at the end of its
chain; one that was resolved ended to be true then. The query is searched for by name.

`active`: passes of cases with something to find or something found; the others pass where nothing is found. `similar`:
passes where the same search is by likeness, not by name. The name rule was written with these cases in view, so there
is no blind half: dev and test are every other case, for the noise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.language.text.names import FURTHER
from mnemic.ports import Embedder
from mnemic.types import Actor, Candidate
from mnemic_eval.conditions import conditions
from mnemic_eval.dataset_files import find_file as file_in
from mnemic_eval.dataset_files import load_json
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.outcome import SPLITS, Asked, report, write_lines
from mnemic_eval.progress import Progress
from mnemic_eval.replay import throwaway_engine

SEEDS, CASES = ("beliefs.seed.json",), ("retrieval.cases.json",)
FIGURES = ("passed", "active", "precision", "recall", "similar")
USER = "test-user"
QUESTION = "open_question"
MAX_BELIEFS, MAX_QUESTIONS = 20, 15

Belief = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """Retrieved beliefs of a case, by belief id."""

    prelude: str = ""
    pinned: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()


@dataclass(slots=True)
class Seeded:
    """The beliefs in the engine, and the memory of each."""

    engine: MemoryEngine
    beliefs: Mapping[str, Belief]
    belief_of: dict[str, str] = field(default_factory=dict)

    async def seed(self) -> None:
        """Write every chain of beliefs, oldest first, as the versions of one memory."""
        for last in (one for one in self.beliefs.values() if not one.get("superseded_by")):
            *earlier, newest = [*self._before(last), last]
            actor = Actor(user=str(last["user_id"]))
            first = await self.engine.add_many([_candidate(earlier[0] if earlier else newest)], actor=actor)
            memory_id = first[0].memory_id
            if memory_id is None:
                raise InvalidInput("data:precision", hint="a belief cannot be stored")
            for belief in [*earlier[1:], newest] if earlier else ():
                await self.engine.update(
                    memory_id,
                    str(belief["content"]),
                    actor=actor,
                    data=_data(belief),
                    context=str(belief["why_it_matters"]),
                )
            self.belief_of[memory_id] = str(newest["_id"])

    def _before(self, belief: Belief) -> list[Belief]:
        for one in self.beliefs.values():
            if one.get("superseded_by") == belief["_id"]:
                return [*self._before(one), one]
        return []

    async def tiers(self, case: Mapping[str, Any], *, named: bool) -> Tiers:
        """Return the beliefs that the harness and the search (by name or by similarity) give to a case."""
        user, scopes = str(case.get("userId", USER)), list(case["scope"])
        own = [one for one in self.beliefs.values() if one["user_id"] == user and not one.get("resolved_at")]
        pinned = [one for one in own if one["pinned"] and not one.get("superseded_by")]
        here = [one for one in pinned if set(one["scope"]) & set(scopes)]
        cap = int((case.get("budget") or {}).get("maxBeliefs", MAX_BELIEFS))
        facts = [str(one["_id"]) for one in here if one["type"] != QUESTION]
        asked = str(case["query"]).strip() and cap > 0
        found = await self._search_beliefs(user, scopes, str(case["query"]), limit=cap, named=named) if asked else []
        relevant = [one for one in dict.fromkeys(self._expand_names(found, user, scopes)) if one not in facts]
        facts = facts[:cap]
        return Tiers(
            prelude=" ".join(str(one["content"]) for one in pinned if one["scope"] == ["user:universal"]),
            pinned=tuple(facts),
            relevant=tuple(relevant[: max(0, cap - len(facts))]),
            questions=tuple(str(one["_id"]) for one in here if one["type"] == QUESTION)[:MAX_QUESTIONS],
        )

    async def _search_beliefs(
        self, user: str, scopes: Sequence[str], query: str, *, limit: int, named: bool
    ) -> list[str]:
        result = await self.engine.search(
            query,
            actor=Actor(user=user),
            categories=[f"{scope} belief" for scope in scopes],
            as_of=self.engine.clock.now(),
            named=named,
            top_k=limit,
        )
        return [self.belief_of[hit.memory.memory_id] for hit in result.hits]

    def _expand_names(self, names: Sequence[str], user: str, scopes: Sequence[str]) -> Iterator[str]:
        """Yield the beliefs, followed by the participants of relations among them."""
        yield from names
        for name in names:
            for other in self.beliefs[name].get("participants") or ():
                one = self.beliefs.get(other)
                if one and one["user_id"] == user and one["type"] != QUESTION and set(one["scope"]) & set(scopes):
                    yield str(other)


def _candidate(belief: Belief) -> Candidate:
    resolved = belief.get("resolved_at")
    kind = "question" if belief["type"] == QUESTION else "belief"
    return Candidate(
        content=str(belief["content"]),
        key=str(belief["canonical_name"]),
        category=f"{belief['scope'][0]} {kind}",
        context=str(belief["why_it_matters"]),
        data=_data(belief),
        valid_from=_moment(belief["created_at"]),
        valid_to=None if resolved is None else _moment(resolved),
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _data(belief: Belief) -> dict[str, Any]:
    return {FURTHER: [str(belief["canonical_name"]).replace("_", " "), *map(str, belief["aliases"])]}


def failures(expect: Mapping[str, Mapping[str, Any]], tiers: Tiers) -> list[str]:
    """Return the assertions of a case that fail."""
    relevant, pinned, questions = set(tiers.relevant), set(tiers.pinned), set(tiers.questions)
    shown = relevant | pinned
    beliefs, facts = expect.get("relevantBeliefs", {}), expect.get("pinnedFacts", {})
    asked, prelude = expect.get("openQuestions", {}), expect.get("personaPrelude", {})
    checks = {
        "only": relevant == set(beliefs.get("shouldOnlyInclude", relevant)),
        "include": set(beliefs.get("mustInclude", ())) <= shown,
        "exclude": not set(beliefs.get("mustExclude", ())) & shown,
        "pinned": set(facts.get("mustInclude", ())) <= pinned and not set(facts.get("mustExclude", ())) & pinned,
        "questions": set(asked.get("mustInclude", ())) <= questions
        and not set(asked.get("mustExclude", ())) & questions,
        "prelude": bool(tiers.prelude) or not prelude.get("nonEmpty"),
        "no prelude": not tiers.prelude or not prelude.get("isNull"),
        "prelude text": all(part in tiers.prelude for part in prelude.get("contains", ()))
        and not any(part in tiers.prelude for part in prelude.get("mustNotContain", ())),
    }
    return [name for name, holds in checks.items() if not holds]


def figures(case: Mapping[str, Any], tiers: Tiers, similar: Tiers) -> dict[str, float]:
    """Return the figures of a case; precision and recall are 1 where there was nothing to find and nothing was
    found.
    """
    wanted = set(case["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude", ()))
    hits = len(wanted & set(tiers.relevant))
    passed = not failures(case["expect"], tiers)
    return {
        "passed": float(passed),
        "active": float(passed and bool(wanted or tiers.relevant)),
        "precision": hits / len(tiers.relevant) if tiers.relevant else float(not wanted),
        "recall": hits / len(wanted) if wanted else 1.0,
        "similar": float(not failures(case["expect"], similar)),
    }


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Measure the folder `path`, its first `limit` cases: fractions of cases, and `passes` as a number.

    Raises InvalidInput for data that is not there or has another shape.
    """
    beliefs, cases = load_json(file_in(path, SEEDS)), load_json(file_in(path, CASES))
    made = options.chosen_embedder()
    try:
        asked = asyncio.run(
            _measure_cases({str(one["_id"]): one for one in beliefs}, cases[: options.limit], made, options.progress)
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InvalidInput("data:precision", hint="a file has another shape than PrecisionMemBench's") from None
    if options.per_question is not None:
        write_lines(asked, options.per_question)
    settings = conditions(seed=options.seed, set="precision", embedder=made.space.model)
    result = report(asked, FIGURES, settings, seed=options.seed)
    return {**result, "passes": sum(int(one.figures["passed"]) for one in asked)}


async def _measure_cases(
    beliefs: Mapping[str, Belief], cases: Sequence[Mapping[str, Any]], embedder: Embedder, progress: Progress
) -> list[Asked]:
    asked: list[Asked] = []
    async with throwaway_engine(embedder) as engine:
        seeded = Seeded(engine, beliefs)
        await seeded.seed()
        for place, case in enumerate(cases):
            tiers, similar = await seeded.tiers(case, named=True), await seeded.tiers(case, named=False)
            asked.append(
                Asked(
                    question_id=str(case["caseId"]),
                    category=str(case["category"]),
                    split=SPLITS[place % 2],
                    figures=figures(case, tiers, similar),
                    question=str(case["query"]),
                    wanted=tuple(case["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude", ())),
                    ranked=tiers.relevant,
                )
            )
            progress("cases", place + 1, len(cases))
    return asked
