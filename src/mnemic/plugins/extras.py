"""Modules of other distributions, and the error if one is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from mnemic import reason_codes
from mnemic.errors import MissingExtra


class MissingForSetting(MissingExtra):
    """A package that a setting or a command needs is not installed; the reason names the setting."""

    # Stable: these places raised InvalidConfig before MissingExtra existed, and callers branch on the reason.
    code = reason_codes.INVALID_CONFIG


def missing_extra(name: str, *, install: str | None = None, setting: str | None = None) -> MissingExtra:
    """Return the error for a package that is not installed: `missing_extra:<name>`, or `invalid_config:<setting>`. Its
    hint is the command that installs the requirement `install`, by default the extra `name` of mnemic.
    """
    needed = install or f"mnemic[{name}]"
    hint = f"pip install '{needed}'" if "[" in needed else f"pip install {needed}"
    return MissingExtra(name, hint=hint) if setting is None else MissingForSetting(setting, hint=hint)


@contextmanager
def brought_by(extra: str) -> Iterator[None]:
    """Raise MissingExtra (`missing_extra:<extra>`) if an import inside finds a package missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        # Named already by an inner import; or a module of this package, which no extra brings and whose absence is a
        # bug.
        if isinstance(missing, MissingExtra) or (missing.name or "").partition(".")[0] == "mnemic":
            raise
        raise missing_extra(extra) from missing


def package_module(name: str) -> Any:
    """Return a module of another distribution of this repository, which the core does not know by an import.

    Raises MissingExtra (`missing_extra:<name>`) if that distribution is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        package = name.partition(".")[0]
        if missing.name != package:
            raise
        distribution = package.replace("_", "-")
        raise missing_extra(distribution.removeprefix("mnemic-"), install=distribution) from missing
