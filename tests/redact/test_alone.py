"""The redaction is useful alone: a program that imports it pays for nothing else of mnemic."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
from mnemic.redact import Redactor, redact
assert "[EMAIL#" in redact("Write to jane@acme.com or call +44 20 7946 0958.").text
assert Redactor(actions={"CARD": "block"}).redact("4111 1111 1111 1111", b"secret").blocked == ("CARD",)
print([name for name in sys.modules if name.startswith("mnemic.") and not name.startswith("mnemic.redact")])
"""


def test_redacting_loads_no_other_room() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
