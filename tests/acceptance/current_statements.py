"""Statements that are current after some were added, in an engine of their own."""

from __future__ import annotations

from mnemic.types import Actor, Candidate
from mnemic_eval.replay import chosen_embedder, throwaway_engine


async def left(*said: str | Candidate) -> set[str]:
    """Add statements of one user, one after the other, and return the contents of those that are current."""
    actor = Actor(user="u")
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        for one in said:
            candidate = one if isinstance(one, Candidate) else Candidate(content=one)
            (receipt,) = await engine.add_many([candidate], actor=actor)
            assert receipt.stored
        return {one.content for one in await engine.list(actor=actor, limit=20)}
