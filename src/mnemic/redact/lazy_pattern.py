"""A regular expression compiled at its first use: a program that never needs it does not wait."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from sys import maxsize
from typing import Any


class Pattern:
    """Result of `re.compile(text, flags)`, compiled when it is first used."""

    __slots__ = ("_compiled", "flags", "text")

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        if self._compiled is None:
            self._compiled = re.compile(self.text, self.flags)
        return self._compiled

    def search(self, string: str, start: int = 0, end: int = maxsize) -> re.Match[str] | None:
        """Return the first match between two places of `string`."""
        return (self._compiled or self.compiled).search(string, start, end)

    def match(self, string: str, start: int = 0) -> re.Match[str] | None:
        """Return the match that begins at `start`."""
        return (self._compiled or self.compiled).match(string, start)

    def fullmatch(self, string: str) -> re.Match[str] | None:
        """Return the match that is all of `string`."""
        return (self._compiled or self.compiled).fullmatch(string)

    def finditer(self, string: str, start: int = 0, end: int = maxsize) -> Iterator[re.Match[str]]:
        """Every match between two places of `string`, in order."""
        return (self._compiled or self.compiled).finditer(string, start, end)

    def findall(self, string: str) -> list[Any]:
        """Return the text of every match, or of its group."""
        return (self._compiled or self.compiled).findall(string)

    def split(self, string: str) -> list[Any]:
        """Return the parts between the matches."""
        return (self._compiled or self.compiled).split(string)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], string: str, count: int = 0) -> str:
        """Return `string` with every match replaced, or the first `count`."""
        return (self._compiled or self.compiled).sub(replacement, string, count)
