"""What is loaded when it is first used: the names are there, and what is none is refused."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest

import mnemic
from mnemic import bootstrap, requests
from mnemic.dispatch.handlers.add import AddHandler
from mnemic.engine import MemoryEngine
from mnemic.maintenance import administration_verbs, reports
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder

HEAVY = (
    "mnemic.dispatch.gateway",
    "mnemic.engine.turn",
    "mnemic.extract.rule_extractor",
    "mnemic.retrieve.search",
    "mnemic.redact.pii_kinds",
)


def engine() -> MemoryEngine:
    return MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())


def test_names_of_a_package_are_loaded_when_they_are_asked_for() -> None:
    assert bootstrap.load_profile.__module__ == "mnemic.bootstrap.agent_profiles"
    assert administration_verbs.AuditReport is reports.AuditReport


def test_the_package_says_its_version() -> None:
    assert mnemic.__version__ == metadata.version("mnemic")


@pytest.mark.parametrize("module", [bootstrap, administration_verbs], ids=lambda module: module.__name__)
def test_another_name_is_no_attribute(module: object) -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_the_first_request_of_a_sort_brings_its_handlers() -> None:
    handlers = engine().dispatcher.handlers
    assert {type(one) for one in handlers.values()} >= {AddHandler}
    assert requests.Forget not in handlers

    assert handlers[requests.Forget] is handlers[requests.Forget]
    assert {requests.Record, requests.Update} <= set(handlers)
    assert requests.Erase not in handlers

    assert handlers[requests.Erase] is handlers[requests.Erase]
    assert {requests.Approve, requests.Expire, requests.Update} <= set(handlers)


def test_what_is_not_dispatched_has_no_handler() -> None:
    handlers = engine().dispatcher.handlers
    for _ in range(2):  # the second time everything is loaded
        with pytest.raises(KeyError):
            handlers[requests.Search]


@pytest.mark.parametrize(
    ("late", "whole"),
    list(zip(MemoryEngine.__mro__[1:3], administration_verbs.AdministrationVerbs.__mro__[:2], strict=True)),
    ids=lambda one: one.__qualname__,
)
def test_every_verb_of_the_engine_that_is_loaded_late_is_there(late: type, whole: type) -> None:
    wanted = {name for name in vars(whole) if not name.startswith("__")} - {"sessions", "redaction", "completer"}
    assert {name for name in vars(late) if not name.startswith("__")} == wanted
    for name in wanted:
        assert getattr(MemoryEngine, name) is vars(whole)[name]


def test_an_engine_that_adds_has_not_loaded_what_administers() -> None:
    script = (
        "import sys; from mnemic import MemoryManager; memory = MemoryManager('ana', store=':memory:');"
        "memory.add('I row.'); late = ['mnemic.maintenance.' + one for one in ('maintenance_verbs', "
        "'administration_verbs')];"
        "before = [name for name in late if name in sys.modules]; memory.maintain(); memory.close();"
        "print(before, [name for name in late if name in sys.modules] == list(late))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[] True"


def test_views_of_an_engine_share_what_searches() -> None:
    base = engine()
    rules = base.rules
    view = base.under(policy=rules.policy, grant=rules.grant, budget=rules.budget, limits=rules.limits)

    assert view.searcher is base.searcher
    assert view.gateway.searcher is base.gateway.searcher


def test_what_has_a_deadline_is_loaded_before() -> None:
    script = (
        "import sys; from mnemic.engine import MemoryEngine; from mnemic.stores.in_memory_store import InProcessStore;"
        "from mnemic.testing.embedder import WordEmbedder;"
        "MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()).load();"
        "print([name for name in ('mnemic.engine.recall', 'mnemic.retrieve.search') if name not in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


def test_an_engine_is_built_without_what_reads_and_turns_need() -> None:
    script = (
        "import sys; from mnemic.engine import MemoryEngine; from mnemic.stores.in_memory_store import InProcessStore;"
        "from mnemic.testing.embedder import WordEmbedder;"
        "MemoryEngine(store=InProcessStore(), embedder=WordEmbedder());"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


def test_a_search_loads_nothing_that_checks_what_a_model_proposes() -> None:
    script = (
        "import sys; from mnemic import MemoryManager; memory = MemoryManager('ana', store=':memory:');"
        "memory.search('What do I row?'); memory.close();"
        "print([name for name in sys.modules if name.startswith(('pydantic', 'mnemic.policy.proposal_check'))])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"
