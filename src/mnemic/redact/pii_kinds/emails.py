"""E-mail addresses: as they are, hidden ("jane (at) acme (dot) com") and spelled out ("jane at acme dot com")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemic.redact.search_primitives import AnyCase, found, holds
from mnemic.redact.types import Found

_LOCAL_CHARS = 64
_local = re.compile(r"[\w.%+\-'’&]*[\w%+]").match
"""The part before an @, read backwards from there; it does not begin with a full stop, hyphen or quote."""
_DOMAIN = re.compile(r"@(?:[^\W_](?:[^\W_]|-){0,62}\.){1,8}(?:xn--[A-Za-z0-9\-]{1,59}|[^\W\d_]{2,24})")
_HIDDEN = AnyCase(
    r" ?[(\[{<] ?at ?[)\]}>] ?(?P<host>[^\W_](?:[^\W_]|-){0,62}"
    r"(?: ?(?:\.|[(\[{<] ?(?:dot|\.) ?[)\]}>]) ?[^\W_](?:[^\W_]|-){0,62}){1,4})"
)
_OPENING = tuple(f"{bracket}{gap}at" for bracket in "([{<" for gap in ("", " "))
_HIDDEN_DOT = re.compile(r"(?i) ?(?:\.|[(\[{<] ?(?:dot|\.) ?[)\]}>]) ?")


_ENDS = (
    "com|org|net|edu|gov|info|io|dev|app|ai|co|uk|us|ca|au|nz|in|za|br|mx|ar|cl|de|at|ch|fr|be|nl|es|pt|it|ie|dk|se|no|fi"
    "|pl|cz|hu|ro|gr|ua|eu|jp|kr|cn|sg"
)
_SPELLED = AnyCase(
    r"(?<![\w.+\-])(?P<local>[\w+\-][\w.+\-]{0,63}(?: dot [\w+\-]{1,32}){0,2}) at "
    rf"(?P<host>[^\W_](?:[^\W_]|-){{0,62}}(?: dot [^\W_](?:[^\W_]|-){{0,62}}){{0,3}} dot (?:{_ENDS}))(?![^\W_])"
)
_NO_NAMES = frozenset(
    "a again am an and are available be been find found here hosted i is it live look me meet not online or page read"
    " readable see shop site store that the them there they up us was we website were work works you".split()
)
"""Words before "at" that belong to a place and are no mailbox name."""


def spelled_emails(text: str) -> Iterator[Found]:
    """Addresses written "jane at acme dot com"."""
    if not holds(text, (" dot ",)):
        return
    for match in _SPELLED.finditer(text):
        if match["local"] not in _NO_NAMES:
            plain = f"{match['local']}@{match['host']}".replace(" dot ", ".")
            yield Found(match.start(), match.end(), plain.casefold())


def emails(text: str) -> Iterator[Found]:
    """Addresses, found from their @ outwards: each character is looked at once from either side."""
    if "@" not in text:
        return
    backwards = text[::-1]
    for match in _DOMAIN.finditer(text):
        at, end = match.span()
        start = _local_start(text, backwards, at)
        if start < at:
            yield found((start, end, text[start:end].casefold()))


def hidden_emails(text: str) -> Iterator[Found]:
    """Addresses written "jane (at) acme (dot) com"."""
    if not holds(text, _OPENING):
        return
    backwards = text[::-1]
    for match in _HIDDEN.finditer(text):
        start = _local_start(text, backwards, match.start())
        if start < match.start():
            plain = _HIDDEN_DOT.sub(".", match.group("host"))
            yield Found(start, match.end(), f"{text[start : match.start()]}@{plain}".casefold())


def _local_start(text: str, backwards: str, at: int) -> int:
    if at and text[at - 1] == '"':
        opening = text.rfind('"', max(0, at - _LOCAL_CHARS), at - 1)
        return opening if opening != -1 else at
    length = len(text)
    before = _local(backwards, length - at, length - at + _LOCAL_CHARS)
    return length - before.end() if before else at
