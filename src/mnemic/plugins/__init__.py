"""Plug-ins: objects that installed packages offer by an entry point (docs/plugins.md).

Packages are consulted only for a name or a URL scheme that is not built in, so no package can replace a built-in one,
and a program without plug-ins never searches for any.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mnemic.errors import InvalidConfig

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.metadata import EntryPoint

GROUPS = (
    "stores", "document_stores", "sessions", "graphs", "copies", "backups",
    "embedders", "completers", "rerankers", "extractors", "documents", "detectors", "importers", "commands",
)  # fmt: skip
"""The groups of entry points, each `mnemic.<group>`; the name of a store or a completer is the scheme of its URL."""


def plugin(group: str, name: str, *, package: str | None = None) -> Any | None:
    """Load the object that a package offers as `name` in `group`, only of the import package `package` if given; None
    if there is none.

    Raises InvalidConfig (`invalid_config:plugin:<name>`) if two packages offer it, or it cannot be loaded.
    """
    found = [one for one in _offered_entry_points(group, name) if package in (None, one.module.partition(".")[0])]
    return _load_entry_point(group, name, found) if found else None


def _load_entry_point(group: str, name: str, found: Sequence[EntryPoint]) -> Any:
    # The same object twice is one package installed in two places, which does no harm.
    if len({one.value for one in found}) > 1:
        raise InvalidConfig(f"plugin:{name}", hint=f"more than one package offers it in mnemic.{group}")
    try:
        return found[0].load()
    except Exception as error:
        hint = f"{found[0].value} cannot be loaded: {type(error).__name__}"
        raise InvalidConfig(f"plugin:{name}", hint=hint) from error


def is_offered(group: str, name: str) -> bool:
    """Return True if a package offers `name` in `group`; nothing is loaded."""
    return bool(_offered_entry_points(group, name))


def names(group: str) -> list[str]:
    """Return the names that packages offer in `group`, each once, in alphabetical order; nothing is loaded."""
    return sorted({one.name for one in _entry_points(group=f"mnemic.{group}")})


def list_plugins(groups: Sequence[str] = GROUPS) -> list[tuple[str, str, str, str]]:
    """Return every plug-in that is installed: its group, its name, the object, and the package with its version."""
    # Every search of one group reads the entry points of all packages.
    found = import_module("importlib.metadata").entry_points()
    return sorted(
        (group, one.name, one.value, f"{one.dist.name} {one.dist.version}" if one.dist is not None else "")
        for group in groups
        for one in found.select(group=f"mnemic.{group}")
    )


def scheme_of(location: str) -> str | None:
    """Return the scheme of a URL, None if it has none."""
    scheme, separator, _ = location.partition("://")
    return scheme.casefold() if separator else None


def _offered_entry_points(group: str, name: str) -> list[EntryPoint]:
    return _entry_points(group=f"mnemic.{group}", name=name)


def _entry_points(**selected: str) -> list[EntryPoint]:
    # Most programs use no plug-in and should not pay for importing the search for them.
    return list(import_module("importlib.metadata").entry_points(**selected))
