"""What a plug-in implements can be imported by itself, before anything else of mnemic."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
ROWS = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `mnemic.")]
NAMED = sorted({name for row in ROWS for name in re.findall(r"`(mnemic\.[\w.]+\.[A-Z]\w+)`", row)})


def test_the_page_names_interfaces() -> None:
    assert len(NAMED) >= 10


@pytest.mark.parametrize("name", NAMED)
def test_a_plugin_imports_its_interface_first(name: str) -> None:
    module, _, thing = name.rpartition(".")
    code = f"from {module} import {thing}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
