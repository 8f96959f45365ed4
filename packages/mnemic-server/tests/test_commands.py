"""Commands of the service: offered by entry points, and named where the package is missing."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from mnemic import plugins
from mnemic.cli import COMMANDS, cli, lazy_loading

OF_THE_SERVICE = sorted(name for name, one in COMMANDS.items() if one.extra == "server")


def test_the_package_offers_the_commands_that_the_core_lists_for_it() -> None:
    offered = [
        name for group, name, value, _ in plugins.list_plugins() if group == "commands" and "mnemic_server" in value
    ]
    assert sorted(offered) == OF_THE_SERVICE == ["apikeys", "serve", "tenants", "top", "webhooks", "work"]


@pytest.mark.parametrize("name", OF_THE_SERVICE)
def test_each_has_a_page_of_help(name: str) -> None:
    result = CliRunner().invoke(cli, [name, "--help"], prog_name="mnemic")
    assert result.exit_code == 0
    assert f"mnemic {name}" in result.stdout


@pytest.mark.parametrize("name", OF_THE_SERVICE)
def test_without_the_package_its_name_is_given(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_loading, "plugin", lambda group, command: None)
    result = CliRunner().invoke(cli, [name], prog_name="mnemic")
    assert result.exit_code == 3
    assert "missing_extra:server" in result.stderr
    assert "pip install 'mnemic[server]'" in result.stderr
