"""The TypeScript client against a running service. `make client-ts` builds it; without that, or without node, this says
so and passes over.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.service import serving

CLIENT = ROOT / "clients" / "typescript"
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="NOT RUN: there is no node")
@pytest.mark.skipif(not (CLIENT / "dist" / "index.js").exists(), reason="NOT RUN: `make client-ts` builds the client")
def test_the_typescript_client_does_what_it_says(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        given = {"MNEMIC_URL": served.address, "MNEMIC_SERVICE_KEY": served.key("reader", "writer", "subject")}
        given["MNEMIC_DESK_KEY"] = served.key("reader", "reviewer", "operator", user="desk")
        given["MNEMIC_APPLICATION_KEY"] = served.key("reader", "writer", user=None)
        run = subprocess.run(
            [str(NODE), "--test", "test/"],
            cwd=CLIENT,
            env={**os.environ, **given},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "# pass 9" in run.stdout
