"""Errors for packages that are not installed: of an adapter, the client, a model."""

from __future__ import annotations

import importlib
import pickle
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.bootstrap import build_keyring
from mnemic.bootstrap.models import build_completer, build_embedder, build_reranker
from mnemic.config import Settings
from mnemic.errors import InvalidConfig, MissingExtra
from mnemic.plugins.extras import brought_by, missing_extra
from mnemic.testing.clock import ManualClock
from mnemic.types import Deadline, Prompt

NEEDED = {
    "mnemic_client": ("client", "httpx"),
    "mnemic.keys": ("keys", "cryptography.exceptions"),
    "mnemic.agents.adk": ("adk", "google.adk.agents.callback_context"),
    "mnemic.agents.agent_framework": ("agent-framework", "agent_framework"),
    "mnemic.agents.ag2": ("ag2", "ag2"),
    "mnemic.agents.autogen": ("autogen", "autogen_core.model_context"),
    "mnemic.agents.claude_agent": ("claude-agent", "claude_agent_sdk"),
    "mnemic.agents.crewai": ("crewai", "crewai"),
    "mnemic.agents.litellm_proxy": ("litellm", "litellm.integrations.custom_logger"),
    "mnemic.agents.llama_index": ("llama-index", "llama_index.core.base.llms.types"),
    "mnemic.agents.langchain": ("langchain", "langchain.agents.middleware"),
    "mnemic.agents.langgraph": ("langgraph", "langgraph.graph"),
    "mnemic.agents.mcp": ("mcp", "mcp.server"),
    "mnemic.agents.openai_agents": ("openai-agents", "agents"),
    "mnemic.agents.pydantic_ai": ("pydantic-ai", "pydantic_ai"),
    "mnemic.agents.strands": ("strands", "strands"),
}
"""The extra of each module, and a package that it brings."""


@pytest.mark.parametrize("module", NEEDED)
def test_a_missing_extra_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    extra, package = NEEDED[module]
    for name in [name for name in sys.modules if name == module or name.startswith(module + ".")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra) as missing:
        importlib.import_module(module)
    assert missing.value.reason == f"missing_extra:{extra}"
    assert f"mnemic[{extra}]" in str(missing.value)
    assert isinstance(missing.value, (InvalidConfig, ModuleNotFoundError))


def test_a_service_without_its_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "mnemic_client"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mnemic_client", None)
    with pytest.raises(MissingExtra) as missing:
        MemoryManager("ana", store="https://memory.example.org", api_key="mnk_x")
    assert missing.value.reason == "missing_extra:client"


def test_a_master_key_without_its_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("mnemic.keys")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(MissingExtra) as missing:
        build_keyring(Settings(key_file=tmp_path / "master.key"))
    assert missing.value.reason == "missing_extra:keys"
    assert build_keyring(Settings()) is None


@pytest.fixture
def without_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)


@pytest.mark.usefixtures("without_client")
async def test_an_engine_opens_without_the_client_of_its_model_and_the_first_call_says_what_to_install() -> None:
    model = build_completer(Settings(model="gpt-test", model_url="http://127.0.0.1:9"), ManualClock())
    assert model is not None
    with pytest.raises(InvalidConfig, match=r"pip install 'mnemic\[openai\]'") as missing:
        await model.complete(
            Prompt(system="s", user="u"), deadline=Deadline.after(timedelta(seconds=5), ManualClock().monotonic)
        )
    assert missing.value.reason == "invalid_config:openai"
    await model.close()


@pytest.mark.usefixtures("without_client")
def test_an_embedder_or_a_reranker_without_its_client_is_refused() -> None:
    embedder = Settings(embedder="http", embedder_url="http://127.0.0.1:9", embedder_model="e", embedder_dimension=4)
    reranker = Settings(reranker="tei", reranker_url="http://127.0.0.1:9")
    for build in (lambda: build_embedder(embedder, ManualClock()), lambda: build_reranker(reranker, ManualClock())):
        with pytest.raises(InvalidConfig) as missing:
            build()
        assert missing.value.reason == "invalid_config:openai"


def test_every_missing_package_is_one_kind_of_error_under_its_earlier_reason() -> None:
    named, of_setting = missing_extra("client"), missing_extra("openai", setting="openai")
    assert (named.reason, named.hint) == ("missing_extra:client", "pip install 'mnemic[client]'")
    assert (of_setting.reason, of_setting.hint) == ("invalid_config:openai", "pip install 'mnemic[openai]'")
    assert isinstance(of_setting, MissingExtra)
    assert pickle.loads(pickle.dumps(of_setting)).reason == of_setting.reason


def test_a_module_of_our_own_that_is_missing_is_no_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError) as missing, brought_by("client"):
        importlib.import_module("mnemic.no_such_module")
    assert not isinstance(missing.value, MissingExtra)
