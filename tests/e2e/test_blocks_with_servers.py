"""Blocks of the pages that need a server: each runs as it stands but for addresses, against one that speaks the real
protocol.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_further_blocks import run
from tests.e2e.test_package_readmes import commands
from tests.e2e.test_pages_run import blocks
from tests.onnx_model import write_model
from tests.scripted_model import ModelRequest, ScriptedModelServer

OLLAMA = "http://localhost:11434/v1"
EMBEDS = ("/v1/embeddings", "nomic-embed-text")
OWNER = "postgresql://ana@db.internal/memories"
EMMA = {"op": "add", "id": None, "key": None, "value": "Emma moved to Lisbon", "category": "other", "scope": "user",
        "ttl_days": None, "confidence": 0.9, "quote": "My sister Emma moved to Lisbon in May"}  # fmt: skip


def model(request: ModelRequest) -> dict[str, object]:
    """Extract what the page says, plan a search, answer."""
    if "Emma moved" in request.user and "items" in str(request.body):
        return {"items": [EMMA]}
    wanted = str(request.body.get("response_format"))
    if "retrieve_memory" in wanted:
        return {"kind": "retrieve_memory", "query": "flight", "top_k": 3, "scopes": ["user"], "parts": [],
                "kinds": None, "happened_from": None, "happened_to": None, "as_of": None}  # fmt: skip
    if "used_memory_keys" in wanted:
        return {"answer": "There are two flights.", "used_memory_keys": []}
    return {"items": []}


def block_with(page: str, words: str, language: str = "sh") -> str:
    """Return the one block of a page that has these words, without what it installs."""
    (found,) = (block for block in blocks(page, language) if words in block)
    return commands(found)


@pytest.fixture
def scripted() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer(model, dimension=768) as server:
        yield server


def test_the_page_of_models_captures_through_the_client_of_a_vendor(
    tmp_path: Path, scripted: ScriptedModelServer
) -> None:
    block = block_with("docs/models.md", "anthropic:")
    printed = run(block, tmp_path, MNEMIC_MODEL_URL=scripted.base_url.removesuffix("/v1"))
    assert "Emma moved to Lisbon" in printed
    assert {request.path for request in scripted.requests} == {"/v1/messages"}


@pytest.mark.parametrize("line", [0, 1])
def test_getting_started_names_a_model(line: int, tmp_path: Path, scripted: ScriptedModelServer) -> None:
    named = block_with("docs/getting-started.md", "MNEMIC_MODEL=gpt-").splitlines()[line]
    named = re.sub(r"http://localhost:11434/v1", scripted.base_url, named)
    given = {} if "MNEMIC_MODEL_URL" in named else {"OPENAI_BASE_URL": scripted.base_url}
    run(f"{named}\nmnemic capture 'My sister Emma moved to Lisbon in May.'", tmp_path, **given)
    assert scripted.requests


def test_a_model_in_a_folder_becomes_the_embedder(tmp_path: Path) -> None:
    write_model(tmp_path / "models" / "e5-small-v2")
    run("mnemic add 'I like tea.'", tmp_path)
    run(block_with("docs/howto.md", "mnemic embedder models/"), tmp_path)


def test_a_goal_is_pursued_with_the_model_of_a_server_at_hand(tmp_path: Path, scripted: ScriptedModelServer) -> None:
    block = block_with("docs/howto.md", "MNEMIC_MODEL=llama3.1")
    assert "There are two flights." in run(block.replace(OLLAMA, scripted.base_url), tmp_path)
    assert {request.body["model"] for request in scripted.requests} == {"llama3.1"}


def test_another_embedder_takes_over_a_store(tmp_path: Path, scripted: ScriptedModelServer) -> None:
    run("mnemic add 'I like tea.'", tmp_path)
    block = block_with("docs/howto.md", "nomic-embed-text").replace(OLLAMA, scripted.base_url)
    run(f"{block}\nmnemic search tea | grep --quiet 'I like tea.'", tmp_path)
    assert {(request.path, request.body["model"]) for request in scripted.requests} == {EMBEDS}


def test_an_agent_gets_the_profile_of_its_file(tmp_path: Path) -> None:
    (profile,) = blocks("docs/kinds.md", "toml")
    (tmp_path / "guide.toml").write_text(profile, encoding="utf-8")
    code = "from mnemic import MemoryManager\n"
    code += "with MemoryManager('ana', 'guide') as memory:\n    print(memory.persona.prompt())"
    (tmp_path / "block.py").write_text(code, encoding="utf-8")
    shown = run(f"{sys.executable} block.py", tmp_path, MNEMIC_PERSONAS=str(tmp_path))
    assert "<role>Expert ski trip planner</role>" in shown


def test_a_policy_has_entities_read_in_ordinary_writes(tmp_path: Path) -> None:
    (policy,) = blocks("docs/graph.md", "toml")
    (tmp_path / "policy.toml").write_text(f"open_keys = true\nkeyless = true\n{policy}", encoding="utf-8")
    told = "mnemic add 'My sister Emma lives in Madrid.' >&2\nmnemic list --kind entity"
    assert "Emma" not in run(told, tmp_path, MNEMIC_STORE="plain.db")
    assert "Emma" in run(told, tmp_path, MNEMIC_POLICY="policy.toml")
