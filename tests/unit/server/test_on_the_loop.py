"""What a request passes on its way to the engine runs on the loop: each plain function would be a thread more."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import iscoroutinefunction, isfunction

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from mnemic_server.app import _PARTS

ROUTES = [route for part in _PARTS for route in part.router.routes if isinstance(route, APIRoute)]


def plain(dependant: Dependant) -> Iterator[str]:
    for one in dependant.dependencies:
        called = one.call if isfunction(one.call) else type(one.call).__call__
        if not iscoroutinefunction(called):
            yield called.__qualname__
        yield from plain(one)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{min(route.methods)} {route.path}")
def test_no_dependency_takes_a_thread(route: APIRoute) -> None:
    assert iscoroutinefunction(route.endpoint)
    assert list(plain(route.dependant)) == []


def test_a_plain_one_would_be_seen() -> None:
    def check() -> None: ...

    assert list(plain(Dependant(dependencies=[Dependant(call=check)]))) == [check.__qualname__]
