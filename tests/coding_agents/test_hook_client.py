"""What a tool starts at every prompt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mnemic

SOURCE = Path(mnemic.__file__).parents[1]


def test_a_hook_loads_nothing_that_takes_long_to_load() -> None:
    """A prompt waits for it. Without `site`, which may load anything on its own account."""
    told = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r}); import mnemic.coding_agents.hook_client; print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-S", "-c", told], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert {one for one in loaded if one.startswith("mnemic")} == {
        "mnemic",
        "mnemic.coding_agents",
        "mnemic.coding_agents.hook_client",
        "mnemic.coding_agents.state_files",
    }
    assert not loaded & {"typing", "tempfile", "hashlib", "asyncio", "dataclasses", "inspect", "click"}
