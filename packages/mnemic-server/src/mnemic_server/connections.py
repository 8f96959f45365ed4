"""Connections of one process: limits in total and per address, and the choice of the one to close for a new one.

A connection is *waiting* while no complete request of it is being answered: its head or body is incomplete, or it is
idle between requests. At the limit the connection that has waited longest is closed, first among those that have not
been answered yet. So a client that opens connections and sends half requests evicts its own, and a request that is
being answered is never cut off.
"""

from __future__ import annotations

import resource
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Protocol

SPARE_FILES = 128
"""File descriptors of the process reserved for the store, the log, models and connections being accepted."""
Networks = tuple[IPv4Network | IPv6Network, ...]
_EVERYWHERE = ("0.0.0.0/0", "::/0")
_IPV6_PREFIX = 64
"""Bits of the IPv6 prefix of one subscriber (RFC 6177), who chooses the rest freely."""


class Connection(Protocol):
    """Anything that can be closed."""

    def cut(self) -> None:
        """Close it at once, without a response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Timeouts of a connection in seconds: for a request's head; for its body, plus one for every `bytes_a_second` of
    it; for reading a part of the response.
    """

    head: float = 10.0
    body: float = 10.0
    bytes_a_second: int = 64 * 1024
    reading: float = 30.0


@dataclass(slots=True, kw_only=True)
class Connections:
    """The open connections: at most `most`, and `per_address` of one address that is not among the `proxies`."""

    most: int = 4096
    per_address: int = 256
    proxies: Networks = field(default_factory=lambda: networks("127.0.0.1,::1"))
    timeouts: Timeouts = field(default_factory=Timeouts)
    _open: dict[Connection, str] = field(default_factory=dict)
    _addresses: Counter[str] = field(default_factory=Counter)
    _strangers: OrderedDict[Connection, None] = field(default_factory=OrderedDict)
    """Waiting connections in the order of their waiting time: before their first response, and after one."""
    _answered: OrderedDict[Connection, None] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        # Every connection is a file descriptor. Without descriptors left the store could not open its log.
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY:
            self.most = max(1, min(self.most, max(files // 2, files - SPARE_FILES)))

    def note_opened(self, connection: Connection, address: str) -> bool:
        """Add a waiting connection, for which another waiting one may be closed. Return False if there is no room,
        because all are being answered.
        """
        place = place_of(address)
        # A trusted proxy carries the connections of all its users under one address.
        crowded = self._addresses[place] >= self.per_address and not is_within(address, self.proxies)
        if crowded and not self._cut_one(place):
            return False
        if len(self._open) >= self.most and not self._cut_one(None):
            return False
        self._open[connection] = place
        self._addresses[place] += 1
        self._strangers[connection] = None
        return True

    def waiting(self, connection: Connection) -> None:
        """Record that the connection was answered and waits for its next request."""
        if connection in self._open:
            self._answered[connection] = None

    def answering(self, connection: Connection) -> None:
        """Record that a complete request is being answered: the connection is not cut off."""
        self._strangers.pop(connection, None)
        self._answered.pop(connection, None)

    def note_closed(self, connection: Connection) -> None:
        """Remove a closed connection."""
        place = self._open.pop(connection, None)
        self.answering(connection)
        if place is not None:
            self._addresses[place] -= 1
            if not self._addresses[place]:
                del self._addresses[place]

    def __len__(self) -> int:
        """Return the number of open connections."""
        return len(self._open)

    def _cut_one(self, place: str | None) -> bool:
        """Close the connection that has waited longest, of this address if one is given; return True if there was
        one.
        """
        # Connections that were never answered go first: a flood of half requests evicts itself, not the idle
        # connections of real clients.
        for waiting in (self._strangers, self._answered):
            victim = next((one for one in waiting if place is None or self._open[one] == place), None)
            if victim is not None:
                self.note_closed(victim)
                victim.cut()
                return True
        return False


def networks(text: str) -> Networks:
    """Return the addresses and ranges in a text, separated by commas; `*` is every address. Raises ValueError."""
    named = [one.strip() for one in text.split(",") if one.strip()]
    return tuple(ip_network(one) for name in named for one in (_EVERYWHERE if name == "*" else [name]))


def is_within(address: str, ranges: Networks) -> bool:
    """Return True for an address in one of the ranges."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(known, "ipv4_mapped", None)
    return any((mapped or known) in one for one in ranges)


@lru_cache(maxsize=1024)
def place_of(address: str) -> str:
    """Return the address by which a caller is counted: of IPv6 the network that one subscriber has."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if known.version == 4 or known.is_loopback:
        return str(known)
    mapped = getattr(known, "ipv4_mapped", None)
    return str(mapped) if mapped else str(ip_network((known, _IPV6_PREFIX), strict=False))
