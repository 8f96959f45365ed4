"""Changes of a JSON file that leave every other byte as it is: comments, order and layout are the user's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # it is there, and has no stub
from typing import Any

_BLANK = re.compile(r"[ \t\r\n]*+")
_SET_IN = re.compile(r"^([ \t]++)[\"{\[]", re.MULTILINE)
_SCALAR = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
DEEPEST = 100


class Malformed(ValueError):
    """The text is no JSON; the message says where."""


@dataclass(slots=True)
class Node:
    """A value with its place in the text. `entries` are the members of an object by name, or the items of an array."""

    start: int
    end: int
    value: Any
    entries: list[Entry] = field(default_factory=list)


@dataclass(slots=True)
class Entry:
    """A member or an item: where it begins, its name, its value."""

    start: int
    name: str | None
    node: Node


def parse_json(text: str) -> Node:
    """Return the value of a text, which may have comments and commas after the last entry. Raises Malformed."""
    at = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, at, 0)
    if (rest := _skip(text, node.end)) != len(text):
        raise Malformed(f"line {_line(text, rest)}: there is something after the value")
    return node


def put_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with `value` at the `path` of names, which may not be there yet; objects on the way are made.
    Raises Malformed, also where something on the way is no object.
    """
    node, depth = _at(text, path[:-1])
    if depth < len(path) - 1:
        for name in reversed(path[depth + 1 :]):
            value = {name: value}
        path = path[: depth + 1]
    return _insert(text, node, depth, f"{json.dumps(path[-1])}: ", value)


def put_item(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with `value` as the last item of the array at `path`, which is made if it is not there."""
    node, depth = _at(text, path)
    if depth < len(path):
        return put_member(text, path, [value])
    if not isinstance(node.value, list):
        raise Malformed(f"line {_line(text, node.start)}: {'.'.join(path)} is no list")
    return _insert(text, node, depth, "", value)


def remove_entries(text: str, is_ours: Callable[[Sequence[str | int], Any], bool]) -> str:
    """Return the text without the entries that are ours, and without what they leave empty. Raises Malformed."""
    while True:
        found = _find(parse_json(text), (), is_ours)
        if found is None:
            return text
        text = _cut(text, *found)


def _find(
    node: Node, path: tuple[str | int, ...], is_ours: Callable[[Sequence[str | int], Any], bool]
) -> tuple[Node, int] | None:
    """Return the container and the place of the first entry to remove: of its ancestors the last that has no other."""
    for place, entry in enumerate(node.entries):
        where = (*path, place if entry.name is None else entry.name)
        if is_ours(where, entry.node.value):
            return node, place
        found = _find(entry.node, where, is_ours)
        if found is not None:
            return (node, place) if found[0] is entry.node and len(entry.node.entries) == 1 else found
    return None


def _cut(text: str, container: Node, place: int) -> str:
    entries = container.entries
    entry = entries[place]
    if place == len(entries) - 1:
        before = entries[place - 1].node.end if place else container.start + 1
        return text[:before] + text[entry.node.end :]
    return text[: entry.start] + text[entries[place + 1].start :]


def _at(text: str, path: Sequence[str]) -> tuple[Node, int]:
    """Return the deepest value on the path, and how many names led to it."""
    node, depth = parse_json(text), 0
    if not isinstance(node.value, dict):
        raise Malformed("line 1: it is no object")
    for name in path:
        found = next((entry.node for entry in node.entries if entry.name == name), None)
        if found is None:
            break
        node, depth = found, depth + 1
        if not isinstance(node.value, dict | list):
            raise Malformed(f"line {_line(text, node.start)}: {name} is neither object nor list")
    return node, depth


def _insert(text: str, node: Node, depth: int, label: str, value: Any) -> str:
    if label and not isinstance(node.value, dict):
        raise Malformed(f"line {_line(text, node.start)}: it is no object")
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _indent(text)
    inner = newline + unit * (depth + 1)
    shown = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", inner)
    if node.entries:
        last = node.entries[-1].node.end
        return f"{text[:last]},{inner}{label}{shown}{text[last:]}"
    first = node.start + 1
    closing = "" if "\n" in text[first : node.end] else newline + unit * depth
    return f"{text[:first]}{inner}{label}{shown}{closing}{text[first:]}"


def _indent(text: str) -> str:
    """Return what one level is set in by: the least of all lines that begin with a name or a bracket."""
    found = _SET_IN.findall(text)
    return min(found, key=len) if found else "  "


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise Malformed(f"line {_line(text, at)}: too deep")
    opening = text[at : at + 1]
    if opening in ("{", "["):
        return _container(text, at, depth, "}" if opening == "{" else "]")
    try:
        if opening == '"':
            value, end = scanstring(text, at + 1, True)
            return Node(at, end, value)
        if (matched := _SCALAR.match(text, at)) is not None:
            return Node(at, matched.end(), json.loads(matched[0]))
    except ValueError:
        raise Malformed(f"line {_line(text, at)}: it is no JSON value") from None
    raise Malformed(f"line {_line(text, at)}: a value was expected")


def _container(text: str, start: int, depth: int, closing: str) -> Node:
    node = Node(start, start, {} if closing == "}" else [])
    at = _skip(text, start + 1)
    while text[at : at + 1] != closing:
        begins, name = at, None
        if closing == "}":
            key = _value(text, at, depth + 1)
            if not isinstance(key.value, str) or key.value in node.value:
                raise Malformed(f"line {_line(text, at)}: a name was expected that is not there before")
            name, at = key.value, _skip(text, key.end)
            if text[at : at + 1] != ":":
                raise Malformed(f"line {_line(text, at)}: a colon was expected")
            at = _skip(text, at + 1)
        value = _value(text, at, depth + 1)
        node.entries.append(Entry(begins, name, value))
        if isinstance(name, str):
            node.value[name] = value.value
        else:
            node.value.append(value.value)
        at = _skip(text, value.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != closing:
            raise Malformed(f"line {_line(text, at)}: a comma or {closing} was expected")
    node.end = at + 1
    return node


def _skip(text: str, at: int) -> int:
    """Return the place after blanks and comments."""
    while True:
        at += len(_BLANK.match(text, at)[0])  # type: ignore[index]  # it matches anything
        if text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                raise Malformed(f"line {_line(text, at)}: a comment does not end")
            at = end + 2
        else:
            return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
