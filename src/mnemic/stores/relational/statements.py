"""SQL of both databases, read from files: named statements, and named parts that replace `{part}` in a statement.

Values are parameters, `$1` to `$n`. The files are written in PostgreSQL's dialect. For SQLite, casts and collations are
removed, `$1` becomes `?1`, and `{any $4}`, which compares with every value of a list, reads the list from JSON. A part
that must differ exists twice: `-- part: name` for PostgreSQL, `-- part: name sqlite` for SQLite.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal

from mnemic.stores.codec import dump

Dialect = Literal["postgres", "sqlite"]
Ask = Callable[..., Awaitable[list[Any]]]
"""The rows of a statement, by its name, for the values of its parameters; a list may be one of them."""

_HEADER = re.compile(r"^-- (name|part): (\w+)(?: (\w+))?$", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
_PLACE = re.compile(r"\{(\w+)\}")
_ANY = re.compile(r"\{any (\$\d+)\}")
_ONLY_POSTGRES = re.compile(r'::\w+(?:\[\])?| COLLATE "C"')
_PARAMETER = re.compile(r"\$(\d+)")
_FOLDER = files("mnemic.stores.relational") / "sql"


def load(name: str, dialect: Dialect) -> dict[str, str]:
    """Return the statements of one file, by name, in this dialect."""
    statements, parts = sections(_FOLDER / f"{name}.sql", dialect)
    return {title: _in_dialect(fill_parts(text, parts), dialect) for title, text in statements.items()}


def sections(file: Traversable, dialect: Dialect) -> tuple[dict[str, str], dict[str, str]]:
    """Return the statements and the parts of a file as they are written, without comments, by name."""
    _, *found = _HEADER.split(file.read_text(encoding="utf-8"))
    parts: dict[str, str] = {}
    statements: dict[str, str] = {}
    for what, title, of, text in zip(*(found[start::4] for start in range(4)), strict=True):
        if of in (None, dialect):
            # A part of the dialect overrides the common one.
            (parts if what == "part" else statements)[title] = _COMMENT.sub("", text.strip())
    return statements, parts


def fill_parts(text: str, parts: Mapping[str, str]) -> str:
    """Return the statement with its parts filled in, recursively; unknown names are left unchanged."""
    while (filled := _PLACE.sub(lambda place: parts.get(place[1], place[0]), text)) != text:
        text = filled
    return text


def _in_dialect(text: str, dialect: Dialect) -> str:
    if dialect == "postgres":
        return _ANY.sub(r"= ANY (\1::text[])", text)
    plain = _ONLY_POSTGRES.sub("", _ANY.sub(r"IN (SELECT value FROM json_each(\1))", text))
    return _PARAMETER.sub(r"?\1", plain)


def in_json(values: Collection[Any]) -> list[Any]:
    """Return the parameters of a statement as SQLite takes them: lists as JSON."""
    return [dump(value) if isinstance(value, list) else value for value in values]
