"""The page docs/configuration.md, made of the settings: `python -m tests.e2e.settings_page` writes it anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import AliasChoices
from pydantic_settings import BaseSettings

from mnemic.config import Settings
from mnemic.entrypoints.rest.server import ServiceSettings

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
MARK = "<!-- From here on this page is made of the settings themselves. -->"


def rendered() -> str:
    """The part of the page behind the mark."""
    parts = [
        f"## {title}\n\n| variable | default | |\n|---|---|---|\n" + "\n".join(_rows(settings))
        for title, settings in (("Every command and the library", Settings), ("The service", ServiceSettings))
    ]
    return "\n\n".join(parts) + "\n"


def variables(settings: type[BaseSettings]) -> list[str]:
    """The names of a class of settings in the environment, the first one of each field."""
    prefix = str(settings.model_config.get("env_prefix", ""))
    return [_aliases(field, f"{prefix}{name}".upper())[0] for name, field in settings.model_fields.items()]


def _rows(settings: type[BaseSettings]) -> list[str]:
    rows = []
    for variable, (_, field) in zip(variables(settings), settings.model_fields.items(), strict=True):
        names = ", ".join(f"`{name}`" for name in _aliases(field, variable))
        default = "" if field.default is None else f"`{field.default}`"
        rows.append(f"| {names} | {default} | {(field.description or '').replace('|', chr(92) + '|')} |")
    return rows


def _aliases(field: Any, variable: str) -> list[str]:
    alias = field.validation_alias
    return [str(one) for one in alias.choices] if isinstance(alias, AliasChoices) else [variable]


if __name__ == "__main__":
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(f"{head}{MARK}\n\n{rendered()}", encoding="utf-8")
