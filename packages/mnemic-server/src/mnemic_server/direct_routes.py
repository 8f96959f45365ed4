"""Short path for the most frequent requests: a memory by its identifier, a search, a write.

For each request FastAPI determines again which dependencies a route has, in which order, and whether each of them is a
coroutine; that takes several times the call itself. Here this is done once per route, from the same routes and
dependencies, and the result (a plan) answers plain requests: no query string, valid values. All others are passed to
FastAPI before any dependency has been called, so that invalid requests are refused in one place only.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.params import Form
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemic_server.problems import REPORTED, error_response
from mnemic_server.request_limits import BODY_VALUE, REFUSED

_ANY: TypeAdapter[Any] = TypeAdapter(Any)
_UNUSUAL: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class _Value:
    """Parameter in the path, a header or the body of a request; `default` if it is absent and not `required`."""

    name: str
    said_as: str
    field: Any
    required: bool
    default: Any

    @classmethod
    def from_field(cls, field: Any) -> _Value:
        """Return the parameter for a field of FastAPI."""
        required = field.field_info.is_required()
        return cls(field.name, field.alias, field, required, None if required else field.get_default())


@dataclass(frozen=True, slots=True)
class _Step:
    """Dependency, or the route's function. `given` are its parameters that are results of earlier steps, by name, with
    the number of the step; `usual` are the values of its query parameters if there is no query.
    """

    call: Callable[..., Any]
    given: tuple[tuple[str, int], ...]
    path: tuple[_Value, ...]
    headers: tuple[_Value, ...]
    body: tuple[_Value, ...]
    usual: Mapping[str, Any]
    request: str | None
    response: str | None

    def values(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the arguments that come from the request; None if one is missing or invalid."""
        found = dict(self.usual)
        for values, said in ((self.path, request.path_params), (self.headers, request.headers)):
            for value in values:
                if not _taken(value, said.get(value.said_as), found):
                    return None
        if self.body and not _taken(self.body[0], given[BODY_VALUE], found):
            return None
        if self.request is not None:
            found[self.request] = request
        return found


def _taken(value: _Value, said: Any, found: dict[str, Any]) -> bool:
    """Add the argument for a parameter to `found`; return False if it is missing or invalid."""
    if said is None:
        found[value.name] = value.default
        return not value.required
    found[value.name], errors = value.field.validate(said, {}, loc=())
    return not errors


@dataclass(frozen=True, slots=True)
class _Plan:
    """Steps of a route in their order; the last one is its function."""

    route: APIRoute
    steps: tuple[_Step, ...]

    def values(self, request: Request) -> list[dict[str, Any]] | None:
        """Return the arguments of each step; None for a request that FastAPI must handle."""
        state = request.scope.get("state", _UNUSUAL)
        if REFUSED in state or (self.steps[-1].body and not (BODY_VALUE in state and _is_json(request))):
            return None
        found = []
        for step in self.steps:
            if (values := step.values(request, state)) is None:
                return None
            found.append(values)
        return found

    async def answer(self, values: Sequence[dict[str, Any]]) -> Response:
        """Return the response of the route for these arguments."""
        aside, results = _aside(), list[Any]()
        for step, taken in zip(self.steps, values, strict=True):
            taken |= {name: results[number] for name, number in step.given}
            if step.response is not None:
                taken[step.response] = aside
            results.append(await step.call(**taken))
        if isinstance(results[-1], Response):
            return results[-1]
        status = aside.status_code or self.route.status_code or 200
        answer = Response(_ANY.dump_json(results[-1]), status_code=status, media_type="application/json")
        answer.headers.raw.extend(aside.headers.raw)
        return answer


class DirectRoutes:
    """Middleware that answers plain requests to the routes `among` and passes all others on."""

    def __init__(self, app: ASGIApp, among: Sequence[BaseRoute]) -> None:
        self._app = app
        self._routes: dict[tuple[str, str], list[tuple[APIRoute, _Plan | None]]] = {}
        routes = [route for route in among if isinstance(route, APIRoute)]
        # A path that begins with a parameter may match any of the others.
        loose = [route for route in routes if "{" in _path_prefix(route.path)]
        for route in routes:
            begun = _path_prefix(route.path)
            if route in loose or any(one.path_regex.match(begun) for one in loose):
                continue
            # Those without a plan as well: the first matching route counts.
            plan = _plan_of(route)
            for method in route.methods or ():
                self._routes.setdefault((method, begun), []).append((route, plan))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        plan = None if scope["type"] != "http" or scope["query_string"] else self._meant(scope)
        values = None if plan is None else plan.values(request := Request(scope, receive))
        if plan is None or values is None:
            scope.pop("path_params", None)
            await self._app(scope, receive, send)
            return
        scope["route"] = plan.route
        try:
            answer = await plan.answer(values)
        except REPORTED as failure:
            answer = await error_response(request, failure)
        await answer(scope, receive, send)

    def _meant(self, scope: Scope) -> _Plan | None:
        """Return the plan of the route that matches the path."""
        path = scope["path"]
        if scope.get("root_path"):
            return None
        for route, plan in self._routes.get((scope["method"], _path_prefix(path)), ()):
            if found := route.path_regex.match(path):
                scope["path_params"] = found.groupdict()
                return plan
        return None


def _path_prefix(path: str) -> str:
    """Return the first two segments of a path, the key of the table of routes."""
    return "/".join(path.split("/", 3)[:3])


def _plan_of(route: APIRoute) -> _Plan | None:
    """Return the plan of a route; None if it uses features of FastAPI that plans do not support."""
    steps: list[_Step] = []
    body = [field.field_info for field in route.dependant.body_params]
    plain = len(body) <= 1 and not any(isinstance(one, Form) or getattr(one, "embed", None) for one in body)
    if route.response_model is not Any or route.dependencies or not plain:
        return None
    if not _plan_dependency(route.dependant, steps, {}) or any(step.body for step in steps[:-1]):
        return None
    return _Plan(route, tuple(steps))


def _plan_dependency(dependant: Dependant, steps: list[_Step], known: dict[Any, int]) -> bool:
    """Add a dependency to `steps` after its own dependencies, each once; False if one is not supported."""
    call: Any = dependant.call
    others = (dependant.cookie_params, dependant.background_tasks_param_name, dependant.security_scopes_param_name)
    if any(others) or dependant.websocket_param_name:
        return False
    given: list[tuple[str, int]] = []
    for inner in dependant.dependencies:
        if inner.call not in known and not _plan_dependency(inner, steps, known):
            return False
        if inner.name is not None:
            given.append((inner.name, known[inner.call]))
    function = call if inspect.isfunction(call) else call.__call__  # a security scheme is an object
    if not inspect.iscoroutinefunction(function) or not _is_plain(dependant):
        return False
    known[call] = len(steps)
    steps.append(
        _Step(
            call=function,
            given=tuple(given),
            path=tuple(map(_Value.from_field, dependant.path_params)),
            headers=tuple(map(_Value.from_field, dependant.header_params)),
            body=tuple(map(_Value.from_field, dependant.body_params)),
            usual={one.name: one.get_default() for one in dependant.query_params},
            request=dependant.request_param_name or dependant.http_connection_param_name,
            response=dependant.response_param_name,
        )
    )
    return True


def _is_plain(dependant: Dependant) -> bool:
    """Return True if all headers have explicit names and all query parameters have defaults."""
    named = all(field.alias != field.name for field in dependant.header_params)
    return named and all(isinstance(one.get_default(), Hashable) for one in dependant.query_params)


def _aside() -> Response:
    """Return the response object on which a route sets headers and a status."""
    response = Response()
    del response.headers["content-length"]
    response.status_code = 0
    return response


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"
