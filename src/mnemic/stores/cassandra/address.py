"""The address of a cluster: `cassandra://user:password@host1,host2:9042/keyspace?datacenter=dc1`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from mnemic.errors import InvalidConfig

_OPTIONS = frozenset({"ca", "consistency", "copies", "datacenter", "prefix", "protocol", "timeout"})
_LEVELS = frozenset({"quorum", "local_quorum"})


@dataclass(frozen=True, slots=True)
class Address:
    """Hosts of a cluster, keyspace and connection settings. `prefix` separates one installation from others in the
    keyspace.
    """

    hosts: tuple[str, ...]
    port: int
    keyspace: str
    user: str | None
    password: str | None = field(repr=False)
    datacenter: str | None = None
    copies: int = 3
    local: bool = False
    prefix: str = ""
    ca: Path | None = None
    timeout: float = 1.0
    protocol: int = 5

    @classmethod
    def from_url(cls, url: str) -> Address:
        """Return the address in `url`. Raises InvalidConfig (`invalid_config:cassandra`)."""
        try:
            return _read(url)
        except (KeyError, ValueError) as error:
            hint = "cassandra://host1,host2:9042/keyspace, with the options " + ", ".join(sorted(_OPTIONS))
            raise InvalidConfig("cassandra", hint=hint) from error


def _read(url: str) -> Address:
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    name, _, places = parts.netloc.rpartition("@")
    user, _, password = name.partition(":")
    hosts, _, port = places.partition(":")
    keyspace = parts.path.strip("/") or "mnemic"
    level = options.get("consistency", "quorum")
    if parts.scheme != "cassandra" or not hosts or not options.keys() <= _OPTIONS or level not in _LEVELS:
        raise ValueError("address")
    if not (keyspace.isidentifier() and keyspace.isascii() and keyspace == keyspace.lower()):
        raise ValueError("keyspace")
    return Address(
        hosts=tuple(host for host in hosts.split(",") if host),
        port=int(port or 9042),
        keyspace=keyspace,
        user=unquote(user) or None,
        password=unquote(password) or None,
        datacenter=options.get("datacenter"),
        copies=int(options.get("copies", 3)),
        local=level == "local_quorum",
        prefix=options.get("prefix", ""),
        ca=Path(options["ca"]) if "ca" in options else None,
        timeout=float(options.get("timeout", 1.0)),
        protocol=int(options.get("protocol", 5)),
    )
