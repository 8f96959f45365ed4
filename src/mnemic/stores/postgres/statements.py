"""SQL of this package alone, read from its files like the shared one (`mnemic.stores.relational.statements`).

Values that vary from call to call are parameters; a filter only chooses among prepared conditions.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from importlib.resources import files

from mnemic.stores.relational.statements import fill_parts, sections

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
