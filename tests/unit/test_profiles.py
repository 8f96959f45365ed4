"""The profile of an agent, from a file of either format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemic.bootstrap import build_profile, load_profile
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig
from mnemic.facade.manager import MemoryManager
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder

DATA = {"role": "Expert ski trip planner", "tone": "friendly", "expertise": ["skiing"], "constraints": ["safety first"]}
TOML = """role = "Expert ski trip planner"
tone = "friendly"
expertise = ["skiing"]
constraints = ["safety first"]
"""
YAML = """role: Expert ski trip planner
tone: friendly
expertise: [skiing]
constraints:
  - safety first
"""


@pytest.mark.parametrize(
    ("suffix", "text"), [(".json", json.dumps(DATA)), (".toml", TOML), (".yaml", YAML), (".yml", YAML)]
)
def test_every_format_says_the_same(tmp_path: Path, suffix: str, text: str) -> None:
    (tmp_path / f"guide{suffix}").write_text(text)
    profile = build_profile(Settings.load(personas=tmp_path), "guide")
    assert profile is not None
    assert (profile.role, profile.expertise) == ("Expert ski trip planner", ("skiing",))
    assert build_profile(Settings.load(personas=tmp_path), "other") is None
    assert build_profile(Settings.load(), "guide") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"role": "x", "role": "y"}'),
        ("a.json", "{"),
        ("a.toml", "role = "),
        ("a.yaml", "role: &a x\ntone: *a"),
        ("a.yaml", "!!python/object/apply:os.system ['true']"),
        ("a.yaml", "role: x\nrole: y"),
        ("a.yaml", "1: x"),
        ("a.yaml", "role: ["),
        ("a.yaml", "[" * 2_000),
        ("a.json", '"' + "x" * 70_000 + '"'),
    ],
)
def test_what_is_no_plain_data_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidConfig) as refused:
        load_profile(tmp_path / name)
    assert refused.value.reason == "invalid_config:persona:file"


def test_no_agent_reaches_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "evil.json").write_text(json.dumps(DATA))
    folder = tmp_path / "personas"
    folder.mkdir()
    (folder / "link.json").symlink_to(tmp_path / "evil.json")
    settings = Settings.load(personas=folder)
    for name in ("../evil", "..", "a/b", "evil\0"):
        assert build_profile(settings, name) is None
    assert build_profile(settings, "link") is None


def test_two_files_of_one_agent_are_refused(tmp_path: Path) -> None:
    (tmp_path / "guide.json").write_text(json.dumps(DATA))
    (tmp_path / "guide.toml").write_text(TOML)
    with pytest.raises(InvalidConfig, match="persona:file"):
        build_profile(Settings.load(personas=tmp_path), "guide")
    with pytest.raises(InvalidConfig, match="persona:file"):
        load_profile(tmp_path / "none.json")


def test_the_manager_finds_its_agents_profile(tmp_path: Path) -> None:
    (tmp_path / "guide.yaml").write_text(YAML)
    settings = Settings.load(personas=tmp_path)
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    with MemoryManager("ana", "guide", settings=settings, engine=engine) as memory:
        assert "<role>Expert ski trip planner</role>" in memory.persona.prompt()
