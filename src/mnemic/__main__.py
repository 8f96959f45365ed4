"""The command `mnemic`, and `python -m mnemic`: what `mnemic.cli` has."""

from __future__ import annotations

import sys
import time


def main() -> None:
    """Run the command line and exit with its exit code."""
    began = time.monotonic()
    if sys.argv[1:2] == ["hook"] and sys.argv[2:3] != ["--help"]:
        # A prompt waits for this: it loads neither click nor anything else of the command line.
        from mnemic.coding_agents.hook_client import run_hook

        sys.exit(run_hook(sys.argv[2:], began))
    from mnemic.cli import main as run_command_line

    run_command_line()


if __name__ == "__main__":
    main()
