"""SQL of this package alone, read from its files like the shared one (`mnemic.stores.relational.statements`).

Values that vary from call to call are parameters; a filter only chooses among prepared conditions.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from mnemic.stores.postgres.rows import storable
from mnemic.stores.relational.statements import Ask, fill_parts, sections

if TYPE_CHECKING:
    from mnemic.stores.postgres.connections import Session

_PARAMETER = re.compile(r"\$(\d+)")
_FOLDER = files("mnemic.stores.postgres") / "sql"
_sections = partial(sections, dialect="postgres")
_, _PARTS = _sections(_FOLDER / "fragments.sql")
_CONDITIONS, _ = _sections(_FOLDER / "filters.sql")


def load(name: str) -> dict[str, str]:
    """Return the statements of one file, by name, each complete except for `{accepted}`."""
    statements, _ = _sections(_FOLDER / f"{name}.sql")
    return {title: fill_parts(text, _PARTS) for title, text in statements.items()}


@lru_cache(maxsize=512)
def add_conditions(statement: str, asked: tuple[str, ...]) -> str:
    """Return the statement with the conditions `asked`, whose parameters follow the statement's own."""
    last = max(int(number) for number in _PARAMETER.findall(statement))
    conditions = ["m.tenant = $1"]
    conditions += [_CONDITIONS[name].replace("{value}", f"${last + place}") for place, name in enumerate(asked, 1)]
    return statement.replace("{accepted}", " AND ".join(conditions))


T = TypeVar("T")


def asking(fetch: Callable[..., Awaitable[list[Any]]], statements: Mapping[str, str]) -> Ask:
    """Return an `Ask` for these statements; `fetch` runs any statement. Lists contain texts: those that no row can
    contain are left out.
    """

    async def ask(name: str, *values: Any) -> list[Any]:
        return await fetch(statements[name], *(storable(one) if isinstance(one, list) else one for one in values))

    return ask


def inside(
    tenant: str, statements: Mapping[str, str], work: Callable[[Ask], Awaitable[T]]
) -> Callable[[Session], Awaitable[T]]:
    """Return `work` as a transaction that sees only the rows of `tenant`."""

    async def run(session: Session) -> T:
        await session.enter(tenant)
        return await work(asking(session.fetch, statements))

    return run
