"""Addresses that a webhook may use: public, by TLS, and never inside the service's own network."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from urllib.parse import SplitResult, urlsplit

from mnemic.errors import InvalidInput

LONGEST = 2000
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
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
    flawed = len(url) > LONGEST or not parts.hostname or "@" in parts.netloc or parts.fragment or port == 0
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


async def resolved(parts: SplitResult, *, private: bool) -> str:
    """Return the IP address to connect to. Raises NotCallable if one of the addresses behind the name is private: the
    connection goes to the checked address, so that a second DNS answer has no effect.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(parts.hostname, port_of(parts), type=socket.SOCK_STREAM)
    except OSError:
        raise NotCallable("unresolvable") from None
    addresses = [str(one[4][0]) for one in found]
    if not private and not all(is_public(one) for one in addresses):
        raise NotCallable("private_address")
    return addresses[0]


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
    """Return whether a host that is an IP address, or localhost, is public; None for any other name."""
    if host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return None
    return is_public(host)
