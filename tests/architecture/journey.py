"""The way of one `add`, or with `--search` of one search, through the source, measured where it runs.

`python -m tests.architecture.journey` opens a manager on a new SQLite file with the bundled embedder, adds one
statement, and follows the `add` of a second, unrelated one: a profile function (`sys.setprofile`,
`threading.setprofile`) in every thread notes each function of mnemic that is entered, from the call of the face until
the receipt is back. Counted are functions and methods, nested ones and lambdas too; a comprehension or a generator
expression is part of the function it is written in. After that come the lines of all modules of mnemic that the
process has loaded, blank lines and docstrings included and comment lines excluded (a limit on lines must not be a
limit on comments), and the modules that the second `add` did not enter.

With `--search`, the second search of a process that has added two statements is followed. `--json` prints the figures
alone. tests/architecture/test_journey.py keeps them from rising.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "mnemic"
SOURCES = (SOURCE, *sorted((ROOT / "packages").glob("*/src")))
"""The packages of this repository; the names of the core's modules are relative to it."""
FIRST, SECOND = "I was born in the month of May.", "The printer on the third floor is out of toner."
ASKED = "When was I born?", "Which printer is out of toner?"
BEYOND = (
    "mnemic_sqlite/",
    "mnemic_stores/",
    "providers/",
    "types/",
    "runtime/clock.py",
    "mnemic_language/",
    "mnemic_redact/",
)
"""Rooms beyond the ports, libraries and values: the way of a statement ends where the store and the embedder are
called.
"""
INLINE = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


@dataclass
class Journey:
    """The functions that were entered while `followed` was true, by file, and how often."""

    followed: bool = False
    entered: dict[CodeType, int] = field(default_factory=lambda: defaultdict(int))

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if self.followed and event == "call" and code.co_name not in INLINE:
            self.entered[code] += 1

    def files(self) -> dict[str, dict[str, int]]:
        """The calls of each function, by its file."""
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for code, times in self.entered.items():
            if own := own_name(Path(code.co_filename)):
                found[own][f"{code.co_qualname}:{code.co_firstlineno}"] = times
        return dict(sorted(found.items()))


def loaded() -> dict[str, int]:
    """The lines of each module of this repository's packages in this process, by its file."""
    paths = {Path(module.__file__) for module in list(sys.modules.values()) if getattr(module, "__file__", None)}
    ours = {name: path for path in sorted(paths) if (name := own_name(path))}
    return {
        name: sum(not _is_comment(line) for line in path.read_text("utf-8").splitlines()) for name, path in ours.items()
    }


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def own_name(path: Path) -> str | None:
    """The name of a file of this repository's packages, and None for another file."""
    return next((path.relative_to(one).as_posix() for one in SOURCES if path.is_relative_to(one)), None)


def measure(search: bool = False) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """Return the functions that a second `add` or search enters, by file, and the lines of each file loaded by then."""
    journey = Journey()
    threading.setprofile(journey.note)
    sys.setprofile(journey.note)
    from mnemic import MemoryManager

    with tempfile.TemporaryDirectory() as folder, MemoryManager("ana", store=Path(folder) / "memories.db") as memory:
        memory.add(FIRST)
        if search:
            memory.add(SECOND)
            memory.search(ASKED[0])
        journey.followed = True
        worked = bool(memory.search(ASKED[1]).hits if search else memory.add(SECOND).outcome == "created")
        journey.followed = False
        assert worked
        lines = loaded()
    return journey.files(), lines


def figures(files: dict[str, dict[str, int]], lines: dict[str, int]) -> dict[str, int]:
    """The numbers that have limits: of the way up to the ports, and of all that runs."""
    way = {name: functions for name, functions in files.items() if not name.startswith(BEYOND)}
    return {
        "way_files": len(way),
        "way_functions": sum(len(functions) for functions in way.values()),
        "files": len(files),
        "functions": sum(len(functions) for functions in files.values()),
        "loaded_modules": len(lines),
        "loaded_lines": sum(lines.values()),
    }


def main() -> None:
    files, lines = measure(search="--search" in sys.argv)
    counted = figures(files, lines)
    if "--json" in sys.argv:
        print(json.dumps(counted))
        return
    for name, functions in files.items():
        print(f"{name}  ({len(functions)} functions, {lines[name]} lines)")
        for function, times in functions.items():
            print(f"    {function}" + (f"  x{times}" if times > 1 else ""))
    print("\nloaded and not entered:")
    for name in lines.keys() - files.keys():
        print(f"    {name}  ({lines[name]} lines)")
    print("\n" + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counted.items()))


if __name__ == "__main__":
    main()
