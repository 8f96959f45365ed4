"""Statements that both databases share, on a connection to a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from mnemic.stores.relational.statements import Ask, in_json
from mnemic.stores.sqlite.rows import fetch


def asking(connection: apsw.Connection, statements: Mapping[str, str]) -> Ask:
    """Return an `Ask` for these statements on this connection. It never suspends."""

    async def ask(name: str, *values: Any) -> list[Any]:
        return fetch(connection, statements[name], in_json(values))

    return ask
