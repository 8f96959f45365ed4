"""The repository that a tool works in, and whose memory that is: the user's own, or by `mnemic.toml` a team's."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from configparser import ConfigParser
from configparser import Error as ConfigFormatError
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from mnemic.coding_agents.state_files import read_state, state_folder, write_state
from mnemic.config.settings import default_user
from mnemic.errors import InvalidConfig
from mnemic.types.values import checked_identifier, checked_name

TEAM_FILE = "mnemic.toml"
LONGEST_TEAM_FILE = 64 * 1024
_TRUSTED = "trusted.json"
_NOT_OF_IDENTIFIERS = re.compile(r"[^A-Za-z0-9_.:@+-]")
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Repository:
    """A working copy: its folder, and a name that is the same in every clone with the same `origin`."""

    root: Path
    name: str

    @property
    def tenant(self) -> str:
        """Return the tenant with the memories of this repository: an identifier of its name."""
        plain = self.name.replace("/", ":")
        safe = _NOT_OF_IDENTIFIERS.sub("-", plain)
        if safe == plain and len(safe) <= _LONGEST:
            return f"repository:{safe}"
        return f"repository:{safe[:_LONGEST]}-{hashlib.sha256(self.name.encode()).hexdigest()[:10]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the memory of a repository is. `workspace`: the team's shared memory in it; None: there is no team. `note`:
    why a team's file is not followed.
    """

    repository: Repository
    store: str
    tenant: str
    user: str
    workspace: str | None = None
    note: str | None = None


def repository_at(folder: Path) -> Repository:
    """Return the repository around `folder`; where there is none, the folder itself stands for one."""
    folder = Path(folder).expanduser().resolve()
    for root in (folder, *folder.parents):
        if (root / ".git").exists():
            remote = _remote_of(root / ".git")
            return Repository(root, remote or _folder_name(root))
    return Repository(folder, _folder_name(folder))


def working_folder() -> Path:
    """Return the folder that a tool has open: Cursor starts servers elsewhere and names it in the environment."""
    named = os.environ.get("WORKSPACE_FOLDER_PATHS")
    return Path(named) if named and Path(named).is_dir() else Path.cwd()


def place_of(folder: Path) -> Place:
    """Return the place of the memory of the repository around `folder`. Raises InvalidConfig (`mnemic.toml`)."""
    chosen = read_state("agents.json")
    repository = repository_at(folder)
    store = chosen.get("store") or str(state_folder() / "coding.db")
    user = chosen.get("user") or default_user()
    own = Place(repository=repository, store=store, tenant=repository.tenant, user=user)
    content = _team_file(repository)
    if content is None:
        return own
    if read_state(_TRUSTED).get(str(repository.root)) != _digest(content):
        return Place(
            repository=repository, store=store, tenant=repository.tenant, user=user, note="mnemic.toml is not trusted"
        )
    return _team_place(own, content)


def trust_team_file(folder: Path) -> Place:
    """Follow the repository's `mnemic.toml` from now on, as long as it stays as it is; return the place that it names.
    Raises InvalidConfig (`mnemic.toml`).
    """
    repository = repository_at(folder)
    content = _team_file(repository)
    if content is None:
        raise InvalidConfig(TEAM_FILE, hint=f"there is none in {repository.root}")
    _team_place(Place(repository=repository, store="", tenant="default", user="x"), content)
    write_state(_TRUSTED, {**read_state(_TRUSTED), str(repository.root): _digest(content)})
    return place_of(folder)


def _team_place(own: Place, content: bytes) -> Place:
    try:
        said = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as wrong:
        raise InvalidConfig(TEAM_FILE, hint=f"it is no TOML: {wrong}") from None
    unknown = sorted(said.keys() - {"store", "tenant", "workspace"})
    if unknown:
        raise InvalidConfig(TEAM_FILE, hint=f"unknown: {', '.join(unknown)}; it has store, workspace, tenant")
    if not all(isinstance(value, str) and value for value in said.values()) or "store" not in said:
        raise InvalidConfig(
            TEAM_FILE, hint='store = "https://... or postgresql://...", and workspace, tenant if wanted'
        )
    store = said["store"]
    if ":" not in store:
        store = str((own.repository.root / Path(store).expanduser()).resolve())
    return Place(
        repository=own.repository,
        store=store,
        tenant=checked_identifier(said.get("tenant", "default"), "tenant"),
        user=own.user,
        workspace=checked_name(said.get("workspace", own.repository.name), "workspace"),
    )


def _team_file(repository: Repository) -> bytes | None:
    path = repository.root / TEAM_FILE
    try:
        with path.open("rb") as file:
            return file.read(LONGEST_TEAM_FILE)
    except OSError:
        return None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _folder_name(root: Path) -> str:
    return f"{root.name or 'root'}-{hashlib.sha256(str(root).encode('utf-8', 'surrogateescape')).hexdigest()[:10]}"


def _remote_of(git: Path) -> str | None:
    """Return the name of `origin`, without the way to it and without a password; None if there is none."""
    try:
        if git.is_file():  # a worktree, or a submodule: the file names the folder
            git = (git.parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()).resolve()
            common = git / "commondir"
            git = (git / common.read_text(encoding="utf-8").strip()).resolve() if common.exists() else git
        config = ConfigParser(strict=False, interpolation=None, allow_no_value=True, comment_prefixes=("#", ";"))
        config.read_string((git / "config").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ConfigFormatError):
        return None
    address = config.get('remote "origin"', "url", fallback=None)
    return None if not address else _name_of(address.strip())


def _name_of(address: str) -> str | None:
    """Return `host/owner/name` of a remote; None for a folder on this machine."""
    if "://" in address:
        parts = urlsplit(address)
        host, path = parts.hostname, parts.path
    else:  # git@host:owner/name
        before, _, path = address.partition(":")
        host = "" if "/" in before else before.rpartition("@")[2]
    name = path.strip("/").removesuffix(".git")
    return f"{host}/{name}".lower() if host and name else None
