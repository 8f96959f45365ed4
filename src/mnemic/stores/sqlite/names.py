"""Detection of a memory file that can be reached under several names (links)."""

from __future__ import annotations

from pathlib import Path

from mnemic.errors import StoreUnavailable
from mnemic.stores.sqlite.file import is_frozen


def check_names(path: Path) -> None:
    """Raise StoreUnavailable (`hard_links`) for a file that has more than one name.

    SQLite keeps what is not yet in the file in a log beside the name. Who opens the file by another name reads without
    that log, and writes over what is in it (sqlite.org/howtocorrupt.html, section 2.5). A symbolic link is followed to
    the one name; a file that nobody can write to may have any number.
    """
    if path.exists() and path.stat().st_nlink > 1 and not is_frozen(path):
        hint = "the file has a second name (hard link): remove that, or stop all programs and give this one its copy: "
        raise StoreUnavailable("hard_links", hint=f"{hint}cp FILE FILE.copy && mv FILE.copy FILE")
