"""Backends of packages outside the core, by the scheme of a URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mnemic.errors import InvalidConfig
from mnemic.plugins import plugin, scheme_of

if TYPE_CHECKING:
    pass

_POSTGRES = {"postgresql": "postgres", "postgres": "postgres"}
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "stores": {**_POSTGRES, "cassandra": "cassandra"},
    "document_stores": _POSTGRES,
    "backups": _POSTGRES,
    "graphs": {**_POSTGRES, "neo4j": "neo4j", "bolt": "neo4j"},
    "sessions": {"redis": "redis", "rediss": "redis"},
    "copies": {"azure-search": "azure"},
}
"""The schemes that packages of this repository offer in each group, and the extra that brings the package."""
BUILT_IN = frozenset({"sqlite", "jsonl"})
"""Schemes of the core, which are never looked up in packages."""


def backend(group: str, location: str) -> Any | None:
    """Load the plug-in in `mnemic.<group>` for the scheme of `location`; None if there is none.

    The schemes of this repository's packages are reserved for them, and a variant counts as its scheme: `neo4j+s://` as
    `neo4j`. Raises InvalidConfig: `invalid_config:store:<extra>` if such a package or its driver is not installed,
    `invalid_config:plugin:<scheme>` if another cannot be loaded.
    """
    scheme = scheme_of(location)
    if scheme is None or scheme in BUILT_IN:
        return None
    known = EXTRAS[group].get(scheme.partition("+")[0])
    if known is None:
        return plugin(group, scheme)
    try:
        found = plugin(group, scheme.partition("+")[0], package="mnemic")
    except InvalidConfig as broken:
        if not isinstance(broken.__cause__, ModuleNotFoundError):
            raise
        found = None
    if found is None:
        raise InvalidConfig(f"store:{known}", hint=f"install mnemic[{known}] for this address")
    return found


def offered_as(group: str, name: str) -> Callable[..., Any]:
    """Return the factory that a package offers as `name`. Raises InvalidConfig (`invalid_config:plugin:<name>`)."""
    factory: Callable[..., Any] | None = plugin(group, name)
    if factory is None:
        raise InvalidConfig(f"plugin:{name}", hint=f"no installed package offers it in mnemic.{group}")
    return factory
