"""Notes in Markdown: each section under a heading, or each paragraph if there are no headings, is a memory.

The headings above a text, from the title of the page on, are stored with it: two sections "Budget" are of two things.
Front matter between `---` is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemic.extract.messages import text_parts
from mnemic.importers.entries import left_out
from mnemic.importers.file_readers.item import Item
from mnemic.importers.importer_interface import Importer
from mnemic.types import Candidate, Origin, Source

_HEADING = re.compile(r"(#{1,6}) ")
_UNDERLINE = re.compile(r"={2,}|-{2,}")
"""Line under a heading in the other spelling of Markdown."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_FRONT_MATTER_ENDS = frozenset({"---", "..."})


def recognises(line: str) -> bool:
    """Return True if a file that begins with this line counts as notes: a heading, or front matter."""
    return _HEADING.match(line) is not None or line.strip() == "---"


def items(lines: Iterator[tuple[int, str]], name: str) -> Iterator[Item]:
    """Yield a memory for each paragraph, with its headings as context. Code between fences is one paragraph."""
    words: list[str] = []
    headings, first, fence = _Headings(), 0, ""
    for number, line in [*_body(list(lines)), (0, "")]:
        result = line.rstrip()
        opened = _FENCE.match(result)
        if fence or opened:
            fence = "" if opened and result.strip() == fence else fence or (opened[1] if opened else "")
        elif _UNDERLINE.fullmatch(result) and len(words) == 1:
            headings.begin(1 if result.startswith("=") else 2, words[0])
            words = []
            continue
        if number and (fence or opened or (result.strip() and not _HEADING.match(result))):
            first = first if words else number
            words.append(result)
            continue
        if words:
            yield from _note(f"line {first}", headings.path, "\n".join(words), name)
            words = []
        if begun := _HEADING.match(result):
            headings.begin(len(begun[1]), result)


class _Headings:
    """The headings that a line stands under."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def begin(self, level: int, line: str) -> None:
        """Begin a section, which ends those of its level and below."""
        self._open = [one for one in self._open if one[0] < level]
        if title := line.strip("# \t"):
            self._open.append((level, title))

    @property
    def path(self) -> str:
        """Return the titles from the page's own on."""
        return " > ".join(title for _, title in self._open)


def _body(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the lines after the front matter: the lines between a first line of `---` and the next."""
    if lines and lines[0][1].strip() == "---":
        end = next((at for at, (_, line) in enumerate(lines[1:], start=1) if line.strip() in _FRONT_MATTER_ENDS), 0)
        return lines[end + 1 :]
    return lines


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
