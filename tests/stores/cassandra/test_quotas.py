"""Quotas of a whole tenant on Cassandra: its writers do not delay each other until one is near."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mnemic.stores.cassandra import CassandraStore
from mnemic.stores.store_verbs import Step
from mnemic.testing.record_store.fixtures import EMBEDDER, day, memory, remember, scope
from mnemic.types import Kind


@pytest.mark.parametrize("settled", [False, True])
async def test_a_writer_that_asks_for_the_usage_of_the_tenant_begins_again_only_where_it_is_settled(
    new_store: Callable[[], CassandraStore], settled: bool
) -> None:
    store, other = new_store(), new_store()
    await store.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await remember(store, memory("Ada likes tea", kind=Kind.EPISODIC))
    await remember(store, memory("Bob likes chess", kind=Kind.EPISODIC, scope=scope("bob")))
    counted: list[int] = []

    async def work(transaction: Any) -> None:
        await transaction.insert(memory("Ada runs", kind=Kind.EPISODIC))
        usage = await transaction.usage("acme", since=day(-1), settled=settled)
        counted.append(usage[Kind.EPISODIC].rows)
        assert usage[Kind.EPISODIC].recent == counted[-1]
        if len(counted) == 1:
            await Step(lambda: remember(other, memory("Bob paints", kind=Kind.EPISODIC, scope=scope("bob"))))

    await store.transact(work)
    assert counted == ([3, 4] if settled else [3])
    usage = await store.usage("acme", since=day(-1))
    assert usage[Kind.EPISODIC].rows == 4
    await store.close()
    await other.close()
