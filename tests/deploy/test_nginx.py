"""The configuration of nginx before several processes, run by a real nginx. Behind it are small servers that say which
of them was asked: what is tested is where nginx sends whom.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "deploy" / "nginx" / "mnemic.conf"
PORTS = ("8601", "8602", "8603")
_AROUND = """
daemon off; user root; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    include {folder}/mnemic.conf;
}}
"""

NGINX = shutil.which("nginx") or shutil.which(ROOT / "build/nginx/usr/sbin/nginx")
pytestmark = pytest.mark.skipif(NGINX is None, reason="NOT RUN: it needs nginx")


class Process(ThreadingHTTPServer):
    """A server that stands for a process of the service. With `silent` it hangs up instead of answering."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.silent = False


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Process)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server.asked.append(self.command)
        if server.silent:
            self.close_connection = True
            return
        body = str(server.server_address[1]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - the name that it has there

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it has there
        return


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def listening() -> Iterator[Process]:
    server = Process()
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    with ExitStack() as running:
        yield [running.enter_context(listening()) for _ in PORTS]


@pytest.fixture
def front(processes: list[Process], tmp_path: Path) -> Iterator[str]:
    """The address of an nginx before the processes."""
    text, port = CONFIGURATION.read_text(encoding="utf-8"), free_port()
    for written, process in zip(PORTS, processes, strict=True):
        text = text.replace(f"127.0.0.1:{written}", f"127.0.0.1:{process.server_address[1]}")
    (tmp_path / "mnemic.conf").write_text(text.replace("127.0.0.1:8600", f"127.0.0.1:{port}"))
    (tmp_path / "nginx.conf").write_text(_AROUND.format(folder=tmp_path))
    command = [str(NGINX), "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=10)) as client:
            client.get(f"http://127.0.0.1:{port}/")
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait()


def asked(front: str, users: int, **headers: str) -> dict[int, str]:
    """Return the process that answers each user."""
    with httpx.Client(base_url=front) as client:
        answers = {user: client.get("/v1/search", headers=_of(user, headers)) for user in range(users)}
    assert {answer.status_code for answer in answers.values()} == {200}
    return {user: answer.text for user, answer in answers.items()}


def _of(user: int, headers: dict[str, str]) -> dict[str, str]:
    return {"Authorization": f"Bearer token-of-{user}"} | {name: value.format(user) for name, value in headers.items()}


def test_requests_of_a_user_go_to_one_process_and_those_of_many_to_all(front: str) -> None:
    first = asked(front, 150)
    assert asked(front, 150) == first
    share = Counter(first.values())
    assert len(share) == 3
    assert min(share.values()) > 20


def test_the_header_decides_where_an_application_sends_one(front: str) -> None:
    named = {"Mnemic-Route": "acme/ana"}
    assert len(set(asked(front, 30, **named).values())) == 1
    assert len(set(asked(front, 90, **{"Mnemic-Route": "acme/{}"}).values())) == 3


def test_only_the_users_of_a_process_that_is_gone_move(front: str, processes: list[Process]) -> None:
    before = asked(front, 90)
    gone = processes[1]
    gone.silent = True  # on connections that it has
    gone.shutdown()
    gone.server_close()
    after = asked(front, 90)
    lost = str(gone.server_address[1])
    assert {user for user in before if before[user] != after[user]} == {u for u in before if before[u] == lost}
    assert lost not in after.values()


def test_a_write_that_was_sent_is_not_sent_again(front: str, processes: list[Process]) -> None:
    for process in processes:
        process.asked.clear()
        process.silent = True
    with httpx.Client(base_url=front) as client:
        answer = client.post("/v1/memories", json={"content": "tea"}, headers={"Authorization": "Bearer x"})
    assert answer.status_code == 502
    assert [method for process in processes for method in process.asked] == ["POST"]
