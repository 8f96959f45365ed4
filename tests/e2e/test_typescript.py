"""The TypeScript client against a running service. `make client-ts` builds it; without that, or without node, this says
so and passes over.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.service import Served, serving

CLIENT = ROOT / "clients" / "typescript"
NODE = shutil.which("node")


MASTRA = CLIENT / "test-mastra"

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="NOT RUN: there is no node"),
    pytest.mark.skipif(
        not (CLIENT / "dist" / "index.js").exists(), reason="NOT RUN: `make client-ts` builds the client"
    ),
]


def test_the_typescript_client_does_what_it_says(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        given = {"MNEMIC_SERVICE_KEY": served.key("reader", "writer", "subject")}
        given["MNEMIC_DESK_KEY"] = served.key("reader", "reviewer", "operator", user="desk")
        assert "# pass 10" in printed_by("test/", served, given)


@pytest.mark.skipif(
    not (MASTRA / "node_modules" / "@mastra").exists(),
    reason="NOT RUN: `make client-ts` fetches the packages of Mastra",
)
def test_an_agent_of_mastra_remembers(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        assert "# pass 3" in printed_by("test-mastra/mastra.test.mjs", served, {})


def test_the_block_of_the_page_of_the_service_has_the_types_of_the_client_and_the_sdk() -> None:
    text = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```ts\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    given = 'declare const model: Parameters<typeof import("ai").wrapLanguageModel>[0]["model"];\n'
    with tempfile.TemporaryDirectory(dir=CLIENT, prefix="page-") as folder:
        page = Path(folder) / "page.ts"
        page.write_text(given + block, encoding="utf-8")
        options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2023", "--module", "nodenext"]
        words = [str(NODE), str(CLIENT / "node_modules" / "typescript" / "bin" / "tsc"), *options, str(page)]
        run = subprocess.run(words, cwd=CLIENT, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stdout


def printed_by(what: str, served: Served, given: Mapping[str, str]) -> str:
    """Run tests of the client against the service; what they print."""
    service = {"MNEMIC_URL": served.address, "MNEMIC_APPLICATION_KEY": served.key("reader", "writer", user=None)}
    run = subprocess.run(
        [str(NODE), "--test", what],
        cwd=CLIENT,
        env={**os.environ, **service, **given},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout
