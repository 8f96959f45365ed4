"""Write preferences and requests that depend on them: `python training/preferences/generate.py FOLDER`.

`frames.toml` has subjects with statements and requests. Half of the subjects, drawn by the checksum of the name, is
`preferences.dev.jsonl`, whose misses may be read; of `preferences.check.jsonl` only the totals are looked at. `mnemic
eval preferences --data FILE` measures each. The same seed gives the same lines.
"""

from __future__ import annotations

import json
import random
import sys
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path

FRAMES = Path(__file__).parent / "frames.toml"
SEED = 20261126


def pairs() -> Iterator[tuple[str, str, str]]:
    """Yield the half, the statement and the request; every statement once, with one of the requests of its subject."""
    for subject, frame in tomllib.loads(FRAMES.read_text(encoding="utf-8")).items():
        half = "dev" if zlib.crc32(subject.encode()) % 2 else "check"
        chance = random.Random(f"{SEED}:{subject}")
        for says in frame["says"]:
            for value in frame.get("values", [""]):
                said = says.replace("{x}", value)
                yield half, said[0].upper() + said[1:], chance.choice(frame["asks"])


def main(folder: Path) -> None:
    """Write both files into `folder`. A subject stays together: what the evaluation draws besides is of others."""
    folder.mkdir(parents=True, exist_ok=True)
    found = list(pairs())
    for half in ("dev", "check"):
        lines = [{"preference": said, "question": asked} for name, said, asked in found if name == half]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"preferences.{half}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
