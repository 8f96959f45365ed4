"""The command `mnemic`, and `python -m mnemic`: the command line is the package mnemic-cli."""

from __future__ import annotations

import sys
from importlib import import_module

from mnemic.errors import MissingExtra
from mnemic.plugins.extras import brought_by


def main() -> None:
    """Run the command line, or name what installs it, with the exit code of an input that cannot be used."""
    try:
        with brought_by("cli"):
            run = import_module("mnemic_cli").main
    except MissingExtra as missing:
        sys.exit(_complaint(missing))
    run()


def _complaint(missing: MissingExtra) -> int:
    sys.stderr.write(f"mnemic: {missing.reason} - {missing.hint}\n")
    return 3


if __name__ == "__main__":
    main()
