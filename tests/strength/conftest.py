"""Minutes and hours of running other tests again: only the scorecard's row asks for it (MNEMIC_STRENGTH=1)."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("MNEMIC_STRENGTH") else ["test_*.py"]
