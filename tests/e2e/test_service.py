"""The service as it is run: `mnemic serve` in a process of its own, called over a socket, told to stop."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.service import Served, run, serving


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


def test_top_shows_how_it_goes_to_an_operator(served: Served) -> None:
    headers = {"Authorization": f"Bearer {served.key('reader', 'writer')}"}
    httpx.post(f"{served.address}/v1/search", json={"query": "anything"}, headers=headers, timeout=60)
    shown = served.run("top", "--once", "--url", served.address, MNEMIC_SERVICE_KEY=served.key("operator"))
    assert shown.returncode == 0, shown.stderr
    assert "POST /v1/search" in shown.stdout
    refused = served.run("top", "--once", "--url", served.address, MNEMIC_SERVICE_KEY=served.key("reader"))
    assert "service_refused:role_required:operator" in refused.stderr
