"""The command `mnemic`. Its help costs click and nothing else; a command's own file is loaded when it is called."""

from __future__ import annotations

from mnemic.cli.command_list import COMMANDS, EPILOG, GROUPS, HELP
from mnemic.cli.lazy_loading import LazyGroup

__all__ = ["COMMANDS", "cli", "main"]

cli = LazyGroup(name="mnemic", groups=GROUPS, help=HELP, epilog=EPILOG)


def main() -> None:
    """Run the command line and exit with its exit code."""
    cli(prog_name="mnemic")
