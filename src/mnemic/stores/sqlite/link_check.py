"""Detection of a memory file that can be reached under several names (links)."""

from __future__ import annotations

from pathlib import Path

from mnemic.errors import StoreUnavailable
from mnemic.stores.sqlite.database_file import is_frozen


def check_names(path: Path) -> None:
    """Raise StoreUnavailable (`hard_links`) for a file that has more than one name.

    SQLite keeps recent writes in a log next to the file's name. A process that opens the file by another name reads
    without that log and overwrites its contents (sqlite.org/howtocorrupt.html, section 2.5). A symbolic link is
    resolved to the one name; a file that is not writable may have any number.
    """
    if path.exists() and path.stat().st_nlink > 1 and not is_frozen(path):
        hint = "the file has a second name (hard link): remove that, or stop all programs and give this one its copy: "
        raise StoreUnavailable("hard_links", hint=f"{hint}cp FILE FILE.copy && mv FILE.copy FILE")
