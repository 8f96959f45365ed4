"""MCP on the service's own address and credentials: only the key determines the user of a tool's memories."""

from __future__ import annotations

from collections import OrderedDict
from http import HTTPStatus
from typing import Any

from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send

from mnemic.agents.mcp import Permission, answer, memory_server
from mnemic.engine import MemoryEngine
from mnemic_server.access import ServiceContext, admit_caller, refuse_foreign_origin, require_role, require_user
from mnemic_server.credentials import Principal, Role
from mnemic_server.problems import Refusal
from mnemic_server.service_reason_codes import METHOD_NOT_ALLOWED

SERVERS_KEPT = 256
"""Cached servers: making one takes some milliseconds."""
_READERS = frozenset({Role.READER, Role.WRITER, Role.SUBJECT})


class ToolServer:
    """`/mcp`: streamable HTTP without sessions, so that any process can answer any request. Each caller gets the tools
    of its roles: readers and subjects search, writers add, writers and subjects correct and delete, subjects request
    erasure. Without a session no confirmation is possible, so only a subject's own credential deletes the user's
    statements.
    """

    def __init__(self, service: ServiceContext) -> None:
        self._service = service
        self._servers: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request. Refuses with 401, 403, 405 and 429. MCP requires a server to check the origin, whatever
        credential is presented.
        """
        if scope["method"] != "POST":
            raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, METHOD_NOT_ALLOWED, headers={"Allow": "POST"})
        if HTTPConnection(scope).headers.get("origin") not in self._service.origins:
            refuse_foreign_origin(HTTPConnection(scope), self._service)
        principal = await admit_caller(HTTPConnection(scope), self._service)
        require_user(principal)
        require_role(principal, *_READERS)
        state = await self._service.tenancy.tenant_state(principal.tenant)
        await answer(self._server(principal, state.engine), scope, receive, send)

    def _server(self, principal: Principal, engine: MemoryEngine) -> Any:
        named = (principal.actor, principal.roles & {*_READERS, Role.OPERATOR}, engine)
        server = self._servers.pop(named, None)
        if server is None:
            may, own = _permissions_of(principal.roles), Role.SUBJECT in principal.roles
            server = memory_server(engine, principal.actor, may=may, host_confirms=own)
        self._servers[named] = server
        while len(self._servers) > SERVERS_KEPT:
            self._servers.popitem(last=False)
        return server


def _permissions_of(roles: frozenset[Role]) -> frozenset[Permission]:
    may = {Permission.READ}
    if Role.WRITER in roles:
        may |= {Permission.WRITE, Permission.CORRECT}
    if Role.SUBJECT in roles:
        may |= {Permission.CORRECT, Permission.ERASE}
    if Role.OPERATOR in roles:
        may |= {Permission.ERASE}
    return frozenset(may)
