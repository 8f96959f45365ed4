"""Ratings: what a user said of memories, as one mark of theirs that a search reads with the consents.

They change the order of that user's searches alone, and nothing about the memory: it stays, for them and for others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from mnemic.errors import InvalidInput, WriteBlocked
from mnemic.policy.grant import retention_denied
from mnemic.policy.limits import ERASED
from mnemic.types import Actor, Memory
from mnemic.types.ratings import VERDICTS, Rating, Verdict
from mnemic.unit_of_work import Mutation, Unit, commit
from mnemic.write.limiter import is_erased, words_read_at

if TYPE_CHECKING:
    from mnemic.ports import Clock, RecordStore

MOST = 200
"""Ratings of a user that are kept, the newest: every search reads them."""
NO_RATINGS: Mapping[str, Rating] = MappingProxyType({})


def ratings_mark(token: str) -> str:
    """Return the name of the mark that has a user's ratings."""
    return f"subject/{token}/ratings"


def ratings_in(marks: Mapping[str, str], token: str) -> Mapping[str, Rating]:
    """Return the ratings by memory_id, oldest first, that are among the marks of a user."""
    text = marks.get(ratings_mark(token))
    return NO_RATINGS if text is None else _read(text)


@lru_cache(maxsize=256)
def _read(text: str) -> Mapping[str, Rating]:
    rows: Sequence[Sequence[str | int]] = json.loads(text)
    found = (
        Rating(
            memory_id=str(one), verdict=_verdict(said), version=int(version), rated_at=datetime.fromisoformat(str(at))
        )
        for one, said, version, at in rows
    )
    return MappingProxyType({one.memory_id: one for one in found})


def _verdict(said: object) -> Verdict:
    for verdict in VERDICTS:
        if verdict == said:
            return verdict
    raise InvalidInput("verdict", hint=f"one of {', '.join(VERDICTS)}")


async def rate(
    store: RecordStore, clock: Clock, memory: Memory, verdict: str, *, token: str, actor: Actor
) -> Rating | None:
    """Store what the actor's user says of the memory, in place of what they said before, with a line in the audit log;
    return the rating, None if it was withdrawn. Raises InvalidInput (`verdict`), WriteBlocked (`retention_denied`) for
    a user who was erased.
    """
    said, name, now = _verdict(verdict), ratings_mark(token), clock.now()
    given = Rating(memory_id=memory.memory_id, verdict=said, version=memory.version, rated_at=now)
    line = Mutation.line("rated", actor=actor, at=now, about=memory, detail={"verdict": said})
    read_at = words_read_at()

    async def work(unit: Unit) -> None:
        if await is_erased(unit.reads, actor.tenant, token, read_at=read_at):
            raise WriteBlocked(retention_denied(ERASED))
        known = await unit.reads.find_mark(actor.tenant, name, lock="exclusive")
        kept = dict(NO_RATINGS if known is None else _read(known))
        before = kept.pop(memory.memory_id, None)
        if before is None and said == "none":
            return
        if said != "none":
            kept[memory.memory_id] = given
        rows = [[one.memory_id, one.verdict, one.version, one.rated_at.isoformat()] for one in kept.values()]
        await unit.apply(replace(line, marks={name: json.dumps(rows[-MOST:]) if rows else None}))

    await commit(store, work)
    return None if said == "none" else given
