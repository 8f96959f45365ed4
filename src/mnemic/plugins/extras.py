"""The error for a package that is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mnemic import reason_codes
from mnemic.errors import MissingExtra


class MissingForSetting(MissingExtra):
    """A package that a setting or a command needs is not installed; the reason names the setting."""

    # What the setting asks for cannot be had here: whoever reads the reason wants the setting, not the package.
    code = reason_codes.INVALID_CONFIG


def missing_extra(name: str, *, setting: str | None = None) -> MissingExtra:
    """Return the error for the extra `name` that is not installed: `missing_extra:<name>`, or
    `invalid_config:<setting>`. Its hint is the command that installs the extra.
    """
    hint = f"pip install 'mnemic[{name}]'"
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
