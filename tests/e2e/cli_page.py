"""The page docs/cli.md, made of the real help: `python -m tests.e2e.cli_page` writes it anew."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from mnemic.cli import COMMANDS, cli

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
MARK = "<!-- From here on this page is the help of the program itself. -->"
COMMON = "Options of every command:"


def rendered() -> str:
    """The part of the page behind the mark."""
    parts = [f"## mnemic\n\n```text\n{shown()}\n```"]
    parts += [f"## mnemic {name}\n\n```text\n{shown(name).partition(COMMON)[0].strip()}\n```" for name in COMMANDS]
    return "\n\n".join(parts) + "\n"


def shown(*words: str) -> str:
    """The help of a command, 80 columns wide."""
    result = CliRunner().invoke(cli, [*words, "--help"], prog_name="mnemic", terminal_width=80, env={"COLUMNS": "80"})
    assert result.exit_code == 0
    # A clone also has the commands that measure, which no release brings.
    return re.sub(r"\n\nCommands of other packages:\n( .*\n)+", "\n", result.stdout).strip()


if __name__ == "__main__":
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(f"{head}{MARK}\n\n{rendered()}", encoding="utf-8")
