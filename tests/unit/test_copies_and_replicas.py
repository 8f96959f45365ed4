"""Copies that an address names beside the store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from mnemic.bootstrap.stores import build_copies, copies_of, plain
from mnemic.cli import cli
from mnemic.errors import InvalidConfig
from mnemic.stores.azure import AzureSearchIndex
from mnemic.types import Actor
from tests.azure_search import KEY, AzureSearchServer
from tests.processes import running

ANA = Actor(user="ana")
STORE = "postgresql://ana@host/db?sslmode=require"


def test_an_address_names_them_and_the_store_does_not_see_them() -> None:
    both = STORE + "&copy=example://there&copy=azure-search://:a%2Bb@s.search.windows.net/i"
    assert copies_of(both) == ("example://there", "azure-search://:a+b@s.search.windows.net/i")
    assert plain(both) == STORE
    for bare in (STORE, "memory:", "mnemic.db", "a?copy=b.db"):
        assert copies_of(bare) == ()
        assert plain(bare) == bare


async def test_each_scheme_has_its_copy() -> None:
    (index,) = build_copies("sqlite:///m.db?copy=azure-search://:key@s.search.windows.net/i", dimension=3, sealed=False)
    assert isinstance(index, AzureSearchIndex)
    assert index.name == "search_index"
    await index.close()


@pytest.mark.parametrize("url", ["jsonl:///folder", "ftp://host/folder", "azure-search://:k@host"])
def test_what_is_no_copy_is_refused(url: str) -> None:
    with pytest.raises(InvalidConfig):
        build_copies(f"sqlite:///m.db?copy={url}", dimension=384, sealed=False)


def test_what_is_sealed_is_not_copied_in_plain() -> None:
    with pytest.raises(InvalidConfig, match="copy"):
        build_copies("sqlite:///m.db?copy=azure-search://:k@s.search.windows.net/i", dimension=384, sealed=True)


def test_a_command_makes_the_index_and_fills_it(tmp_path: Path) -> None:
    file = f"sqlite:///{tmp_path}/m.db"
    runner = CliRunner()
    with running(AzureSearchServer()) as service:
        assert runner.invoke(cli, ["add", "--store", file, "--user", "ana", "I like tea"]).exit_code == 0
        copied = f"{file}?copy=" + service.endpoint.replace("http://", f"azure-search://:{KEY}@") + "/memories"
        told = runner.invoke(cli, ["maintain", "--store", copied, "--rebuild", "search_index", "--json"])
        assert json.loads(told.stdout)["memories"] == 1
        assert list(service.indexes) == ["memories"]
        assert [document["content"] for document in service.documents.values()] == ["I like tea"]
        refused = runner.invoke(cli, ["maintain", "--store", copied, "--rebuild", "nothing"])
        assert refused.exit_code == 3
        still_fed = runner.invoke(cli, ["maintain", "--store", copied, "--unregister", "search_index"])
        assert still_fed.exit_code == 3
    assert runner.invoke(cli, ["add", "--store", file, "--user", "ana", "I like coffee"]).exit_code == 0
    gone = runner.invoke(cli, ["maintain", "--store", file, "--unregister", "search_index", "--json"])
    assert json.loads(gone.stdout)["entries"] >= 1
