"""Writing our entries into the settings of a tool, and taking them out again; nothing else in a file changes."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnemic.coding_agents.json_edits import Malformed, parse_json, put_item, put_member, remove_entries
from mnemic.coding_agents.state_files import read_state, write_state
from mnemic.coding_agents.tools import NAME, JsonEntry, SettingsFile
from mnemic.errors import InvalidConfig

LEDGER = "installed.json"
LARGEST_FILE = 32 * 1024 * 1024
_BEGIN, _END = "# >>> mnemic >>>", "# <<< mnemic <<<"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happens to one file: from `before` to `after`; None is a file that is not there. `kept`: a setting of the
    user's that stands where ours would be.
    """

    path: Path
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)
    kept: tuple[str, ...] = ()

    @property
    def verb(self) -> str:
        """Return what happens, in one word."""
        if self.before == self.after:
            return "unchanged"
        if self.before is None:
            return "create"
        return "remove" if self.after is None else "change"


def plan_install(files: Sequence[SettingsFile]) -> list[Change]:
    """Return the changes that install these entries. Raises InvalidConfig (`settings_file`) for a file that cannot be
    read as what it should be; then nothing may be written.
    """
    return [_installed(file, _read(file.path)) for file in files]


def plan_uninstall(files: Sequence[SettingsFile]) -> list[Change]:
    """Return the changes that take our entries out. A file that is as the installation left it becomes what it was
    before. Raises InvalidConfig (`settings_file`).
    """
    ledger = read_state(LEDGER)
    changes = []
    for file in files:
        before = _read(file.path)
        line = ledger.get(str(file.path))
        if before is not None and isinstance(line, dict) and line.get("after") == _digest(before):
            earlier = line.get("before")
            changes.append(
                Change(path=file.path, before=before, after=None if earlier is None else base64.b64decode(earlier))
            )
        else:
            changes.append(Change(path=file.path, before=before, after=_without(file, before)))
    return changes


def carry_out(changes: Sequence[Change], *, installs: bool) -> None:
    """Write the files, each as a whole, and note how they were before. Raises InvalidConfig (`settings_file`)."""
    ledger = read_state(LEDGER)
    for change in changes:
        name = str(change.path)
        if change.verb == "unchanged":
            continue
        if installs and change.after is not None:
            line = ledger.get(name)
            earlier = change.before
            if isinstance(line, dict) and earlier is not None and line.get("after") == _digest(earlier):
                kept = line.get("before")  # a second installation: what was there before the first
            else:
                kept = None if earlier is None else base64.b64encode(earlier).decode()
            ledger[name] = {"before": kept, "after": _digest(change.after)}
        else:
            ledger.pop(name, None)
        try:
            _write(change.path, change.after)
        except OSError as failure:
            raise InvalidConfig("settings_file", hint=f"{change.path}: {failure.strerror}") from None
        write_state(LEDGER, ledger)


def is_installed(files: Sequence[SettingsFile]) -> bool:
    """Return True if a file has anything of ours. Raises InvalidConfig (`settings_file`)."""
    return any(change.verb != "unchanged" for change in plan_uninstall(files))


def _installed(file: SettingsFile, before: bytes | None) -> Change:
    text = _decode(file.path, before)
    if file.text is not None:
        if before is not None and f"name: {NAME}" not in text and f"{NAME} install" not in text:
            raise InvalidConfig("settings_file", hint=f"{file.path} is there already, and not of mnemic")
        return Change(path=file.path, before=before, after=file.text.encode())
    if file.table is not None:
        return Change(path=file.path, before=before, after=_with_table(file, text).encode())
    kept: list[str] = []
    try:
        after = text if text.strip() else "{}\n"
        for entry in file.entries:
            after, is_kept = _with_entry(after, entry)
            if is_kept:
                kept.append(".".join(entry.path))
        parse_json(after)
    except Malformed as wrong:
        raise InvalidConfig("settings_file", hint=f"{file.path}: {wrong}; nothing was changed") from None
    return Change(path=file.path, before=before, after=after.encode(), kept=tuple(kept))


def _with_entry(text: str, entry: JsonEntry) -> tuple[str, bool]:
    """Return the text with the entry, and whether the user has something else in its place that stays."""
    there = _value_at(parse_json(text).value, entry.path)
    if entry.in_list:
        ours = [one for one in there if entry.marks(one)] if isinstance(there, list) else []
        if ours == [entry.value]:
            return text, False
        cleaned = remove_entries(text, _marked(entry)) if ours else text
        return put_item(cleaned, entry.path, entry.value), False
    if there == entry.value:
        return text, False
    if there is not None and not entry.marks(there):
        if entry.optional:
            return text, True
        raise Malformed(f"{'.'.join(entry.path)} is there already, and not of mnemic")
    cleaned = remove_entries(text, _marked(entry)) if there is not None else text
    return put_member(cleaned, entry.path, entry.value), False


def _marked(entry: JsonEntry) -> Any:
    depth = len(entry.path) + entry.in_list

    def is_ours(path: Sequence[str | int], value: Any) -> bool:
        return len(path) == depth and tuple(path[: len(entry.path)]) == entry.path and entry.marks(value)

    return is_ours


def _without(file: SettingsFile, before: bytes | None) -> bytes | None:
    """Return the content of the file without our entries; None if nothing else was in it."""
    if before is None or not before.strip():
        return before
    text = _decode(file.path, before)
    if file.text is not None:
        return None if text == file.text or f"{NAME} install" in text else before
    if file.table is not None:
        return _without_table(text).encode()
    try:
        for entry in file.entries:
            text = remove_entries(text, _marked(entry))
    except Malformed as wrong:
        raise InvalidConfig("settings_file", hint=f"{file.path}: {wrong}; nothing was changed") from None
    return text.encode()


def _with_table(file: SettingsFile, text: str) -> str:
    """Return TOML with our table at its end. Raises InvalidConfig (`settings_file`)."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([_BEGIN, *(file.table or "").split("\n"), _END, ""])
    if block in text:
        return text
    rest = _without_table(text)
    after = rest + ("" if not rest or rest.endswith("\n") else newline) + (newline if rest.strip() else "") + block
    for name, content in (("it", text), ("with the entry it", after)):
        try:
            tomllib.loads(content.removeprefix("\ufeff"))
        except tomllib.TOMLDecodeError as wrong:
            hint = f"{file.path}: {name} is no valid TOML ({wrong}); nothing was changed"
            raise InvalidConfig("settings_file", hint=hint) from None
    return after


def _without_table(text: str) -> str:
    begin = text.find(_BEGIN)
    end = text.find(_END, begin)
    if begin < 0 or end < 0:
        return text
    stop = end + len(_END)
    stop += 2 if text.startswith("\r\n", stop) else 1 if text.startswith("\n", stop) else 0
    blank = 2 if text[:begin].endswith("\r\n\r\n") else 1 if text[:begin].endswith("\n\n") else 0
    return text[: begin - blank] + text[stop:]


def _value_at(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise InvalidConfig("settings_file", hint=f"{path}: {failure.strerror}") from None
    if len(content) > LARGEST_FILE:
        raise InvalidConfig("settings_file", hint=f"{path} is too large for settings")
    return content


def _decode(path: Path, content: bytes | None) -> str:
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidConfig("settings_file", hint=f"{path} is no UTF-8 text; nothing was changed") from None


def _write(path: Path, content: bytes | None) -> None:
    """Replace the file by another with the same permissions; a link stays one. Remove it, and a folder of our name that
    is empty then, for None.
    """
    target = Path(os.path.realpath(path))
    if content is None:
        target.unlink(missing_ok=True)
        if target.parent.name == NAME and not any(target.parent.iterdir()):
            target.parent.rmdir()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    handle, written = tempfile.mkstemp(dir=target.parent, prefix=".mnemic-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(written, mode)
        os.replace(written, target)
    except BaseException:
        os.unlink(written)
        raise


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
