"""Values under keys that a message ends without naming them: "I quit my job" ends `employer: Zeiss`, of which it has no
word, so a search of what is near need not find it.
"""

from __future__ import annotations

from mnemic.dispatch.gateway import MemoryGateway
from mnemic.types import Actor, Candidate, Kind, Level, Where
from mnemic_language.compare.change import frame_of, framed
from mnemic_language.compare.left_work import leaves_work, left

WORK_KEYS = frozenset({"employer", "job"})
"""Keys of what ends with the work that its speaker has left."""
MOST = 4


async def ended_values(gateway: MemoryGateway, actor: Actor, text: str) -> tuple[str, ...]:
    """Return the ids of the actor's live values that a statement ends. Raises StoreFailed."""
    new = framed(text)
    if not leaves_work(new):
        return ()
    where = Where(
        scopes=actor.scopes([Level.USER]), kinds=frozenset({Kind.LONG_TERM}), keys=WORK_KEYS,
        live_at=gateway.clock.now(), hidden_keys=await gateway.hidden_keys(actor),
    )  # fmt: skip
    known = await gateway.searcher.store.newest(where, limit=MOST)
    return tuple(
        one.memory_id for one in known if one.author in (None, actor.user) and left(frame_of(one), new, is_work=True)
    )


async def naming_ended(gateway: MemoryGateway, actor: Actor, candidate: Candidate) -> tuple[str, ...]:
    """Return what a candidate replaces, with the values that it ends. Raises StoreFailed."""
    if candidate.key is not None or candidate.kind is not Kind.LONG_TERM:
        return candidate.replaces
    return tuple(dict.fromkeys((*candidate.replaces, *await ended_values(gateway, actor, candidate.content))))
