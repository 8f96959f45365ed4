"""Modules of other distributions, and the error if one is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from mnemic.errors import MissingExtra


@contextmanager
def brought_by(extra: str) -> Iterator[None]:
    """Raise MissingExtra (`missing_extra:<extra>`) if an import inside finds a package missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if isinstance(missing, MissingExtra) or (missing.name or "").partition(".")[0] == "mnemic":
            raise
        raise MissingExtra(extra, hint=f"pip install 'mnemic[{extra}]'") from missing


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
        raise MissingExtra(distribution.removeprefix("mnemic-"), hint=f"pip install {distribution}") from missing
