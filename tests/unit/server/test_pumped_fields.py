"""Every text that a request may carry, as the description names it, filled with what is slow to read (S36).

Who adds a route or a field need not think of it: the list is made of the OpenAPI document.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from typing import Any

import pytest

from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic_server.app import routes
from mnemic_server.credentials import Role
from tests.faults.scale import FULL
from tests.security.test_linear_patterns import PIECES
from tests.unit.server.conftest import Running

DOCUMENT = routes().openapi()
SHAPES = DOCUMENT["components"]["schemas"]
LONGEST, SHORTER = 8_192, 4
SLOW_SECONDS = 0.2
"""Of the longer text: below it nothing is compared."""
GROWS = 9.0
"""Linear work grows by four, quadratic by sixteen; in between lies the judgement."""
DEEP = 3

Place = tuple[str | int, ...]


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself, where another is named; of several the first that is not null."""
    while True:
        if "$ref" in schema:
            schema = SHAPES[schema["$ref"].rpartition("/")[2]]
        elif any(name in schema for name in ("anyOf", "oneOf")):
            schema = next(one for one in schema.get("anyOf", schema.get("oneOf")) if one.get("type") != "null")
        else:
            return schema


def least(schema: dict[str, Any]) -> Any:
    """The smallest value that the schema takes."""
    schema = resolved(schema)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    if kind == "object":
        return {name: least(schema["properties"][name]) for name in schema.get("required", ())}
    if kind == "array":
        return [least(schema["items"])] * schema.get("minItems", 0)
    return {"string": "a" * schema.get("minLength", 1), "boolean": False}.get(str(kind), schema.get("minimum", 1))


def texts(schema: dict[str, Any], place: Place = ()) -> Iterator[tuple[Place, int]]:
    """Where the schema has a free text, and how long it may be."""
    schema = resolved(schema)
    if len(place) > DEEP or "enum" in schema or "const" in schema:
        return
    if schema.get("type") == "string":
        yield place, min(schema.get("maxLength", LONGEST), LONGEST)
    elif schema.get("type") == "array":
        yield from texts(schema.get("items", {}), (*place, 0))
    for name, inner in schema.get("properties", {}).items():
        yield from texts(inner, (*place, name))


def put(body: Any, schema: dict[str, Any], place: Place, text: str) -> Any:
    """The body with the text at the place; what has to be around it is made."""
    if not place:
        return text
    schema, (first, *rest) = resolved(schema), place
    if isinstance(first, int):
        inner = schema["items"]
        return [put(least(inner), inner, tuple(rest), text)]
    inner = schema["properties"][first]
    made = copy.deepcopy(body) if isinstance(body, dict) else {}
    made[first] = put(made.get(first, least(inner)), inner, tuple(rest), text)
    return made


def fields() -> list[Any]:
    """Each operation with a JSON body, and each of its texts."""
    found = []
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            for place, longest in texts(content["schema"]) if content else ():
                name = f"{method} {path} {'.'.join(map(str, place))}"
                found.append(pytest.param(method, path, content["schema"], place, longest, id=name))
    return found


FIELDS = fields()
CHOSEN = PIECES if FULL else ["\n", "A", "1 ", "“", "<p>", "(", "I am "]


def test_the_description_names_texts_of_many_routes() -> None:
    named = {one.id for one in FIELDS}
    assert {"post /v1/memories content", "post /v1/search query", "post /v1/structured/extract text"} <= named
    assert len(FIELDS) > 50


async def answered(running: Running, headers: dict[str, str], method: str, path: str, body: Any) -> tuple[int, float]:
    """The status, and the processor time that it took."""
    started = time.process_time()
    answer = await running.client.request(method, path.replace("{", "").replace("}", ""), json=body, headers=headers)
    return answer.status_code, time.process_time() - started


@pytest.mark.parametrize(("method", "path", "schema", "place", "longest"), FIELDS)
async def test_a_pumped_text_is_answered_in_time_that_grows_with_it(
    running: Running, method: str, path: str, schema: dict[str, Any], place: Place, longest: int
) -> None:
    running.engine.sessions = InProcessSessions(running.clock)
    headers = await running.caller(*Role)
    whole = least(schema)
    slow = []
    for piece in CHOSEN:
        long, short = ((piece * length)[:length] for length in (longest, max(1, longest // SHORTER)))
        status, took = await answered(running, headers, method, path, put(whole, schema, place, long))
        assert status < 500, (piece, status)
        if took < SLOW_SECONDS:
            continue
        growth = []
        for _ in range(3):
            _, less = await answered(running, headers, method, path, put(whole, schema, place, short))
            _, more = await answered(running, headers, method, path, put(whole, schema, place, long))
            growth.append(more / max(less, 1e-4))
        if min(growth) > GROWS:
            slow.append((piece, growth))
    assert slow == []
