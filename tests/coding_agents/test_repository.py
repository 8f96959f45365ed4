"""Whose memory a folder has: one scope a repository, and a team's by a file that was trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.coding_agents.repository import place_of, repository_at, trust_team_file
from mnemic.errors import InvalidConfig
from tests.coding_agents.conftest import Mnemic


def clone(folder: Path, url: str) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n')
    return folder


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:acme/shop.git",
        "https://github.com/Acme/Shop",
        "https://ana:t0ken@github.com/acme/shop.git/",
        "ssh://git@github.com:22/acme/shop.git",
    ],
)
def test_every_clone_of_a_repository_has_the_same_memory(home: Path, url: str) -> None:
    folder = clone(home / "somewhere", url) / "src" / "deep"
    folder.mkdir(parents=True)

    assert repository_at(folder).name == "github.com/acme/shop"
    assert repository_at(folder).tenant == "repository:github.com:acme:shop"


def test_repositories_without_a_remote_and_plain_folders_each_have_their_own(home: Path) -> None:
    local = clone(home / "a" / "notes", "/srv/git/notes.git")
    (home / "b" / "notes").mkdir(parents=True)
    names = {repository_at(folder).tenant for folder in (local, home / "b" / "notes", home / "b")}

    assert len(names) == 3
    assert repository_at(local).name.startswith("notes-")


def test_names_that_are_no_identifiers_stay_apart(home: Path) -> None:
    first = clone(home / "a", "https://git.example.org/größe/a~b")
    second = clone(home / "b", "https://git.example.org/größe/a!b")

    assert repository_at(first).tenant != repository_at(second).tenant
    assert repository_at(first).tenant.isascii()


def test_a_worktree_has_the_memory_of_its_repository(home: Path) -> None:
    main = clone(home / "shop", "git@github.com:acme/shop.git")
    (main / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (main / ".git" / "worktrees" / "fix" / "commondir").write_text("../..\n")
    tree = home / "fix"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/fix\n")

    assert repository_at(tree).name == "github.com/acme/shop"


def test_a_team_file_of_a_cloned_repository_sends_nothing_anywhere_until_it_is_trusted(
    repository: Path, mnemic: Mnemic
) -> None:
    team = repository / "mnemic.toml"
    team.write_text('store = "team.db"\nworkspace = "shop"\n')

    untrusted = place_of(repository)
    assert untrusted.workspace is None
    assert untrusted.store.endswith("coding.db")
    assert "not trusted" in mnemic("install").stdout
    assert "team  shop" in mnemic("install", "--trust").stdout
    trusted = place_of(repository)
    assert (trusted.store, trusted.workspace, trusted.tenant) == (str(repository / "team.db"), "shop", "default")
    team.write_text('store = "https://elsewhere.example"\n')
    assert place_of(repository).note == "mnemic.toml is not trusted"


@pytest.mark.parametrize(
    "content", ['workspace = "x"', "store = 1", 'store = "a"\napi_key = "x"', "store = ", 'store = "a"\ntenant = "a b"']
)
def test_a_team_file_with_mistakes_is_refused(repository: Path, content: str) -> None:
    (repository / "mnemic.toml").write_text(content)

    with pytest.raises((InvalidConfig, ValueError)) as refused:
        trust_team_file(repository)
    assert getattr(refused.value, "reason", "").startswith("invalid_")
