"""The chart is tested where Helm is (`make deploy-check` builds it from its sources, which takes minutes)."""

from __future__ import annotations

import shutil

from tests.architecture.sources import ROOT


def helm() -> str:
    """The program; nothing where it is not."""
    return shutil.which("helm") or shutil.which("helm", path=str(ROOT / "build" / "deploy")) or ""


collect_ignore_glob = [] if helm() else ["test_helm.py"]
