"""Machine-readable data in HTML (JSON-LD and microdata), and the visible text of the HTML."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Any

MAX_SCRIPT_CHARS = 256 * 1024
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_BLOCKS = frozenset(
    "address article blockquote br caption dd div dl dt footer form h1 h2 h3 h4 h5 h6 header hr li main ol p pre "
    "section table tbody tfoot thead title tr ul".split()
)
_CELLS = frozenset(("td", "th"))
_SILENT = frozenset(("script", "style", "template", "noscript"))
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_FENCES = re.compile(r"^\s*+(?://\s*+)?(?:<!\[CDATA\[|<!--)|(?://)?(?:(?<!\s)\s++)?(?:\]\]>|-->)\s*$")


_WITHIN = r"""(?: =\s*+ (?: "[^"]*+" | '[^']*+' ) | [^<>] )*+"""
_PIECES = re.compile(
    rf"""
    (?P<raw> < (script|style) (?=[\s/>]) {_WITHIN} > .*? (?= </\2[\s/>] | \Z ) )
    | (?P<comment> <!-- (?: -?> | .*? (?: --!?\s*> | \Z ) ) | <[!?] [^>]*+ (?: > | \Z ) )
    | (?P<tag> </?[a-z] {_WITHIN} > )
    | (?P<text> </?[a-z] {_WITHIN} | < )
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


def marked_up(html: str) -> list[dict[str, Any]]:
    """Return every top-level object of the markup as JSON-LD, JSON-LD first."""
    reader = _read(html)
    objects = [one for script in reader.scripts for one in _objects(_load_script(script))]
    return objects + [item for item in reader.items if item.get("@type")]


def text_of(html: str) -> str:
    """Return the text of the document, a line for each block and two spaces between the cells of a table."""
    lines = (
        re.sub(r"[ \t\u00a0]{3,}", "  ", line.replace("\u00a0", " ")).rstrip()
        for line in "".join(_read(html).text).splitlines()
    )
    return "\n".join(lines)


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(_PIECES.sub(_close_brackets, html))
    reader.close()
    return reader


def _close_brackets(piece: re.Match[str]) -> str:
    """Return a piece without unterminated constructs: for each bracket that opens no tag, and for each open comment,
    the parser would scan to the end of the document, in quadratic time.
    """
    if piece["comment"]:
        return ""
    return piece["text"].replace("<", "&lt;") if piece["text"] else piece[0]


def _load_script(script: str) -> Any:
    """Return the JSON of a script, also where it ends lists with a comma or is fenced for old browsers; None for no
    JSON.
    """
    if len(script) > MAX_SCRIPT_CHARS:
        return None
    plain = _FENCES.sub("", script.strip())
    for text in (plain, _TRAILING_COMMA.sub("", plain), unescape(_TRAILING_COMMA.sub("", plain))):
        try:
            return json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for one in value:
            yield from _objects(one)
    elif isinstance(value, Mapping):
        if "@graph" in value:
            yield from _objects(value["@graph"])
        elif "@type" in value:
            yield dict(value)


@dataclass(slots=True)
class _Open:
    """An element that is open: its item, the property it is the value of, and its text so far."""

    tag: str
    item: dict[str, Any] | None = None
    property: str | None = None
    said: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    """Reads scripts, microdata and text in one pass. Elements that are never closed end with their parent."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[str] = []
        self.items: list[dict[str, Any]] = []
        self.text: list[str] = []
        self._open: list[_Open] = []
        self._tags: Counter[str] = Counter()
        self._scopes: list[dict[str, Any]] = []
        """Open elements: the number of each tag, and the items, the innermost last."""
        self._silent: str | None = None
        self._script: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "script" and given.get("type", "").lower().startswith("application/ld+json"):
            self._script = []
        if tag in _SILENT:
            self._silent = tag
            return
        if tag in _BLOCKS:
            self.text.append("\n")
        elif tag in _CELLS:
            self.text.append("  ")
        self._begin(tag, given)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._silent:
            self._silent = None
            if tag == "script" and self._script is not None:
                self.scripts.append("".join(self._script))
                self._script = None
            return
        if tag in _BLOCKS:
            self.text.append("\n")
        if self._is_inside(tag):
            while self._end() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._silent is not None:
            if self._script is not None:
                self._script.append(data)
            return
        self.text.append(re.sub(r"[\r\n]+\s*", " ", data) if not self._is_inside("pre") else data)
        if self._open and self._open[-1].property is not None:
            self._open[-1].said.append(data)

    def close(self) -> None:
        super().close()
        while self._open:
            self._end()

    def _is_inside(self, tag: str) -> bool:
        return self._tags[tag] > 0

    # -- microdata ----------------------------------------------------------------------------------------------------

    def _begin(self, tag: str, given: Mapping[str, str]) -> None:
        element = _Open(tag, property=given.get("itemprop"))
        if "itemscope" in given:
            element.item = {"@type": given.get("itemtype", "").rstrip("/").rpartition("/")[2]}
            if element.property is None:
                self.items.append(element.item)
            else:
                self._put(element.property, element.item)
        elif element.property is not None:
            value = given.get("content") or given.get("href") or given.get("src") or given.get("datetime")
            if value:
                self._put(element.property, value.strip())
                element.property = None
        if tag not in _VOID:
            self._open.append(element)
            self._tags[tag] += 1
            if element.item is not None:
                self._scopes.append(element.item)

    def _end(self) -> str:
        """End the innermost element and return its tag."""
        element = self._open.pop()
        self._tags[element.tag] -= 1
        if element.item is not None:
            self._scopes.pop()
        elif element.property is not None:
            self._put(element.property, " ".join("".join(element.said).split()))
        return element.tag

    def _put(self, name: str, value: Any) -> None:
        item = self._scopes[-1] if self._scopes else None
        if item is None or value == "":
            return
        if name in item:
            earlier = item[name] if isinstance(item[name], list) else [item[name]]
            item[name] = [*earlier, value]
        else:
            item[name] = value
