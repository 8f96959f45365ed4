"""The service's description of itself: every answer has a schema, every field and parameter says what it means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from mnemic.engine import MemoryEngine
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Trust, to_json
from mnemic_server.app import create_app
from mnemic_server.credentials import Role
from mnemic_server.field_descriptions import FIELDS
from mnemic_server.openapi_descriptions import shape_of
from mnemic_server.openapi_examples import PARAMETERS, REQUESTS

from .conftest import Running


@pytest.fixture
async def document() -> Any:
    app = create_app(MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service") as client:
        return (await client.get("/openapi.json")).json()


def operations(document: Any) -> Iterator[tuple[str, Any]]:
    for path, routes in document["paths"].items():
        for method, operation in routes.items():
            yield f"{method.upper()} {path}", operation


def json_schemas(operation: Any) -> Iterator[Any]:
    for answer in operation["responses"].values():
        if "application/json" in answer.get("content", {}):
            yield answer["content"]["application/json"].get("schema", {})


async def test_every_json_answer_has_a_named_schema(document: Any) -> None:
    untyped = [
        name for name, operation in operations(document) if any("$ref" not in one for one in json_schemas(operation))
    ]
    assert untyped == []
    assert len(list(operations(document))) > 80


async def test_every_answer_with_a_body_has_a_schema(document: Any) -> None:
    bare = [
        f"{name} {status}"
        for name, operation in operations(document)
        for status, answer in operation["responses"].items()
        if status.startswith("2") and status != "204"
        if not answer.get("content") or not all(one.get("schema") for one in answer["content"].values())
    ]
    assert bare == []


async def test_every_field_and_every_parameter_says_what_it_means(document: Any) -> None:
    fields = {
        f"{shape}.{name}"
        for shape, schema in document["components"]["schemas"].items()
        for name, field in schema.get("properties", {}).items()
        if not field.get("description")
    }
    parameters = {
        f"{name} {parameter['name']}"
        for name, operation in operations(document)
        for parameter in operation.get("parameters", ())
        if not parameter.get("description")
    }
    assert fields | parameters == set()


async def test_every_operation_says_what_it_does(document: Any) -> None:
    assert [name for name, operation in operations(document) if not operation.get("description")] == []


async def test_every_operation_has_a_summary_of_its_own(document: Any) -> None:
    summaries = {name: operation.get("summary", "") for name, operation in operations(document)}
    assert len(set(summaries.values())) == len(summaries)
    assert [one for one in summaries.values() if not re.fullmatch(r"[A-Z][^.]* [^.]+", one) or len(one) > 60] == []


async def test_no_description_is_for_a_field_that_is_gone(document: Any) -> None:
    named = {name for shape in document["components"]["schemas"].values() for name in shape.get("properties", {})}
    named |= {one["name"] for _, operation in operations(document) for one in operation.get("parameters", ())}
    assert sorted(FIELDS.keys() - named) == []


@dataclass
class Inner:
    age: timedelta | None


@dataclass
class Outer:
    """Something."""

    trust: Trust
    pairs: tuple[tuple[str, int], ...]
    inner: Inner
    counts: dict[str, int]


def test_the_shape_of_a_dataclass_is_what_its_json_looks_like() -> None:
    shape = shape_of(Outer)
    value = Outer(Trust.HIGH, (("a", 1),), Inner(timedelta(days=3)), {"x": 1})

    assert shape.__doc__ == "Something."
    assert shape.model_validate(to_json(value), strict=True).model_dump() == {
        "trust": "high",
        "pairs": [["a", 1]],
        "inner": {"age": "P3D"},
        "counts": {"x": 1},
    }


def resolved(document: Any, schema: Any) -> Draft202012Validator:
    """A validator of a schema in the document."""
    needed = {"components": document["components"]} if "$ref" in str(schema) else {}
    return Draft202012Validator({**schema, **needed})


async def test_every_example_of_a_parameter_fits(document: Any) -> None:
    wrong = {
        f"{name} {parameter['name']}": parameter["example"]
        for name, operation in operations(document)
        for parameter in operation.get("parameters", ())
        if "example" in parameter and not resolved(document, parameter["schema"]).is_valid(parameter["example"])
    }
    assert wrong == {}


async def test_every_request_has_an_example_that_fits(document: Any) -> None:
    bodies = {
        name: content
        for name, operation in operations(document)
        for content in operation.get("requestBody", {}).get("content", {}).values()
    }
    assert len(bodies) > 40
    named = {
        str(body["schema"].get("$ref", body["schema"].get("title"))).rpartition("/")[2] for body in bodies.values()
    }
    assert named - REQUESTS.keys() == set()
    assert [
        name for name, body in bodies.items() if not resolved(document, body["schema"]).is_valid(body.get("example"))
    ] == []


async def test_no_example_is_for_something_that_is_gone(document: Any) -> None:
    named = {one["name"] for _, operation in operations(document) for one in operation.get("parameters", ())}
    assert sorted(PARAMETERS.keys() - named) == []
    assert sorted(REQUESTS.keys() - {*document["components"]["schemas"], "Receipt"}) == []


async def test_the_example_of_every_request_is_one_that_the_service_takes(running: Running) -> None:
    """Sent as they stand, by somebody who may do everything: none is malformed."""
    headers = await running.caller(*Role, tenant="root")
    document = (await running.client.get("/openapi.json")).json()
    refused = {}
    for name, operation in operations(document):
        for body in operation.get("requestBody", {}).get("content", {}).values():
            method, path = name.split(" ")
            place = re.sub(r"{\w+}", "absent", path.replace("{shape}", PARAMETERS["shape"]))
            answer = await running.client.request(method, place, json=body["example"], headers=headers)
            reason = answer.json().get("reason", "") if answer.status_code >= 400 else ""
            if reason in ("invalid_input:name", "not_supported:short_term", "invalid_input:erasure_receipt"):
                continue  # depends on what is held: names that are known, a conversation, a receipt of this service
            if answer.status_code == 422 or answer.status_code >= 500 or reason.startswith("invalid_input"):
                refused[name] = (answer.status_code, answer.text)
    assert refused == {}, json.dumps(refused)
