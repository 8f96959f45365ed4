"""Examples as data: what a check should say of each, in a file, and the share of them that it gets right.

A file `examples/<name>.txt` beside the tests has a section for each test, `# <name of the test>`, and in it a line of
JSON for each example: the expected result, then the arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
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
        assert rows, f"no examples of {section} in {self.path.name}"
        results = [(expected, _plain(check(*arguments)), arguments) for expected, *arguments in rows]
        wrong = [result for result in results if result[0] != result[1]]
        right = 1 - len(wrong) / len(rows)
        listed = "\n".join(f"  {arguments}: {found!r}, not {expected!r}" for expected, found, arguments in wrong)
        assert right >= floor, f"{right:.0%} of {len(rows)} are read as people mean them:\n{listed}"


def _plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value))
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return {str(name): _plain(one) for name, one in value.items()} if isinstance(value, dict) else value
