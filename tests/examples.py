"""Examples as data: what a check should say of each, in a file, and the share of them that it gets right.

A file `examples/<name>.txt` beside the tests has a section for each test, `# <name of the test>`, and in it a line of
JSON for each example: the expected result, then the arguments.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Examples:
    """The examples of one file of tests."""

    path: Path

    @classmethod
    def of_tests(cls, file: str) -> Examples:
        """The examples of the tests in `file`."""
        tests = Path(file)
        return cls(tests.parent / "examples" / f"{tests.stem.removeprefix('test_')}.txt")

    def rows(self, section: str) -> list[list[Any]]:
        found: list[list[Any]] = []
        inside = False
        for line in self.path.read_text(encoding="utf-8").splitlines():
            if line.startswith("# "):
                inside = line[2:] == section
            elif inside and line:
                found.append(json.loads(line))
        return found

    def assert_right(self, check: Callable[..., Any], section: str, floor: float = 0.95) -> None:
        """Fail with all the wrong ones if fewer than `floor` of the section's examples are right."""
        rows = self.rows(section)
        self._judge(rows, [check(*arguments) for _, *arguments in rows], section, floor)

    async def assert_each_right(self, check: Callable[..., Awaitable[Any]], section: str, floor: float = 0.95) -> None:
        """The same with a check that is awaited."""
        rows = self.rows(section)
        self._judge(rows, [await check(*arguments) for _, *arguments in rows], section, floor)

    def _judge(self, rows: list[list[Any]], results: list[Any], section: str, floor: float) -> None:
        assert rows, f"no examples of {section} in {self.path.name}"
        judged = [(expected, _plain(result), given) for (expected, *given), result in zip(rows, results, strict=True)]
        wrong = [f"  {given}: {found!r}, not {expected!r}" for expected, found, given in judged if expected != found]
        right = 1 - len(wrong) / len(rows)
        assert right >= floor, f"{right:.0%} of {len(rows)} are read as people mean them:\n" + "\n".join(wrong)


def _plain(value: Any) -> Any:
    """The value as JSON has it: a moment as ISO 8601 writes it, a word of an enumeration as its value."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value))
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return {str(name): _plain(one) for name, one in value.items()} if isinstance(value, dict) else value
