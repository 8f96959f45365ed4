"""`python -m mnemic` is the command `mnemic`."""

from __future__ import annotations

from mnemic.entrypoints.cli import main

if __name__ == "__main__":
    main()
