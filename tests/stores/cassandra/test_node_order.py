"""The order in which nodes are asked: those that just came back after the others, those that did not answer last. And
when a node asks another copy than those that it has asked first.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cassandra.connection import DefaultEndPoint
from cassandra.policies import RoundRobinPolicy, SimpleConvictionPolicy
from cassandra.pool import Host

from mnemic.stores.cassandra import CassandraStore
from mnemic.stores.cassandra.connection import RestingNodes
from mnemic.types import VectorSpace


class Nodes:
    """Three nodes, as the driver knows them, at a time that only the test moves."""

    def __init__(self) -> None:
        self.all = [Host(DefaultEndPoint(f"10.0.0.{number}"), SimpleConvictionPolicy) for number in (1, 2, 3)]
        self.now = 1000.0
        self.policy = RestingNodes(RoundRobinPolicy(), lambda: self.now)
        self.policy.populate(None, self.all)

    def plans(self) -> list[list[Host]]:
        """Return the next three plans; a policy without preference begins each with another node."""
        return [list(self.policy.make_query_plan()) for _ in self.all]


def test_without_a_reason_every_node_is_asked_first_in_turn() -> None:
    nodes = Nodes()
    assert {plan[0] for plan in nodes.plans()} == set(nodes.all)


def test_a_node_that_came_back_is_asked_after_the_others_until_it_is_warm() -> None:
    nodes = Nodes()
    nodes.policy.on_down(nodes.all[1])
    nodes.policy.on_up(nodes.all[1])
    nodes.now += 29
    assert [plan[-1] for plan in nodes.plans()] == [nodes.all[1]] * 3
    nodes.now += 2
    assert {plan[0] for plan in nodes.plans()} == set(nodes.all)


def test_a_node_that_did_not_answer_is_asked_after_one_that_came_back() -> None:
    nodes = Nodes()
    nodes.policy.on_up(nodes.all[0])
    nodes.policy.rest(nodes.all[2])
    assert nodes.plans() == [[nodes.all[1], nodes.all[0], nodes.all[2]]] * 3
    nodes.now += 6
    assert {plan[0] for plan in nodes.plans()} == {nodes.all[1], nodes.all[2]}


def test_nodes_of_a_busy_cluster_are_asked_before_one_that_has_just_started() -> None:
    """Where the answers are slow, each node is overtaken now and then by the one that was asked next."""
    nodes = Nodes()
    nodes.policy.on_up(nodes.all[0])
    nodes.policy.pass_over(nodes.all[1])
    assert nodes.plans() == [[nodes.all[2], nodes.all[1], nodes.all[0]]] * 3
    nodes.policy.pass_over(nodes.all[2])
    assert [plan[-1] for plan in nodes.plans()] == [nodes.all[0]] * 3
    nodes.now += 6
    assert {plan[0] for plan in nodes.plans()} == {nodes.all[1], nodes.all[2]}


def test_all_are_asked_where_all_came_back() -> None:
    nodes = Nodes()
    for node in nodes.all:
        nodes.policy.on_up(node)
    assert all(set(plan) == set(nodes.all) for plan in nodes.plans())


async def test_a_node_that_has_passed_on_no_read_yet_waits_no_longer_for_a_dead_one(
    new_store: Callable[[], CassandraStore],
) -> None:
    store = new_store()
    await store.open(VectorSpace(model="test-words", dimension=256))
    link = store._database.link
    asked = f"SELECT speculative_retry FROM system_schema.tables WHERE keyspace_name = '{link.keyspace}'"
    [[found]] = await link.of_each_node([asked])
    await store.close()
    # A share of past times (`99p`, also as the part of a lesser of two) is 2.5 s where there are none.
    assert [after for (after,) in found if re.fullmatch(r"\d+(\.\d+)?ms", after) is None] == []
