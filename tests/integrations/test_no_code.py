"""The examples for n8n and Dify, played against a running service, in the formats that these two publish."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.service import Served, serving

EXAMPLES = Path(__file__).parents[2] / "examples"
WORKFLOW, TOOLS = EXAMPLES / "n8n" / "memory.json", EXAMPLES / "dify" / "tools.yaml"
PLAYER = Path(__file__).with_name("n8n_player.mjs")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("service")) as running:
        yield running


def play(served: Served, key: str, user: str, message: str) -> dict[str, Any]:
    said = json.dumps({"user": user, "message": message})
    node = shutil.which("node")
    assert node is not None
    words = [node, str(PLAYER), str(WORKFLOW), served.address, key, said]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_workflow_of_n8n_learns_and_recalls_for_each_user(served: Served) -> None:
    key = served.key("reader", "writer", user=None)
    assert play(served, key, "ana", 'I am vegetarian, and my dog is called "Rex".')["learnt"] >= 1
    assert "vegetarian" in play(served, key, "ana", "What do I eat?")["memory"]
    assert play(served, key, "ben", "What do I eat?")["memory"] == ""


def test_the_workflow_of_n8n_holds_no_key_and_names_what_it_connects() -> None:
    flow = json.loads(WORKFLOW.read_text())
    names = {node["name"] for node in flow["nodes"]}
    ends = {end["node"] for outs in flow["connections"].values() for out in outs["main"] for end in out}
    assert {*flow["connections"], *ends} == names
    assert {node["type"]: node["typeVersion"] for node in flow["nodes"]} == {
        "n8n-nodes-base.webhook": 2,
        "n8n-nodes-base.httpRequest": 4.2,
        "n8n-nodes-base.respondToWebhook": 1.1,
    }
    assert "mnk_" not in WORKFLOW.read_text()


def tools_of(description: dict[str, Any]) -> Iterator[tuple[str, str, str, dict[str, Any], dict[str, Any]]]:
    """Yield the tools that Dify makes of a description: name, method, address, parameters of the query, of the body."""
    server = description["servers"][0]["url"]
    for path, item in description["paths"].items():
        for method, operation in item.items():
            query = {one["name"]: one for one in operation.get("parameters", ())}
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            yield operation["operationId"], method, server + path, query, body.get("properties", {})


def test_the_tools_of_dify_are_those_of_the_service_and_work(served: Served) -> None:
    description = yaml.safe_load(TOOLS.read_text())
    described = httpx.get(f"{served.address}/openapi.json", timeout=60).json()
    headers = {"Authorization": f"Bearer {served.key('reader', 'writer', user='cleo')}"}
    told = {"message": "I moved to Bergen.", "query": "Where do I live?", "max_tokens": 400}
    answers = {}
    for name, method, address, query, body in sorted(tools_of(description), key=lambda one: one[0] != "learn"):
        path = address.removeprefix(description["servers"][0]["url"])
        theirs = described["paths"][path][method]
        assert set(query) <= {one["name"] for one in theirs.get("parameters", ())}
        if body:
            shape = theirs["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            assert set(body) <= described["components"]["schemas"][shape]["properties"].keys()
        # Dify makes a string, a number or a boolean of each parameter, by its type.
        types = {one.get("type", one.get("schema", {}).get("type")) for one in [*query.values(), *body.values()]}
        assert types <= {"string", "integer"}
        sent = {
            "params": {one: told[one] for one in query},
            **({"json": {one: told[one] for one in body}} if body else {}),
        }
        answer = httpx.request(method, served.address + path, headers=headers, timeout=60, **sent)
        assert answer.status_code == 200, answer.text
        answers[name] = answer.json()
    assert set(answers) == {"learn", "recall", "profile"}
    assert "Bergen" in answers["recall"]["text"]
    assert "Bergen" in answers["profile"]["text"]
