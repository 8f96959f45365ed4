"""The SQL of this room, read from its files: named statements, and named parts that are put where a statement says
`{part}`. What varies from call to call is a parameter; a filter only chooses among conditions that are written down.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

_HEADER = re.compile(r"^-- (?:name|part): (\w+)$", re.MULTILINE)
_PLACE = re.compile(r"\{(\w+)\}")
_PARAMETER = re.compile(r"\$(\d+)")
_FOLDER = files("mnemic_postgres") / "sql"


def _sections(name: str) -> dict[str, str]:
    _, *found = _HEADER.split((_FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(found[::2], found[1::2], strict=True)}


_PARTS = {name: re.sub(r"^--.*\n", "", text, flags=re.MULTILINE) for name, text in _sections("fragments").items()}
_CONDITIONS = _sections("filters")


def load(name: str) -> dict[str, str]:
    """Return the statements of one file, by name, each complete but for `{accepted}`."""
    return {
        name: _PLACE.sub(lambda place: _PARTS.get(place[1], place[0]), statement)
        for name, statement in _sections(name).items()
    }


@lru_cache(maxsize=512)
def filtered(statement: str, asked: tuple[str, ...]) -> str:
    """Return the statement with the conditions `asked`, whose parameters follow the statement's own."""
    last = max(int(number) for number in _PARAMETER.findall(statement))
    conditions = ["m.tenant = $1"]
    conditions += [_CONDITIONS[name].replace("{value}", f"${last + place}") for place, name in enumerate(asked, 1)]
    return statement.replace("{accepted}", " AND ".join(conditions))
