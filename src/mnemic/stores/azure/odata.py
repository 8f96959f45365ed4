"""Filters in OData, built from a `Where`: names come from this file, and values occur only inside literals."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from mnemic.errors import NotSupported
from mnemic.stores.codec import to_micros
from mnemic.types import Where

IN_ONE_FILTER = 1000
"""Maximum values in a filter. The service refuses much larger filters."""


def text(value: str) -> str:
    """Return a string literal: quotes are doubled, no other character is special."""
    return "'" + value.replace("'", "''") + "'"


def moment(value: datetime) -> str:
    """Microseconds since 1970, as the index stores times: its own dates stop at milliseconds."""
    return str(to_micros(value))


def odata_filter(where: Where) -> str:
    """Return `where` as an OData filter. Raises NotSupported for a point in time (`as_of`), since the index has no
    history.
    """
    if where.as_of is not None:
        raise NotSupported("search_index:as_of", hint="ask the record store")
    places = [f"(level eq {text(scope.level.value)} and owner eq {text(scope.owner)})" for scope in where.scopes]
    conditions = [f"tenant eq {text(where.tenant)}", "(" + " or ".join(places) + ")"]
    chosen = {"kind": where.kinds, "category": where.categories, "key": where.keys, "status": where.statuses}
    conditions += [_any_of(field, values) for field, values in chosen.items() if values is not None]
    if where.hidden_keys:
        conditions.append(f"not ({_any_of('key', where.hidden_keys)})")
    if where.happened_from is not None:
        conditions.append(f"happened_at ge {moment(where.happened_from)}")
    if where.happened_to is not None:
        conditions.append(f"happened_at lt {moment(where.happened_to)}")
    if where.live_at is not None:
        conditions.append(f"(expires_at eq null or expires_at gt {moment(where.live_at)})")
    return " and ".join(conditions)


def _any_of(field: str, values: Collection[str]) -> str:
    if len(values) > IN_ONE_FILTER:
        raise NotSupported("search_index:filter", hint=f"at most {IN_ONE_FILTER} values")
    return "(" + " or ".join(f"{field} eq {text(str(value))}" for value in sorted(values)) + ")" if values else "false"
