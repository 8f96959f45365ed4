"""Examples in the service's description: of every field, parameter and request body."""

from __future__ import annotations

from typing import Any

from mnemic_server.example_values import REQUESTS, VALUES

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_DEEPEST = 6


def exemplify(document: dict[str, Any]) -> None:
    """Give each field, parameter and request body of an OpenAPI document an example, unless it has one."""
    shapes = document["components"]["schemas"]
    for shape in shapes.values():
        for name, field in shape.get("properties", {}).items():
            if "examples" not in field:
                field["examples"] = [_example(field, name, shapes)]
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                parameter.setdefault("example", _example(parameter["schema"], parameter["name"], shapes))
            for content in operation.get("requestBody", {}).get("content", {}).values():
                schema = content["schema"]
                name = schema.get("$ref", schema.get("title", "")).rpartition("/")[2]
                content.setdefault("example", REQUESTS.get(name) or _example(schema, name, shapes))


def _example(schema: dict[str, Any], name: str, shapes: dict[str, Any], depth: int = 0) -> Any:
    """Return an example: the first one by this name that fits, else the first value that the schema allows."""
    if "$ref" in schema:
        return _assemble_example(shapes[schema["$ref"].rpartition("/")[2]], name, shapes, depth)
    for keyword in ("const", "enum"):
        if keyword in schema:
            return schema[keyword] if keyword == "const" else schema[keyword][0]
    named = VALUES.get(name, ())
    for value in named if isinstance(named, tuple) else (named,):
        if _fits(value, schema, shapes):
            return value
    options = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if options:
        return _example(options[0], name, shapes, depth)
    return _make_example(schema, name, shapes, depth)


def _make_example(schema: dict[str, Any], name: str, shapes: dict[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    if schema.get("default") is not None:
        return schema["default"]
    if kind == "array":
        items = schema.get("items", {})
        return [] if depth > _DEEPEST or not items else [_example(items, name, shapes, depth + 1)]
    if kind == "integer" or kind == "number":
        return max(schema.get("minimum", 1), 1) if kind == "integer" else max(schema.get("minimum", 0.5), 0.5)
    return {"boolean": True, "object": {}, "string": name}.get(str(kind))


def _assemble_example(shape: dict[str, Any], name: str, shapes: dict[str, Any], depth: int) -> Any:
    if "properties" not in shape or depth > _DEEPEST:
        return _example({key: one for key, one in shape.items() if key != "$ref"}, name, shapes, depth)
    return {
        field: _example(schema, field, shapes, depth + 1)
        for field, schema in shape["properties"].items()
        if not schema.get("deprecated")
    }


def _fits(value: Any, schema: dict[str, Any], shapes: dict[str, Any]) -> bool:
    if "$ref" in schema:
        return _fits(value, shapes[schema["$ref"].rpartition("/")[2]], shapes)
    if "anyOf" in schema:
        return any(_fits(value, one, shapes) for one in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    kinds = _TYPES.get(schema.get("type", ""), (object,))
    fitting = isinstance(value, kinds) and not (isinstance(value, bool) and bool not in kinds and object not in kinds)
    if fitting and isinstance(value, list) and "items" in schema:
        return all(_fits(one, schema["items"], shapes) for one in value)
    return fitting
