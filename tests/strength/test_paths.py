"""Mutation testing finds the files that its settings name: else it tries no mutant, many minutes later."""

from __future__ import annotations

from tests.strength.mutated import mutated


def test_every_path_of_the_settings_is_there() -> None:
    named = [
        (folder, path)
        for folder, settings in mutated().items()
        for path in (*settings["only_mutate"], *settings["pytest_add_cli_args_test_selection"])
    ]
    assert [(folder.name, path) for folder, path in named if not list(folder.glob(path))] == []
