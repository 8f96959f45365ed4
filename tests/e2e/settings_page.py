"""The page docs/configuration.md, made of the settings: `python -m tests.e2e.settings_page` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from mnemic.config import Settings
from mnemic.config import parsing as config_fields
from mnemic_server.service_settings import ServiceSettings

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
MARK = "<!-- From here on this page is made of the settings themselves. -->"


class Row(NamedTuple):
    """One setting as the page tells it."""

    names: tuple[str, ...]
    default: object
    description: str


def rendered() -> str:
    """The part of the page behind the mark."""
    parts = [
        f"## {title}\n\n| variable | default | |\n|---|---|---|\n" + "\n".join(map(_line, rows))
        for title, rows in (("Every command and the library", of_every_command()), ("The service", of_the_service()))
    ]
    return "\n\n".join(parts) + "\n"


def of_every_command() -> Iterator[Row]:
    """The settings that the command line and the library read."""
    for declared in fields(Settings):
        yield Row(config_fields.variables(declared), declared.default, declared.metadata["description"])


def of_the_service() -> Iterator[Row]:
    """Those that only the service reads."""
    prefix = str(ServiceSettings.model_config.get("env_prefix", ""))
    for name, declared in ServiceSettings.model_fields.items():
        yield Row((f"{prefix}{name}".upper(),), declared.default, declared.description or "")


def variables() -> set[str]:
    """The first name of each setting in the environment."""
    return {row.names[0] for row in (*of_every_command(), *of_the_service())}


def _line(row: Row) -> str:
    names = ", ".join(f"`{name}`" for name in row.names)
    default = "" if row.default is None else f"`{row.default}`"
    return f"| {names} | {default} | {row.description.replace('|', chr(92) + '|')} |"


if __name__ == "__main__":
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(f"{head}{MARK}\n\n{rendered()}", encoding="utf-8")
