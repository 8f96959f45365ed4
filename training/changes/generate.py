"""Write conversations in which something changes, or must not: `python training/changes/generate.py FOLDER`.

`frames.txt` has one conversation a line, with values of a class (`{a}`, `{b}`) where any will do. Half of the frames,
drawn by the checksum of the line, is `updates.dev.jsonl`, whose misses may be read; of `updates.check.jsonl` only the
totals are looked at. `mnemic eval truth --data FOLDER` measures both. The same seed gives the same conversations.
"""

from __future__ import annotations

import json
import random
import sys
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FRAMES = Path(__file__).parent / "frames.txt"
START = datetime(2026, 2, 3, 9, tzinfo=UTC)
EACH = 2
"""Conversations of a frame that has values."""
CLASSES = {
    "city": ["Trieste", "Malmo", "Leeds", "Gdansk", "Nantes", "Zadar", "Turku", "Cork", "Basel", "Ghent"],
    "name": ["Ingrid", "Tobias", "Farida", "Ronan", "Svetla", "Hector", "Maeve", "Dominik", "Petra", "Anselm"],
    "day": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
    "month": ["March", "April", "June", "August", "September", "November"],
    "number": ["14", "23", "37", "48", "52", "69", "85"],
    "food": ["walnuts", "celery", "mustard", "shrimp", "sesame", "olives"],
    "drink": ["coffee", "green tea", "orange juice", "cocoa", "mate"],
}


def conversations(seed: int = 0) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the half and the line of each conversation."""
    for frame in FRAMES.read_text(encoding="utf-8").splitlines():
        if not frame or frame.startswith("#"):
            continue
        half = "dev" if zlib.crc32(frame.encode()) % 2 else "check"
        chance = random.Random(f"{seed}:{frame}")
        kind, _, values = frame.partition(" | ")[0].split(" ")[1].partition(":")
        for number in range(EACH if values else 1):
            a, b = chance.sample(CLASSES[values], 2) if values else ("", "")
            name = f"{half}-{zlib.crc32(frame.encode()):08x}-{number}"
            yield half, _line(name, kind, frame.replace("{a}", a).replace("{b}", b))


def _line(name: str, kind: str, frame: str) -> dict[str, Any]:
    head, *parts = frame.split(" | ")
    said = [part for part in parts if part[0] not in "?+-"]
    sessions: list[dict[str, Any]] = []
    for part in said:
        if not part.startswith("> "):
            at = START + timedelta(days=9 * len(sessions))
            sessions.append({"at": at.isoformat(), "messages": []})
        sessions[-1]["messages"].append({"role": "user", "content": part.removeprefix("> ")})
    ask = {
        "q": next(part[1:] for part in parts if part[0] == "?"),
        "at": (START + timedelta(days=9 * len(sessions))).isoformat(),
        "must": [part[1:] for part in parts if part[0] == "+"],
        "must_not": [part[1:] for part in parts if part[0] == "-"],
    }
    closes = [] if kind == "keep_both" else [{"statement": one, "until": ask["at"]} for one in ask["must_not"]]
    return {
        "id": name,
        "lang": head.split(" ")[0],
        "domain": "generated",
        "kind": kind,
        "sessions": sessions,
        "asks": [ask],
        "now_true": [],
        "no_longer": closes,
        "never_store": [],
        "not_users_word": [],
    }


def main(folder: Path) -> None:
    """Write both halves into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    lines: dict[str, list[str]] = {"dev": [], "check": []}
    for half, line in conversations():
        lines[half].append(json.dumps(line, ensure_ascii=False) + "\n")
    for half, told in lines.items():
        (folder / f"updates.{half}.jsonl").write_text("".join(told), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
