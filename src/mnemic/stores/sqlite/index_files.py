"""Images of the indexes of large scopes, in files next to the memory file, which the first search of a process reads in
place of a million rows.

An image is a copy that may be lost at any time. It counts only while the memory file has its mark, a random number that
is put there in the transaction in which the image is written; so a memory file that was restored, copied or put in the
place of another one never meets an image of other rows. It is as of a count of changes, and later changes are read from
rows, as for an index in memory. If a memory of the scope is removed, mark and image go in the same transaction. A store
with a keyring neither writes nor reads images, for they are not encrypted.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from mnemic.stores.scope_index import UnusableImage, read_image, write_image
from mnemic.stores.sqlite.rows import ScopeState, fetch, present

if TYPE_CHECKING:
    from mnemic.stores.scope_index import ScopeIndex

_MARK = "SELECT value FROM meta WHERE name = ?"
_PUT = "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)"
_REMOVED = "SELECT removed_at FROM scope WHERE scope_id = ?"
_FIRST_ROW = "SELECT cues FROM memory_search WHERE row_id BETWEEN :scope_id << 32 AND (:scope_id + 1 << 32) - 1 LIMIT 1"
_ROOM = 64 << 20
"""Bytes that stay free on the disk beside an image: it must never take the room of a memory."""


def file_of(path: str, scope_id: int) -> Path:
    """Return the path of a scope's image. `path` is the memory file as SQLite names it, links followed, so that a
    process that removes a memory finds the images of other processes.
    """
    return Path(f"{path}-index-{scope_id}")


def files_beside(path: Path) -> Iterator[Path]:
    """Yield the images beside a memory file: where the file itself is, as its log is, and not a link to it."""
    path = path.resolve()
    for file in sorted(path.parent.glob(f"{_literal(path.name)}-index-*")):
        if file.name.removeprefix(f"{path.name}-index-").isdigit():
            yield file


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def load(connection: apsw.Connection, place: ScopeState, index: ScopeIndex) -> bool:
    """Let `index`, an empty one, load the scope's image as of `connection`'s open transaction; False if there is none
    that fits, and the index is of no use then if there was an image.
    """
    if (mark := _image_mark(connection, place.scope_id)) is None:
        return False
    try:
        with file_of(connection.filename, place.scope_id).open("rb") as file:
            data = bytearray(os.fstat(file.fileno()).st_size)
            if file.readinto(data) != len(data):
                return False
        read_image(data, index, mark)
    except (OSError, UnusableImage):
        return False
    # Removing a memory drops its image in the same transaction; the comparison catches one that was left by a fault.
    return place.removed_at <= index.seen <= place.changes


def save(connection: apsw.Connection, scope_id: int, index: ScopeIndex, unchanged_since: int) -> bool:
    """Write the scope's image in the transaction that `connection` has open; False if that is impossible: a memory was
    removed after `unchanged_since`, when the index was read, rows are sealed, or the disk is nearly full.

    The caller has the index's lock. Raises OSError, after which there is no image.
    """
    ((removed_at,),) = fetch(connection, _REMOVED, (scope_id,)) or [(None,)]
    ((cues,),) = fetch(connection, _FIRST_ROW, {"scope_id": scope_id}) or [(b"",)]
    if removed_at is None or removed_at > unchanged_since or not cues:
        return False
    file = file_of(connection.filename, scope_id)
    if shutil.disk_usage(file.parent).free < _ROOM + 2 * index.nbytes:
        return False
    fetch(connection, _PUT, (_name(scope_id), secrets.token_hex(16)))
    mark = _image_mark(connection, scope_id)
    assert mark is not None
    try:
        # A new file, so that one which another process is reading stays as it is.
        file.unlink(missing_ok=True)
        with open(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb", buffering=1 << 20) as written:
            write_image(index, written, mark)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    return True


def drop(connection: apsw.Connection, scope_id: int) -> None:
    """Remove the scope's image and its mark, in the transaction that `connection` has open. Raises OSError if the file
    cannot be removed: its entries of removed memories must not persist.
    """
    fetch(connection, "DELETE FROM meta WHERE name = ?", (_name(scope_id),))
    file_of(connection.filename, scope_id).unlink(missing_ok=True)


def drop_all(connection: apsw.Connection) -> None:
    """Remove every image of the file, as `drop` does."""
    fetch(connection, "DELETE FROM meta WHERE name GLOB 'index:*'")
    for file in files_beside(Path(connection.filename)):
        file.unlink(missing_ok=True)


def sweep(connection: apsw.Connection) -> None:
    """Remove images without a mark, as a crash may leave them; one that cannot be removed now stays for next time."""
    for file in files_beside(Path(connection.filename)):
        scope_id = int(file.name.rpartition("-")[2])
        if _image_mark(connection, scope_id) is None:
            with suppress(OSError):
                file.unlink(missing_ok=True)


def _name(scope_id: int) -> str:
    return f"index:{scope_id}"


def _image_mark(connection: apsw.Connection, scope_id: int) -> dict[str, object] | None:
    """Return the mark that the scope's image must have; None if it has none."""
    found, space = fetch(connection, _MARK, (_name(scope_id),)), present(connection)
    if not found or space is None:
        return None
    return {"mark": found[0][0], "model": space.model, "dimension": space.dimension}
