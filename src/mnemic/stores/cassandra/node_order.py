"""Order in which nodes are asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from cassandra.policies import LoadBalancingPolicy

_RESTS = 5.0
"""Seconds for which a node that did not answer is asked last."""

_WARMING = 30.0
"""Seconds for which a node that came back is asked after the others: its caches are empty, its code is not compiled."""


class RestingNodes(LoadBalancingPolicy):  # type: ignore[misc]  # the driver has no types
    """Asks the nodes that came back a moment ago after the others, and those that did not answer last: the driver
    notices a silent one only by its heartbeat, and takes one that has just started for as fast as the others.
    """

    def __init__(self, child: LoadBalancingPolicy, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._child = child
        self._clock = clock
        self._silent: dict[Any, float] = {}
        self._warming: dict[Any, float] = {}

    def rest(self, host: Any) -> None:
        """Record that the node has not answered."""
        self._silent[host] = self._clock() + _RESTS

    def make_query_plan(self, working_keyspace: Any = None, query: Any = None) -> Iterator[Any]:
        """Yield the nodes in the order in which they are asked."""
        now = self._clock()
        warming: list[Any] = []
        silent: list[Any] = []
        for host in self._child.make_query_plan(working_keyspace, query):
            if self._silent.get(host, now) > now:
                silent.append(host)
            elif self._warming.get(host, now) > now:
                warming.append(host)
            else:
                yield host
        yield from warming
        yield from silent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._child, name)

    def populate(self, cluster: Any, hosts: Any) -> None:
        """Pass the cluster to the wrapped policy."""
        self._child.populate(cluster, hosts)

    def distance(self, host: Any) -> Any:
        """Return the distance of the node."""
        return self._child.distance(host)

    def check_supported(self) -> None:
        """Check that the driver meets the needs of the wrapped policy."""
        self._child.check_supported()

    def on_up(self, host: Any) -> None:
        """Add a node that came back."""
        self._silent.pop(host, None)
        self._warming[host] = self._clock() + _WARMING
        self._child.on_up(host)

    def on_down(self, host: Any) -> None:
        """Drop a node that went down."""
        self._child.on_down(host)

    def on_add(self, host: Any) -> None:
        """Add a new node."""
        self._child.on_add(host)

    def on_remove(self, host: Any) -> None:
        """Drop a node that was removed."""
        self._child.on_remove(host)
