"""Message for the case that an address needs a package that is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mnemic.errors import InvalidConfig


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Raise InvalidConfig (`invalid_config:store:<name>`) where an import inside finds a package missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise InvalidConfig(f"store:{name}", hint=f"install mnemic[{name}] for this address") from missing
