"""A crowd of connections that comes together is taken in a few at a time, so that others are answered in between."""

from __future__ import annotations

import asyncio
import gc
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import uvicorn

from mnemic_server.server import ACCEPTED_AT_ONCE, WAITING, _Draining
from mnemic_server.streams import Streams

CROWD = 3 * ACCEPTED_AT_ONCE
LISTENING = struct.Struct("=24xII")
"""Of `tcp_info` for a socket that listens: how many wait, and how many may."""


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    before = [*gc.callbacks]
    yield
    gc.callbacks[:] = before
    gc.unfreeze()


async def taken_in_one_turn(backlog: int) -> tuple[int, int]:
    """Return the most connections that one turn of the event loop has taken of a crowd, and how many may wait."""
    config = uvicorn.Config(_nothing, port=0, backlog=backlog, lifespan="off", log_config=None)
    config.load()
    server = _Draining(config, Streams())
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    listening = server.servers[0].sockets[0]
    _, may_wait = LISTENING.unpack(listening.getsockopt(socket.SOL_TCP, socket.TCP_INFO, LISTENING.size))
    known, most = server.server_state.connections, 0
    with ExitStack() as opened:
        for _ in range(CROWD):
            opened.enter_context(socket.create_connection(listening.getsockname()))
        while len(known) < CROWD:
            before = len(known)
            await asyncio.sleep(0)
            most = max(most, len(known) - before)
    await server.shutdown()
    return most, may_wait


async def _nothing(scope: object, receive: object, send: object) -> None: ...


async def test_a_crowd_is_taken_in_a_few_at_a_time_and_waits_in_the_system() -> None:
    assert await taken_in_one_turn(ACCEPTED_AT_ONCE) == (ACCEPTED_AT_ONCE, WAITING)


async def test_a_server_left_to_itself_takes_in_all_of_them() -> None:
    """The control."""
    assert (await taken_in_one_turn(WAITING))[0] == CROWD
