"""Every block of the READMEs of packages and rooms runs as it stands, with the servers and files that it names at hand.

The README of the Cassandra store is run in the tests of that store, which start a node.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mnemic.testing.scripted_model import ModelRequest, ScriptedModelServer
from tests.azure_search import KEY, AzureSearchServer
from tests.bolt_servers import BOLT_SERVERS
from tests.e2e.test_further_blocks import run
from tests.e2e.test_pages_run import BLOCK, ROOT
from tests.onnx_model import write_cross_encoder, write_model
from tests.processes import running
from tests.servers import PostgresServer
from tests.service import serving
from tests.valkey import ValkeyServer

READMES = {
    path.parent.name: path
    for folder in ("packages", "src/mnemic", "bench")
    for path in sorted((ROOT / folder).rglob("README.md"))
    if path.parent.name != "cassandra"
}
FOLLOWED_BY = {
    "models": "mnemic capture 'I live in Oslo.'",
    "onnx": "mnemic --store other.db add 'I live in Oslo.'; mnemic --store other.db search Oslo; rm other.db*",
}
"""A command that reads what a block only exports."""
STORE = "mnemic.testing.record_store import RecordStoreContract"
TOLD = [{"speaker": "Ana", "dia_id": "D1:1", "text": "I repaired the telescope with a brass screw."}]
CHATS = [
    {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": TOLD,
        },
        "qa": [{"question": "What did Ana repair?", "evidence": ["D1:1"], "category": 4}],
    }
    for name in ("one", "two")
]
"""Two conversations in the format of LoCoMo."""
CLAUDE = [
    {
        "uuid": "4f6d1f0a-7f0e-4c2b-9a43-0d8d0c9b7f11",
        "name": "Moving",
        "chat_messages": [
            {"sender": "human", "text": "I live in Oslo.", "created_at": "2026-03-01T10:00:00Z"},
        ],
    }
]
"""An export of Claude."""


def model(request: ModelRequest) -> dict[str, object]:
    return {"items": []}


@contextmanager
def at_hand(package: str, folder: Path, database: PostgresServer) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Set up what a README assumes: settings, and values for the names of servers in its text."""
    if package == "azure":
        run("mnemic --store memory.db add 'I like tea.'", folder)
        with running(AzureSearchServer()) as search:
            yield {}, {":KEY@SERVICE.search.windows.net/INDEX": f":{KEY}@{search.endpoint[7:]}/memories"}
        assert "memories" in search.indexes
    elif package == "mnemic-client":
        with serving(folder) as served:
            yield {}, {"http://127.0.0.1:8377": served.address, "mnk_...": served.key("reader", "writer")}
    elif package == "models":
        with ScriptedModelServer(model) as server:
            yield {"MNEMIC_MODEL_URL": server.base_url.removesuffix("/v1")}, {}
        assert server.requests
    elif package == "neo4j":
        with running(BOLT_SERVERS[-1]()) as graph:
            yield {}, {"neo4j://user:password@host:7687/database": graph.url}
    elif package == "postgres":
        yield {}, {"postgresql://user:password@host/database": f"'{database.database(folder)}'"}
    elif package == "redis":
        with running(ValkeyServer()) as valkey:
            yield {}, {"redis://user:password@host/0": valkey.url}
    else:
        yield {}, {}


def commands(block: str) -> str:
    """Return the commands of a block without those that install, which tests/architecture/test_blocks.py reads, the one
    that serves until it is ended, and the bench, which takes minutes (bench/eval/tests/test_bench.py).
    """
    left_out = re.compile(r"pip install |mnemic (serve|bench)\b")
    return "\n".join(line for line in block.splitlines() if not left_out.match(line))


@pytest.mark.parametrize("package", READMES)
def test_each_block_of_a_readme_runs(package: str, tmp_path: Path, postgres: PostgresServer) -> None:
    write_model(tmp_path / "models" / "e5-small-v2")
    write_cross_encoder(tmp_path / "models" / "ms-marco-MiniLM-L-6-v2")
    (tmp_path / "locomo10.json").write_text(json.dumps(CHATS), encoding="utf-8")
    (tmp_path / "conversations.json").write_text(json.dumps(CLAUDE), encoding="utf-8")
    run("mnemic add 'I like tea.'", tmp_path)
    found = BLOCK.findall(READMES[package].read_text(encoding="utf-8"))
    with at_hand(package, tmp_path, postgres) as (environment, names):
        for kind, block in found:
            for said, meant in names.items():
                block = block.replace(said, meant)
            if kind == "python":
                (tmp_path / "block.py").write_text(asked_of(block), encoding="utf-8")
                run(
                    f"{sys.executable} {'-m pytest -q -k moment ' if STORE in block else ''}block.py",
                    tmp_path,
                    **environment,
                )
            elif kind == "sh":
                run(f"{commands(block)}\n{FOLLOWED_BY.get(package, '')}", tmp_path, **environment)
            if "mnemic serve" in block:
                with serving(tmp_path):
                    pass


def asked_of(block: str) -> str:
    """Return the code, and where it is a contract of the reader's own store, with a store that has its name."""
    return f"from mnemic.stores.sqlite import SqliteStore as MyStore\n{block}" if STORE in block else block
