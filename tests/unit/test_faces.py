"""Every face has the same verbs with the same parameters, but for what is named here with its reason."""

from __future__ import annotations

import inspect
import pydoc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import httpx
import pytest
from griffe import load as griffe_load

from mnemic import requests
from mnemic.agents.mcp import memory_server
from mnemic.cli import cli
from mnemic.engine import READS, MemoryEngine
from mnemic.facade.manager import AsyncMemoryManager, MemoryManager
from mnemic.facade.verbs import MemoryVerbs
from mnemic.kinds.entity import EntityMemory
from mnemic.kinds.episodic import EpisodicMemory
from mnemic.kinds.persona import PersonaMemory
from mnemic.kinds.short_term import ShortTermMemory
from mnemic.maintenance import governance
from mnemic.runtime.sync_facade import verb
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.structured.structured_memory import StructuredMemory
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from mnemic_client import MemoryClient, connect
from mnemic_client.conversation import RemoteConversation
from mnemic_client.engine import VERBS as ANSWERED_BY_A_SERVICE
from mnemic_client.engine import RemoteEngine
from mnemic_client.governance import RemoteGovernance
from mnemic_client.kinds import RemoteEntities, RemoteEpisodes, RemotePersona
from mnemic_client.structured import RemoteData
from mnemic_server.app import create_app

ROOT = Path(__file__).parents[2]

ENGINE_ALONE = {
    "actor": "a manager is one user's",
    "deadline": "for programs with a deadline of a whole request",
    "origin": "the channel says it, not the caller",
    "watch": "a callback; streams over REST",
    "standing": "earlier name of `pinned`",
    "pinned": "for injection; `context` is the verb",
    "named": "for injection",
    "facets": "for structured memory",
    "rules": "settings and the policy file",
}
CLIENT_ALONE = {
    "import_all": "parts of an import over a network",
}
REST: dict[str, tuple[str, dict[str, str]]] = {
    "add": ("post /v1/memories", {}),
    "add_many": ("post /v1/memories/batch", {"candidates": "memories"}),
    "record": ("post /v1/messages", {}),
    "capture": ("post /v1/capture", {}),
    "update": ("patch /v1/memories/{memory_id}", {}),
    "forget": ("delete /v1/memories/{memory_id}", {}),
    "forget_matching": ("post /v1/memories/forget", {}),
    "rollback": ("post /v1/memories/{memory_id}/rollback", {}),
    "undo": ("post /v1/memories/{memory_id}/undo", {}),
    "carry_out": ("post /v1/memory-requests", {"request": "memory_ids"}),
    "run": ("post /v1/runs", {}),
    "search": ("post /v1/search", {}),
    "context": ("post /v1/context", {}),
    "get": ("get /v1/memories/{memory_id}", {}),
    "list": ("get /v1/memories", {}),
    "count": ("get /v1/memories/count", {}),
    "history": ("get /v1/memories/{memory_id}/history", {}),
    "lineage": ("get /v1/memories/{memory_id}/lineage", {}),
    "uses": ("get /v1/memories/{memory_id}/uses", {}),
    "maintain": ("post /v1/maintenance", {}),
    "consolidate": ("post /v1/consolidations", {}),
    "expire": ("post /v1/expiry", {}),
    "capture_many": ("post /v1/capture/batch", {}),
    "remember": ("post /v1/remember", {}),
    "retrieve": ("post /v1/retrieve", {}),
    "doctor": ("get /v1/doctor", {}),
    "profile": ("get /v1/profile", {}),
    "rate": ("put /v1/memories/{memory_id}/rating", {}),
    "ratings": ("get /v1/ratings", {}),
    "reread": ("post /v1/rereads", {"progress": ""}),
    "undo_reread": ("post /v1/rereads/{run_id}/undo", {}),
    "undo_import": ("post /v1/imports/{import_id}/undo", {}),
}
"""The operation of each verb, and parameters that are called something else there; empty: not there."""
CLI = {
    "add_many": "`import`",
    "record": "`import` reads conversations",
    "capture_many": "`import`",
    "remember": "`capture`; `import` reads conversations",
    "retrieve": "a command is one process: `search`",
    "expire": "`maintain`",
    "consolidate": "`maintain --consolidate`",
    "carry_out": "`capture` asks, or carries out with --yes",
    "forget_matching": "`forget` with options",
    "undo_reread": "`reread --undo`",
    "undo_import": "`import --undo`",
}
CLI_NAMES = {("forget", "memory_id"): "memory_ids", ("history", "memory_id"): "named", ("maintain", "whole"): "vacuum"}
"""Parameters that are called something else on the command line."""
CLI_WITHOUT: dict[str, dict[str, str]] = {"doctor": {"limit": "a look by hand takes the time it takes"}}
"""What a command does not take, with the reason."""
MCP = {
    "search": ("search_memory", {"top_k": "max_results"}),
    "add": ("add_memory", {}),
    "capture": ("capture", {}),
    "list": ("list_memories", {}),
    "update": ("update_memory", {}),
    "rate": ("rate_memory", {}),
    "forget": ("forget_memory", {}),
    "carry_out": ("carry_out", {}),
}
"""The tool of each verb that a model is offered."""
MCP_RESOURCES = {"history": "memory://memories/{memory_id}"}
MCP_PROMPTS = {"context": "ask_with_memory"}
NOT_ON_MCP = {
    "get": "`search_memory` and the resource of a memory show it whole",
    "count": "`list_memories` has the total",
    "lineage": "the resource of a memory has it",
    "add_many": "a model says one thing after the other",
    "record": "the host has the conversation, not the model",
    "remember": "as `record`",
    "capture_many": "as `record`",
    "run": "the model that calls is the one that answers",
    "retrieve": "`search_memory`",
    "profile": "the host has what a model is always shown; a model asks `list_memories`",
    "forget_matching": "a model deletes what it has seen, one after the other",
    "rollback": "a person takes back what a model did",
    "undo": "a person takes back what a model did",
    "uses": "the audit is for people",
    "ratings": "a person looks at what they rated",
    "maintain": "upkeep is the operator's",
    "expire": "upkeep is the operator's",
    "consolidate": "upkeep is the operator's",
    "doctor": "upkeep is the operator's",
    "reread": "a person decides on a change of everything",
    "undo_reread": "a person takes back what a reading did",
    "undo_import": "a person takes back what an import did",
}
MCP_ALONE = {"dry_run": "what overwrites or deletes only tells first what it would do"}
NOT_ASKED_OF_A_MODEL = {
    "search": "scopes, times and budgets are the host's",
    "add": "key, kind, trust and times are the policy's and the channel's",
    "capture": "the host knows of deliveries that come twice",
    "list": "as for `search`",
    "update": "as for `add`",
    "rate": "nothing is left out",
    "forget": "nothing is left out",
    "carry_out": "nothing is left out",
}


def verbs(face: type) -> dict[str, Callable[..., Any]]:
    return {
        name: one.function for cls in reversed(face.__mro__) for name, one in vars(cls).items() if isinstance(one, verb)
    }


def parameters(function: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(function).parameters) - {"self"}


VERBS = verbs(MemoryVerbs)
CONTEXT = click.Context(cli)


def command(name: str) -> click.Command:
    found = cli.get_command(CONTEXT, name)
    assert found is not None
    return found


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    return {name: one.default for name, one in inspect.signature(function).parameters.items() if name != "self"}


@pytest.mark.parametrize("name", sorted(VERBS))
def test_a_verb_is_the_engines(name: str) -> None:
    if name == "retrieve":  # goes across kinds, of which an engine knows only those that are stored
        return
    there = {one: value for one, value in defaults(getattr(MemoryEngine, name)).items() if one not in ENGINE_ALONE}
    taken = {one: value for one, value in defaults(VERBS[name]).items() if one != "rules"}
    if name == "add":
        assert taken.pop("level") is None  # that of the kind
        del there["level"]
    assert taken == there


REQUESTS = {answer.__name__: asked for asked, answer in ANSWERED_BY_A_SERVICE.items()}


def test_which_verbs_have_requests() -> None:
    reads = {"search", "context", "profile", "get", "list", "count", "history"}
    assert REQUESTS.keys() == reads | {"add", "capture", "capture_many", "run", "update", "forget_matching"}
    assert ANSWERED_BY_A_SERVICE.keys() == READS.keys() | {requests.NewMemory, requests.Correction}


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_a_request_has_the_parameters_of_its_verb(name: str) -> None:
    taken, asked = defaults(VERBS[name]), defaults(REQUESTS[name])
    if name == "context" or name == "list":
        assert asked.keys() == taken.keys()
    assert asked == taken


def test_help_an_editor_and_the_page_of_the_site_show_the_same_verbs() -> None:
    pages = griffe_load("mnemic.facade.verbs", search_paths=[ROOT / "src"])["MemoryVerbs"]
    blocking, asynchronous = MemoryManager("ana", store=":memory:"), AsyncMemoryManager("ana", store=":memory:")
    service = connect("http://127.0.0.1:9", api_key="x")
    with blocking, service:
        wrong = [name for name in VERBS if not agrees(name, pages[name], (blocking, asynchronous, service))]
    assert wrong == []


def agrees(name: str, page: Any, faces: tuple[Any, ...]) -> bool:
    """True if a verb has one signature and one text everywhere, which names its parameters, result and errors."""
    written = inspect.signature(VERBS[name])
    called = written.replace(parameters=[one for one in written.parameters.values() if one.name != "self"])
    text = page.docstring.value
    shown = [pydoc.render_doc(getattr(face, name), renderer=pydoc.plaintext) for face in faces]
    return (
        [one.name for one in page.parameters] == list(written.parameters)
        and (str(page.returns), text) == (written.return_annotation, inspect.getdoc(VERBS[name]))
        and all(inspect.signature(getattr(face, name)) == called for face in faces)
        and all(inspect.signature(getattr(type(face), name)) == written for face in faces)
        and [inspect.iscoroutinefunction(getattr(face, name)) for face in faces] == [False, True, False]
        and all(f"{name}(" in one and text.splitlines()[0] in one for one in shown)
        and all(f"    {one}: " in text for one in called.parameters)
        and ("Returns:" in text) == (called.return_annotation != "None")
        and "Raises:" in text
    )


def test_a_whole_memory_lists_its_verbs_in_help() -> None:
    for face in (MemoryManager, AsyncMemoryManager, MemoryClient):
        shown = pydoc.render_doc(face, renderer=pydoc.plaintext)
        assert "search(self, query: 'str', *, top_k: 'int' = 10" in shown
        assert "verb object" not in shown


def test_both_managers_have_every_verb_and_the_same_parameters() -> None:
    assert verbs(MemoryManager) == verbs(AsyncMemoryManager) == VERBS
    for name in ("export", "export_subject", "changes", "review"):
        assert parameters(getattr(MemoryManager, name)) == parameters(getattr(AsyncMemoryManager, name))
    assert parameters(MemoryManager.__init__) == parameters(AsyncMemoryManager.__init__)


def test_the_client_has_every_verb() -> None:
    there = verbs(MemoryClient)
    assert VERBS.items() <= there.items()
    assert there.keys() - VERBS.keys() == CLIENT_ALONE.keys()
    for name in VERBS.keys() - {"add", "update", "retrieve"}:  # which take the fields of a request
        assert inspect.unwrap(vars(RemoteEngine)[name]) is getattr(MemoryEngine, name)


def test_the_governance_of_every_face_is_the_same() -> None:
    for face in (MemoryManager, AsyncMemoryManager, MemoryClient):
        assert all(hasattr(face, name) for name in ("consent", "privacy", "audit", "review"))
    for name in (one for one in vars(RemoteGovernance) if not one.startswith("_")):
        assert parameters(getattr(RemoteGovernance, name)) == parameters(getattr(MemoryEngine, name))


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (PersonaMemory, RemotePersona),
        (EpisodicMemory, RemoteEpisodes),
        (EntityMemory, RemoteEntities),
        (StructuredMemory, RemoteData),
        (ShortTermMemory, RemoteConversation),
    ],
)
def test_a_kind_at_a_service_is_spelled_the_same(here: type, there: type) -> None:
    assert {name: parameters(one) for name, one in verbs(here).items()} == {
        name: parameters(one) for name, one in verbs(there).items()
    }
    assert {name for name in vars(here) if not name.startswith("_")} <= set(dir(there))


@pytest.fixture
async def document() -> Any:
    app = create_app(MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service") as client:
        return (await client.get("/openapi.json")).json()


def taken(document: Any, operation: str) -> set[str]:
    """What an operation takes: fields of its body and its parameters, headers by their names in Python."""
    method, path = operation.split(" ")
    told = document["paths"][path][method]
    names = {one["name"].lower().replace("-", "_") for one in told.get("parameters", ())}
    if "requestBody" in told:
        reference = told["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        names |= document["components"]["schemas"][reference]["properties"].keys()
    return names


async def test_rest_takes_the_same_names(document: Any) -> None:
    assert VERBS.keys() == REST.keys()
    missing = {}
    for name, (operation, other) in REST.items():
        wanted = {other.get(one, one) for one in parameters(VERBS[name])} - {""}
        missing[name] = wanted - taken(document, operation)
    assert {name: names for name, names in missing.items() if names} == {}


def test_the_command_line_has_every_verb() -> None:
    assert VERBS.keys() - set(cli.list_commands(CONTEXT)) <= CLI.keys()


def test_time_to_live_and_consent_are_spelled_the_same_on_the_command_line() -> None:
    assert {"ttl", "confidence", "occurred_at", "idempotency_key", "level", "category", "data"} <= {
        one.name for one in command("add").params
    }
    actions: Any = command("consent").params[0].type
    assert {"list", "grant", "revoke"} == set(actions.choices)


@pytest.mark.parametrize("name", sorted(VERBS.keys() - CLI.keys()))
def test_a_command_takes_what_its_verb_takes(name: str) -> None:
    there = {str(one.name) for one in command(name).params}
    wanted = {CLI_NAMES.get((name, one), one) for one in parameters(VERBS[name])}
    assert wanted - there == CLI_WITHOUT.get(name, {}).keys()


async def test_a_model_is_offered_the_same_verbs() -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    server = memory_server(engine, Actor(user="ana"))
    tools = {tool.name: set(tool.input_schema["properties"]) for tool in await server.list_tools()}
    assert tools.keys() == {tool for tool, _ in MCP.values()}
    offered = MCP.keys() | MCP_RESOURCES.keys() | MCP_PROMPTS.keys()
    assert VERBS.keys() - offered == NOT_ON_MCP.keys()
    for name, (tool, other) in MCP.items():
        assert tools[tool] - MCP_ALONE.keys() <= {other.get(one, one) for one in parameters(VERBS[name])}, tool
    templates = {one.uri_template for one in await server.list_resource_templates()}
    assert set(MCP_RESOURCES.values()) <= templates
    assert {one.name for one in await server.list_prompts()} == set(MCP_PROMPTS.values())


SOURCE = (ROOT / "clients" / "typescript" / "src" / "index.ts").read_text(encoding="utf-8")


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: "_" + found[0].lower(), name)


def signatures() -> dict[str, str]:
    """What each method of the TypeScript client takes, as it is written there."""
    found = re.findall(r"^  async \*?(\w+)\((.*?)\): (?:Promise|AsyncGenerator)<", SOURCE, re.MULTILINE | re.DOTALL)
    return {snake(name): taken for name, taken in found}


def typed(taken: str, document: Any) -> set[str]:
    """The names that a method takes: its arguments, and the fields of the shapes and queries that they are."""
    names = {snake(name) for name in re.findall(r"(\w+)(?:\??:| =)", taken)}
    for path, method in re.findall(r'Query<"([^"]+)", "(\w+)">', taken):
        names |= {one["name"] for one in document["paths"][path][method]["parameters"] if one["in"] == "query"}
    shapes = dict(re.findall(r'^export type (\w+) = .*?Schemas\["(\w+)"\]', SOURCE, re.MULTILINE))
    for shape in re.findall(r"\b[A-Z]\w+\b", taken):
        names |= document["components"]["schemas"].get(shapes.get(shape, ""), {}).get("properties", {}).keys()
    return names


async def test_typescript_has_every_verb_with_the_same_parameters(document: Any) -> None:
    there = signatures()
    assert VERBS.keys() <= there.keys()
    missing = {}
    for name, taken in there.items():
        if name in VERBS:
            other = REST[name][1]
            wanted = {other.get(one, one) for one in parameters(VERBS[name])} - {""}
            missing[name] = wanted - typed(taken, document)
    assert {name: names for name, names in missing.items() if names} == {}


@pytest.mark.parametrize(
    ("group", "face", "without"),
    [
        ("consent", governance.ConsentBook, {}),
        ("review", governance.ReviewQueue, dict.fromkeys(("approve_all", "reject_all", "reject_older"), "a loop")),
        ("privacy", governance.Privacy, {}),
        ("audit", governance.AuditTrail, {}),
        ("persona", PersonaMemory, {"traits": "`get`"}),
    ],
)
def test_governance_is_in_typescript_too(group: str, face: type, without: dict[str, str]) -> None:
    block = re.search(rf"readonly {group} = {{(.*?)^  }};", SOURCE, re.MULTILINE | re.DOTALL)
    assert block is not None
    there = {snake(name) for name in re.findall(r"^    (\w+): async", block[1], re.MULTILINE)}
    assert verbs(face).keys() - there == without.keys()


def test_every_exception_has_a_reason() -> None:
    tables: list[Any] = [ENGINE_ALONE, CLIENT_ALONE, CLI, NOT_ON_MCP, MCP_ALONE, NOT_ASKED_OF_A_MODEL]
    assert all(reason for table in [*tables, *CLI_WITHOUT.values()] for reason in table.values())
    assert NOT_ASKED_OF_A_MODEL.keys() == MCP.keys()
