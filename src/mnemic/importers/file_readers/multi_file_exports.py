"""Exports of several files: a folder, or the zip that a product exports. Nothing is unpacked to disk, and nothing
outside of the folder is read.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import cast

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.records import MAX_DOCUMENT_BYTES, STANDARD_INPUT, require_ratio

MAX_FILES = 100_000


@dataclass(frozen=True, slots=True)
class Packed:
    """The files of a folder or a zip at `path`, by their names in it, in order. `outside`: names in the folder that
    lead out of it, which are not read.
    """

    path: Path
    names: tuple[str, ...]
    zipped: bool
    outside: tuple[str, ...] = ()

    def names_ending(self, *endings: str) -> Iterator[str]:
        """Yield the names with this ending."""
        return (name for name in self.names if name.casefold().endswith(endings))

    def open(self, name: str) -> BufferedReader:
        """Return the bytes of a file. Raises InvalidInput (`file:too_large`, `file:unreadable`)."""
        try:
            if not self.zipped:
                return (self.path / name).open("rb")
            with zipfile.ZipFile(self.path) as archive:
                known = archive.getinfo(name)
                if known.file_size > MAX_DOCUMENT_BYTES:
                    raise InvalidInput("file:too_large", hint=f"{name}: more than {MAX_DOCUMENT_BYTES} bytes")
                require_ratio(known.file_size, known.compress_size)
                # It stays readable when the archive is closed, and never becomes more than it says.
                return BufferedReader(cast("RawIOBase", archive.open(known)))
        except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError):
            raise InvalidInput("file:unreadable", hint=f"{name} cannot be read") from None


def open_packed(path: str | Path) -> Packed | None:
    """Return the files of a folder or a zip; None for any other file. Raises InvalidInput (`file:too_large`)."""
    place = Path(path)
    try:
        if str(path) == STANDARD_INPUT or not place.exists():
            return None
        if place.is_dir():
            files = (one for one in place.rglob("*") if one.is_file())
            names = _limit_names(one.relative_to(place).as_posix() for one in files)
            # A link in somebody's folder may lead to any file of the reader's.
            outside = tuple(one for one in names if not (place / one).resolve().is_relative_to(place.resolve()))
            return Packed(place, tuple(one for one in names if one not in outside), zipped=False, outside=outside)
        # The end of a zip is looked for at the end of the file, which a device or a pipe has not.
        if not place.is_file() or not zipfile.is_zipfile(place):
            return None
        with zipfile.ZipFile(place) as archive:
            return Packed(place, _limit_names(iter(archive.namelist())), zipped=True)
    except InvalidInput:
        raise
    except (OSError, ValueError, zipfile.BadZipFile):
        return None


def _limit_names(names: Iterator[str]) -> tuple[str, ...]:
    found = []
    for name in names:
        if _is_hidden(name):
            continue
        found.append(name)
        if len(found) > MAX_FILES:
            raise InvalidInput("file:too_large", hint=f"more than {MAX_FILES} files")
    return tuple(sorted(found))


def _is_hidden(name: str) -> bool:
    """Return True for folders of a zip, and for files that programs add to a user's: those of macOS in a zip, the
    settings and the bin of a note-taking program, version control.
    """
    return name.endswith("/") or any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))
