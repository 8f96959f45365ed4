"""What a marker hides, over REST: for which role, and how far each role reaches."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys

NEW = {"content": "Write to ana.silva@example.org"}


async def asked(folder: Path, roles: Collection[str], named: Collection[str], *, user: str = "olga") -> tuple[int, str]:
    """The answer to `user` with `roles` who asks for Ana's, where policy's `reveal` names `named`; and what the audit
    says.
    """
    MasterKeys.make(folder / "master.key")
    engine = MemoryEngine(
        store=InProcessStore(),
        embedder=WordEmbedder(),
        redaction=RedactionRules(actions={"EMAIL": "tokenise"}, reveal=frozenset(named)),
        keyring=KeyFolder(folder / "keys", folder / "master.key"),
    )
    transport = httpx.ASGITransport(app=create_app(engine))
    async with engine, httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        keys = ApiKeys(engine.store, engine.clock)
        _, ana = await keys.create(tenant="acme", roles=["writer"], user="ana")
        _, other = await keys.create(tenant="acme", roles=roles, user=user)
        made = await client.post("/v1/memories", json=NEW, headers={"Authorization": f"Bearer {ana}"})
        path = f"/v1/memories/{made.json()['memory_id']}/reveal"
        answer = await client.post(path, headers={"Authorization": f"Bearer {other}"})
        told = [event.action for event in await engine.store.audit("acme") if event.memory_id is not None]
    if answer.status_code == 200:
        assert answer.json()["content"] == NEW["content"]
    return answer.status_code, told[-1]


@pytest.mark.parametrize(
    ("roles", "named", "seen"),
    [
        ({"operator"}, {"operator"}, (200, "revealed")),
        ({"admin", "operator"}, {"admin", "operator"}, (200, "revealed")),
        ({"operator", "reviewer"}, {"reviewer"}, (404, "created")),
        ({"reviewer"}, {"reviewer"}, (404, "created")),
        ({"operator", "reviewer"}, {"subject"}, (403, "reveal_denied")),
    ],
)
async def test_the_whole_tenant_is_within_reach_of_the_role_that_may_reveal_and_not_of_another_one(
    tmp_path: Path, roles: set[str], named: set[str], seen: tuple[int, str]
) -> None:
    assert await asked(tmp_path, roles, named) == seen


async def test_ones_own_is_revealed_to_any_role_that_policy_names(tmp_path: Path) -> None:
    assert await asked(tmp_path, {"reviewer"}, {"reviewer"}, user="ana") == (200, "revealed")
