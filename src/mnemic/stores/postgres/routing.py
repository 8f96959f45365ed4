"""Router between a store and the servers that share its tenants: the routing statements, and the settings that each
transaction repeats because a connection through a router keeps no session state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from mnemic.errors import InvalidConfig, NotSupported, StoreNewer
from mnemic.stores.postgres.pool import APP_ROLE

ANNOUNCEMENTS = {
    "pgdog": "SET pgdog.sharding_key TO {tenant}",
    "spqr": "SET __spqr__sharding_key TO {tenant}",
}
"""Commands that tell known routers the server of the next transaction."""

_INSIDE = "SET pgdog."
"""Beginning of commands that are refused outside a transaction: the router then has a tenant to choose by."""

_MOST = 1000
"""Maximum number of servers with distinct row numbers (`mnemic.stores.postgres.router_servers`)."""

_SETTLE = """
    SELECT set_config(given.name, given.value, true), pg_advisory_xact_lock_shared(given.lock)
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS given (name, value, lock)
"""
_CHECK = """
    SELECT current_user AS role,
           row_security_active('mnemic.memory') AND NOT EXISTS (
               SELECT FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant'
               WHERE c.relnamespace = 'mnemic'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
               AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
           ) AS secured,
           (SELECT max(version) FROM mnemic.schema_version) AS version,
           (SELECT sha256(value) FROM mnemic.salt) AS salt
"""


class OpenSession(Protocol):
    """Open session, as the beginning of a transaction needs it."""

    async def fetch_begun(self, statement: str, *values: Any) -> list[Any]:
        """Return the rows of a statement that belongs to the beginning."""


@dataclass(frozen=True, slots=True)
class Router:
    """Router as configured: the command that names the tenant to it, with {tenant} as placeholder, and the addresses of
    the servers themselves.
    """

    announcement: str
    servers: tuple[str, ...]

    @classmethod
    def checked(cls, router: str | None, servers: Sequence[str]) -> Self | None:
        """Return the router; None if none is named. Raises InvalidConfig (`invalid_config:router`)."""
        if router is None and not servers:
            return None
        announcement = ANNOUNCEMENTS.get(router or "", router or "")
        if "{tenant}" not in announcement:
            known = ", ".join(sorted(ANNOUNCEMENTS))
            raise InvalidConfig("router", hint=f"router names one of {known}, or a command with {{tenant}} in it")
        if not 0 < len(servers) <= _MOST or len(set(servers)) < len(servers):
            raise InvalidConfig("router", hint="name each server behind the router once: server=postgresql://...")
        return cls(announcement, tuple(servers))


@dataclass(frozen=True, slots=True)
class Route:
    """Beginning of the transactions of an open store. `settings` apply to one transaction, the role first; `salt` and
    `schema` are those that every server had at opening; `elsewhere` asks one server directly.
    """

    announcement: str
    settings: tuple[tuple[str, str], ...]
    salt: bytes
    schema: int
    elsewhere: Callable[[str], Awaitable[list[Any]]]

    def announced(self, tenant: str) -> str:
        """Return the command that tells the router the tenant of the next transaction."""
        return self.announcement.replace("{tenant}", quoted(tenant))

    def begun(self, begin: str, tenant: str) -> tuple[str, str]:
        """Return the first two commands of a transaction, in the order that the router requires."""
        announced = self.announced(tenant)
        return (begin, announced) if self.announcement.startswith(_INSIDE) else (announced, begin)

    async def settle(self, session: OpenSession, *, lock: int | None, milliseconds: str) -> None:
        """Set up the transaction, and check the server that the router chose. Raises InvalidConfig (`postgres_role`,
        `postgres_servers`), StoreNewer if something is to be written (`lock`).
        """
        settings = (*self.settings, ("statement_timeout", milliseconds))
        names, values = zip(*settings, strict=True)
        locks = [lock, *(None for _ in settings[1:])]
        await session.fetch_begun(_SETTLE, list(names), list(values), locks)
        (found,) = await session.fetch_begun(_CHECK)
        if found["role"] != APP_ROLE or not found["secured"]:
            raise not_granted()
        if found["salt"] != self.salt:
            raise differing("the router led to one that was not there when the store was opened")
        if lock is not None and found["version"] > self.schema:
            raise StoreNewer(hint="the server was migrated by a newer mnemic; update this one")


def digest_of(salt: bytes) -> bytes:
    """Return the digest of a salt that a transaction compares; the salt itself stays on the server."""
    return hashlib.sha256(salt).digest()


def quoted(text: str) -> str:
    """Return a text as a literal; tenants are identifiers, in which nothing needs to be escaped but the quote."""
    return "'" + text.replace("'", "''") + "'"


def not_granted() -> InvalidConfig:
    """Return the error of a server on which the login does not become the role, or the role is not bound."""
    hint = f"on the tenant's server: GRANT {APP_ROLE} to the login, and see that row-level security is in force"
    return InvalidConfig("postgres_role", hint=hint)


def differing(hint: str) -> InvalidConfig:
    """Return the error of servers that do not belong together."""
    return InvalidConfig("postgres_servers", hint=f"the servers behind the router must be alike: {hint}")


def two_tenants() -> NotSupported:
    """Return the error of a transaction over two tenants, which may live on two servers."""
    return NotSupported("two_tenants", hint="behind a router a transaction concerns one tenant")
