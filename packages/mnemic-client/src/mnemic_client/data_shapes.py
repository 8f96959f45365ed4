"""Shapes of structured data in a client: those that the service reports, and those that a program defines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from mnemic.runtime.event_loop_thread import Portal
from mnemic.runtime.sync_facade import Awaited, async_mode
from mnemic.structured.schema import Schema
from mnemic.structured.shape import Shape
from mnemic.structured.structured_memory import StructuredMemory
from mnemic.types import Actor
from mnemic_client.engine import RemoteEngine
from mnemic_client.remote import Remote


def kept_at(remote: Remote) -> StructuredMemory[Awaited]:
    """Return the library's verbs for shapes that a program defines, on memories of the service."""
    actor = remote.user or Actor(user="me")  # the credential says who asks
    return StructuredMemory(cast(Any, RemoteEngine(remote, actor)), actor, async_mode(), readers=list)


def known_at(remote: Remote, call: Callable[..., Any] | None) -> Mapping[str, Shape]:
    """Return the shapes of the service, by name. A caller with an event loop cannot await a property: another loop asks
    in parallel.
    """
    if call is not None:
        known: Mapping[str, Shape] = call(_defined_shapes, remote)
        return known
    portal = Portal()
    try:
        return portal.call(_by_another, remote)
    finally:
        portal.close()


async def _by_another(remote: Remote) -> Mapping[str, Shape]:
    again = remote.again()
    try:
        return await _defined_shapes(again)
    finally:
        await again.close()


async def _defined_shapes(remote: Remote) -> Mapping[str, Shape]:
    shapes = (await remote.call("GET", "/v1/structured", params={"whole": "true"}))["shapes"]
    return {
        one["name"]: Shape(
            name=one["name"],
            schema=Schema(one["json_schema"], is_ours=True),
            identity=tuple(one["identity"]),
            person=one["person"],
            title=tuple(one["title"]),
            modified=one["modified"],
        )
        for one in shapes
    }
