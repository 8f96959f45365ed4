"""The tabs of the documentation's home page run as they stand: library, asynchronous, service, agent."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

import pytest

from tests.e2e.test_further_blocks import run
from tests.e2e.test_pages_run import ROOT
from tests.service import serving

TAB = re.compile(r'^=== "(\w+)"\n\n( {4}```python\n.*?\n {4}```)$', re.MULTILINE | re.DOTALL)
TABS = dict(TAB.findall((ROOT / "docs" / "index.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize("tab", ["Python", "Async", "Service", "Agent"])
def test_a_tab_remembers_what_the_user_eats(tab: str, tmp_path: Path) -> None:
    code = "\n".join(textwrap.dedent(TABS[tab]).splitlines()[1:-1])
    if tab != "Service":
        (tmp_path / "block.py").write_text(code, encoding="utf-8")
        assert "vegetarian" in run(f"{sys.executable} block.py", tmp_path)
        return
    with serving(tmp_path) as served:
        code = code.replace("http://127.0.0.1:8377", served.address)
        code = code.replace("mnk_...", served.key("reader", "writer", user=None))
        (tmp_path / "block.py").write_text(code, encoding="utf-8")
        assert "vegetarian" in run(f"{sys.executable} block.py", tmp_path)
