"""Blocks of the pages that need a server: each runs as it stands but for addresses, against one that speaks the real
protocol.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from mnemic import Settings, build_engine
from mnemic.policy.policy_file import read_guard
from mnemic_testing.scripted_model import ModelRequest, ScriptedModelServer
from tests.e2e.test_further_blocks import run
from tests.e2e.test_package_readmes import commands
from tests.e2e.test_pages_run import ROOT, blocks
from tests.onnx_model import write_model
from tests.processes import running
from tests.servers import PostgresServer, PostgresStandby
from tests.service import Served, serving

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


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("docs/howto.md", "MNEMIC_MODEL=llama3.1"),
        ("docs/howto.md", "nomic-embed-text"),
        ("docs/governance.md", "MNEMIC_EMBEDDER_URL=..."),
    ],
)
def test_a_server_with_the_protocol_of_openai_is_used(
    page: str, words: str, tmp_path: Path, scripted: ScriptedModelServer
) -> None:
    block = block_with(page, words).replace("http://localhost:11434/v1", scripted.base_url)
    block = block.replace("URL=...", f"URL={scripted.base_url}").replace("MODEL=...", "MODEL=ours")
    pairs = [{"a": f"I like {one}.", "b": f"I love {one}.", "label": "same"} for one in ("tea", "jazz")]
    lines = "".join(f"{json.dumps(pair)}\n" for pair in pairs)
    (tmp_path / "pairs.jsonl").write_text(lines, encoding="utf-8")
    # The vectors of a scripted server mean nothing: what `calibrate` measures has a test of its own.
    block = re.sub(r"^mnemic calibrate.*$", "", block, flags=re.MULTILINE)
    run("mnemic add 'I like tea.'", tmp_path)
    run(block, tmp_path)
    assert scripted.requests


def test_a_model_in_a_folder_becomes_the_embedder(tmp_path: Path) -> None:
    write_model(tmp_path / "models" / "e5-small-v2")
    run("mnemic add 'I like tea.'", tmp_path)
    run(block_with("docs/howto.md", "mnemic embedder models/"), tmp_path)


def test_the_page_of_postgres_begins_with_commands_that_work(tmp_path: Path, postgres: PostgresServer) -> None:
    begun = block_with("docs/postgres.md", "sister", "bash").replace(OWNER, f"'{postgres.database(tmp_path)}'")
    run(begun, tmp_path)
    replicated = block_with("docs/postgres.md", "?replica=", "bash")
    with running(PostgresStandby(postgres, "fsync=off")) as standby:
        named = replicated.replace(f"{OWNER}?", f"{postgres.dsn()}&")
        named = named.replace("postgresql://ana@replica.internal/memories", standby.dsn())
        assert named != replicated
        assert "Bergen" in run(f"{named}\nmnemic search 'where does my sister live?'", tmp_path)


def test_memories_move_to_postgres_and_are_backed_up_from_it(tmp_path: Path) -> None:
    with running(PostgresServer("fsync=off")) as server:
        for name in ("memories", "again", "third"):
            server.sql(f"CREATE DATABASE {name}")
        run("mnemic add 'My sister lives in Bergen.'", tmp_path)
        moved = block_with("docs/howto.md", "postgresql://db.internal/memories")
        run(moved.replace("postgresql://db.internal/memories", f"'{server.dsn('memories')}'"), tmp_path)
        kept = block_with("docs/governance.md", "postgresql://db/again")
        for name in ("again", "memories"):
            kept = kept.replace(f"postgresql://db/{name}", f"'{server.dsn(name)}'")
        run(kept, tmp_path)
        found = run(f"mnemic --store '{server.dsn('again')}' search sister", tmp_path)
    assert "Bergen" in found


async def test_the_address_behind_a_router_names_its_servers() -> None:
    block = block_with("docs/postgres-router.md", "router=pgdog", "bash")
    (address,) = re.findall(r"^export MNEMIC_STORE='(.*)'$", block, re.MULTILINE)
    engine = build_engine(Settings(store=address))
    assert engine.store.capabilities.servers == 2


def test_the_console_and_a_policy_of_a_tenant(tmp_path: Path) -> None:
    made = block_with("docs/console.md", "apikeys create")
    key = run(f"{made} --store s.db", tmp_path).split()[-1]
    put = block_with("docs/policy.md", "/v1/policy")
    with serving(tmp_path) as served:
        assert httpx.get(f"{served.address}/console", follow_redirects=True).status_code == 200
        given = {"Authorization": f"Bearer {key}"}
        assert httpx.get(f"{served.address}/v1/memories", headers=given, timeout=60).status_code == 200
        shown = run(put.replace("http://127.0.0.1:8377", served.address), tmp_path, KEY=operator(served))
        assert "error" not in json.loads(shown)
        assert json.loads(shown)["policy"]["keys"]["seat"]["ttl_days"] == 365


def operator(served: Served) -> str:
    return served.key("operator", "reader", user="olga")


def test_a_program_moves_from_a_file_to_a_service(tmp_path: Path) -> None:
    program = block_with("docs/service.md", "https://memory.example.org", "python")
    with serving(tmp_path) as served:
        named = program.replace("https://memory.example.org", served.address)
        named = named.replace("mnk_...", served.key("reader", "writer"))
        (tmp_path / "moved.py").write_text(named, encoding="utf-8")
        run("python moved.py", tmp_path)
        listed = served.run("list", "--user", "ana")
    assert "vegetarian" in listed.stdout


def test_tenants_and_webhooks_by_command(tmp_path: Path) -> None:
    tenants = block_with("docs/service.md", "mnemic tenants create")
    printed = run(tenants.replace("--receipts acme.json", "--receipts acme.json --yes"), tmp_path)
    assert "acme" in printed
    assert (tmp_path / "acme.json").exists()
    run(block_with("docs/service.md", "mnemic webhooks create"), tmp_path)


def test_the_settings_of_a_sign_in_are_settings() -> None:
    shown = block_with("docs/service.md", "MNEMIC_SERVICE_CLIENT_ID")
    listed = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert [name for name in re.findall(r"^(MNEMIC_\w+)=", shown, re.MULTILINE) if f"`{name}`" not in listed] == []


def test_a_profile_and_the_reading_of_entities_are_taken(tmp_path: Path) -> None:
    (profile,) = blocks("docs/kinds.md", "toml")
    (tmp_path / "planner.toml").write_text(profile, encoding="utf-8")
    shown = (
        "from mnemic import MemoryManager\nwith MemoryManager('ana', agent='planner') as m: print(m.persona.prompt())"
    )
    (tmp_path / "shown.py").write_text(shown, encoding="utf-8")
    assert "ski trip planner" in run("python shown.py", tmp_path, MNEMIC_PERSONAS=str(tmp_path))
    (policy,) = blocks("docs/graph.md", "toml")
    assert read_guard(tomllib.loads(policy))
