"""The SQL of this room, read from its files: named statements, and named parts that are put where a statement says
`{part}`.
"""

from __future__ import annotations

import re
from importlib.resources import files

_HEADER = re.compile(r"^-- (?:name|part): (\w+)$", re.MULTILINE)
_PLACE = re.compile(r"\{(\w+)\}")
_FOLDER = files("mnemic.stores.postgres") / "sql"


def _sections(name: str) -> dict[str, str]:
    _, *found = _HEADER.split((_FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(found[::2], found[1::2], strict=True)}


_PARTS = {name: re.sub(r"^--.*\n", "", text, flags=re.MULTILINE) for name, text in _sections("fragments").items()}


def load(name: str) -> dict[str, str]:
    """The statements of one file, by name, each complete."""
    return {name: _PLACE.sub(lambda place: _PARTS[place[1]], statement) for name, statement in _sections(name).items()}
