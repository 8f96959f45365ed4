"""The steps that make the schema of a file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple


class Migration(NamedTuple):
    """One step of the schema; its number is the file's `user_version` once it is done."""

    number: int
    name: str
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """All steps, in order."""
    files = sorted((Path(__file__).parent / "migrations").glob("*.sql"))
    return tuple(Migration(int(file.stem[:4]), file.stem[5:], file.read_text(encoding="utf-8")) for file in files)


def newest_schema() -> int:
    """The schema that this version writes."""
    return migrations()[-1].number
