"""The command `mnemic`, and `python -m mnemic`: the command line is the package mnemic.cli."""

from __future__ import annotations

from importlib import import_module


def main() -> None:
    """Run the command line. The import is by name, because the core knows of no other package that is built on it."""
    import_module("mnemic.cli").main()


if __name__ == "__main__":
    main()
