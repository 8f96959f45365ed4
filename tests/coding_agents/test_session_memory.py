"""What one session says is shown to the next: the user's own words, without secrets, and of one repository alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from mnemic.coding_agents.hook_events import HookEvent
from mnemic.coding_agents.repository import trust_team_file
from mnemic.coding_agents.session_memory import SessionMemories
from mnemic.coding_agents.state_files import write_state
from mnemic.testing.embedder import WordEmbedder

DEPLOY = "We deploy with make ship on Fridays."


@pytest_asyncio.fixture
async def memories(repository: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SessionMemories]:
    monkeypatch.setattr("mnemic.bootstrap.build_embedder", lambda settings, clock: WordEmbedder())
    write_state("agents.json", {"user": "ana"})
    opened = SessionMemories()
    yield opened
    await opened.close()


def event(name: str, cwd: Path, session: str, tool: str = "claude-code", **fields: Any) -> HookEvent:
    return HookEvent.from_payload(tool, name, {"cwd": str(cwd), "session_id": session, **fields})


async def says(memories: SessionMemories, cwd: Path, prompt: str, session: str = "one", **fields: Any) -> None:
    await memories.remember(event("UserPromptSubmit", cwd, session, prompt=prompt, **fields))


async def shown(memories: SessionMemories, cwd: Path, prompt: str, session: str = "two") -> str:
    return await memories.context(event("UserPromptSubmit", cwd, session, prompt=prompt))


async def test_the_next_session_knows_what_was_said(memories: SessionMemories, repository: Path) -> None:
    await says(memories, repository, DEPLOY)

    assert "make ship" in await shown(memories, repository, "how do we deploy?")
    assert "make ship" in await memories.context(event("SessionStart", repository, "three", source="startup"))


async def test_a_block_is_shown_once_a_session_and_again_after_the_context_was_compacted(
    memories: SessionMemories, repository: Path
) -> None:
    await says(memories, repository, DEPLOY)

    assert await shown(memories, repository, "how do we deploy?") != ""
    assert await shown(memories, repository, "how do we deploy?") == ""
    await memories.context(event("SessionStart", repository, "two", source="compact"))
    other = await memories.context(event("SessionStart", repository, "two", source="compact"))
    assert "make ship" in other


async def test_a_session_is_not_told_what_it_said_itself(memories: SessionMemories, repository: Path) -> None:
    await says(memories, repository, DEPLOY, session="one")

    assert await shown(memories, repository, "how do we deploy?", session="one") == ""


async def test_another_repository_knows_nothing_of_it(memories: SessionMemories, repository: Path, home: Path) -> None:
    other = home / "other"
    (other / ".git").mkdir(parents=True)
    await says(memories, repository, DEPLOY)

    assert await shown(memories, other, "how do we deploy?") == ""
    assert await memories.context(event("SessionStart", other, "x", source="startup")) == ""


async def test_secrets_of_a_prompt_are_not_kept(memories: SessionMemories, repository: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    await says(memories, repository, f"We deploy with make ship. The token is {secret}, remember it.")
    files = [path.read_bytes() for path in (repository.parent / ".mnemic").rglob("*") if path.is_file()]

    assert await shown(memories, repository, "how do we deploy?") != ""
    assert not any(secret.encode() in content for content in files)


async def test_what_is_pasted_and_what_side_agents_are_told_is_not_remembered(
    memories: SessionMemories, repository: Path
) -> None:
    await says(memories, repository, f"Why does this fail?\n```\n{DEPLOY}\n```")
    await says(memories, repository, DEPLOY, agent_id="sub-1")

    assert "make ship" not in await shown(memories, repository, "how do we deploy?")


async def test_the_end_of_a_session_reads_what_its_hooks_missed_and_nothing_twice(
    memories: SessionMemories, repository: Path
) -> None:
    transcript = repository.parent / "one.jsonl"
    entries = [
        ("user", DEPLOY),
        ("assistant", "Noted. The staging host is called Heron."),
        ("user", [{"type": "tool_result", "tool_use_id": "t", "content": "The release branch is called autumn."}]),
        ("user", "The staging database is called walnut."),
    ]
    lines = [
        {"type": role, "uuid": f"u{at}", "sessionId": "one", "message": {"role": role, "content": content}}
        for at, (role, content) in enumerate(entries)
    ]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    await says(memories, repository, DEPLOY)
    before = await _count(memories, repository)
    for _ in range(2):
        await memories.remember(event("SessionEnd", repository, "one", transcript_path=str(transcript), reason="exit"))

    assert "walnut" in await shown(memories, repository, "what is the staging database called?")
    assert "autumn" not in await shown(memories, repository, "what is the release branch called?", session="three")
    assert await _count(memories, repository) <= before + 2


async def test_a_transcript_that_is_not_there_or_empty_ends_a_session_all_the_same(
    memories: SessionMemories, repository: Path
) -> None:
    empty = repository.parent / "empty.jsonl"
    empty.write_text("")
    for path in (empty, repository / "nowhere.jsonl"):
        await memories.remember(event("SessionEnd", repository, "one", transcript_path=str(path)))

    assert await _count(memories, repository) == 0


async def test_the_status_line_says_whose_memory_it_is_and_what_failed(
    memories: SessionMemories, repository: Path
) -> None:
    await says(memories, repository, DEPLOY)
    write_state("hook-failure.json", {"at": 1, "event": "UserPromptSubmit", "reason": "timeout"})
    line = await memories.context(event("status", repository, "one"))

    assert line.startswith("mnemic: github.com/acme/shop · ")
    assert "timeout" not in line  # of long ago


async def test_a_team_shares_what_is_said_of_the_project_and_not_what_is_said_of_a_person(
    memories: SessionMemories, repository: Path
) -> None:
    (repository / "mnemic.toml").write_text('store = "team.db"\nworkspace = "shop"\n')
    trust_team_file(repository)
    await says(memories, repository, DEPLOY)
    await says(memories, repository, "I am allergic to nuts.")
    write_state("agents.json", {"user": "ben"})
    bens = SessionMemories()
    block = await shown(bens, repository, "how do we deploy?", session="bens")
    about_ana = await shown(bens, repository, "who is allergic to nuts?", session="bens")
    await bens.close()

    assert "make ship" in block
    assert 'trust="low"' in block  # until another person has approved it
    assert 'by="ana"' in block
    assert "allergic" not in about_ana


async def _count(memories: SessionMemories, repository: Path) -> int:
    line = await memories.context(event("status", repository, "count"))
    return int(line.split(" · ")[1].split()[0])
