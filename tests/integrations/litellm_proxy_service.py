"""A LiteLLM proxy in its own process, before the scripted model, with memory in it, and calls with two users' keys.

Needs an environment with `litellm[proxy]`: `python -m tests.integrations.litellm_proxy_service`.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from mnemic.write.turn_log import turns_of
from tests.scripted_model import ScriptedModelServer

_PAGE = Path(__file__).parents[2] / "docs" / "frameworks" / "litellm-proxy.md"

_HOOK = """\
from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.agents.litellm_proxy import MnemicHook
from mnemic.testing.embedder import WordEmbedder
from litellm.proxy._types import UserAPIKeyAuth

hook = MnemicHook(MemoryEngine(store=SqliteStore("memory.db"), embedder=WordEmbedder()))


async def user_of(request, api_key: str) -> UserAPIKeyAuth:
    return UserAPIKeyAuth(api_key=api_key, user_id=api_key.removeprefix("sk-"))
"""

TIMED_HOOK = """\
import json
from datetime import datetime
from pathlib import Path

from litellm.proxy._types import UserAPIKeyAuth

from mnemic import Settings, build_engine
from mnemic.runtime.clock import SystemClock
from mnemic.agents.litellm_proxy import MnemicHook


class SetClock(SystemClock):
    def now(self) -> datetime:
        return datetime.fromisoformat(Path("now").read_text())


class Telling(MnemicHook):
    async_pre_call_hook = MnemicHook.async_pre_call_hook  # LiteLLM looks for it in the class itself

    async def async_post_call_success_hook(self, data, user_api_key_dict, response):
        answer = await super().async_post_call_success_hook(data, user_api_key_dict, response)
        asked = self.memory_of(self._actor_of(user_api_key_dict)).asked
        Path("asked").write_text(json.dumps([one.to_dict() for one in asked]))
        return answer


hook = Telling(build_engine(Settings(store="s.db"), clock=SetClock()))


async def user_of(request, api_key: str) -> UserAPIKeyAuth:
    return UserAPIKeyAuth(api_key=api_key, user_id=api_key.removeprefix("sk-"))
"""
"""The same on a clock that a file sets, which leaves what the latest turn asked of memory in another."""


def config(model_url: str) -> str:
    """The proxy's configuration: one model, the hook, and keys that name their user."""
    params = {"model": "openai/scripted", "api_base": model_url, "api_key": "test"}
    return json.dumps(
        {
            "model_list": [{"model_name": "chat", "litellm_params": params}],
            "litellm_settings": {"callbacks": "my_memory.hook", "num_retries": 0},
            "general_settings": {"custom_auth": "my_memory.user_of"},
        }
    )


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of code in this language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def asked(port: int, caller: str, text: str, **more: Any) -> str:
    body = {"model": "chat", "messages": [{"role": "user", "content": text}], **more}
    answer = httpx.post(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        json=body, headers={"Authorization": f"Bearer sk-{caller}"}, timeout=120,
    )  # fmt: skip
    answer.raise_for_status()
    return str(answer.json()["choices"][0]["message"]["content"])


def streamed(port: int, caller: str, text: str) -> str:
    """The answer to a call whose answer comes in pieces."""
    body = {"model": "chat", "stream": True, "messages": [{"role": "user", "content": text}]}
    url, key = f"http://127.0.0.1:{port}/v1/chat/completions", {"Authorization": f"Bearer sk-{caller}"}
    with httpx.stream("POST", url, json=body, headers=key, timeout=120) as answer:
        answer.raise_for_status()
        lines = [line.removeprefix("data: ") for line in answer.iter_lines() if line.startswith("data: {")]
    pieces = [choice["delta"].get("content") or "" for line in lines for choice in json.loads(line)["choices"]]
    return "".join(pieces)


async def turns(folder: Path, user: str) -> list[tuple[str | None, str | None]]:
    """Question and answer of each turn whose model was shown something, oldest first."""
    async with MemoryEngine(store=SqliteStore(folder / "memory.db"), embedder=WordEmbedder()) as engine:
        kept = (await turns_of(engine.store, engine.vault, Actor(user=user))).values()
        return [(one.question, one.answer) for one in sorted(kept, key=lambda one: one.at)]


async def remembered(folder: Path, user: str) -> list[str]:
    async with MemoryEngine(store=SqliteStore(folder / "memory.db"), embedder=WordEmbedder()) as engine:
        return [memory.content for memory in await engine.list(actor=Actor(user=user))]


@contextmanager
def proxy(folder: Path, port: int, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the proxy of the configuration in `folder` until it ends or the block does; print the end of its log."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "MNEMIC_"))}
    command = [str(Path(sys.executable).with_name("litellm")), "--config", "config.yaml", "--port", str(port)]
    with (folder / "proxy.log").open("wb") as log:
        given = {**clean, "LITELLM_LOCAL_MODEL_COST_MAP": "True", **environment}
        running = subprocess.Popen(command, cwd=folder, env=given, stdout=log, stderr=log)
        try:
            yield running
        finally:
            running.terminate()
            running.wait(30)
            print((folder / "proxy.log").read_text(encoding="utf-8")[-1500:])


def wait_for(running: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(240):
        assert running.poll() is None, "the proxy has ended"
        try:
            httpx.get(f"http://127.0.0.1:{port}/health/liveliness", timeout=5).raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(1)


def two_users() -> None:
    folder, port = Path(tempfile.mkdtemp()), free_port()
    (folder / "my_memory.py").write_text(_HOOK, encoding="utf-8")
    answers = ["Noted.", "An aisle seat.", "I do not know.", "Aisle, with a stream.", "Noted, too."]
    with ScriptedModelServer(lambda _: answers.pop(0)) as server:
        (folder / "config.yaml").write_text(config(server.base_url), encoding="utf-8")
        with proxy(folder, port, LITELLM_MASTER_KEY=f"sk-{secrets.token_hex(32)}") as running:
            wait_for(running, port)
            assert asked(port, "ana", "I prefer aisle seats.") == "Noted."
            assert asked(port, "ana", "Which seat do I prefer?") == "An aisle seat."
            assert asked(port, "ben", "Which seat do I prefer?", user="ana") == "I do not know."
            assert streamed(port, "ana", "Which seat do I like to sit in?") == "Aisle, with a stream."
            assert streamed(port, "ben", "I live in Oslo.") == "Noted, too."
        assert shown(server) == [0, 1, 0, 1, 0]
        assert "seat: aisle" in json.dumps(server.requests[1].body)
    assert "aisle" in asyncio.run(remembered(folder, "ana"))
    assert asyncio.run(turns(folder, "ana"))[-1] == ("Which seat do I like to sit in?", "Aisle, with a stream.")
    assert [text for text in asyncio.run(remembered(folder, "ben")) if "aisle" in text] == []
    assert "Oslo" in " ".join(asyncio.run(remembered(folder, "ben")))
    print("the proxy remembered for ana, showed it to her alone, in streams too, and took no user from a request")


def page() -> None:
    """The page's files as they stand, with the scripted model in OpenAI's place; and without a key."""
    folder, port, key = Path(tempfile.mkdtemp()), free_port(), secrets.token_hex(32)
    (folder / "my_memory.py").write_text(blocks(_PAGE, "python")[0], encoding="utf-8")
    (folder / "config.yaml").write_text(blocks(_PAGE, "yaml")[0], encoding="utf-8")
    with proxy(folder, port, LITELLM_MASTER_KEY=f"sk-{key}") as running:
        assert running.wait(120) != 0
    assert "OPENAI_API_KEY is not set" in (folder / "proxy.log").read_text(encoding="utf-8")
    with ScriptedModelServer(lambda _: "Understood.") as server:
        openai = {"OPENAI_API_KEY": "test", "OPENAI_BASE_URL": server.base_url}
        with proxy(folder, port, LITELLM_MASTER_KEY=f"sk-{key}", **openai) as running:
            wait_for(running, port)
            asked(port, key, "I prefer aisle seats.")
            asked(port, key, "Which seat do I prefer?")
        assert shown(server) == [0, 1]
        assert "seat: aisle" in json.dumps(server.requests[1].body)
    print("the page's proxy says that a key is missing, and with one it remembers")


def shown(server: ScriptedModelServer) -> list[int]:
    return [json.dumps(request.body).count("<memory fence") for request in server.requests]


if __name__ == "__main__":
    two_users()
    page()
