"""Additional targets in a store's URL: copies (a search index), a replica."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mnemic.bootstrap.plugin_backends import backend
from mnemic.errors import InvalidConfig

if TYPE_CHECKING:
    from mnemic.ports.projections import Projection

PARAMETER = "copy"
REPLICA = "replica"
_OWN = (PARAMETER, REPLICA)


def copies_of(location: str) -> tuple[str, ...]:
    """Return the addresses that `location` names as `?copy=...&copy=...`."""
    return _parameter_values(location, PARAMETER)


def replica_of(location: str) -> str | None:
    """Return the address that `location` names as `?replica=...`. Raises InvalidConfig (`invalid_config:replica`)."""
    found = _parameter_values(location, REPLICA)
    if len(found) > 1:
        raise InvalidConfig(REPLICA, hint="name one replica; its address may name several hosts")
    return found[0] if found else None


def plain(location: str) -> str:
    """Return `location` as the store itself understands it, without the additional targets."""
    if not any(_parameter_values(location, name) for name in _OWN):
        return location
    parts = urlsplit(location)
    query = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in query if name not in _OWN]
    return urlunsplit(parts._replace(query=urlencode(kept)))


def _parameter_values(location: str, parameter: str) -> tuple[str, ...]:
    query = urlsplit(location).query if "://" in location else ""
    return tuple(value for name, value in parse_qsl(query) if name == parameter)


def build_copies(location: str, *, dimension: int, sealed: bool) -> list[Projection]:
    """Build the consumers of the copies that `location` names: `azure-search://` a search index for vectors of
    `dimension`, another scheme a plug-in.

    Raises InvalidConfig (`invalid_config:copy`), also if the store is sealed: a copy would contain the sealed data in
    plain text.
    """
    urls = copies_of(location)
    if urls and sealed:
        raise InvalidConfig(PARAMETER, hint="a copy would expose in plain text what the store encrypts")
    return [_copy(url, dimension) for url in urls]


def _copy(url: str, dimension: int) -> Projection:
    build = backend("copies", url)
    if build is None:
        hint = "use azure-search://:KEY@SERVICE.search.windows.net/INDEX or a plug-in's"
        raise InvalidConfig(PARAMETER, hint=hint)
    copy: Projection = build(url, dimension=dimension)
    return copy
