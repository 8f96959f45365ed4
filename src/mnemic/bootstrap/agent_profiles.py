"""Profiles of agents from files."""

from __future__ import annotations

import tomllib
from pathlib import Path

from mnemic.config import Settings
from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.kinds.profile import Profile
from mnemic.policy import strict_json
from mnemic.types import checked_identifier

PROFILE_SUFFIXES, MAX_PROFILE_BYTES = (".json", ".toml", ".yaml", ".yml"), 64 * 1024


def build_profile(settings: Settings, agent: str) -> Profile | None:
    """Return the profile of `agent` in the folder of personas; None if there is no folder, or no file of that name, as
    for an agent name that is no identifier. Raises InvalidConfig.
    """
    folder = settings.personas
    if folder is None:
        return None
    try:
        files = [folder / f"{checked_identifier(agent, 'agent')}{suffix}" for suffix in PROFILE_SUFFIXES]
    except InvalidInput:
        return None
    found = [file for file in files if file.is_file() and file.resolve().parent == folder.resolve()]
    if len(found) > 1:
        raise InvalidConfig("persona:file", hint=f"more than one profile: {', '.join(file.name for file in found)}")
    return load_profile(found[0]) if found else None


def load_profile(path: Path) -> Profile:
    """Return the profile in a JSON, TOML or YAML file of at most 64 KiB. Raises InvalidConfig
    (`invalid_config:persona:<what>`).
    """
    try:
        with path.open("rb") as file:
            text = file.read(MAX_PROFILE_BYTES + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidConfig("persona:file", hint="it cannot be read as text") from None
    if len(text.encode()) > MAX_PROFILE_BYTES:
        raise InvalidConfig("persona:file", hint=f"more than {MAX_PROFILE_BYTES} bytes")
    try:
        return Profile.from_data(_parse_profile(text, path.suffix))
    except (strict_json.NotStrictJson, tomllib.TOMLDecodeError) as error:
        raise InvalidConfig("persona:file", hint=str(error)) from None


def _parse_profile(text: str, suffix: str) -> object:
    if suffix == ".json":
        return strict_json.loads(text)
    if suffix == ".toml":
        return tomllib.loads(text)
    try:
        from mnemic.providers.yaml_text import NotPlainYaml, loads
    except ModuleNotFoundError as missing:
        raise InvalidConfig("persona:yaml", hint="install mnemic[yaml], or write JSON or TOML") from missing
    try:
        return loads(text)
    except NotPlainYaml as error:
        raise InvalidConfig("persona:file", hint=str(error)) from None
