"""The data keys under a master key's file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mnemic.config import Settings
from mnemic.plugins.extras import brought_by

if TYPE_CHECKING:
    from mnemic.ports import Keyring


def build_keyring(settings: Settings) -> Keyring | None:
    """Return the data keys under the master key of `settings`; None if they name none. Raises InvalidConfig."""
    if settings.key_file is None:
        return None
    with brought_by("keys"):
        from mnemic.keys import KeyFolder
    return KeyFolder(key_folder(settings.key_file, settings), settings.key_file)


def key_folder(key_file: Path, settings: Settings) -> Path:
    """Return the folder of the data keys: the configured one, else the one next to the master key's file."""
    return settings.key_folder or key_file.with_name(f"{key_file.name}.d")
