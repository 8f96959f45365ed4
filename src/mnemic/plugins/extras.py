"""Error where a package that an extra of mnemic brings is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mnemic.errors import MissingExtra


@contextmanager
def brought_by(extra: str) -> Iterator[None]:
    """Raise MissingExtra (`missing_extra:<extra>`) where an import inside finds a package missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if isinstance(missing, MissingExtra) or (missing.name or "").partition(".")[0] == "mnemic":
            raise
        raise MissingExtra(extra, hint=f"pip install 'mnemic[{extra}]'") from missing
