"""Files that settings are read from: further variables, and secrets as containers are given them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values

from mnemic.errors import InvalidConfig

ENV_FILE = "MNEMIC_ENV_FILE"
"""Variable that names a file of further variables."""
MAX_SECRET_BYTES = 65_536


def variables_in(file: Path) -> Mapping[str, str | None]:
    """Return the variables that a file sets. Raises InvalidConfig (`env_file`)."""
    if not file.is_file():
        raise InvalidConfig("env_file", hint=f"{ENV_FILE} names no file")
    try:
        return dotenv_values(file, encoding="utf-8")
    except (OSError, ValueError):
        raise InvalidConfig("env_file", hint="no file that can be read as text") from None


def secret_in(file: Path, place: str) -> str:
    """Return the only line of a file. Raises InvalidConfig (`place`) if it is empty or has more than one."""
    try:
        with file.open("rb") as opened:
            text = opened.read(MAX_SECRET_BYTES + 1).decode("utf-8").rstrip("\r\n")
    except (OSError, ValueError):
        raise InvalidConfig(place, hint="no file that can be read as text") from None
    if not text.strip() or len(text) > MAX_SECRET_BYTES or not text.isprintable():
        raise InvalidConfig(place, hint="one line of text")
    return text


def secret_named(variable: str) -> str | None:
    """Return a secret that is no setting: the line of the file that `<variable>_FILE` names, or the variable itself.
    Raises InvalidConfig.
    """
    file = os.environ.get(f"{variable}_FILE")
    if file:
        return secret_in(Path(file), f"{variable.removeprefix('MNEMIC_').lower()}_file")
    return os.environ.get(variable) or None
