"""The profile of a user: who this is and what holds now, each line with the memory that it comes from.

It is read from the memories in force each time, so that it is never behind them: who corrects or forgets the memory of
a line changes the line.
"""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.dispatch.gateway import MemoryGateway
from mnemic.errors import InvalidInput
from mnemic.inject.render import escape, fenced
from mnemic.inject.render import visible as visible_text
from mnemic.inject.token_count import TokenCount
from mnemic.types import Actor, Kind, Level, Memory, ProfileLine, Trust, UserProfile, Where

MOST_MEMORIES = 500
"""The newest memories of a user that are looked at."""
SECTIONS = ("identity", "constraint", "preference", "relation", "event", "fact")
"""Categories in the order of the lines: what matters for every answer comes first. Others follow as facts."""


async def user_profile(gateway: MemoryGateway, actor: Actor, *, max_tokens: int, count: TokenCount) -> UserProfile:
    """Return the profile; see `MemoryEngine.profile`. Raises InvalidInput (`max_tokens`), StoreFailed."""
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
        raise InvalidInput("max_tokens", hint="a whole number, at least 1")
    lines = profile_lines(await memories_of_user(gateway, actor))
    text, kept = fenced("user", [_spelled(line) for line in lines], max_tokens=max_tokens, count=count)
    return UserProfile(lines=tuple(lines[at] for at in kept), text=text, without_room=len(lines) - len(kept))


async def memories_of_user(gateway: MemoryGateway, actor: Actor) -> Sequence[Memory]:
    """Return what holds now of the user, newest first. Raises StoreFailed."""
    scope, now = actor.scope(Level.USER), gateway.clock.now()
    if scope not in gateway.rules.scopes(actor):
        return ()
    hidden = await gateway.hidden_keys(actor)
    where = Where(scopes=(scope,), kinds=frozenset({Kind.LONG_TERM}), live_at=now, as_of=now, hidden_keys=hidden)
    return await gateway.searcher.store.newest(where, limit=MOST_MEMORIES)


def profile_lines(memories: Sequence[Memory]) -> list[ProfileLine]:
    """Return a line for each memory that the user can be known by, most important first."""
    trusted = [one for one in memories if one.trust > Trust.LOW]
    # The sentence from which a value was read says nothing that the value does not.
    read = {one.source.quote for one in trusted if one.key is not None and one.source.quote is not None}
    told = [one for one in trusted if one.key is not None or one.content not in read]
    return sorted((_line(one) for one in told), key=lambda one: (SECTIONS.index(one.section), one.memory.key is None))


def _line(memory: Memory) -> ProfileLine:
    section = memory.category if memory.category in SECTIONS else SECTIONS[-1]
    # A whole sentence needs no name before it; a value alone ("aisle") says nothing without one.
    whole = memory.key is None or (" " in memory.content and memory.content.endswith((".", "!")))
    text = memory.content if whole else f"{str(memory.key).replace('_', ' ')}: {memory.content}"
    return ProfileLine(section=section or SECTIONS[-1], text=text, memory=memory)


def _spelled(line: ProfileLine) -> str:
    """Return the line as data for a model, with the day from which it is known."""
    return f'<{line.section} since="{line.since:%Y-%m-%d}">{escape(visible_text(line.text))}</{line.section}>'
