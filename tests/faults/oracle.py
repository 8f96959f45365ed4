"""Expected content of a file: every acknowledged call, and at most one call with an unknown result."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError, StoreFailed
from mnemic.types import Actor, Outcome, Status
from tests.faults.aftermath import Stored

ADA = Actor(user="ada")
_SYLLABLES = ("ba ce di fo gu ka le mi no pu ra se ti vo xu za bel cor dan fel gim hol jun kes lum mar nok pir ros sul "
              "tam vek wex yor").split()  # fmt: skip
_WEIGHTS = {"add": 30, "keyed": 15, "again": 8, "longer": 8, "shorter": 6, "opposite": 6, "update": 14, "forget": 13}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the engine, recorded before it is made."""

    verb: str
    content: str = ""
    key: str | None = None
    memory_id: str | None = None
    version: int | None = None
    idempotency_key: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the call as JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Result of a call: an outcome with its memory, or the reason of an error."""

    outcome: str | None = None
    memory_id: str | None = None
    version: int | None = None
    superseded: Sequence[str] = ()
    replayed: bool = False
    error: str | None = None
    broken: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON data."""
        return asdict(self)


async def make(engine: MemoryEngine, call: Call, actor: Actor = ADA) -> Answer:
    """Make the call. Errors are returned as results; `broken` are errors of the store."""
    try:
        if call.verb == "forget":
            await engine.forget(call.memory_id or "", actor=actor)
            return Answer(outcome="forgotten", memory_id=call.memory_id)
        if call.verb == "update":
            receipt = await engine.update(
                call.memory_id or "", call.content, actor=actor, expected_version=call.version
            )
        else:
            receipt = await engine.add(call.content, actor=actor, key=call.key, idempotency_key=call.idempotency_key)
    except MnemicError as error:
        return Answer(error=error.reason, broken=isinstance(error, StoreFailed))
    return Answer(
        outcome=receipt.outcome.value,
        memory_id=receipt.memory_id,
        version=receipt.version,
        superseded=receipt.superseded,
        replayed=receipt.replayed,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Comparison of a file with the acknowledged calls. `applied` is True if the unanswered call has had its full
    effect.
    """

    lost: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    applied: bool = False


class Oracle:
    """Model of the expected memories. Make calls with `next_call`, report the results, then `judge` the file."""

    def __init__(self) -> None:
        self.known: dict[str, Stored] = {}

    def copy(self) -> Oracle:
        """Return a copy of this oracle in its current state."""
        other = Oracle()
        other.known = dict(self.known)
        return other

    def next_call(self, choice: random.Random) -> Call:
        """Return a random call that fits the current state."""
        verb = choice.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        active = [(memory_id, one) for memory_id, one in self.known.items() if one.status == Status.ACTIVE]
        if verb == "keyed":
            return _add(choice, word(choice), key=choice.choice(("home_city", "seat", "diet")))
        statements = [(memory_id, one) for memory_id, one in active if " " in one.content]
        if verb == "add" or not statements:
            return _add(choice, statement(choice))
        memory_id, one = choice.choice(statements)
        if verb == "forget":
            return Call(verb=verb, memory_id=memory_id)
        if verb == "update":
            return Call(verb=verb, memory_id=memory_id, version=one.version, content=statement(choice))
        return _add(choice, _vary_content(verb, one.content, choice))

    def acknowledge(self, call: Call, answer: Answer) -> None:
        """Record the result of a call: from now on the file must contain its effect."""
        if answer.error is not None or answer.memory_id is None or answer.outcome == Outcome.BLOCKED:
            return
        memory_id = answer.memory_id
        if answer.outcome == "forgotten":
            self.known.pop(memory_id, None)
            return
        for old in answer.superseded:
            if not answer.replayed and old in self.known:
                one = self.known[old]
                self.known[old] = replace(one, version=one.version + 1, status=Status.SUPERSEDED.value)
        if answer.replayed and memory_id in self.known:
            return
        old_one = self.known.get(memory_id)
        status = Status.PENDING_REVIEW if answer.outcome == Outcome.PENDING_REVIEW else Status.ACTIVE
        content = call.content
        if answer.outcome in (Outcome.REFRESHED, Outcome.MERGED):
            content = old_one.content if old_one is not None else ""
        self.known[memory_id] = Stored(answer.version or 1, status.value, content)

    def sample(self, choice: random.Random, count: int) -> list[tuple[str, Stored]]:
        """Return up to `count` active memories with the words to find them by."""
        active = [(memory_id, one) for memory_id, one in self.known.items() if one.status == Status.ACTIVE]
        return choice.sample(active, min(count, len(active)))

    def doubles(self) -> int:
        """Return the number of active memories that repeat another one. Values of keys may be equal."""
        said = [one.content for one in self.known.values() if one.status == Status.ACTIVE and " " in one.content]
        return len(said) - len(set(said))

    def judge(self, stored: Mapping[str, Stored], unknown: Call | None) -> Judgement:
        """Compare the file, then take its content as the expected state: an unanswered call counts as the file shows
        it.
        """
        expected = dict(self.known)
        for one in [stored[memory_id] for memory_id in expected if memory_id in stored]:
            # A merge may keep the new words beside the merged memory; its receipt does not name them.
            expected |= {old: stored[old] for old in one.supersedes if old in stored and old not in expected}
        changed = {
            memory_id
            for memory_id in expected.keys() | stored.keys()
            if not _agree(expected.get(memory_id), stored.get(memory_id))
        }
        self.known = dict(stored)
        if not changed:
            return Judgement()
        if unknown is not None and _is_effect(unknown, expected, stored, changed):
            return Judgement(applied=True)
        lost = {memory_id for memory_id in changed if _is_behind(expected.get(memory_id), stored.get(memory_id))}
        return Judgement(lost=tuple(sorted(lost)), partial=tuple(sorted(changed - lost)))


def word(choice: random.Random) -> str:
    """Return a word that has most likely not been used before."""
    return "".join(choice.choices(_SYLLABLES, k=4))


def statement(choice: random.Random) -> str:
    """Return a statement whose words no other one shares."""
    return f"{word(choice).title()} belongs to {' '.join(word(choice) for _ in range(8))}"


def _vary_content(verb: str, content: str, choice: random.Random) -> str:
    if verb == "longer":
        return f"{content} {word(choice)}"
    if verb == "shorter":
        return content.rsplit(" ", 1)[0]
    if verb == "opposite":
        return content.replace(" belongs to ", " does not belong to ")
    return content


def _add(choice: random.Random, content: str, key: str | None = None) -> Call:
    return Call(verb="add", content=content, key=key, idempotency_key=f"{choice.getrandbits(64):x}")


def _agree(expected: Stored | None, found: Stored | None) -> bool:
    if expected is None or found is None:
        return expected is found
    same = (expected.version, expected.status) == (found.version, found.status)
    return same and expected.content in ("", found.content)


def _is_behind(expected: Stored | None, found: Stored | None) -> bool:
    """Check whether something acknowledged is missing: a memory, a version, or a deletion."""
    if expected is None or found is None:
        return True
    return found.version < expected.version


def _is_effect(call: Call, expected: Mapping[str, Stored], stored: Mapping[str, Stored], changed: set[str]) -> bool:
    """Check whether `changed` is the complete change of `call`."""
    if call.verb == "forget":
        return changed == {call.memory_id} and call.memory_id not in stored
    if call.verb == "update":
        memory_id = call.memory_id or ""
        after = Stored((call.version or 0) + 1, Status.ACTIVE.value, call.content)
        return changed == {memory_id} and _agree(after, stored.get(memory_id))
    new = {memory_id: stored[memory_id] for memory_id in changed if memory_id not in expected}
    closed = {memory_id for memory_id in changed if memory_id in expected}
    if not all(
        memory_id in stored and stored[memory_id].version == expected[memory_id].version + 1 for memory_id in closed
    ):
        return False
    if not new:
        return len(closed) == 1 and stored[closed.pop()].content == call.content
    heads = [one for one in new.values() if one.status != Status.SUPERSEDED]
    if len(heads) != 1:
        return False
    names = set(heads[0].supersedes)
    kept = {memory_id for memory_id, one in new.items() if one.status == Status.SUPERSEDED}
    says = heads[0].content == call.content or any(new[memory_id].content == call.content for memory_id in kept)
    return says and names == closed | kept
