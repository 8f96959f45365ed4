"""Small files that only their owner reads, written whole or not at all, and overwritten when they are removed."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

OWNER_ONLY = 0o600


def make_file(path: Path, content: bytes) -> None:
    """Create a new file, durable when this returns. Raises FileExistsError."""
    written = _write_file(path, content)
    try:
        # A link fails if the name exists, a rename would replace it: two processes must not both make a subject's first
        # key.
        os.link(written, path)
    finally:
        written.unlink()
    _sync_folder(path.parent)


def replace_file(path: Path, content: bytes) -> None:
    """Replace the file by `content`, durably; its former content is overwritten."""
    written = _write_file(path, content)
    try:
        # Opened before the rename: afterwards the old file has no name any more, but its blocks still need overwriting.
        old = os.open(path, os.O_WRONLY)
    except FileNotFoundError:
        old = None
    written.replace(path)
    _sync_folder(path.parent)
    if old is not None:
        _overwrite(old)


def _write_file(path: Path, content: bytes) -> Path:
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    try:
        os.write(file, content)
        os.fsync(file)
    finally:
        os.close(file)
    return beside


def _overwrite(file: int) -> None:
    """Overwrite an unlinked file with zeros, so that its blocks reveal nothing: best effort, a disk may remap them."""
    try:
        os.write(file, bytes(os.fstat(file).st_size))
        os.fsync(file)
    finally:
        os.close(file)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
