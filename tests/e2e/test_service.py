"""The service as it is run: `mnemic serve` in a process of its own, called over a socket, told to stop."""

from __future__ import annotations

import re
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from socket import create_server

import httpx
import pytest

from tests.service import MNEMIC, Served, run, serving


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as running:
        yield running


def test_a_key_made_on_the_command_line_opens_the_running_service(served: Served, tmp_path: Path) -> None:
    address, process = served.address, served.process
    made = run(tmp_path, "apikeys", "create", "--role", "reader", "--role", "writer", "--for-user", "ana")
    assert made.returncode == 0, made.stderr
    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        kept = client.post("/v1/memories", json={"content": "I prefer aisle seats.", "key": "seat"})
        found = client.post("/v1/search", json={"query": "where do I like to sit?"})
        nobody = httpx.get(f"{address}/v1/memories")
    assert (kept.status_code, kept.json()["outcome"], kept.json()["durable"]) == (201, "created", True)
    assert found.json()["hits"][0]["memory"]["memory_id"] == kept.json()["memory_id"]
    assert nobody.status_code == 401

    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) in (0, -signal.SIGTERM)
    listed = run(tmp_path, "list", "--user", "ana")
    assert "aisle seats" in listed.stdout


def test_the_log_ends_with_the_end_of_the_service(served: Served) -> None:
    served.process.send_signal(signal.SIGTERM)
    assert served.process.stderr is not None
    told = served.process.stderr.read()
    assert served.process.wait(timeout=60) == -signal.SIGTERM
    assert "Application shutdown complete" in told
    assert told.splitlines()[-1].endswith(f"Finished server process [{served.process.pid}]")


def test_a_stream_is_fed_by_another_process_and_ends_when_the_service_does(served: Served, tmp_path: Path) -> None:
    address, process = served.address, served.process
    made = run(tmp_path, "apikeys", "create", "--role", "reader", "--for-user", "ana")
    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    with httpx.stream("GET", f"{address}/v1/changes", headers=headers, timeout=60) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        assert next(lines).startswith(": from ")
        assert run(tmp_path, "add", "I prefer aisle seats.", "--user", "ana").returncode == 0
        told = next(line for line in lines if line.startswith("data: "))
        assert '"action": "created"' in told
        assert "aisle" not in told
        process.send_signal(signal.SIGTERM)
        assert [line for line in lines if line.startswith("data: ")] == []
    assert process.wait(timeout=60) in (0, -signal.SIGTERM)


def test_two_processes_on_one_store_are_one_service(served: Served, tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {served.key('reader', 'writer')}"}
    part = [{"content": f"Boat number {number} is blue."} for number in range(4)]
    with (
        serving(tmp_path) as second,
        httpx.Client(base_url=served.address, headers=headers, timeout=60) as here,
        httpx.Client(base_url=second.address, headers=headers, timeout=60) as there,
    ):
        once = {"Idempotency-Key": "k1"}
        receipts = [one.post("/v1/memories", json={"content": "I ski."}, headers=once).json() for one in (here, there)]
        assert receipts[0]["memory_id"] == receipts[1]["memory_id"]
        assert there.post("/v1/search", json={"query": "I ski."}).json()["hits"][0]["memory"]["content"] == "I ski."
        stale = {"If-Match": there.get(f"/v1/memories/{receipts[0]['memory_id']}").headers["etag"]}
        path = f"/v1/memories/{receipts[0]['memory_id']}"
        answers = [one.patch(path, json={"content": "I skate."}, headers=stale).status_code for one in (here, there)]
        assert answers == [200, 412]

        assert here.post("/v1/imports/boats", json={"at": 0, "memories": part[:2]}).json()["taken"] == 2
        assert there.get("/v1/imports/boats").json()["taken"] == 2
        assert there.post("/v1/imports/boats", json={"at": 2, "memories": part[2:]}).json()["taken"] == 4
        with there.stream("GET", "/v1/changes?after=0") as stream:
            told = (line for line in stream.iter_lines() if '"action": "created"' in line)
            assert [path.rpartition("/")[2] in next(told), *("created" in next(told) for _ in part)] == [True] * 5


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["serve", "--host", "0.0.0.0"], "invalid_config:service_keys"),
        (["serve", "--host", "0.0.0.0", "--open"], "invalid_config:service_host"),
        (["serve", "--host", "::", "--open"], "invalid_config:service_host"),
        (["serve", "--host", "example.org", "--open"], "invalid_config:service_host"),
    ],
)
def test_others_are_not_served_without_authentication(tmp_path: Path, words: list[str], reason: str) -> None:
    refused = run(tmp_path, *words)
    assert refused.returncode == 3
    assert reason in refused.stderr


def test_a_port_that_is_taken_is_one_line_with_the_option(tmp_path: Path) -> None:
    with create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = run(tmp_path, "serve", "--open", "--port", port)
    assert refused.returncode == 3
    hint = f"something else listens at port {port} already: choose another one with --port"
    assert refused.stderr == f"mnemic: invalid_config:service_port - {hint}\n"


def test_a_key_is_written_to_a_file_that_others_cannot_read(tmp_path: Path) -> None:
    file = tmp_path / "backend.key"
    made = run(tmp_path, "apikeys", "create", "--role", "reader", "--output", str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    key = file.read_text("utf-8").strip()
    assert key.startswith("mnk_")
    assert key not in made.stdout + made.stderr
    again = run(tmp_path, "apikeys", "create", "--role", "reader", "--output", str(file))
    assert (again.returncode, file.read_text("utf-8").strip()) == (3, key)
    assert "invalid_input:file:exists" in again.stderr


def test_it_says_where_the_console_is_and_that_nobody_can_sign_in_yet(tmp_path: Path) -> None:
    command = [*MNEMIC, "serve", "--port", "0", "--store", str(tmp_path / "s.db"), "--user", "ana"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            lines: list[str] = []
            for line in iter(process.stderr.readline, ""):
                lines.append(line)
                if "the console is at" in line:
                    break
        finally:
            process.kill()
    assert any("nobody can sign in yet: mnemic apikeys create" in line and "--for-user ana" in line for line in lines)
    assert re.search(r"http://127\.0\.0\.1:\d+/console", lines[-1])


def test_top_shows_how_it_goes_to_an_operator(served: Served) -> None:
    headers = {"Authorization": f"Bearer {served.key('reader', 'writer')}"}
    httpx.post(f"{served.address}/v1/search", json={"query": "anything"}, headers=headers, timeout=60)
    shown = served.run("top", "--once", "--url", served.address, MNEMIC_SERVICE_KEY=served.key("operator"))
    assert shown.returncode == 0, shown.stderr
    assert "POST /v1/search" in shown.stdout
    refused = served.run("top", "--once", "--url", served.address, MNEMIC_SERVICE_KEY=served.key("reader"))
    assert "service_refused:role_required:operator" in refused.stderr
