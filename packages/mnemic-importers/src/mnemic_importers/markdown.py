"""Notes in Markdown: each section under a heading, or each paragraph where there are no headings, is a memory.

The heading is kept with the text under it; front matter between `---` is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemic.extract.messages import text_parts
from mnemic.types import Candidate, Origin, Source
from mnemic_importers.conversations.importer_interface import Importer
from mnemic_importers.conversations.item import Item
from mnemic_importers.entries import left_out

_HEADING = re.compile(r"#{1,6} ")


def recognises(line: str) -> bool:
    """Return True if a file that begins with this line is taken as notes: a heading, or front matter."""
    return _HEADING.match(line) is not None or line.strip() == "---"


def items(lines: Iterator[tuple[int, str]], name: str) -> Iterator[Item]:
    """Yield a memory for each paragraph, with its heading as context."""
    words: list[str] = []
    heading, first = "", 0
    for number, line in [*_body(lines), (0, "")]:
        result = line.rstrip()
        if _HEADING.match(result) or not result.strip():
            if words:
                yield from _note(f"line {first}", heading, "\n".join(words), name)
                words = []
            heading = result.lstrip("# ").strip() if result.strip() else heading
        else:
            first = first if words else number
            words.append(result)


def _body(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the lines after the front matter."""
    inside = False
    for position, (number, line) in enumerate(lines):
        if line.strip() == "---" and (position == 0 or inside):
            inside = not inside
        elif not inside:
            yield number, line


def _note(place: str, heading: str, words: str, name: str) -> Iterator[Item]:
    if not re.search(r"\w", words):
        yield left_out(place, name, "empty")
        return
    source = Source(origin=Origin.IMPORT, ref=f"{name}:{place}")
    data = {"note": name, **({"heading": heading} if heading else {})}
    for part in text_parts(words):
        kept = Candidate(content=part, context=heading, category="note", data=data, source=source)
        yield Item(place=place, conversation=name, content=kept)


IMPORTER = Importer(lines=items, recognises_line=recognises, ending=".md", rank=160)
