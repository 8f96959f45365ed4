"""Sizes and habits that keep a file readable in one sitting."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.sources import Function, Module, length, modules, read

FILE_LINES = 400
FUNCTION_LINES, CLASS_LINES = 40, 300

# Rooms whose drivers or models cost start-up time, or may be absent: they import where they use.
DRIVERS = {
    "providers",
    "bootstrap",
    "json_output",
    "mnemic_agents",
    "mnemic_azure",
    "mnemic_cassandra",
    "mnemic_cli",
    "mnemic_keys",
    "mnemic_kinds",
    "mnemic_models",
    "mnemic_multilingual",
    "mnemic_neo4j",
    "mnemic_onnx",
    "mnemic_postgres",
    "mnemic_redis",
    "mnemic_testing",
    "mnemic_eval",
    "mnemic_server",
    "mnemic_sqlite",
    "mnemic_stores",
    "mnemic_travel",
}
# Rooms with many verbs, most of which a program never calls: each loads what only some of them need (decision 0037).
VERBS = {"engine", "config", "dispatch", "facade", "kinds", "write", "types", "mnemic_maintenance"}
# Packages and rooms that read texts of which most need nothing of what they would load.
PLUGGED = {"mnemic_language", "mnemic_redact"}
LATE_IMPORTS = DRIVERS | VERBS | PLUGGED
PRINTS = {"mnemic_cli"}
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "base", "shared", "tools", "stuff"}

each_module = pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)


@each_module
def test_file_length(module: Module) -> None:
    assert module.lines <= FILE_LINES


@each_module
def test_function_length(module: Module) -> None:
    long = {node.name: length(node, docstring=False) for node in module.functions()}
    assert {name: lines for name, lines in long.items() if lines > FUNCTION_LINES} == {}


@each_module
def test_class_length(module: Module) -> None:
    assert {node.name: length(node) for node in module.classes() if length(node) > CLASS_LINES} == {}


@each_module
def test_no_import_inside_a_function(module: Module) -> None:
    late = sorted({node.lineno for function in module.functions() for node in imports_in(function)})
    assert module.room in LATE_IMPORTS or late == []


@each_module
def test_no_print_outside_the_entry_points(module: Module) -> None:
    assert module.room in PRINTS or print_lines(module) == []


@each_module
def test_no_vague_name(module: Module) -> None:
    names = {part.removesuffix(".py").strip("_") for part in module.name.split("/")}
    assert names & VAGUE == set()


@each_module
def test_annotations_are_lazy(module: Module) -> None:
    code = [node for node in module.tree.body if not is_docstring(node)]
    assert not code or ast.unparse(code[0]) == "from __future__ import annotations"


def test_the_rules_bite() -> None:
    """The measures themselves, on a file that breaks them."""
    source = "def long():\n    '''Two\n    lines.'''\n    import os\n    print(os)\n"
    tree = ast.parse(source)
    function = tree.body[0]
    assert isinstance(function, Function)
    module = Module(path=modules()[0].path, tree=tree, lines=5)

    assert (length(function), length(function, docstring=False)) == (5, 3)
    assert len(list(imports_in(function))) == 1
    assert print_lines(module) == [5]
    assert read(modules()[0].path).lines == modules()[0].lines


def imports_in(function: Function) -> Iterator[ast.AST]:
    return (node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom))


def print_lines(module: Module) -> list[int]:
    calls = (node for node in ast.walk(module.tree) if isinstance(node, ast.Call))
    return [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
