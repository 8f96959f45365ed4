"""Tables of texts, and shares of what was counted."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mnemic.errors import InvalidInput

_TABLES = {".tsv": "\t", ".txt": "\t", ".csv": ","}


def files(path: Path, suffixes: Sequence[str]) -> list[Path]:
    """`path` itself, or the files in it and its folders with one of `suffixes`, sorted. Raises InvalidInput
    (`invalid_input:data:missing`) where there is nothing.
    """
    every = [path] if path.is_file() else sorted(path.rglob("*"))
    found = [one for one in every if one.is_file() and one.suffix.lower() in suffixes]
    if not found:
        raise InvalidInput("data:missing", hint=f"expected a file, or a folder with {', '.join(suffixes)}")
    return found


def table(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a table as mappings by the lower-case names of its header. Tab-separated files have no
    quoting.
    """
    delimiter = _TABLES[path.suffix.lower()]
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE)
        names = [name.strip().lower() for name in next(rows, [])]
        for row in rows:
            yield dict(zip(names, row, strict=False))


def json_list(path: Path) -> list[Any]:
    """Return the list in a JSON file; an empty list if the file contains something else."""
    try:
        value = json.loads(path.read_bytes())
    except ValueError:
        return []
    return value if isinstance(value, list) else []


def share(part: int, whole: int) -> float | None:
    """Return a fraction with four digits; None if the total is zero."""
    return round(part / whole, 4) if whole else None


def shares_of_true(outcomes: Mapping[str, Sequence[bool]]) -> dict[str, Any]:
    """Return the share of True and the count for each name."""
    return {name: {"share": share(sum(seen), len(seen)), "n": len(seen)} for name, seen in sorted(outcomes.items())}
