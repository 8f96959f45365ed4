"""Nobody reads the log of a service, and it answers."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import httpx
import pytest

from tests.service import serving

PIPE_BYTES = 4096
"""The smallest buffer of a pipe on Linux: a page."""
LINES = 100
"""More of them than such a pipe takes."""


@pytest.mark.faults
def test_a_service_whose_log_nobody_reads_answers(tmp_path: Path) -> None:
    with serving(tmp_path, MNEMIC_SERVICE_LOG_REQUESTS="true") as service:
        assert service.process.stderr is not None
        fcntl.fcntl(service.process.stderr, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        with httpx.Client(base_url=service.address, timeout=20) as client:
            said = [client.post("/v1/search", json={"query": "seat"}).status_code for _ in range(LINES)]
        assert said == [401] * LINES
        assert len(os.read(service.process.stderr.fileno(), PIPE_BYTES)) > PIPE_BYTES // 2
