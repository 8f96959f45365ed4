"""Generated statements about different things, told by many users: every ending that nobody stated is a wrong one.

    python -m mnemic_eval.generated_statements [--count 10000] [--seed 1] [--data FOLDER] [--endings FILE]
    python -m mnemic_eval.generated_statements --chats locomo10.json [--endings FILE]

Each user has some domains (a ward, a family, a code base, a diary, a shop ...) and tells statements of their families
in batches, a session each. What a statement is about is told once, so none changes another, but for a known share of
marked changes ("... now"). With `--chats` every turn of each chat is told by `add` by one user instead. Prints sums;
the file gets one JSON line an ending, with the known and the new statement, to be read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.importers.conversation_files import read_conversation
from mnemic.types import Actor, Outcome
from mnemic_eval.progress import Progress, silent
from mnemic_eval.replay import chosen_embedder, live_memories, throwaway_engine

A_USER, DOMAINS, BATCH = 80, 3, (3, 12)
CHANGED = 0.03
PLAIN = 0.2
_TRIES = 40
_SLOT = re.compile(r"<(\w+)>|\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Family:
    """A form of statements; `safety`: they are about safety; `changes`: each thing has one value at a time."""

    domain: str
    form: str
    safety: bool
    changes: bool
    pools: Mapping[str, Sequence[str]] = field(repr=False)

    def fill(self, random: Random, about: Sequence[str] | None = None) -> tuple[str, tuple[str, ...]]:
        """Return a statement and what it is about, which is `about` if that is given."""
        given, named = iter(about or ()), []

        def value(slot: re.Match[str]) -> str:
            if slot[1] is None:
                return random.choice(self.pools[slot[2]])
            named.append(next(given, "") or random.choice(self.pools[slot[1]]))
            return named[-1]

        text = _SLOT.sub(value, self.form)
        return text, tuple(named)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a user; `changes` is an earlier one that it replaces."""

    text: str
    session: str
    family: Family | None = None
    changes: str | None = None

    @property
    def safety(self) -> bool:
        """Its family is about safety."""
        return self.family is not None and self.family.safety


@dataclass(frozen=True, slots=True)
class Ending:
    """A known statement that was no longer in force after a new one, or a new one that did not come into force."""

    user: str
    known: str
    new: str
    outcome: str
    stated: bool
    safety: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the ending as one JSON line."""
        return {name: getattr(self, name) for name in self.__slots__}


def families(folder: Path | None = None) -> tuple[Family, ...]:
    """Return the families of `folder`, by default those of the package's data."""
    rows = (line.split(maxsplit=1) for line in _lines("pools.txt", folder))
    pools = {name: tuple(values.split("|") if "|" in values else values.split()) for name, values in rows}
    lines = (line.split(maxsplit=2) for line in _lines("families.txt", folder))
    return tuple(Family(domain, form, mark == "S", mark == "C", pools) for domain, mark, form in lines)


def _lines(name: str, folder: Path | None) -> list[str]:
    text = ((folder or files("mnemic_eval") / "data") / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def everyday_statements(count: int, seed: int = 0) -> list[str]:
    """Return `count` statements of everyday life, each about another thing."""
    random = Random(seed)  # noqa: S311 - repeatable, not secret
    mine = [one for one in families() if one.domain in ("family", "life", "diary", "travel", "kitchen")]
    seen: dict[str, None] = {}
    about: set[tuple[str, tuple[str, ...]]] = set()
    while len(seen) < count:
        family = random.choice(mine)
        text, named = family.fill(random)
        if (family.form, named) not in about:
            about.add((family.form, named))
            seen[text] = None
    return list(seen)


def tell_people(count: int, seed: int, folder: Path | None = None) -> Iterator[tuple[str, list[Statement]]]:
    """Yield users and what each tells, `count` statements in all, no text twice."""
    random = Random(seed)  # noqa: S311 - repeatable, not secret
    domains: dict[str, list[Family]] = {}
    for family in families(folder):
        domains.setdefault(family.domain, []).append(family)
    seen: set[str] = set()
    number = left = 0
    left = count
    while left > 0:
        number += 1
        chosen = [one for name in random.sample(sorted(domains), DOMAINS) for one in domains[name]]
        statements = list(_user(random, chosen, seen, min(A_USER, left)))
        left -= len(statements)
        yield f"generated {number}", statements


def _user(random: Random, chosen: Sequence[Family], seen: set[str], count: int) -> Iterator[Statement]:
    plain = random.random() < PLAIN
    about: dict[str, dict[tuple[str, ...], str]] = {}
    made = batch = 0
    while made < count:
        batch += 1
        family = random.choice(chosen)
        known = about.setdefault(family.form, {})
        for _ in range(min(random.randint(*BATCH), count - made)):
            new = _statement(random, family, known, seen, plain)
            if new is None:
                break
            made += 1
            yield Statement(new[0], f"batch {batch}", family, new[1])


def _statement(
    random: Random, family: Family, known: dict[tuple[str, ...], str], seen: set[str], plain: bool
) -> tuple[str, str | None] | None:
    """Return a new statement and the one it changes, or None where the family has nothing more to say."""
    for _ in range(_TRIES):
        change = family.changes and known and random.random() < CHANGED
        named = random.choice(sorted(known)) if change else None
        text, named = family.fill(random, named)
        text = f"{text[:-1]} now." if change else text
        text = text[0].lower() + text[1:-1] if plain else text
        if text in seen or (named in known and not change):
            continue
        if change and text.removesuffix("." if not plain else "").removesuffix(" now") == known[named].rstrip("."):
            continue
        seen.add(text)
        before = known.get(named)
        known[named] = text
        return text, before
    return None


def chats(path: Path) -> Iterator[tuple[str, list[Statement]]]:
    """Yield each chat of a file of LoCoMo, with its turns as statements of one user."""
    turns: dict[str, list[Statement]] = {}
    for item in read_conversation(path, "locomo"):
        if item.problem is None:
            message = item.content
            said = Statement(message.content, message.session or "")  # type: ignore[union-attr]
            turns.setdefault(item.conversation, []).append(said)
    yield from turns.items()


@dataclass(slots=True)
class Endings:
    """Endings of the statements told so far."""

    statements: int = 0
    changes: int = 0
    users: int = 0
    found: list[Ending] = field(default_factory=list)

    async def tell(self, engine: MemoryEngine, user: str, statements: Sequence[Statement]) -> None:
        """Tell `statements` one by one, and note which are in force after each."""
        self.users += 1
        live: dict[str, Statement] = {}
        for one in statements:
            self.statements += 1
            self.changes += one.changes is not None
            actor = Actor(user=user, session=one.session)
            receipt = await engine.add(one.text, actor=actor)
            if receipt.outcome is Outcome.CREATED and await engine.count(actor=actor) == len(live) + 1:
                live[str(receipt.memory_id)] = one
                continue
            if receipt.memory_id in live and live[str(receipt.memory_id)].text == one.text:
                continue
            now = {memory.memory_id for memory in await live_memories(engine, actor)}
            outcome = f"{receipt.outcome} {receipt.reason or ''}".strip()
            for memory_id in live.keys() - now:
                ended = live.pop(memory_id)
                stated = one.changes == ended.text
                self.found.append(Ending(user, ended.text, one.text, outcome, stated, ended.safety))
            if receipt.memory_id not in now or receipt.memory_id in live:
                self.found.append(Ending(user, one.text, one.text, outcome, stated=False, safety=one.safety))
            else:
                live[str(receipt.memory_id)] = one

    def figures(self) -> dict[str, Any]:
        """Return the sums."""
        wrong = [one for one in self.found if not one.stated]
        return {
            "users": self.users,
            "statements": self.statements,
            "changes": self.changes,
            "changes_ended": sum(one.stated for one in self.found),
            "wrong": sum(one.known != one.new for one in wrong),
            "wrong_not_in_force": sum(one.known == one.new for one in wrong),
            "wrong_of_safety": sum(one.safety for one in wrong),
        }


async def measure_endings(people: Iterator[tuple[str, list[Statement]]], progress: Progress = silent) -> Endings:
    """Tell everything in a temporary store with the default settings."""
    endings = Endings()
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        for user, statements in people:
            await endings.tell(engine, user, statements)
            progress("statements", endings.statements, endings.statements)
    return endings


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the sums as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="families.txt and pools.txt instead of the package's"
    )
    parser.add_argument("--chats", type=Path, metavar="FILE", help="tell the turns of these chats instead")
    parser.add_argument("--endings", type=Path, metavar="FILE", help="write one JSON line an ending to this file")
    given = parser.parse_args(arguments)
    people = chats(given.chats) if given.chats else tell_people(given.count, given.seed, given.data)
    endings = asyncio.run(measure_endings(people))
    if given.endings is not None:
        lines = (json.dumps(one.as_dict(), ensure_ascii=False) + "\n" for one in endings.found)
        given.endings.write_text("".join(lines), encoding="utf-8")
    json.dump(endings.figures(), sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
