"""A model or an embedder that takes requests and answers none costs nobody a plain add or search (S35)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import httpx
import pytest

from tests.faults.scale import size
from tests.scripted_model import Fault, ModelRequest, Reply, ScriptedModelServer
from tests.service import serving

AT_ONCE = 16
CAPTURES = size(24, 64)
PLAIN = size(20, 1000)
DIMENSION = 8
WAIT = 60  # seconds after which a request counts as hung
UNLIMITED = {"MNEMIC_SERVICE_REQUESTS_PER_SECOND": "100000", "MNEMIC_SERVICE_TENANT_REQUESTS_PER_SECOND": "100000"}
"""One person's thousand requests come as fast as they are answered."""


def hang(_: ModelRequest) -> Reply:
    return Reply.broken(Fault.HANG)


@pytest.mark.faults
def test_a_hanging_model_costs_no_plain_add_or_search(tmp_path: Path, say: Callable[[str], None]) -> None:
    """Everybody captures, over and over, through a model that never answers; one person adds and searches."""
    over = Event()
    with (
        ScriptedModelServer(hang) as model,
        serving(
            tmp_path,
            MNEMIC_MODEL_URL=model.base_url,
            MNEMIC_API_KEY="x",
            MNEMIC_SERVICE_MAX_CONCURRENT_REQUESTS=str(AT_ONCE),
            **UNLIMITED,
        ) as service,
        httpx.Client(base_url=service.address, timeout=WAIT) as client,
        ThreadPoolExecutor(CAPTURES) as pool,
    ):
        keys = {user: service.key("reader", "writer", user=user) for user in ("ana", "eve")}

        def capture() -> list[int]:
            answers = []
            while not over.is_set():
                headers = {"Authorization": f"Bearer {keys['eve']}"}
                said = {"message": "I am allergic to peanuts."}
                answer = httpx.post(f"{service.address}/v1/capture", json=said, headers=headers, timeout=WAIT)
                answers.append(answer.status_code)
                over.wait(float(answer.headers.get("Retry-After", "0")))
            return answers

        captures = [pool.submit(capture) for _ in range(CAPTURES)]
        client.headers["Authorization"] = f"Bearer {keys['ana']}"
        try:
            for number in range(PLAIN):
                added = client.post("/v1/memories", json={"content": f"Parcel {number} is for Oslo."})
                assert added.status_code == 201, added.text
                found = client.post("/v1/search", json={"query": f"parcel {number}"})
                assert (found.status_code, found.json()["errors"]) == (200, {}), found.text
        finally:
            over.set()
        answers = [status for one in captures for status in one.result()]
        asked = len(model.requests)
    say(f"{PLAIN} adds and {PLAIN} searches answered beside {len(answers)} captures, {asked} requests to the model")
    assert asked
    assert set(answers) <= {200, 201, 429}


@pytest.mark.faults
def test_beside_a_hanging_embedder_words_find_and_adds_are_kept_without_a_vector(
    tmp_path: Path, say: Callable[[str], None]
) -> None:
    hangs = Event()

    def script(request: ModelRequest) -> Reply:
        return hang(request) if hangs.is_set() else Reply()

    with ScriptedModelServer(embeddings=script, dimension=DIMENSION) as server:
        embedder = {
            "MNEMIC_EMBEDDER": "http",
            "MNEMIC_EMBEDDER_URL": server.base_url,
            "MNEMIC_EMBEDDER_MODEL": "tiny",
            "MNEMIC_EMBEDDER_DIMENSION": str(DIMENSION),
        }
        with (
            serving(tmp_path, **embedder, **UNLIMITED) as service,
            httpx.Client(base_url=service.address, timeout=WAIT) as client,
        ):
            made = service.run(
                "apikeys", "create", "--role", "reader", "--role", "writer", "--for-user", "ana", **embedder
            )
            client.headers["Authorization"] = f"Bearer {made.stdout.strip()}"
            assert client.post("/v1/memories", json={"content": "The seat is by the aisle."}).status_code == 201
            hangs.set()
            before = len(server.requests)
            reasons: Counter[str] = Counter()
            for number in range(PLAIN):
                found = client.post("/v1/search", json={"query": f"where is seat {number}?"})
                assert found.status_code == 200, found.text
                reasons[found.json()["errors"]["vector"]] += 1
                assert len(found.json()["hits"]) == 1
            for number in range(PLAIN):
                added = client.post("/v1/memories", json={"content": f"Parcel {number} is for Oslo."})
                assert (added.status_code, added.json()["degraded"]) == (201, ["vector"]), added.text
                found = client.post("/v1/search", json={"query": f"parcel {number}"})
                assert added.json()["memory_id"] in {hit["memory"]["memory_id"] for hit in found.json()["hits"]}
            asked = len(server.requests) - before
            hangs.clear()
        maintained = service.run("maintain", "--json", **embedder)
    # One search waits for the embedder; then the circuit breaker is open, and a trial of it is nobody's to wait for.
    assert reasons == {"embedder_failed:timeout": 1, "embedder_failed:circuit_open": PLAIN - 1}
    say(f"{PLAIN} searches answered by words and {PLAIN} adds kept with {asked} requests to an embedder that hangs")
    assert asked < PLAIN
    told = json.loads(maintained.stdout)
    assert (told["embedded"], told["unembedded"]) == (PLAIN, 0)
