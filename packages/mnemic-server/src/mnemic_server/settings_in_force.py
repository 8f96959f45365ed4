"""Settings in force, for operators of the service: the value of each, except for secrets."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from mnemic.config import Settings
from mnemic.config.parsing import Secret, variables

if TYPE_CHECKING:
    from mnemic_server.service_settings import ServiceSettings

SET = "(set)"
"""Shown in place of a value that may contain a password or a key."""


def settings_in_force(settings: Settings, service: ServiceSettings) -> list[dict[str, Any]]:
    """Return every setting with its variable, its value as text, and whether that is the default."""
    own = [
        _row(
            variables(one)[0],
            getattr(settings, one.name),
            one.default,
            one.metadata["description"],
            secret=not one.repr,
        )
        for one in fields(Settings)
    ]
    prefix = str(service.model_config.get("env_prefix", ""))
    of_service = [
        _row(f"{prefix}{name}".upper(), getattr(service, name), one.default, one.description or "", secret=False)
        for name, one in type(service).model_fields.items()
    ]
    return own + of_service


def _row(name: str, value: object, default: object, description: str, *, secret: bool) -> dict[str, Any]:
    return {
        "name": name,
        "value": _shown_value(value, hidden=secret and value != default),
        "is_default": value == default,
        "meaning": description,
    }


def _shown_value(value: object, *, hidden: bool) -> str | None:
    if value is None:
        return None
    if hidden or isinstance(value, Secret | SecretStr):
        return SET
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(sorted(value)) if isinstance(value, frozenset) else str(value)
