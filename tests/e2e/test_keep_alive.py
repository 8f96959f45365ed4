"""A connection is kept for the next request for as long as the settings say."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

from mnemic_server.service_settings import ServiceSettings
from tests.service import serving

NGINX_KEEPS = 60
"""Seconds that nginx keeps a connection to what it stands before (`keepalive_timeout` of an upstream)."""


def test_an_idle_connection_is_closed_after_the_seconds_of_the_settings(tmp_path: Path) -> None:
    with serving(tmp_path, MNEMIC_SERVICE_KEEP_ALIVE_SECONDS="1") as service:
        address = urlsplit(service.address)
        with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=60) as idle:
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n")
            answer = b""
            while piece := idle.recv(4096):
                answer += piece
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_a_proxy_closes_its_end_first() -> None:
    assert ServiceSettings.load().keep_alive_seconds > NGINX_KEEPS
