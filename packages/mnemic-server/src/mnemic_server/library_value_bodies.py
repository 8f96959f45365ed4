"""Bodies of requests derived from the library's own values: their fields, with JSON types and bounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, create_model

from mnemic.requests import Request

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

B = TypeVar("B", bound=BaseModel)
R = TypeVar("R", bound=Request[Any])


def fields_of(
    request: type[DataclassInstance], wire: Mapping[str, Any], *, without: Collection[str] = (), **declared: Any
) -> Callable[[type[B]], type[B]]:
    """Give a body a field for each of `request` (a request or a candidate), except those in `without`: with its
    default, and its type in `declared` or else `wire`.
    """
    types = {**wire, **declared}

    def decorate(body: type[B]) -> type[B]:
        shown: dict[str, Any] = {}
        for one in fields(request):
            if one.name not in without:
                default = ... if one.default is MISSING else one.default
                shown[one.name] = (types[one.name] | None if default is None else types[one.name], default)
        return create_model(body.__name__, __base__=body, __doc__=body.__doc__, __module__=body.__module__, **shown)

    return decorate


def parse_request(request: Callable[..., R], body: BaseModel) -> R:
    """Return the request in a body."""
    return request(**vars(body))
