"""Sanitising of other people's text: escaped for a block, without invisible characters, without URLs that load."""

from __future__ import annotations

import re

from mnemic.types.values import clean_content

_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\t": "&#9;", "\n": "&#10;"})
_IN_ATTRIBUTE = str.maketrans({'"': "&quot;", "'": "&#39;"})
_CHAT_TOKEN = re.compile(
    r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\])", re.IGNORECASE
)
"""Opening of a control token in chat templates that use square brackets."""
_UNPRINTABLE = re.compile("[\0\ud800-\udfff]")
_SCHEME = re.compile(r"\b([a-z][a-z0-9+.-]{0,20})(:)(?=/|\\|%2f)", re.IGNORECASE)
_BARE_SCHEME = re.compile(r"\b(data|javascript|vbscript|mailto|tel|sms|file|blob|about|intent)(\s*):", re.IGNORECASE)
_HOST = re.compile(r"(?<=[^\W_])\.(?=[^\W\d_]{2,}\b)")
_TWO_SLASHES = re.compile(r"(?:(?<=[^:\]])|^)//(?=[\w\[])")
_MARKDOWN_LINK = re.compile(r"\](?=\s*[(\[:])")


def escape(text: str) -> str:
    """Return `text` for the inside of an element, on one line: escapes `& < >` and line ends, and the bracket of what a
    chat template would read as its own token (`[INST]`). Quotation marks and apostrophes end nothing there, and an
    entity for each would cost a model several tokens.
    """
    return _CHAT_TOKEN.sub("&#91;", text.translate(_IN_TEXT))


def escape_attribute(text: str) -> str:
    """Return `text` for the inside of a quoted attribute: as `escape`, and `"` and `'` too."""
    return escape(text).translate(_IN_ATTRIBUTE)


def visible(text: str) -> str:
    """`text` without control, zero-width, bidi, tag and half surrogate characters."""
    return clean_content(_UNPRINTABLE.sub("", text))


def defuse_addresses(text: str) -> str:
    """`text` with addresses that no renderer turns into a link or loads: `hxxp[:]//host[.]example`."""
    text = text.replace("![", "[")
    text = _MARKDOWN_LINK.sub("] ", text)
    text = re.sub(r"\bhttp(?=s?:)", "hxxp", text, flags=re.IGNORECASE)
    text = _BARE_SCHEME.sub(r"\1\2[:]", _SCHEME.sub(r"\1[:]", text))
    text = _TWO_SLASHES.sub("[/]/", text)
    return _HOST.sub("[.]", text)
