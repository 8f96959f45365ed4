"""Values under keys that a message ends without naming them: "I quit my job" ends `employer: Zeiss`, of which it has no
word, so a search by similarity need not find it.
"""

from __future__ import annotations

from mnemic.dispatch.gateway import MemoryGateway
from mnemic.types import Actor, Candidate, Kind, Level, Where
from mnemic_language.changes.change_classifier import frame_of, framed
from mnemic_language.changes.products import changes_employer, names_employer
from mnemic_language.ended_facts.left_jobs import leaves_work, left, left_by_name

WORK_KEYS = frozenset({"employer", "job"})
"""Keys that end when their speaker leaves a job."""
MOST = 4


async def ended_values(gateway: MemoryGateway, actor: Actor, text: str) -> tuple[str, ...]:
    """Return the ids of the actor's live values that a statement ends. Raises StoreFailed."""
    new = framed(text)
    if not (leaves_work(new) or names_employer(new)):
        return ()
    where = Where(
        scopes=actor.scopes([Level.USER]), kinds=frozenset({Kind.LONG_TERM}), keys=WORK_KEYS,
        live_at=gateway.clock.now(), hidden_keys=await gateway.hidden_keys(actor),
    )  # fmt: skip
    newest = await gateway.searcher.store.newest(where, limit=MOST)
    known = [(one.memory_id, frame_of(one)) for one in newest if one.author in (None, actor.user)]
    ended = [memory_id for memory_id, frame in known if left(frame, new, is_work=True) or changes_employer(frame, new)]
    if not ended or left_by_name(new) is None:
        return tuple(ended)
    # With the employer goes the work that was stated without one: "I'm a cook", "I work at Zeiss", "I quit Zeiss".
    return (*ended, *(memory_id for memory_id, frame in known if memory_id not in ended and not frame.names))


async def naming_ended(gateway: MemoryGateway, actor: Actor, candidate: Candidate) -> tuple[str, ...]:
    """Return the memories that a candidate replaces, including the values that it ends. Raises StoreFailed."""
    if candidate.key is not None or candidate.kind is not Kind.LONG_TERM:
        return candidate.replaces
    return tuple(dict.fromkeys((*candidate.replaces, *await ended_values(gateway, actor, candidate.content))))
