"""Correcting a memory in place."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.errors import InvalidInput, MemoryNotFound, VersionConflict
from mnemic.policy.key_rules import Policy
from mnemic.types import Actor, Origin, Outcome, Status


async def revise(desk: Any, memory_id: str | None, content: str, **options: Any) -> Any:
    actor = options.pop("actor", desk.actor)
    rules: dict[str, Any] = {"policy": Policy(), "origin": Origin.USER_STATED, "scopes": actor.scopes(["user"])}
    return await desk.pipeline.revise(memory_id, content, actor=actor, **rules | options)


async def test_the_next_version(desk: Any) -> None:
    first = await desk.add("Likes tee", key="drink", category="taste")
    receipt = await revise(desk, first.memory_id, " Likes tea at jane@acme.com ", expected_version=1)
    memory = await desk.get(first.memory_id)
    assert (receipt.memory_id, receipt.version, receipt.reason) == (first.memory_id, 2, "revised")
    assert memory.content.startswith("Likes tea at [EMAIL#")
    assert (memory.key, memory.category, memory.version) == ("drink", "taste", 2)
    assert memory.vector == desk.embedder.vector(f"drink: {memory.content}")
    versions = await desk.store.versions(first.memory_id, scopes=[memory.scope])
    assert versions[0].content == "Likes tee"
    assert await desk.actions() == ["created", "revised"]
    assert (await desk.add(memory.content, key="drink", category="taste")).outcome is Outcome.REFRESHED


async def test_the_same_text_changes_nothing(desk: Any) -> None:
    first = await desk.add("Likes tea")
    receipt = await revise(desk, first.memory_id, "Likes tea")
    assert (receipt.outcome, receipt.version) == (Outcome.REFRESHED, 1)


async def test_refusals(desk: Any) -> None:
    first, second = await desk.add("Likes tea"), await desk.add("Plays chess")
    with pytest.raises(VersionConflict):
        await revise(desk, first.memory_id, "Likes coffee", expected_version=2)
    with pytest.raises(InvalidInput, match="content:duplicate"):
        await revise(desk, second.memory_id, "likes tea")
    with pytest.raises(InvalidInput, match="content:empty"):
        await revise(desk, first.memory_id, " ")
    with pytest.raises(MemoryNotFound):
        await revise(desk, first.memory_id, "Likes coffee", actor=Actor(user="bob"))
    with pytest.raises(MemoryNotFound):
        await revise(desk, "nowhere", "Likes coffee")
    assert sorted(memory.content for memory in await desk.active()) == ["Likes tea", "Plays chess"]


async def test_lower_trust_cannot_correct(desk: Any) -> None:
    first = await desk.add("Likes tea")
    receipt = await revise(desk, first.memory_id, "Likes poison", origin=Origin.WEB)
    assert (receipt.outcome, receipt.reason) == (Outcome.BLOCKED, "lower_trust")
    assert (await desk.get(first.memory_id)).content == "Likes tea"


async def test_what_waits_for_review_cannot_be_corrected_here(blind: Any) -> None:
    await blind.add("german", key="language")
    pending = await blind.add("english", key="language", origin=Origin.WEB)
    assert (await blind.get(pending.memory_id)).status is Status.PENDING_REVIEW
    with pytest.raises(MemoryNotFound):
        await revise(blind, pending.memory_id, "Likes coffee")
