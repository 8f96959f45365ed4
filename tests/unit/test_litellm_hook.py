"""LiteLLM's hook without LiteLLM: whose words are captured, whatever the calls are named."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor


@pytest.fixture
def hook_class(monkeypatch: pytest.MonkeyPatch) -> Any:
    base = ModuleType("litellm.integrations.custom_logger")
    base.CustomLogger = object  # type: ignore[attr-defined]
    for name, module in (("litellm", ModuleType("litellm")), ("litellm.integrations", ModuleType("integrations"))):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, base.__name__, base)
    monkeypatch.delitem(sys.modules, "mnemic.agents.litellm_proxy", raising=False)
    from mnemic.agents.litellm_proxy import MnemicHook

    return MnemicHook


def hook_readers(hook: Any) -> list[Any]:
    return [reader for memory in hook._memories.values() if (reader := memory.later) is not None]


async def _pieces() -> Any:
    yield SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content="ok"))])


@pytest.mark.parametrize("stream", [False, True])
async def test_two_users_with_the_same_call_id_keep_their_own_words(
    hook_class: Any, tmp_path: Path, stream: bool
) -> None:
    engine = MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder())
    answer = SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content="ok", role="assistant"))])
    async with engine:
        hook = hook_class(engine)
        said = {"mallory": "I collect stamps.", "ana": "I live in Bergen and I am vegetarian."}
        calls = {}
        for user, text in said.items():
            data = {"messages": [{"role": "user", "content": text}], "litellm_call_id": "trace-17", "stream": stream}
            calls[user] = await hook.async_pre_call_hook(SimpleNamespace(user_id=user), None, data, "acompletion")
        for user, data in calls.items():
            key = SimpleNamespace(user_id=user)
            if stream:
                async for _ in hook.async_post_call_streaming_iterator_hook(key, _pieces(), data):
                    pass
            else:
                await hook.async_post_call_success_hook(data, key, answer)
            for reader in hook_readers(hook):
                await reader.wait_until_read()
        held = {user: " ".join(one.content for one in await engine.list(actor=Actor(user=user))) for user in said}
    assert "Bergen" in held["ana"]
    assert "stamps" in held["mallory"]
    assert "Bergen" not in held["mallory"]
    assert "stamps" not in held["ana"]
