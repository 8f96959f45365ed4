"""Addresses that a webhook may use: public, by TLS, and never inside the service's own network.

Names are looked up in threads of their own: a name server that does not answer holds its thread for half a minute, and
may neither stall requests nor other tenants' webhooks meanwhile.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import SplitResult, urlsplit

from mnemic.errors import InvalidInput

LONGEST = 2000
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_LOCAL = (".localhost", ".local", ".localdomain", ".internal", ".home.arpa", ".lan")
_PORTS = {"http": 80, "https": 443}


class NotCallable(Exception):
    """Refusal of an address by its current target: `unresolvable` or `private_address`."""


def require_callable(url: str, *, private: bool) -> SplitResult:
    """Return the parts of an address that may be called. Raises InvalidInput (`url:...`).

    With `private` it may be an address of the service's own network, and without TLS.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidInput("url", hint="an https address") from None
    flawed = len(url) > LONGEST or not parts.hostname or set("@%") & set(parts.netloc) or parts.fragment or port == 0
    if flawed or not url.isascii() or any(char.isspace() or ord(char) < 33 for char in url):
        raise InvalidInput("url", hint="an https address, without a user or a fragment")
    if parts.scheme not in (("http", "https") if private else ("https",)):
        raise InvalidInput("url:scheme", hint="an https address")
    if not private and _literal(str(parts.hostname)) is False:
        raise InvalidInput("url:private", hint="an address that others can reach, too")
    return parts


def port_of(parts: SplitResult) -> int:
    """Return the port that an address names, or that of its scheme."""
    return parts.port or _PORTS[parts.scheme]


class Resolver:
    """Looks up the names of webhooks; a tenant has at most `share` lookups under way, also of those given up on."""

    def __init__(self, *, threads: int = 8, share: int = 2) -> None:
        self._share = share
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="mnemic-webhook-names")
        self._under_way: Counter[str] = Counter()

    async def address_of(self, parts: SplitResult, *, tenant: str, private: bool) -> str:
        """Return the IP address to connect to. Raises NotCallable if one of the addresses behind the name is private:
        the connection goes to the checked address, so that a second DNS answer has no effect.
        """
        if self._under_way[tenant] >= self._share:
            raise NotCallable("unresolvable")
        look_up = partial(socket.getaddrinfo, parts.hostname, port_of(parts), type=socket.SOCK_STREAM)
        self._under_way[tenant] += 1
        try:
            under_way = asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        except BaseException:
            self._under_way[tenant] -= 1
            raise
        under_way.add_done_callback(partial(self._end, tenant))
        try:
            # Shielded: when nobody waits any more the thread is still taken, and counts until it has ended.
            found = await asyncio.shield(under_way)
        except OSError:
            raise NotCallable("unresolvable") from None
        addresses = [str(one[4][0]) for one in found]
        if not private and not all(is_public(one) for one in addresses):
            raise NotCallable("private_address")
        return addresses[0]

    def _end(self, tenant: str, look_up: asyncio.Future[Any]) -> None:
        look_up.exception()  # nobody may be waiting for it any more
        self._under_way[tenant] -= 1
        if not self._under_way[tenant]:
            del self._under_way[tenant]


def is_public(address: str) -> bool:
    """Return True for an IP address that belongs to the public internet, also within one that carries another."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if ip.sixtofour is not None or ip.teredo is not None or ip.is_site_local or ip in _NAT64:
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def _literal(host: str) -> bool | None:
    """Return whether a host that is an IP address in any notation, or a name of a local network, is public; None for
    any other name.
    """
    name = host.rstrip(".").casefold()
    with suppress(ValueError):
        ipaddress.ip_address(name)
        return is_public(name)
    # What the C library takes for an address: 2130706433, 0x7f000001, 127.1, 0177.0.0.1.
    with suppress(OSError):
        return is_public(socket.inet_ntoa(socket.inet_aton(name)))
    # A name without a dot is one of the own network.
    return False if "." not in name or name.endswith(_LOCAL) else None
