"""The bench at a size that says nothing about speed: what it reports, not how fast it was."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mnemic.testing.embedder import WordEmbedder
from mnemic_eval.bench import BenchOptions, run
from mnemic_eval.cold_start import cold_starts
from mnemic_eval.commit_floor import bare_commits
from mnemic_eval.tables import bench_table
from tests.servers import PostgresServer
from tests.valkey import ValkeyServer

ROOT = Path(__file__).resolve().parents[3]

TINY = BenchOptions(rows=30, others=2, rows_per_other=20, repeats=5, imports=8, starts=0)


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    return run(TINY, embedder=WordEmbedder())


def test_the_promised_figures_are_there(measured: dict[str, Any]) -> None:
    for call in (
        measured["write"],
        measured["search"],
        measured["injection"],
        measured["shared"]["write"],
        measured["shared"]["search"],
    ):
        assert call["p50_ms"] <= call["p95_ms"] <= call["p99_ms"]
        assert 0 < call["embed_p50_ms"] < call["p50_ms"]
        assert 0 < call["overhead_p50_ms"] < call["p50_ms"]
        assert call["calls"] == TINY.repeats
    assert json.loads(json.dumps(measured)) == measured


def test_everything_that_was_written_is_accounted_for(measured: dict[str, Any]) -> None:
    outcomes = measured["write"]["outcomes"]
    assert sum(outcomes.values()) == TINY.repeats + 5
    assert measured["import"]["rows"] == 8
    assert sum(measured["import"]["outcomes"].values()) == 8
    assert measured["shared"]["other_rows"] == 40
    assert 30 + 40 < measured["memory"]["stored"] <= 30 + 40 + 8 + 2 * (TINY.repeats + 5)
    assert measured["memory"]["bytes_per_memory"] > 4 * 384


def test_the_conditions_are_said(measured: dict[str, Any]) -> None:
    settings = measured["settings"]
    assert settings["options"] == {
        "rows": 30,
        "others": 2,
        "rows_per_other": 20,
        "repeats": 5,
        "imports": 8,
        "starts": 0,
        "durability": "durable",
    }
    assert settings["embedder"] == "hashed-words-1"
    assert settings["seed"] == TINY.seed


def test_the_table_shows_what_the_json_holds(measured: dict[str, Any]) -> None:
    table = bench_table(measured)
    assert f"{measured['write']['p95_ms']:.2f}" in table
    assert "search at 30 memories" in table
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert f"{len(declared)} direct dependencies" in table
    assert "mnemic --help" not in table


def test_each_call_stands_beside_what_it_cannot_do_without(measured: dict[str, Any]) -> None:
    floor = {name: measured["floor"][name]["p50_ms"] for name in ("embed", "commit", "scan")}
    assert min(floor.values()) > 0
    for call, last in (("write", "commit"), ("search", "scan"), ("injection", "scan")):
        under = floor["embed"] + floor[last]
        assert measured[call]["times_floor"] == pytest.approx(measured[call]["p50_ms"] / under, abs=0.01)
        assert measured[call]["cpu_ms"] > 0
    assert "one pass over 30 vectors" in bench_table(measured)


def test_a_context_is_built_without_the_embedder(measured: dict[str, Any]) -> None:
    context = measured["context"]
    assert 0 < context["p50_ms"] < measured["injection"]["p95_ms"]
    assert context["embed_p95_ms"] == 0
    assert "context of what was found" in bench_table(measured)


def test_every_verb_has_a_budget(measured: dict[str, Any]) -> None:
    assert measured["kinds"].keys() == {"sqlite", "in-process"}
    for verbs in measured["kinds"].values():
        kinds = {name.partition(".")[0] for name in verbs}
        assert kinds == {"working", "short_term", "long_term", "persona", "episodic", "entity", "structured"}
        for figures in verbs.values():
            assert 0 < figures["p50_ms"] <= figures["p95_ms"]
            assert figures["budget_p95_ms"] in (1.0, 10.0, 100.0, 200.0)
            assert figures["calls"] == TINY.repeats
    assert "structured.query" in bench_table(measured)


def test_without_others_nothing_is_compared() -> None:
    measured = run(BenchOptions(rows=20, others=0, repeats=5, imports=0, starts=0), embedder=WordEmbedder())
    assert "shared" not in measured
    assert measured["import"] == {}
    assert "other users" not in bench_table(measured)


def test_the_floor_writes_what_it_is_given(tmp_path: Path) -> None:
    seconds = bare_commits(tmp_path / "floor.db", [("a text", bytes(8)), ("another", bytes(8))])
    assert len(seconds) == 2
    assert min(seconds) > 0
    assert b"another" in b"".join(file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.slow
def test_cold_starts_are_real_processes(tmp_path: Path) -> None:
    run(BenchOptions(rows=20, others=0, repeats=5, imports=0, starts=1, folder=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_fails_is_not_a_measurement(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"ended with code|found nothing"):
        cold_starts(tmp_path / "no folder" / "absent.db", "nobody", "anything?", starts=1, progress=lambda *_: None)


def test_servers_are_measured_in_a_database_of_their_own(postgres: PostgresServer, valkey: ValkeyServer) -> None:
    servers = {"store": postgres.dsn(), "sessions": valkey.url}
    measured = run(BenchOptions(rows=20, others=0, repeats=5, imports=0, starts=0, **servers), embedder=WordEmbedder())
    assert measured["write"]["calls"] == measured["search"]["calls"] == 5
    assert measured["memory"]["stored"] == 30
    assert measured["kinds"].keys() == {"sqlite", "in-process", "servers"}
    assert {name.partition(":")[2].partition(":")[0] for name in valkey.names()} == {"hot", "session", "sessions"}
    assert not [name for (name,) in postgres.sql("SELECT datname FROM pg_database") if name.startswith("mnemic_")]
