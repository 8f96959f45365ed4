"""These run where the small local model is (`make test-model`): it is too large and too slow for everybody."""

from __future__ import annotations

from tests.model.local import READY

collect_ignore_glob = [] if READY.exists() else ["test_*.py"]
