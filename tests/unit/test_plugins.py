"""Plug-ins by entry point: found by name or URL scheme, never in the place of what is built in, errors by name."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from mnemic import plugins
from mnemic.bootstrap import (
    build_completer,
    build_documents,
    build_embedder,
    build_engine,
    build_extractor,
    build_graph,
    build_sessions,
    build_store,
    keeps_graph,
    store_file,
    with_detectors,
)
from mnemic.bootstrap.models import build_reranker
from mnemic.bootstrap.stores import build_copies
from mnemic.cli import cli
from mnemic.cli.option_values import Word
from mnemic.config import Settings
from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.importers.conversation_files import read_conversation
from mnemic.operations import backup_store
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.runtime.clock import SystemClock
from mnemic.stores.graph import InProcessGraph
from mnemic.types import Actor, Message

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"
Install = Callable[[Mapping[str, Mapping[str, str]]], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Packages that are no part of this repository: a folder with a dist-info, on the path."""
    monkeypatch.syspath_prepend(str(EXAMPLE / "src"))
    counted = iter(range(9))

    def installed(groups: Mapping[str, Mapping[str, str]]) -> None:
        name = f"stranger{next(counted)}"
        folder = tmp_path / name
        info = folder / f"{name}-1.2.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        lines = [
            f"[mnemic.{group}]\n" + "".join(f"{name} = {value}\n" for name, value in offers.items())
            for group, offers in groups.items()
        ]
        (info / "entry_points.txt").write_text("\n".join(lines))
        monkeypatch.syspath_prepend(str(folder))

    yield installed
    for name in [name for name in sys.modules if name.partition(".")[0] == "mnemic_example"]:
        del sys.modules[name]


ALL = {
    "stores": {"example": "mnemic_example.store:build"},
    "embedders": {"example": "mnemic_example.models:build_embedder"},
    "completers": {"example": "mnemic_example.models:build_completer"},
    "rerankers": {"example": "mnemic_example.models:build_reranker"},
    "extractors": {"example": "mnemic_example.models:build_extractor"},
    "detectors": {"EXAMPLE_ID": "mnemic_example.detector:build"},
    "importers": {"example": "mnemic_example.importer:items"},
}


def settings(**given: Any) -> Settings:
    return Settings(**{"store": "example://team", "embedder": "example", "extractor": "example", **given})


async def test_an_engine_is_made_of_a_strangers_parts(install: Install, tmp_path: Path) -> None:
    install(ALL)
    policy = tmp_path / "policy.toml"
    policy.write_text('[redaction.entities]\nEXAMPLE_ID = "redact"\n')
    actor = Actor(user="ada")
    async with build_engine(settings(policy=policy, reranker="example")) as engine:
        assert type(engine.store).__name__ == "ExampleStore"
        assert engine.embedder.space.model == "example"
        (receipt,) = (await engine.capture(Message(role="user", content="note: badge E-104822"), actor=actor)).receipts
        memory = await engine.get(receipt.memory_id, actor=actor)
        assert memory.content.startswith("badge [EXAMPLE_ID#")
        assert [hit.memory.memory_id for hit in (await engine.search("badge", actor=actor)).hits] == [memory.memory_id]


def test_each_part_is_built_by_its_name_or_scheme(install: Install) -> None:
    install(ALL)
    made, clock = settings(model_url="EXAMPLE://there"), SystemClock()
    store = build_store("example://team?copy=example:///x", durability="fast")
    assert store.location == "example://team"  # type: ignore[attr-defined]
    assert store_file("example://team") is None
    assert isinstance(build_graph(made), InProcessGraph)
    assert not keeps_graph(made)
    completer = build_completer(made, clock)
    assert completer is not None
    assert completer.model == "example"
    assert type(build_reranker(settings(reranker="example"), clock)).__name__ == "ExampleReranker"
    embedder = build_embedder(made, clock)
    assert type(build_extractor(made, embedder, completer)).__name__ == "ExampleExtractor"
    assert isinstance(build_extractor(settings(extractor="rules"), embedder, None), RuleExtractor)
    assert build_extractor(settings(extractor="auto"), embedder, completer) is None


def test_a_file_is_read_by_a_strangers_importer(install: Install, tmp_path: Path) -> None:
    install(ALL)
    file = tmp_path / "said.jsonl"
    file.write_text('{"who": "user", "what": "I like tea."}\n{broken\n')
    good, bad = read_conversation(file, "example")
    assert (good.content.content, bad.content) == ("I like tea.", None)  # type: ignore[union-attr]
    assert bad.problem is not None
    assert Word("format", ("auto",), group="importers").convert("example", None, None) == "example"


def test_without_the_package_each_name_is_refused(tmp_path: Path) -> None:
    for name in ("embedder", "extractor", "reranker"):
        with pytest.raises(InvalidConfig) as refused:
            Settings(**{name: "example"})
        assert refused.value.reason == f"invalid_config:{name}"
        assert f"mnemic.{name}s" in (refused.value.hint or "")
    with pytest.raises(InvalidConfig) as scheme:
        build_store("example://team", durability="fast")
    assert scheme.value.reason == "invalid_config:store"
    with pytest.raises(InvalidConfig) as model:
        build_completer(Settings(model_url="example://there"), SystemClock())
    assert model.value.reason == "invalid_config:plugin:example"
    with pytest.raises(InvalidInput) as unknown:
        list(read_conversation(tmp_path / "none", "example"))
    assert unknown.value.reason == "invalid_input:format"
    with pytest.raises(InvalidInput):
        Word("format", ("auto",), group="importers").convert("example", None, None)
    rules = RedactionRules(actions={"EXAMPLE_ID": "redact"})
    assert with_detectors(rules) is rules


def test_what_is_built_in_is_never_replaced(install: Install, tmp_path: Path) -> None:
    install(
        {
            "stores": dict.fromkeys(("sqlite", "postgresql"), "mnemic_example.store:build"),
            "embedders": {"minilm": "mnemic_example.models:build_embedder"},
            "completers": {"https": "mnemic_example.models:build_completer"},
            "importers": {"chat": "mnemic_example.importer:items"},
        }
    )
    assert type(build_store(f"sqlite:///{tmp_path}/a.db", durability="fast")).__name__ == "SqliteStore"
    assert type(build_store("postgresql://ana@db/memories", durability="fast")).__name__ == "PostgresStore"
    assert type(build_embedder(Settings(), SystemClock())).__name__ == "MiniLmEmbedder"
    completer = build_completer(Settings(model_url="https://example.org/v1", model="own"), SystemClock())
    assert completer is not None
    assert completer.model == "own"
    file = tmp_path / "chat.jsonl"
    file.write_text('{"role": "user", "content": "tea"}\n')
    (item,) = read_conversation(file, "chat")
    assert item.problem is None


SERVERS = """
class backups:
    @staticmethod
    async def take(location, folder, now):
        return location, str(folder)

def sessions(location):
    return location, ["copy"]

def copies(location, *, dimension):
    return location, dimension

graphs = document_stores = str
"""


def test_a_server_of_a_stranger_is_reached_by_its_address(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stranger_servers.py").write_text(SERVERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    offered = ("sessions", "graphs", "copies", "document_stores", "backups")
    install({group: {"example": f"stranger_servers:{group}"} for group in offered})
    built: list[Any] = [
        build_sessions("example://host", SystemClock()),
        build_graph(Settings(graph="example://host")),
        build_copies("sqlite:///m.db?copy=example://host", dimension=3, sealed=False),
        build_documents("example://host?copy=x"),
        backup_store("example://host?copy=x", Path("folder"), SystemClock()),
    ]
    host = "example://host"
    assert built == [(host, ("copy",)), host, [(host, 3)], host, (host, "folder")]


@pytest.mark.parametrize(
    ("build", "extra"),
    [
        (lambda: build_store("postgres://db", durability="fast"), "postgres"),
        (lambda: build_documents("postgresql://db"), "postgres"),
        (lambda: backup_store("postgresql://db", Path("folder"), SystemClock()), "postgres"),
        (lambda: build_sessions("redis+cluster://db", SystemClock()), "redis"),
        (lambda: build_graph(Settings(graph="neo4j+s://db")), "neo4j"),
        (lambda: build_copies("m.db://?copy=azure-search://:k@s/i", dimension=3, sealed=False), "azure"),
    ],
)
def test_a_server_whose_package_is_not_installed_names_it(
    build: Callable[[], object], extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "_entry_points", lambda **_: [])
    with pytest.raises(InvalidConfig) as refused:
        build()
    assert refused.value.reason == f"invalid_config:store:{extra}"
    assert f"mnemic[{extra}]" in (refused.value.hint or "")


def test_a_package_of_ours_that_fails_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("redis", "mnemic.stores.redis.no_such:build", "mnemic.sessions")
    monkeypatch.setattr(plugins, "_entry_points", lambda **_: [broken])
    monkeypatch.setattr(EntryPoint, "load", lambda _: 1 / 0)
    with pytest.raises(InvalidConfig) as refused:
        build_sessions("redis://db", SystemClock())
    assert refused.value.reason == "invalid_config:plugin:redis"


@pytest.mark.parametrize("given", ["mysql://db", "db"])
def test_an_address_of_no_server_is_refused(given: str) -> None:
    for build in (lambda: build_sessions(given, SystemClock()), lambda: build_graph(Settings(graph=given))):
        with pytest.raises(InvalidConfig, match=r"redis|graph"):
            build()


def test_two_packages_with_one_name_are_refused(install: Install) -> None:
    install({"stores": {"example": "mnemic_example.store:build"}})
    install({"stores": {"example": "mnemic_example.store:ExampleStore"}})
    with pytest.raises(InvalidConfig) as refused:
        plugins.plugin("stores", "example")
    assert "more than one package" in (refused.value.hint or "")


@pytest.mark.parametrize("value", ["no_such_module:build", "mnemic_example.store:nothing"])
def test_a_plug_in_that_cannot_be_loaded_is_named(install: Install, value: str) -> None:
    install({"stores": {"broken": value}})
    with pytest.raises(InvalidConfig) as refused:
        build_store("broken://x", durability="fast")
    assert refused.value.reason == "invalid_config:plugin:broken"
    assert value in (refused.value.hint or "")


def test_a_detector_under_another_name_is_refused(install: Install) -> None:
    install({"detectors": {"OTHER_ID": "mnemic_example.detector:build"}})
    with pytest.raises(InvalidConfig) as refused:
        with_detectors(RedactionRules(actions={"OTHER_ID": "redact"}))
    assert refused.value.reason == "invalid_config:plugin:OTHER_ID"


def test_what_is_installed_is_listed(install: Install) -> None:
    install(ALL)
    listed = [one for one in plugins.list_plugins() if one[3] == "stranger0 1.2"]
    assert [one[0] for one in listed] == sorted(ALL)
    assert plugins.scheme_of("plain/path") is None


def test_a_command_of_another_package_runs(install: Install) -> None:
    install({"commands": {"hello": "mnemic_example.command:hello_"}})

    done = CliRunner().invoke(cli, ["hello"])

    assert (done.exit_code, done.output) == (0, "hello\n")


def test_a_command_that_nobody_offers_is_refused(install: Install) -> None:
    install({"commands": {"hello": "mnemic_example.command:hello_"}})

    done = CliRunner().invoke(cli, ["helo"])

    assert done.exit_code == 2
    assert "hello" in str(done.exception) or "hello" in done.output


def test_the_help_lists_commands_of_other_packages(install: Install) -> None:
    plain = CliRunner().invoke(cli, ["--help"]).output
    install({"commands": {"hello": "mnemic_example.command:hello_", "add": "mnemic_example.command:hello_"}})

    shown = CliRunner().invoke(cli, ["--help"]).output

    assert "hello" not in plain
    ours, _, others = shown.partition("Commands of other packages:")
    assert re.search(r"^ +hello +Of stranger0 1\.2\.$", others, re.MULTILINE)
    assert not re.search(r"^ +add ", others, re.MULTILINE)
    assert re.search(r"^ +add +Remember one thing\.$", ours, re.MULTILINE)


def test_a_shell_completes_commands_of_other_packages(install: Install) -> None:
    install({"commands": {"hello": "mnemic_example.command:hello_"}})

    items = cli.shell_complete(click.Context(cli), "hel")

    assert [(item.value, item.help) for item in items] == [("hello", "stranger0 1.2")]


def test_a_command_of_a_package_that_is_not_installed_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_entry_points", lambda **_: [])

    done = CliRunner().invoke(cli, ["serve"])

    assert done.exit_code == 3
    assert "missing_extra:server" in done.output
    assert "pip install 'mnemic[server]'" in done.output
