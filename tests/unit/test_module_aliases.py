"""Old import names: aliases of what became a package, the same modules and classes."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path

import pytest

from mnemic.errors import MissingExtra
from mnemic.module_aliases import alias, old_names

MOVED, RENAMED = old_names()["modules"], old_names()["classes"]
TRIED = """
import warnings
with warnings.catch_warnings(record=True) as noticed:
    warnings.simplefilter("always")
    from {old}.{module} import {name} as by_old_name
    import {old}.{module} as old_module
from {new}.{module} import {name}
import {new}.{module} as module
assert by_old_name is {name}
assert old_module is module
assert module.__spec__.name == "{new}.{module}", module.__spec__
assert "{old} has become {new}{of}" in [str(one.message) for one in noticed]
"""


@pytest.mark.parametrize(
    ("old", "new", "package", "module", "name"),
    [
        ("mnemic.testing", "mnemic_testing", "mnemic-testing", "clock", "ManualClock"),
        ("mnemic.testing", "mnemic_testing", "mnemic-testing", "record_store", "RecordStoreContract"),
        ("mnemic.keys", "mnemic_keys", "mnemic-keys", "data_key_folder", "KeyFolder"),
        ("mnemic.client", "mnemic_client", "mnemic-client", "opening", "connect"),
        ("mnemic.evaluate", "mnemic_eval", "mnemic-eval", "metrics", "percentiles"),
        ("mnemic.integrations", "mnemic_agents", "mnemic-agents", "turns", "TurnMemory"),
        ("mnemic.entrypoints.cli", "mnemic_cli", "mnemic-cli", "failures", "Exit"),
        ("mnemic.entrypoints.rest", "mnemic_server", "mnemic-server", "credentials", "ApiKeys"),
        ("mnemic.stores.azure_search", "mnemic_azure", "mnemic-azure", "index", "AzureSearchIndex"),
        ("mnemic.stores.neo4j", "mnemic_neo4j", "mnemic-neo4j", "graph", "Neo4jGraph"),
        ("mnemic.stores.postgres", "mnemic_postgres", "mnemic-postgres", "store", "PostgresStore"),
        ("mnemic.stores", "mnemic_stores", "mnemic-stores", "codec", "dump"),
        ("mnemic.stores.sqlite", "mnemic_sqlite", "mnemic-sqlite", "store", "SqliteStore"),
        ("mnemic.stores.redis", "mnemic_redis", "mnemic-redis", "connection", "RedisLink"),
        ("mnemic.steps", "mnemic_agents.steps", "mnemic-agents", "state", "TurnRules"),
        ("mnemic.handlers", "mnemic.dispatch.handlers", "mnemic", "add", "AddHandler"),
        ("mnemic.extract.travel", "mnemic_travel", "mnemic-travel", "reservation_reader", "reservations"),
    ],
)
def test_an_old_name_is_the_same_module(old: str, new: str, package: str, module: str, name: str) -> None:
    of = f", of the package {package}" if package != "mnemic" else ""
    program = TRIED.format(old=old, new=new, of=of, module=module, name=name)

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)

    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("old", sorted(MOVED))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_old_name_is_found(old: str) -> None:
    assert import_module(old) is import_module(MOVED[old])


def test_the_old_name_of_a_module_hides_no_function_of_its_name(tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"role": "user", "content": "The cat is called Miso."}\n', encoding="utf-8")
    program = (
        "import mnemic.conversations.packed, mnemic.inject.fold, sys\n"
        "from mnemic.conversations import read_conversation; from mnemic.inject import fold\n"
        "assert mnemic.inject.fold is fold and callable(fold), fold\n"
        "print([item.content.content for item in read_conversation(sys.argv[1])])"
    )

    command = [sys.executable, "-W", "ignore", "-c", program, str(chat)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert "Miso" in run.stdout, run.stderr


def test_a_module_that_moved_within_the_package_says_where_it_is() -> None:
    program = "import warnings; warnings.simplefilter('error'); from mnemic.identity import new_id"

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)

    assert "mnemic.identity has become mnemic.types.identity" in run.stderr
    assert 'File "<string>", line 1' in run.stderr


def test_the_extra_of_a_missing_package_is_one_that_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    extras = set(metadata("mnemic").get_all("Provides-Extra") or ())
    needed = {
        "mnemic",
        "mnemic_cli",
        "mnemic_kinds",
        "mnemic_language",
        "mnemic_maintenance",
        "mnemic_operations",
        "mnemic_sqlite",
        "mnemic_stores",
    }  # by no extra
    for package in {new.partition(".")[0] for new in MOVED.values()} - needed:
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingExtra) as raised:
            alias(f"mnemic.{package}", package)
        assert raised.value.reason.removeprefix("missing_extra:") in extras


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(MissingExtra, match="pip install mnemic-absent") as raised:
        alias("mnemic.absent", "mnemic_absent")
    assert raised.value.reason == "missing_extra:absent"


def test_a_failure_inside_the_package_is_no_missing_package(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("package")
    (folder / "mnemic_broken.py").write_text("import a_package_that_is_not_there\n")
    monkeypatch.syspath_prepend(str(folder))

    with pytest.raises(ModuleNotFoundError, match="a_package_that_is_not_there") as raised:
        alias("mnemic.broken", "mnemic_broken")
    assert not isinstance(raised.value, MissingExtra)


@pytest.mark.parametrize(("module", "names"), RENAMED.items())
def test_an_old_name_of_a_class_is_the_same_class(module: str, names: dict[str, str]) -> None:
    home = import_module(module)
    for old, new in names.items():
        with pytest.warns(DeprecationWarning, match=f"{old} has become {new}"):
            assert getattr(home, old) is getattr(home, new)
    with pytest.raises(AttributeError, match="no_such_name"):
        home.no_such_name  # noqa: B018


def test_old_names_of_ports_are_there_under_the_old_name_of_their_module() -> None:
    with pytest.warns(DeprecationWarning, match="Adopting has become TenantMigration"):
        from mnemic.ports.offers import Adopting
    assert Adopting.__name__ == "TenantMigration"
