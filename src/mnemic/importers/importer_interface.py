"""Importer: the readers and the recognisers of one file format. A package offers one by an entry point of
`mnemic.importers` (docs/plugins.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

# The readers import this module, which a plug-in imports first.
if TYPE_CHECKING:
    from mnemic.importers.file_readers.item import Item
    from mnemic.importers.file_readers.multi_file_exports import Packed
    from mnemic.importers.file_readers.records import Record

RecordReader = Callable[[Iterator["Record"], str], Iterator["Item"]]
"""Turns records, and the name for a conversation without one, into items."""

LineReader = Callable[[Iterator[tuple[int, str]], str], Iterator["Item"]]
"""The same from the numbered lines of a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """Format of a file. A file of JSON is read by `items`, a text by `lines`.

    If no format is named, `recognises` is called with a record, `recognises_line` with the first line of a text,
    `recognises_text` with its beginning. In a folder or a zip, `main_files` are the names under which a product exports
    everything, and files that end with `ending` are of this format. `folder` reads all files of an export at once; it
    returns None for a folder of another format, unless the format was named (`asked`). `rank` is the place in automatic
    detection, lowest first: a format comes after other formats that contain all its fields.
    """

    items: RecordReader | None = None
    lines: LineReader | None = None
    recognises: Callable[[Mapping[str, Any]], bool] | None = None
    recognises_line: Callable[[str], bool] | None = None
    recognises_text: Callable[[str], bool] | None = None
    main_files: tuple[str, ...] = ()
    ending: str | None = None
    folder: Callable[[Packed, bool], Iterator[Item] | None] | None = None
    rank: int = 100
