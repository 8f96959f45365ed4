"""What each tenant spends on the language model is in the metrics."""

from __future__ import annotations

import httpx

from mnemic.engine import MemoryEngine
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Completion, Deadline, Prompt
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys


class Counted:
    """A model that finds nothing, for 70 tokens a call."""

    model = "scripted"

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        return Completion(text='{"items": []}', model=self.model, input_tokens=60, output_tokens=10)

    async def close(self) -> None:
        return None


async def test_calls_and_tokens_are_counted_for_the_tenant_that_caused_them() -> None:
    model = Counted()
    engine = MemoryEngine(
        store=InProcessStore(),
        embedder=WordEmbedder(),
        completer=model,
        extractor=LayeredExtractor(ModelExtractor(model)),
    )
    app = create_app(engine)
    keys = ApiKeys(engine.store, engine.clock)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service") as client:
        heads = {}
        for tenant in ("acme", "borg"):
            _, text = await keys.create(tenant=tenant, roles=("writer",), user="ana")
            heads[tenant] = {"Authorization": f"Bearer {text}"}
        for tenant in ("acme", "acme", "borg"):
            said = {"message": f"I keep two goats in {tenant}."}
            answer = await client.post("/v1/capture", json=said, headers=heads[tenant])
            assert answer.status_code == 200, answer.text
        _, text = await keys.create(tenant="acme", roles=("operator",), user="ana")
        operator = {"Authorization": f"Bearer {text}"}
        shown = (await client.get("/metrics", headers=operator)).text
        overview = (await client.get("/v1/overview", headers=operator)).json()
    assert overview["process"]["models"] == {"calls": 2, "input_tokens": 120, "output_tokens": 20}
    assert 'mnemic_model_calls_total{tenant="acme"} 2.0' in shown
    assert 'mnemic_model_tokens_total{direction="in",tenant="acme"} 120.0' in shown
    assert 'mnemic_model_tokens_total{direction="out",tenant="borg"} 10.0' in shown
