"""The command `mnemic`, and `python -m mnemic`: what `mnemic.cli` has."""

from __future__ import annotations

from mnemic.cli import main

if __name__ == "__main__":
    main()
